"""Whether the transparency is straight, of the right extent, and free of fringes and specks.

Only this sees colours that are wrong where hardly anything shows: premultiplied or matted soft edges, and
lone pixels far from the picture, which a filter or an atlas later makes visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from pydantic import Field

from fabric_dagster.validators.base import Outcome, Unjudgeable, Validator
from fabric_dagster.validators.kernels import pictures
from fabric_dagster.validators.kernels.derive import PictureNames, expected_export, exported, pixels_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fabric_dagster.validators.kernels.pictures import Picture
    from fabric_dagster.validators.view import EvidenceView

#: alpha of soft edges: below, 8 bits hold no colour; above, a fringe cannot be told from the picture
SOFT = (8 / 255, 200 / 255)
NEAR = 3
#: a resampling filter may ring this far beyond an edge; what lies further is a speck
RINGING = 6


class AlphaClean(PictureNames):
    """How clean."""

    #: share of the canvas by which the covered area may differ from the expected one.
    coverage: float = Field(default=0.01, gt=0)
    #: ΔE from which a soft pixel's own colour is a fringe, and the share of soft pixels that may be.
    fringe_delta_e: float = Field(default=25.0, gt=0)
    fringe_share: float = Field(default=0.05, ge=0)
    #: mean error (0…1) of soft colours from which a better explanation than straight ones is believed.
    edge_error: float = Field(default=0.03, gt=0)
    #: largest area in pixels of a speck.
    speck: int = Field(default=16, ge=1)


def judge(view: EvidenceView, params: AlphaClean) -> Outcome:
    """Coverage, then the colours of soft edges, then specks."""
    outcome = Outcome()
    actual = exported(view, params)
    found, expected = pixels_of(view, actual), expected_export(view, params).picture
    if found.shape != expected.shape:
        wanted = f"{expected.shape[1]}x{expected.shape[0]}"
        raise Unjudgeable(wanted, f"{found.shape[1]}x{found.shape[0]}", actual.name)
    _coverage(outcome, found, expected, params, actual.name)
    _fringe(outcome, found, expected, params, actual.name)
    _specks(outcome, found, expected, params, actual.name)
    return outcome


def _coverage(outcome: Outcome, found: Picture, expected: Picture, params: AlphaClean, where: str) -> None:
    wanted, covered = float(expected[..., 3].mean()), float(found[..., 3].mean())
    outcome.must(
        abs(wanted - covered) <= params.coverage,
        f"{wanted:.1%} of the canvas covered",
        f"{covered:.1%}",
        where,
    )
    for name, value in (("transparent", 0.0), ("opaque", 1.0)):
        wholly = bool((found[..., 3] == value).all()) and not (expected[..., 3] == value).all()
        outcome.must(
            not wholly,
            f"a picture that is not {name} all over",
            f"{name} all over" if wholly else "so",
            where,
        )
    outcome.figures["coverage"] = f"{covered:.4f}"


def _fringe(outcome: Outcome, found: Picture, expected: Picture, params: AlphaClean, where: str) -> None:
    """Colours of soft pixels against their opaque neighbours and against the expectation's own colours."""
    alpha = found[..., 3]
    soft = (alpha > SOFT[0]) & (alpha < SOFT[1]) & (expected[..., 3] > SOFT[0])
    count = int(soft.sum())
    outcome.figures["soft_pixels"] = str(count)
    if not count:
        outcome.must(holds=True, expected="clean soft edges", found="no soft edges", where=where)
        return
    _edge_model(outcome, found[soft], expected[soft], params, where)
    own = pictures.lab(np.ascontiguousarray(found[..., :3]))
    wanted = pictures.lab(np.ascontiguousarray(expected[..., :3]))
    strange = soft & (_distance(own, wanted) > params.fringe_delta_e) & _unlike_neighbours(own, alpha, params)
    share = int(strange.sum()) / count
    outcome.must(
        share <= params.fringe_share,
        f"at most {params.fringe_share:.1%} of soft pixels unlike their opaque neighbours",
        f"{share:.1%} of {count} soft pixels",
        where,
    )
    outcome.figures["fringe_share"] = f"{share:.4f}"


