"""Whether the export says which colours it means, and has the right ones.

Only this sees a picture whose colour declaration is missing or names another space. Colours are compared as
averages of the art and of the rest with a converted reference, so a moved picture is not a wrong colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from fabric_dagster.validators.base import Outcome, Validator
from fabric_dagster.validators.kernels import pictures, png
from fabric_dagster.validators.kernels.derive import (
    PictureNames,
    expected_export,
    exported,
    pixels_of,
    template_document,
)
from fabric_dagster.validators.kernels.expectation import is_srgb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fabric_dagster.validators.view import EvidenceView

MINIMUM_WEIGHT = 16.0


class ColourSpace(PictureNames):
    """How far averages may lie apart."""

    max_delta_e: float = Field(default=1.5, gt=0)


def judge(view: EvidenceView, params: ColourSpace) -> Outcome:
    """Look at the declaration, then at average colours and average chroma."""
    outcome = Outcome()
    actual = exported(view, params)
    expected = expected_export(view, params)
    structure = png.examine(actual.data)
    profile = png.profile(structure)
    declared = "sRGB chunk" if b"sRGB" in structure.chunks else "no declaration"
    if profile is not None:
        declared = "an sRGB profile" if is_srgb(profile) else "another ICC profile"
    if expected.preset.profile == "srgb":
        holds = (profile is not None and is_srgb(profile)) or (
            profile is None and b"sRGB" in structure.chunks
        )
        outcome.must(holds, "sRGB, declared by its chunk or profile", declared, actual.name)
    else:
        same = profile is not None and profile == template_document(view).icc
        outcome.must(same, "the template's own profile", declared, actual.name)
    found = pixels_of(view, actual)
    for name, inside in (("art", True), ("rest", False)):
        weights = _weights(expected.frame.box(_box(expected.quad)), expected.picture, inside=inside)
        reference = _average(expected.picture, weights)
        weights = _weights(expected.frame.box(_box(expected.quad)), found, inside=inside)
        measured = _average(found, weights)
        if reference is None:
            continue
        apart = float("inf") if measured is None else float(np.abs(reference - measured).max())
        outcome.must(
            apart <= params.max_delta_e,
            f"average colours within ΔE {params.max_delta_e:g} of the converted reference",
            f"ΔE {apart:.2f}",
            f"{actual.name}, {name}",
        )
        outcome.figures[f"delta_e_{name}"] = f"{apart:.3f}"
    outcome.figures["declared"] = declared
    return outcome


def _box(quad: tuple[tuple[float, float], ...]) -> tuple[float, float, float, float]:
    across, down = zip(*quad, strict=True)
    return min(across), min(down), max(across), max(down)


def _weights(
    box: tuple[float, float, float, float], picture: pictures.Picture, *, inside: bool
) -> NDArray[np.float32]:
    """Alpha inside (or outside) of the art's rectangle, nothing elsewhere."""
    mask = np.zeros(picture.shape[:2], np.float32)
    left, top, right, bottom = (max(0, round(value)) for value in box)
    mask[top:bottom, left:right] = 1
    return np.asarray(picture[..., 3] * (mask if inside else 1 - mask), np.float32)


def _average(picture: pictures.Picture, weights: NDArray[np.float32]) -> NDArray[np.float64] | None:
    """Mean L*, a*, b* and mean chroma, by weight; ``None`` where there is hardly anything."""
    total = float(weights.sum(dtype=np.float64))
    if total < MINIMUM_WEIGHT:
        return None
    lab = pictures.lab(np.ascontiguousarray(picture[..., :3]))
    chroma = np.sqrt(lab[..., 1] ** 2 + lab[..., 2] ** 2)
    planes = (*(lab[..., channel] for channel in range(3)), chroma)
    return np.asarray([float((plane * weights).sum(dtype=np.float64)) / total for plane in planes])


VALIDATOR = Validator(
    id="colour_space@1",
    summary="The export declares its colour space, and its colours are those of a converted reference.",
    params=ColourSpace,
    judge=judge,
)
