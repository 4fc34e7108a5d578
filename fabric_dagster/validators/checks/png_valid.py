"""Whether the export is a PNG of the asked size and form, every byte of it.

Only this sees bytes after the picture's end, text or time in it, and a wrong form with the right colours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from fabric_dagster.validators.base import Outcome, Validator
from fabric_dagster.validators.kernels import png
from fabric_dagster.validators.kernels.derive import (
    PictureNames,
    expected_export,
    exported,
    pixels_of,
)

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView


class PngValid(PictureNames):
    """What the export may be."""

    max_bytes: int = Field(default=8 << 20, ge=1)
    #: bits a sample.
    depth: int = 8
    #: chunks besides the picture itself that may be there; colour is ``colour_space@1``'s business.
    ancillary: tuple[str, ...] = ("cHRM", "gAMA", "iCCP", "pHYs", "sRGB")


def judge(view: EvidenceView, params: PngValid) -> Outcome:
    """Take the file apart, decode it whole, compare its form."""
    outcome = Outcome()
    actual = exported(view, params)
    found = png.examine(actual.data)
    for fault in found.faults:
        outcome.must(holds=False, expected="a sound PNG", found=fault, where=actual.name)
    outcome.must(
        len(actual.data) <= params.max_bytes,
        f"at most {params.max_bytes} bytes",
        f"{len(actual.data)} bytes",
        actual.name,
    )
    unwanted = sorted(set(found.ancillary) - set(params.ancillary))
    outcome.must(not unwanted, "no metadata", ", ".join(unwanted) or "none", actual.name)
    if not found.width:
        return outcome
    outcome.equal(f"rgba {params.depth} bit", found.form, actual.name)
    wide, high = expected_export(view, params).frame.size
    outcome.equal(f"{wide} x {high}", f"{found.width} x {found.height}", actual.name)
    if not found.faults:
        decoded = pixels_of(view, actual)
        outcome.equal((found.height, found.width), decoded.shape[:2], f"{actual.name} decoded")
    outcome.figures.update(
        size=f"{found.width} x {found.height}", form=found.form, bytes=str(len(actual.data))
    )
    return outcome


VALIDATOR = Validator(
    id="png_valid@1",
    summary="The export is a sound PNG of the preset's size and form, without anything else in it.",
    params=PngValid,
    judge=judge,
)