def _unlike_neighbours(
    own: NDArray[np.float32], alpha: NDArray[np.float32], params: AlphaClean
) -> NDArray[np.bool_]:
    """Pixels whose colour differs from every opaque pixel near them (or that have none near)."""
    opaque = alpha > SOFT[1]
    nearest = np.full(alpha.shape, np.inf, np.float32)
    high, wide = alpha.shape
    padded = cv2.copyMakeBorder(own, NEAR, NEAR, NEAR, NEAR, cv2.BORDER_REPLICATE)
    solid = cv2.copyMakeBorder(opaque.astype(np.uint8), NEAR, NEAR, NEAR, NEAR, cv2.BORDER_CONSTANT)
    soft_rows, soft_columns = np.nonzero((alpha > 0) & ~opaque)
    here = own[soft_rows, soft_columns]
    best = np.full(len(soft_rows), np.inf, np.float32)
    for dy in range(2 * NEAR + 1):
        for dx in range(2 * NEAR + 1):
            there = padded[soft_rows + dy, soft_columns + dx]
            apart = np.sqrt(((here - there) ** 2).sum(axis=1))
            best = np.where(solid[soft_rows + dy, soft_columns + dx] > 0, np.minimum(best, apart), best)
    nearest[soft_rows, soft_columns] = best
    return np.asarray((nearest > params.fringe_delta_e).reshape(high, wide))


def _distance(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    difference = one - other
    return np.asarray(np.sqrt(np.einsum("ijk,ijk->ij", difference, difference)), np.float32)


def _edge_model(
    outcome: Outcome,
    found: NDArray[np.float32],
    expected: NDArray[np.float32],
    params: AlphaClean,
    where: str,
) -> None:
    """Which explanation fits the soft pixels ``(n, 4)`` best: straight colours, or a known mistake."""
    colour, alpha, measured = expected[:, :3], found[:, 3:], found[:, :3]
    # Low alpha holds little colour and high alpha little fringe: the middle counts most.
    weights = alpha * (1 - alpha)
    models = {
        "straight": colour,
        "premultiplied (darkened by their own alpha)": colour * alpha,
        "matted with white": colour * alpha + 1 - alpha,
    }
    total = float(weights.sum()) * 3
    errors = {
        name: float((np.abs(model - measured) * weights).sum()) / total for name, model in models.items()
    }
    best = min(errors, key=lambda name: errors[name])
    # A mistake explains what was found far better; a moved picture is explained by nothing.
    mistaken = errors["straight"] > params.edge_error and errors[best] < errors["straight"] / 2
    shown = best if mistaken else "straight"
    outcome.must(
        not mistaken, "soft edges with straight colours", f"{shown}, off by {errors['straight']:.3f}", where
    )
    outcome.figures["edge_error"] = f"{errors['straight']:.4f}"


def _specks(outcome: Outcome, found: Picture, expected: Picture, params: AlphaClean, where: str) -> None:
    kernel = np.ones((2 * RINGING + 1, 2 * RINGING + 1), np.uint8)
    picture = cv2.dilate((expected[..., 3] > 0).astype(np.uint8), kernel)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(
        (found[..., 3] > 0).astype(np.uint8), connectivity=8
    )
    met = set(np.unique(labels[picture > 0]).tolist())
    lone = [index for index in range(1, count) if index not in met]
    small = [stats[index] for index in lone if stats[index][cv2.CC_STAT_AREA] <= params.speck]
    places = ", ".join(f"{box[cv2.CC_STAT_LEFT]},{box[cv2.CC_STAT_TOP]}" for box in small[:5])
    outcome.must(not small, "no lone pixels", f"{len(small)} specks at {places}" if small else "none", where)


VALIDATOR = Validator(
    id="alpha_clean@1",
    summary="Transparency is straight and of the expected extent, without fringes or lone pixels.",
    params=AlphaClean,
    judge=judge,
)
