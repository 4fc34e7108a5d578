"""Whether a picture is the expected one: overall, and in its worst corner.

Resampling filters differ by a little everywhere; wrong art, a shift of pixels, a mirror image or stale
contents differ by much somewhere. So similarity is judged tile by tile, and colours by the share of pixels
that are plainly others, both after softening by less than a pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np
from pydantic import Field

from fabric_dagster.validators.base import Outcome, Params
from fabric_dagster.validators.kernels import pictures
from fabric_dagster.validators.kernels.frame import softened

if TYPE_CHECKING:
    from fabric_dagster.validators.kernels.pictures import Picture

TILE = 32


class Likeness(Params):
    """How alike is alike enough."""

    #: mean SSIM of the whole picture and of its least similar tile (32 pixels).
    ssim: float = Field(default=0.985, ge=0, le=1)
    tile_ssim: float = Field(default=0.90, ge=0, le=1)
    #: ΔE from which a pixel is plainly another, and the share of pixels that may be.
    delta_e: float = Field(default=10.0, gt=0)
    delta_e_share: float = Field(default=0.004, ge=0, le=1)


@dataclass(frozen=True)
class Measured:
    """How alike two pictures are."""

    ssim: float
    tile_ssim: float
    #: top left corner of the least similar tile
    tile: tuple[int, int]
    share: float
    mean: float


def measure(expected: Picture, found: Picture, delta_e: float) -> Measured:
    """Compare two pictures of one size."""
    one, other = softened(expected), softened(found)
    similar = pictures.ssim(one, other)
    high, wide = similar.shape
    tiles = (max(1, wide // TILE), max(1, high // TILE))
    worst = cv2.resize(similar, tiles, interpolation=cv2.INTER_AREA)
    row, column = np.unravel_index(int(worst.argmin()), worst.shape)
    apart = pictures.delta_e(one, other)
    return Measured(
        ssim=float(similar.mean()),
        tile_ssim=float(worst.min()),
        tile=(int(column) * wide // tiles[0], int(row) * high // tiles[1]),
        share=float((apart > delta_e).mean()),
        mean=float(apart.mean()),
    )


def must_be_alike(
    outcome: Outcome, expected: Picture, found: Picture, limits: Likeness, where: str, *, show: bool = False
) -> None:
    """Record whether ``found`` is ``expected``; adds figures, and both side by side if not (or ``show``)."""
    _compare(outcome, expected, found, limits, where)
    if show or outcome.wrong:
        outcome.pictures["expected | found | difference"] = pictures.side_by_side(expected, found)


def _compare(outcome: Outcome, expected: Picture, found: Picture, limits: Likeness, where: str) -> None:
    wanted_size = f"{expected.shape[1]} x {expected.shape[0]}"
    found_size = f"{found.shape[1]} x {found.shape[0]}"
    if not outcome.equal(wanted_size, found_size, where):
        return
    measured = measure(expected, found, limits.delta_e)
    outcome.must(
        measured.ssim >= limits.ssim, f"SSIM of at least {limits.ssim:g}", f"{measured.ssim:.4f}", where
    )
    tile = f"{where}, tile at {measured.tile[0]},{measured.tile[1]}"
    outcome.must(
        measured.tile_ssim >= limits.tile_ssim,
        f"SSIM of at least {limits.tile_ssim:g} in every tile",
        f"{measured.tile_ssim:.4f}",
        tile,
    )
    outcome.must(
        measured.share <= limits.delta_e_share,
        f"at most {limits.delta_e_share:.2%} of pixels beyond ΔE {limits.delta_e:g}",
        f"{measured.share:.2%}",
        where,
    )
    outcome.figures.update(
        ssim=f"{measured.ssim:.5f}",
        worst_tile_ssim=f"{measured.tile_ssim:.5f}",
        delta_e_mean=f"{measured.mean:.3f}",
        delta_e_share=f"{measured.share:.5f}",
    )
