"""New contents of a smart object: a PNG, PSD or PSB, checked, decoded, in the document's colours.

The format is what the bytes say, not the name. Dimensions are checked before pixels are decoded. A PSD's
contents are what it shows.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from fabric_dagster.errors import FabricError, OperationFailed
from resources.photoshop import colour
from resources.photoshop.compose import composite
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.raster import Picture, premultiplied
from resources.photoshop.smartobjects import sniff

FORMATS: Final = ("png", "psd", "psb")
FILE_TYPES: Final = {"png": b"png ", "psd": b"8BPS", "psb": b"8BPB"}
CREATORS: Final = {"png": bytes(4), "psd": b"8BIM", "psb": b"8BIM"}
PNG_HEAD: Final = 29
SIXTEEN: Final = 16


@dataclass(frozen=True, slots=True)
class Contents:
    """Decoded contents: premultiplied float32 ``(h, w, 4)`` in the document's colour space."""

    data: bytes
    name: str
    format: str
    picture: Picture

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.picture.shape[1], self.picture.shape[0]


def decode(data: bytes, name: str, target: bytes | None, limits: Limits) -> Contents:
    """Check and decode ``data``; ``target`` is the document's ICC profile (``None``: sRGB).

    Raises ``photoshop.contents_format``, ``contents_broken`` or ``contents_too_large``.
    """
    kind = sniff(data, name)
    if kind not in FORMATS:
        raise OperationFailed(
            "photoshop.contents_format",
            f"contents of the format {kind} can't go into a smart object here",
            where=name,
            mend="give a PNG, PSD or PSB",
        )
    straight, profile = _png(data, name, limits) if kind == "png" else _document(data, name, limits)
    converted = colour.convert(np.ascontiguousarray(straight[..., :3]), profile, target, name)
    scale = 1.0 if converted.dtype == np.float32 else 255.0
    colours = converted.astype(np.float32) / scale
    whole = np.concatenate([colours, straight[..., 3:].astype(np.float32) / scale], axis=-1)
    return Contents(data, name, kind, premultiplied(whole))


def raster_picture(data: bytes, name: str, limits: Limits) -> tuple[Picture, bytes | None]:
    """Any picture that Pillow reads, as straight float32 with its profile; for measurements."""
    from PIL import Image

    if sniff(data, name) in {"psd", "psb"}:
        straight, profile = _document(data, name, limits)
    else:
        with Image.open(io.BytesIO(data)) as image:
            straight, profile = np.asarray(image.convert("RGBA")), image.info.get("icc_profile")
    return (straight / 255).astype(np.float32), profile


def _png(data: bytes, name: str, limits: Limits) -> tuple[np.ndarray, bytes | None]:
    import cv2
    from PIL import Image

    if len(data) < PNG_HEAD or data[12:16] != b"IHDR":
        raise _broken(name, "its header is missing")
    width, height, depth = struct.unpack(">IIB", data[16:25])
    if not width or not height:
        raise _broken(name, "it has no pixels")
    if width * height > limits.pixels:
        raise OperationFailed(
            "photoshop.contents_too_large",
            f"{width} x {height} pixels pass the limit {limits.pixels}",
            where=name,
            mend="give a smaller picture",
        )
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            profile = image.info.get("icc_profile")
            straight = np.asarray(image.convert("RGBA"))
            deep = depth == SIXTEEN and image.mode != "P"
        if deep:
            samples = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
            if samples is None or samples.dtype != np.uint16:
                raise _broken(name, "its 16-bit samples can't be decoded")
            straight = _sixteen(samples)
    except (OSError, SyntaxError, ValueError, EOFError, struct.error) as fault:
        raise _broken(name, "it can't be decoded") from fault
    return straight, profile


def _sixteen(samples: np.ndarray) -> np.ndarray:
    """Gray, gray and alpha, BGR or BGRA of 16 bits as straight float RGBA."""
    scaled = samples.astype(np.float32) / 65535
    if scaled.ndim == 2:  # noqa: PLR2004 - gray has no channel axis
        scaled = scaled[..., None]
    channels = scaled.shape[2]
    colours = scaled[..., [2, 1, 0]] if channels >= 3 else np.repeat(scaled[..., :1], 3, axis=2)  # noqa: PLR2004
    alpha = scaled[..., -1:] if channels in {2, 4} else np.ones_like(scaled[..., :1])
    return np.concatenate([colours, alpha], axis=-1)


def _document(data: bytes, name: str, limits: Limits) -> tuple[np.ndarray, bytes | None]:
    try:
        container = parse(data, limits)
    except FabricError as fault:
        raise _broken(
            name, f"it is a damaged document ({fault.faults[0].what}, {fault.faults[0].where})"
        ) from fault
    picture = composite(container, data)
    return picture.pixels, picture.profile


def _broken(name: str, why: str) -> OperationFailed:
    return OperationFailed(
        "photoshop.contents_broken",
        f"the contents are damaged: {why}",
        where=name,
        mend="give an undamaged picture",
    )
