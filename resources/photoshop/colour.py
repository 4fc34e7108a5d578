"""Colour management: from one ICC profile to another, in straight RGB.

Rules kept here: an untagged document or picture is sRGB (what a web export means by it); equal profiles
convert nothing; a profile that can't be read is a typed refusal, never a silent fallback. Conversions
run with relative colorimetric intent and black point compensation, as Photoshop's default is.
"""

from __future__ import annotations

import io
import struct
from functools import lru_cache
from typing import TYPE_CHECKING

from fabric_dagster.errors import OperationFailed
from resources.photoshop import icc

if TYPE_CHECKING:
    import numpy as np
    from PIL import ImageCms

BPC = 0x2000
LUT_SIDE = 33
FIRST_OF_2000 = struct.pack(">6H", 2000, 1, 1, 0, 0, 0)


@lru_cache(maxsize=1)
def srgb() -> bytes:
    """The sRGB profile that tags and conversions use; the same bytes at every time and on every system."""
    from PIL import ImageCms

    made = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    # The library writes the clock and the platform into the header, which nothing reads.
    return made[:24] + FIRST_OF_2000 + made[36:40] + bytes(4) + made[44:]


def describe(profile: bytes) -> tuple[str, str]:
    """The profile's name and what is wrong with it (empty if nothing)."""
    from PIL import ImageCms

    try:
        opened = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    except (OSError, ImageCms.PyCMSError, ValueError):
        return "", "the embedded ICC profile can't be read"
    try:
        return ImageCms.getProfileDescription(opened).strip(), ""
    except (ImageCms.PyCMSError, ValueError):
        # Its colours are sound; only its name holds what is no character.
        return "unnamed", ""


def is_srgb(profile: bytes | None) -> bool:
    """Whether colours under ``profile`` are sRGB already; an absent profile is."""
    if profile is None:
        return True
    name, fault = describe(profile)
    return not fault and name.lower().startswith("srgb") and "linear" not in name.lower()


def same_space(first: bytes | None, second: bytes | None) -> bool:
    """Whether nothing needs converting between the two."""
    return first == second or (is_srgb(first) and is_srgb(second))


def convert(rgb: np.ndarray, source: bytes | None, target: bytes | None, where: str) -> np.ndarray:
    """Straight RGB ``(h, w, 3)`` uint8 or float32 in 0…1 from profile to profile; same type back.

    ``None`` stands for sRGB. Floats between matrix profiles are computed, others go through a 33³ table of
    the library's transform, which is one of 8 bits. Raises ``photoshop.profile_broken`` or
    ``photoshop.profile_unsupported``.
    """
    import numpy as np
    from PIL import Image

    if same_space(source, target):
        return rgb
    transform = _transform(source or srgb(), target or srgb(), where)
    if str(transform.input_mode) == "L":
        # Gray is drawn as three equal channels; one of them is the gray value.
        gray = rgb[..., 0] if rgb.dtype == np.uint8 else np.round(rgb[..., 0] * 255).astype(np.uint8)
        toned = np.asarray(transform.apply(Image.fromarray(np.ascontiguousarray(gray))))
        return toned if rgb.dtype == np.uint8 else toned.astype(np.float32) / 255
    if rgb.dtype == np.uint8:
        return np.asarray(transform.apply(Image.fromarray(np.ascontiguousarray(rgb))))
    exact = icc.matrix_of(source or srgb()), icc.matrix_of(target or srgb())
    if exact[0] is not None and exact[1] is not None:
        return icc.convert(rgb, exact[0], exact[1])
    return _through_table(rgb, transform)


@lru_cache(maxsize=16)
def _transform(source: bytes, target: bytes, where: str) -> ImageCms.ImageCmsTransform:
    from PIL import ImageCms

    opened: list[ImageCms.ImageCmsProfile] = []
    for profile, owner in ((source, where), (target, where)):
        try:
            one = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        except (OSError, ImageCms.PyCMSError) as fault:
            raise OperationFailed(
                "photoshop.profile_broken",
                "the ICC profile can't be read",
                where=owner,
                mend="assign a valid profile in Photoshop and save again",
            ) from fault
        space = one.profile.xcolor_space.strip()
        if space != "RGB" and not (space == "GRAY" and not opened):
            raise OperationFailed(
                "photoshop.profile_unsupported",
                "the ICC profile is not one for RGB",
                where=owner,
                mend="convert the file to RGB in Photoshop",
                value=space,
            )
        opened.append(one)
    try:
        source_mode = "L" if opened[0].profile.xcolor_space.strip() == "GRAY" else "RGB"
        return ImageCms.buildTransform(
            opened[0],
            opened[1],
            source_mode,
            "RGB",
            ImageCms.Intent.RELATIVE_COLORIMETRIC,
            ImageCms.Flags(BPC),
        )
    except (OSError, ImageCms.PyCMSError) as fault:
        raise OperationFailed(
            "photoshop.profile_broken",
            "the ICC profile defines no usable transform",
            where=where,
            mend="assign a valid profile in Photoshop and save again",
        ) from fault


def _through_table(rgb: np.ndarray, transform: ImageCms.ImageCmsTransform) -> np.ndarray:
    """Trilinear look-up in a table of the 8-bit transform."""
    import numpy as np
    from PIL import Image

    steps = np.round(np.linspace(0, 255, LUT_SIDE)).astype(np.uint8)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(1, -1, 3)
    table = np.asarray(transform.apply(Image.fromarray(grid)), np.float32).reshape(*[LUT_SIDE] * 3, 3) / 255
    knots = steps.astype(np.float32) / 255
    low, part = [], []
    for channel in range(3):
        values = np.clip(rgb[..., channel], 0, 1)
        index = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, LUT_SIDE - 2)
        low.append(index)
        part.append((values - knots[index]) / (knots[index + 1] - knots[index]))
    out = np.zeros_like(rgb, dtype=np.float32)
    for corner in range(8):
        bits = (corner >> 2 & 1, corner >> 1 & 1, corner & 1)
        weight = np.ones(rgb.shape[:2], np.float32)
        for channel, bit in enumerate(bits):
            weight = weight * (part[channel] if bit else 1 - part[channel])
        out += weight[..., None] * table[low[0] + bits[0], low[1] + bits[1], low[2] + bits[2]]
    return out
