"""A layer's pixels, read and written, whatever the operation: channels, rectangle, depth.

Samples are straight and native, ``(h, w, 4)`` RGBA; a layer without a transparency channel is opaque.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fabric_dagster.errors import OperationFailed
from resources.photoshop.address import path_of
from resources.photoshop.psd.codec import NATIVE, decode, encode
from resources.photoshop.psd.layers import Channel, LayerRecord
from resources.photoshop.raster import Picture, premultiplied, straightened, trimmed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from resources.photoshop.document import Document, Layer
    from resources.photoshop.psd.container import Header

DEPTHS: Final = (8, 16)
RLE: Final = 1
COLOURS: Final = (-1, 0, 1, 2)


def require_rgb(document: Document) -> None:
    """Refuse documents whose pixels no operation edits."""
    header = document.container.header
    if document.mode != "rgb" or header.depth not in DEPTHS:
        raise OperationFailed(
            "photoshop.unsupported_mode",
            f"pixels are edited only in RGB of 8 and 16 bits, not {document.mode} of {header.depth}",
            mend="convert the template to RGB in Photoshop",
        )


def read_pixels(record: LayerRecord, header: Header, where: str) -> NDArray[Any]:
    """Straight native samples of a layer; raises ``psd.bad_channel``."""
    width, height = max(0, record.right - record.left), max(0, record.bottom - record.top)
    planes = []
    for number in (0, 1, 2, -1):
        channel = record.channel(number)
        if channel is None:
            full = (1 << header.depth) - 1
            planes.append(np.full((height, width), full if number < 0 else 0, NATIVE[header.depth]))
        else:
            planes.append(decode(channel.data, width, height, header.depth, header.version, where))
    return np.stack(planes, axis=-1)


def read_picture(layer: Layer, header: Header) -> tuple[Picture, int, int]:
    """The layer's raster, premultiplied float32, with its left and top."""
    samples = read_pixels(layer.record, header, f"layer {path_of(layer)!r}")
    straight = (samples / ((1 << header.depth) - 1)).astype(np.float32)
    return premultiplied(straight), layer.record.left, layer.record.top


def write_pixels(record: LayerRecord, samples: NDArray[Any], left: int, top: int, version: int) -> None:
    """Put straight native samples in; each channel keeps its kind of compression."""
    height, width = samples.shape[:2]
    record.left, record.top = (left, top) if width else (0, 0)
    record.right, record.bottom = record.left + width, record.top + height
    if record.channel(-1) is None:
        record.channels.insert(0, Channel(-1, RLE.to_bytes(2, "big")))
    for channel in record.channels:
        if channel.id in COLOURS:
            kind = int.from_bytes(channel.data[:2], "big") if width else 0
            plane = 3 if channel.id < 0 else channel.id
            channel.data = encode(np.ascontiguousarray(samples[..., plane]), kind, version)


def write_picture(record: LayerRecord, picture: Picture, left: int, top: int, header: Header) -> None:
    """Put a premultiplied picture in, cut to what is not transparent."""
    picture, left, top = trimmed(picture, left, top, header.depth)
    write_pixels(record, quantised(picture, header.depth), left, top, header.version)


def quantised(picture: Picture, depth: int) -> NDArray[Any]:
    """Premultiplied float to straight native samples."""
    return np.round(straightened(picture) * ((1 << depth) - 1)).astype(NATIVE[depth])


def pixel_blocks(key: str) -> list[str]:
    """What may differ when a layer's pixels change; ``key`` is the layer's name in block keys."""
    return [f"layer/{key}/rectangle", *(f"layer/{key}/channel/{plane}" for plane in COLOURS)]


def refuse_locked(layer: Layer, *locks: str) -> None:
    """Refuse a layer on which one of ``locks`` (or everything) is locked, by itself or a group around it."""
    at: Layer | None = layer
    while at is not None:
        found = ({"all", *locks} if at is layer else {"all"}) & set(at.locks)
        if found:
            raise OperationFailed(
                "photoshop.layer_locked",
                f"the layer is locked ({', '.join(sorted(found))})",
                where=described(at),
                mend="unlock it in the template",
            )
        at = at.parent


def described(layer: Layer) -> str:
    """A layer for an error's ``where``."""
    return f"layer {path_of(layer)!r} (id {layer.id})"


def wrong_kind(layer: Layer, wanted: str) -> OperationFailed:
    """The refusal of a layer that the operation does not serve."""
    return OperationFailed(
        "photoshop.layer_kind",
        f"this is a {layer.kind.replace('_', ' ')} layer, not {wanted}",
        where=described(layer),
        mend=f"address {wanted}",
    )
