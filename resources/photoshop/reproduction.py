"""Whether a smart object can be drawn here as Photoshop drew it: its present contents, drawn again.

Rules kept here: the measure is the mean difference of colours over white, 0 to 255, on the rectangle that
both rasters lie in; a layer that keeps no raster, or contents that can't be decoded, prove nothing.
"""

from __future__ import annotations

import hashlib
import io
import struct
from typing import TYPE_CHECKING, Final

import numpy as np

from fabric_dagster.errors import FabricError, OperationFailed
from resources.photoshop import colour
from resources.photoshop.contents import raster_picture
from resources.photoshop.layer_pixels import described, read_picture
from resources.photoshop.raster import Picture, place, premultiplied
from resources.photoshop.warp import place_warped

if TYPE_CHECKING:
    from resources.photoshop.document import Document, Layer
    from resources.photoshop.psd.limits import Limits
    from resources.photoshop.smartobjects import Link, Placement

WORST: Final = 5.0
PICTURES: Final = {"png", "jpeg", "psd", "psb", "gif", "tiff", "webp"}
PIXEL_FORMATS: Final = PICTURES - {"psd", "psb"}
#: errors that a process keeps
REMEMBERED: Final = 1024
_measured: dict[str, float] = {}


def original(link: Link, document: Document, limits: Limits) -> Picture | None:
    """The present contents in the document's colours, premultiplied; ``None`` where they don't decode."""
    from PIL import Image

    data = link.item.data or b""
    if link.format not in PICTURES:
        return None
    try:
        if link.format in PIXEL_FORMATS:
            with Image.open(io.BytesIO(data)) as image:
                if image.width * image.height > limits.pixels:
                    return None
        straight, profile = raster_picture(data, link.name, limits)
        rgb = colour.convert(np.ascontiguousarray(straight[..., :3]), profile, document.icc, link.name)
    except (FabricError, OSError, SyntaxError, ValueError):
        return None
    return premultiplied(np.concatenate([rgb, straight[..., 3:]], axis=-1).astype(np.float32))


def placed_picture(contents: Picture, placed: Placement) -> tuple[Picture, int, int]:
    """Contents through an unchanged placement: (premultiplied raster, left, top)."""
    quad = np.asarray(placed.quad, float)
    if placed.warp is not None:
        return place_warped(contents, quad, placed.warp, placed.size)
    return place(contents, quad)


def error_of(document: Document, layer: Layer, placed: Placement, link: Link, limits: Limits) -> float | None:
    """How far the present contents, drawn again, are from the layer's raster; ``None``: not to be told."""
    if layer.record.right <= layer.record.left or layer.record.channel(-1) is None:
        return None
    identity = _identity(document, layer, placed, link)
    if identity in _measured:
        return _measured[identity]
    contents = original(link, document, limits)
    if contents is None:
        return None
    raster = read_picture(layer, document.container.header)
    if len(_measured) >= REMEMBERED:
        _measured.clear()
    _measured[identity] = difference(placed_picture(contents, placed), raster)
    return _measured[identity]


def _identity(document: Document, layer: Layer, placed: Placement, link: Link) -> str:
    """All that the error depends on: a warm worker measures a template's layers once, not at each export."""
    record, header = layer.record, document.container.header
    box = struct.pack(
        ">4iHH", record.left, record.top, record.right, record.bottom, header.depth, header.version
    )
    parts = [box, placed.block.data, link.item.data or b"", link.name.encode(), document.icc or b""]
    parts += [channel.id.to_bytes(2, "big", signed=True) + channel.data for channel in record.channels]
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def difference(first: tuple[Picture, int, int], second: tuple[Picture, int, int]) -> float:
    """The mean difference over white of two placed premultiplied pictures, on the rectangle around both."""
    boxes = [(x, y, x + p.shape[1], y + p.shape[0]) for p, x, y in (first, second)]
    left, top = (min(box[side] for box in boxes) for side in (0, 1))
    right, bottom = (max(box[side] for box in boxes) for side in (2, 3))
    shown = []
    for picture, x, y in (first, second):
        canvas = np.ones((bottom - top, right - left, 3), np.float32)
        part = canvas[y - top :, x - left :][: picture.shape[0], : picture.shape[1]]
        part[:] = picture[..., :3] + 1 - picture[..., 3:]
        shown.append(canvas)
    return float(np.abs(shown[0] - shown[1]).mean() * 255)


def prove(document: Document, layer: Layer, placed: Placement, link: Link, limits: Limits) -> float:
    """The error, if it is small enough; raises ``photoshop.smart_object_not_reproducible``."""
    error = error_of(document, layer, placed, link, limits)
    if error is not None and error <= WORST:
        return error
    what = (
        "its present contents or its own raster can't be decoded, so nothing proves how it is drawn"
        if error is None
        else f"its present contents, drawn again here, are {error:.1f} of 255 off what Photoshop drew"
    )
    raise OperationFailed(
        "photoshop.smart_object_not_reproducible",
        f"{what}; the limit is {WORST:g}",
        where=described(layer),
        mend="replace it in Photoshop, or commission it with unproven: allow",
        value="unknown" if error is None else f"{error:.2f}",
    )
