"""Whether the art keeps clear of the template's margins.

Looks at what of the export is not the bare template. Only this sees a placement that the template itself
puts beyond its guides: the picture is then as expected, and still wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from pydantic import Field

from fabric_dagster.validators.base import Outcome, Unjudgeable, Validator
from fabric_dagster.validators.kernels import pictures
from fabric_dagster.validators.kernels.derive import (
    PictureNames,
    expected_export,
    exported,
    pixels_of,
    template_document,
)

if TYPE_CHECKING:
    from fabric_dagster.validators.kernels.document import PsdDocument
    from fabric_dagster.validators.view import EvidenceView


class SafeArea(PictureNames):
    """How the safe area is known and how strictly it is kept."""

    #: left, top, right, bottom in canvas pixels; by default from the template's outermost guides.
    area: tuple[int, int, int, int] | None = None
    #: ΔE beyond which a pixel counts as changed by the art, and pixels in a row that make it visible.
    visible: float = Field(default=12.0, gt=0)
    speck: int = Field(default=6, ge=1)
    #: export pixels by which resampling may spread the art.
    tolerance: float = Field(default=1.0, ge=0)


def judge(view: EvidenceView, params: SafeArea) -> Outcome:
    """Compare the bounds of what the art changed with the safe area."""
    outcome = Outcome()
    expected = expected_export(view, params)
    found = pixels_of(view, exported(view, params))
    if found.shape != expected.without_art.shape:
        wanted = "x".join(map(str, expected.frame.size))
        raise Unjudgeable(wanted, f"{found.shape[1]}x{found.shape[0]}", "export")
    area = params.area or guided_area(template_document(view))
    left, top, right, bottom = expected.frame.box(area)
    changed = pictures.delta_e(found, expected.without_art) > params.visible
    bounds = _visible_bounds(changed, params.speck)
    safe = f"within {left:.0f},{top:.0f} to {right:.0f},{bottom:.0f}"
    if bounds is None:
        outcome.must(holds=False, expected="art that shows", found="the bare template", where="export")
        return outcome
    spread = params.tolerance
    for side, over in (
        ("left", left - bounds[0]),
        ("top", top - bounds[1]),
        ("right", bounds[2] - right),
        ("bottom", bounds[3] - bottom),
    ):
        shown = f"{over:.1f} px beyond it" if over > spread else "inside"
        outcome.must(over <= spread, safe, shown, f"export, {side}")
    outcome.figures["art_bounds"] = ",".join(map(str, bounds))
    outcome.figures["safe_area"] = f"{left:.1f},{top:.1f},{right:.1f},{bottom:.1f}"
    return outcome


def guided_area(document: PsdDocument) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of the safe area: between the outermost guides."""
    vertical, horizontal = document.guides
    if len(vertical) < 2 or len(horizontal) < 2:  # noqa: PLR2004 - two a direction
        found = f"{len(vertical)} vertical and {len(horizontal)} horizontal guides"
        raise Unjudgeable("guides around the safe area, or the parameter area", found, document.where)
    return vertical[0], horizontal[0], vertical[-1], horizontal[-1]


def _visible_bounds(changed: np.ndarray, speck: int) -> pictures.Box | None:
    """Bounds of all connected areas of at least ``speck`` pixels."""
    # Opened first: a line one pixel wide is a soft edge that resampling moved, not art.
    solid = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=8)
    boxes = [stats[index] for index in range(1, count) if stats[index][cv2.CC_STAT_AREA] >= speck]
    if not boxes:
        return None
    return (
        int(min(box[cv2.CC_STAT_LEFT] for box in boxes)),
        int(min(box[cv2.CC_STAT_TOP] for box in boxes)),
        int(max(box[cv2.CC_STAT_LEFT] + box[cv2.CC_STAT_WIDTH] for box in boxes)),
        int(max(box[cv2.CC_STAT_TOP] + box[cv2.CC_STAT_HEIGHT] for box in boxes)),
    )


VALIDATOR = Validator(
    id="safe_area@1",
    summary="The art lies within the template's safe area.",
    params=SafeArea,
    judge=judge,
)
