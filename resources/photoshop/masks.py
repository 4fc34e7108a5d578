"""Pixel masks of layers: read, switched, inverted, filled, replaced, resized with their layer.

Rules kept here: samples are native to the document's depth, 0 hides; outside of its rectangle a mask has
one value; a mask that Photoshop drew from a vector mask is not one that can be edited, and a layer that has
both is refused, since the two are kept drawn into one.

Source: Adobe Photoshop File Formats Specification, "Layer mask / adjustment layer data".
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fabric_dagster.errors import OperationFailed
from resources.photoshop.arranging import keys_of
from resources.photoshop.layer_pixels import described, refuse_locked, wrong_kind
from resources.photoshop.psd.codec import NATIVE, decode, encode
from resources.photoshop.psd.layers import REAL_MASK, USER_MASK, Channel
from resources.photoshop.psd.limits import Limits
from resources.photoshop.smartobjects import sniff

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from resources.photoshop.document import Document, Layer
    from resources.photoshop.psd.container import Header

    Result = tuple[list[str], dict[str, Any]]

UNLINKED, DISABLED, RENDERED = 1, 2, 8
LEAST: Final = 18
RLE: Final = 1
SIXTEEN: Final = 16


@dataclass(slots=True)
class Mask:
    """A layer's own pixel mask: position, value outside, flags, samples."""

    left: int
    top: int
    outside: int
    flags: int
    samples: NDArray[Any]

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right, bottom."""
        return self.left, self.top, self.left + self.samples.shape[1], self.top + self.samples.shape[0]


def read_mask(layer: Layer, header: Header) -> Mask | None:
    """The layer's own mask, or ``None``; raises ``photoshop.layer_kind`` where a vector mask is drawn in."""
    record = layer.record
    channel = record.channel(USER_MASK)
    if len(record.mask) < LEAST or channel is None or record.mask[17] & RENDERED:
        return None
    if record.channel(REAL_MASK) is not None:
        raise wrong_kind(layer, "a layer whose mask has no vector mask drawn into it")
    top, left, bottom, right = struct.unpack(">4i", record.mask[:16])
    width, height = max(0, right - left), max(0, bottom - top)
    if width * height > Limits().pixels:
        raise OperationFailed(
            "psd.too_many_pixels", f"a mask of {width} x {height} is too large", where=described(layer),
            mend="draw the mask again in Photoshop",
        )  # fmt: skip
    samples = decode(channel.data, width, height, header.depth, header.version, described(layer))
    return Mask(left, top, record.mask[16], record.mask[17], samples)


def write_mask(layer: Layer, header: Header, mask: Mask) -> None:
    """Put a mask in; density and feather of one that was there are kept."""
    record = layer.record
    left, top, right, bottom = mask.box
    head = struct.pack(">4iBB", top, left, bottom, right, mask.outside, mask.flags)
    record.mask = head + (record.mask[LEAST:] if len(record.mask) >= LEAST else bytes(2))
    channel = record.channel(USER_MASK)
    kind = int.from_bytes(channel.data[:2], "big") if channel is not None and mask.samples.size else RLE
    data = encode(np.ascontiguousarray(mask.samples), kind if mask.samples.size else 0, header.version)
    if channel is None:
        record.channels.append(Channel(USER_MASK, data))
    else:
        channel.data = data


def mask_blocks(key: str) -> list[str]:
    """What may differ when a layer's mask changes."""
    return [f"layer/{key}/mask", f"layer/{key}/channel/{USER_MASK}"]


