"""Whether the export is the reference picture wherever the art does not lie.

The reference is the template's own merged image, which Photoshop drew and no engine of ours did, or a picture
of the pack. Only this sees an engine that draws the template wrong in the same way everywhere: what the other
checks expect is drawn from the same layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from pydantic import Field

from fabric_dagster.validators.base import Outcome, Unjudgeable, Validator
from fabric_dagster.validators.kernels import document as documents
from fabric_dagster.validators.kernels import expectation as drawing
from fabric_dagster.validators.kernels import pictures, png
from fabric_dagster.validators.kernels.derive import (
    PictureNames,
    address_of,
    expected_export,
    exported,
    pixels_of,
    template_document,
)
from fabric_dagster.validators.kernels.frame import framed
from fabric_dagster.validators.kernels.likeness import Likeness, must_be_alike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fabric_dagster.validators.kernels.derive import Expected
    from fabric_dagster.validators.kernels.pictures import Picture
    from fabric_dagster.validators.view import EvidenceView

HASHED, KEPT = 32, 8


class ReferenceMatch(PictureNames):
    """The reference, and how alike is alike enough."""

    #: a PNG of the pack, in the export's size; by default the template's merged image.
    reference: str | None = None
    #: export pixels around the art's corners that are not compared: effects and resampling reach there.
    margin: int = Field(default=6, ge=0, le=512)
    #: bits of 63 by which the perceptual hashes may differ.
    hash_bits: int = Field(default=6, ge=0, le=63)
    likeness: Likeness = Likeness()


def judge(view: EvidenceView, params: ReferenceMatch) -> Outcome:
    """Compare the export with the reference outside of the art."""
    outcome = Outcome()
    actual = exported(view, params)
    found = pixels_of(view, actual)
    expected = expected_export(view, params)
    wanted = _reference(view, params, expected)
    if not outcome.equal(wanted.shape[:2], found.shape[:2], f"{actual.name}, height and width"):
        return outcome
    if params.reference is None:
        covered = _covered(view, params, expected)
        outcome.figures["compared_share"] = f"{1 - covered.mean():.4f}"
        found = np.where(covered[..., None], wanted, found).astype(np.float32)
    apart = int(np.count_nonzero(perceptual_hash(wanted) ^ perceptual_hash(found)))
    outcome.must(
        apart <= params.hash_bits,
        f"a perceptual hash within {params.hash_bits} bits of the reference's",
        f"{apart} bits",
        actual.name,
    )
    outcome.figures["hash_bits"] = str(apart)
    must_be_alike(outcome, wanted, found, params.likeness, f"{actual.name} against the reference", show=True)
    return outcome


def perceptual_hash(picture: Picture) -> NDArray[np.bool_]:
    """63 bits: which of the lowest cosine frequencies of the brightness over white exceed their median."""
    gray = cv2.cvtColor(pictures.over(picture, 1.0), cv2.COLOR_RGB2GRAY)
    small = cv2.resize(gray, (HASHED, HASHED), interpolation=cv2.INTER_AREA)
    low = np.asarray(cv2.dct(small))[:KEPT, :KEPT].reshape(-1)[1:]
    return np.asarray(low > np.median(low), np.bool_)


def _reference(view: EvidenceView, params: ReferenceMatch, expected: Expected) -> Picture:
    if params.reference is not None:
        folder = view.pack.folder.resolve()
        path = (folder / params.reference).resolve()
        if not path.is_relative_to(folder) or not path.is_file():
            raise Unjudgeable("a picture of the pack", params.reference, "reference")
        return pictures.as_float(png.decode(path.read_bytes(), params.reference))
    template = template_document(view)
    shown = template.merged()
    if expected.preset.profile == "srgb":
        shown[..., :3] = drawing.converted(shown[..., :3], template.icc, None, template.where)
    return framed(pictures.straight(pictures.multiplied(shown)), expected.frame)


def _covered(view: EvidenceView, params: ReferenceMatch, expected: Expected) -> NDArray[np.bool_]:
    """Where the old art or the new one lies in the export."""
    template = template_document(view)
    old = documents.quad_of(template.layer(address_of(view.decided(params.layer))), template.where)
    wide, high = expected.frame.size
    mask = np.zeros((high, wide), np.uint8)
    for quad in (old, expected.quad):
        points = np.array([expected.frame.point(float(x), float(y)) for x, y in quad])
        cv2.fillPoly(mask, [np.round(points).astype(np.int32)], 1)
    kernel = np.ones((2 * params.margin + 1,) * 2, np.uint8)
    return np.asarray(cv2.dilate(mask, kernel) > 0, np.bool_)


VALIDATOR = Validator(
    id="reference_match@1",
    summary="Outside of the art, the export is what Photoshop drew of the template.",
    params=ReferenceMatch,
    judge=judge,
)
