"""Where the canvas lies in an export: the preset's geometry, worked out once more and apart from the hands.

A picture is cut (``area``), scaled (``size``), centred within an exact frame, and padded with transparent
pixels. ``Frame`` says where a canvas point ends up; ``framed`` makes the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from pydantic import ValidationError

from fabric_dagster.capabilities.photoshop_shared import PRESETS, ExportPreset
from fabric_dagster.validators.base import Unjudgeable
from fabric_dagster.validators.kernels import pictures

if TYPE_CHECKING:
    from fabric_dagster.validators.kernels.pictures import Box, Picture


@dataclass(frozen=True)
class Frame:
    """The part of the canvas that is shown, its size in the export, its place there, the export's size."""

    cut: Box
    scaled: tuple[int, int]
    at: tuple[int, int]
    size: tuple[int, int]

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A canvas position in the export."""
        left, top, right, bottom = self.cut
        return (
            self.at[0] + (x - left) * self.scaled[0] / (right - left),
            self.at[1] + (y - top) * self.scaled[1] / (bottom - top),
        )

    def box(self, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """A canvas rectangle in the export."""
        return (*self.point(box[0], box[1]), *self.point(box[2], box[3]))


def read_preset(value: Any, where: str) -> ExportPreset:  # noqa: ANN401 - a pack's value
    """A decided preset, by name or as data."""
    if isinstance(value, str) and value in PRESETS:
        return PRESETS[value]
    try:
        return ExportPreset.model_validate(value)
    except ValidationError as fault:
        found = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in fault.errors(include_url=False)
        )
        raise Unjudgeable("an export preset", found, where) from fault


def frame_of(preset: ExportPreset, picture: Picture) -> Frame:
    """The frame of ``picture`` (the whole canvas) under ``preset``."""
    height, width = picture.shape[:2]
    cut: Box = (0, 0, width, height)
    if preset.area == "content":
        cut = pictures.bounds(pictures.as_bytes(picture[..., 3]) > 0) or cut
    wide, high = cut[2] - cut[0], cut[3] - cut[1]
    edge = preset.padding
    if preset.width is not None and preset.height is not None:
        factor = min((preset.width - 2 * edge) / wide, (preset.height - 2 * edge) / high)
    elif preset.longest is not None:
        factor = max(preset.longest - 2 * edge, 1) / max(wide, high)
    else:
        factor = (preset.percent or 100) / 100
    scaled = (max(1, round(wide * factor)), max(1, round(high * factor)))
    if preset.width is not None and preset.height is not None:
        outer = (preset.width, preset.height)
    else:
        outer = (scaled[0] + 2 * edge, scaled[1] + 2 * edge)
    outer = (_up(outer[0], preset.multiple), _up(outer[1], preset.multiple))
    at = ((outer[0] - scaled[0]) // 2, (outer[1] - scaled[1]) // 2)
    return Frame(cut, scaled, at, outer)


def framed(picture: Picture, frame: Frame) -> Picture:
    """The export of ``picture``, straight RGBA: area averages where it shrinks."""
    left, top, right, bottom = frame.cut
    part = pictures.resized(picture[top:bottom, left:right], *frame.scaled)
    if frame.scaled == frame.size:
        return part
    out = np.zeros((frame.size[1], frame.size[0], 4), np.float32)
    out[frame.at[1] : frame.at[1] + frame.scaled[1], frame.at[0] : frame.at[0] + frame.scaled[0]] = part
    return out


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def softened(picture: Picture) -> Picture:
    """``picture`` slightly blurred, premultiplied: resampling filters differ by less afterwards."""
    blurred = cv2.GaussianBlur(pictures.multiplied(picture), (3, 3), 0.6)
    return pictures.straight(np.asarray(blurred, np.float32))