def edit_mask(document: Document, layer: Layer, args: dict[str, Any]) -> Result:
    """Enable, disable, invert or fill; raises ``photoshop.mask_missing`` where there is none."""
    _require_depth(document)
    refuse_locked(layer)
    header = document.container.header
    mask = read_mask(layer, header)
    if mask is None:
        raise OperationFailed(
            "photoshop.mask_missing", "the layer has no pixel mask", where=described(layer),
            mend="add one in the template, or replace it from a picture",
        )  # fmt: skip
    action = args["action"]
    full = (1 << header.depth) - 1
    if action in {"enable", "disable"}:
        mask.flags = mask.flags & ~DISABLED | (DISABLED if action == "disable" else 0)
    elif action == "invert":
        mask.samples, mask.outside = (full - mask.samples).astype(mask.samples.dtype), 255 - mask.outside
    elif args.get("left") is None:
        mask.samples = np.full_like(mask.samples, args["value"] * full // 255)
        mask.outside = args["value"]
    else:
        _fill(mask, args, header)
    write_mask(layer, header, mask)
    return mask_blocks(keys_of(document)[layer.index]), _facts(mask)


def _fill(mask: Mask, args: dict[str, Any], header: Header) -> None:
    """Fill a rectangle, on the canvas; the mask's own grows to hold it."""
    full = (1 << header.depth) - 1
    left, top = max(0, args["left"]), max(0, args["top"])
    right = min(header.width, args["left"] + args["width"])
    bottom = min(header.height, args["top"] + args["height"])
    if left >= right or top >= bottom:
        return
    old = mask.box
    here = old if old[0] < old[2] and old[1] < old[3] else (left, top, left, top)
    box = min(left, here[0]), min(top, here[1]), max(right, here[2]), max(bottom, here[3])
    grown = np.full((box[3] - box[1], box[2] - box[0]), mask.outside * full // 255, NATIVE[header.depth])
    rows, columns = mask.samples.shape
    grown[here[1] - box[1] :, here[0] - box[0] :][:rows, :columns] = mask.samples
    grown[top - box[1] : bottom - box[1], left - box[0] : right - box[0]] = args["value"] * full // 255
    mask.samples, mask.left, mask.top = grown, box[0], box[1]


def replace_mask(
    document: Document, layer: Layer, data: bytes, name: str, at: tuple[int, int], limits: Limits
) -> Result:
    """The mask that a PNG holds, its top left pixel at ``at``; outside of it the layer is hidden."""
    _require_depth(document)
    refuse_locked(layer)
    header = document.container.header
    before = read_mask(layer, header)
    if before is None and len(layer.record.mask) >= LEAST and layer.record.channel(USER_MASK) is not None:
        raise wrong_kind(layer, "a layer without a vector mask")
    samples = _decode(data, name, header.depth, limits)
    flags = before.flags & UNLINKED if before is not None else 0
    mask = Mask(at[0], at[1], 0, flags, samples)
    write_mask(layer, header, mask)
    return mask_blocks(keys_of(document)[layer.index]), _facts(mask)


def _decode(data: bytes, name: str, depth: int, limits: Limits) -> NDArray[Any]:
    """A PNG's alpha where it has one, else its gray value, at the document's depth."""
    from PIL import Image

    def fail(code: str, what: str, mend: str) -> OperationFailed:
        return OperationFailed(f"photoshop.{code}", what, where=name, mend=mend)

    if sniff(data, name) != "png":
        raise fail("contents_format", "a mask is made from a PNG", "give a PNG")
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > limits.pixels:
                raise fail("contents_too_large", "the mask has too many pixels", "give a smaller picture")
            if image.mode.startswith("I"):
                wide = np.asarray(image).astype(np.uint32)
                return (wide if depth == SIXTEEN else (wide + 128) // 257).astype(NATIVE[depth])
            clear = image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
            plane = np.asarray(image.convert("RGBA").getchannel("A") if clear else image.convert("L"))
    except (OSError, SyntaxError, ValueError, EOFError, struct.error) as fault:
        raise fail("contents_broken", "the mask can't be decoded", "give an undamaged picture") from fault
    return plane.astype(np.uint16) * 257 if depth == SIXTEEN else plane.copy()


def resize_mask(
    layer: Layer, key: str, header: Header, old: tuple[int, int, int, int], new: tuple[int, int, int, int]
) -> list[str]:
    """Scale a linked mask with its layer; what may differ."""
    import cv2

    mask = read_mask(layer, header)
    if mask is None or mask.flags & UNLINKED or not mask.samples.size:
        return []
    across = (new[2] - new[0]) / (old[2] - old[0])
    down = (new[3] - new[1]) / (old[3] - old[1])
    left, top, right, bottom = mask.box
    sides = [round(new[0] + (x - old[0]) * across) for x in (left, right)]
    ends = [round(new[1] + (y - old[1]) * down) for y in (top, bottom)]
    size = max(1, sides[1] - sides[0]), max(1, ends[1] - ends[0])
    smaller = cv2.INTER_AREA if across < 1 or down < 1 else cv2.INTER_LINEAR
    mask.samples = np.asarray(cv2.resize(mask.samples, size, interpolation=smaller))
    mask.left, mask.top = sides[0], ends[0]
    write_mask(layer, header, mask)
    return mask_blocks(key)


def _require_depth(document: Document) -> None:
    if document.mode not in {"rgb", "grayscale"} or document.container.header.depth not in NATIVE:
        raise OperationFailed(
            "photoshop.unsupported_mode", f"masks are edited only in RGB and gray, not {document.mode}",
            mend="convert the template to RGB in Photoshop",
        )  # fmt: skip


def _facts(mask: Mask) -> dict[str, Any]:
    return {
        "mask": dict(zip(("left", "top", "right", "bottom"), mask.box, strict=True)),
        "outside": mask.outside,
        "enabled": not mask.flags & DISABLED,
    }
