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
    from numpy.typing import NDArray

    from fabric_dagster.validators.kernels.pictures import Picture

TILE = 32


class Likeness(Params):
    """How alike is alike enough."""

    #: mean SSIM of the whole picture, and of its least similar tile (32 pixels).
    ssim: float = Field(default=0.975, ge=0, le=1)
    tile_ssim: float = Field(default=0.90, ge=0, le=1)
    #: mean ΔE of a tile below which structure is not judged: moire of fine patterns, hardly visible.
    structure_delta_e: float = Field(default=3.0, ge=0)
    #: ΔE from which a pixel is plainly another, and the share of pixels that may be: of all, and of a tile.
    delta_e: float = Field(default=10.0, gt=0)
    delta_e_share: float = Field(default=0.008, ge=0, le=1)
    tile_share: float = Field(default=0.022, ge=0, le=1)


@dataclass(frozen=True)
class Measured:
    """How alike two pictures are."""

    ssim: float
    #: the same where a difference can be seen, 1 elsewhere: on average and in the worst tile
    structure: float
    tile_structure: float
    #: top left corner of the least similar tile
    tile: tuple[int, int]
    share: float
    #: share in the tile that has most of them, and its top left corner
    tile_share: float
    other_tile: tuple[int, int]
    mean: float


def measure(
    expected: Picture, found: Picture, limits: Likeness, ignored: NDArray[np.bool_] | None = None
) -> Measured:
    """Compare two pictures of one size."""
    one, other = softened(expected), softened(found)
    similar = pictures.ssim(one, other)
    high, wide = similar.shape
    tiles = (max(1, wide // TILE), max(1, high // TILE))
    apart = pictures.delta_e(one, other)
    if ignored is not None:
        apart[ignored] = 0
    others = cv2.resize((apart > limits.delta_e).astype(np.float32), tiles, interpolation=cv2.INTER_AREA)

    # Where nobody sees a difference, a difference of structure is a filter's moire.
    unseen = cv2.resize(apart, tiles, interpolation=cv2.INTER_AREA) < limits.structure_delta_e
    structure = np.where(unseen, 1, cv2.resize(similar, tiles, interpolation=cv2.INTER_AREA))

    def corner(index: int) -> tuple[int, int]:
        return index % tiles[0] * wide // tiles[0], index // tiles[0] * high // tiles[1]

    return Measured(
        ssim=float(similar.mean()),
        structure=float(structure.mean()),
        tile_structure=float(structure.min()),
        tile=corner(int(structure.argmin())),
        share=float((apart > limits.delta_e).mean()),
        tile_share=float(others.max()),
        other_tile=corner(int(others.argmax())),
        mean=float(apart.mean()),
    )


def must_be_alike(
    outcome: Outcome,
    expected: Picture,
    found: Picture,
    limits: Likeness,
    where: str,
    *,
    ignored: NDArray[np.bool_] | None = None,
    show: bool = False,
) -> None:
    """Record whether ``found`` is ``expected``; adds figures, and both side by side if not (or ``show``).

    Pixels of ``ignored`` are never counted as others.
    """
    _compare(outcome, expected, found, limits, where, ignored)
    if show or outcome.wrong:
        outcome.pictures["expected | found | difference"] = pictures.side_by_side(expected, found)


def _compare(
    outcome: Outcome,
    expected: Picture,
    found: Picture,
    limits: Likeness,
    where: str,
    ignored: NDArray[np.bool_] | None,
) -> None:
    wanted_size = f"{expected.shape[1]} x {expected.shape[0]}"
    found_size = f"{found.shape[1]} x {found.shape[0]}"
    if not outcome.equal(wanted_size, found_size, where):
        return
    measured = measure(expected, found, limits, ignored)
    outcome.must(
        measured.structure >= limits.ssim, f"SSIM of at least {limits.ssim:g}", f"{measured.ssim:.4f}", where
    )
    tile = f"{where}, tile at {measured.tile[0]},{measured.tile[1]}"
    outcome.must(
        measured.tile_structure >= limits.tile_ssim,
        f"SSIM of at least {limits.tile_ssim:g} in every tile",
        f"{measured.tile_structure:.4f}",
        tile,
    )
    outcome.must(
        measured.share <= limits.delta_e_share,
        f"at most {limits.delta_e_share:.2%} of pixels beyond ΔE {limits.delta_e:g}",
        f"{measured.share:.2%}",
        where,
    )
    tile = f"{where}, tile at {measured.other_tile[0]},{measured.other_tile[1]}"
    outcome.must(
        measured.tile_share <= limits.tile_share,
        f"at most {limits.tile_share:.2%} of every tile's pixels beyond ΔE {limits.delta_e:g}",
        f"{measured.tile_share:.2%}",
        tile,
    )
    outcome.figures.update(
        ssim=f"{measured.ssim:.5f}",
        structure=f"{measured.structure:.5f}",
        worst_tile_structure=f"{measured.tile_structure:.5f}",
        delta_e_mean=f"{measured.mean:.3f}",
        delta_e_share=f"{measured.share:.5f}",
        worst_tile_share=f"{measured.tile_share:.5f}",
    )
