"""Where layers lie and what fills them: visibility, move, align, resize, fill.

Each returns the block patterns that may differ now, and facts (integers and text), and raises the declared
failures of its capability.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fabric_dagster.errors import OperationFailed
from resources.photoshop.artboards import artboard_of
from resources.photoshop.blockdiff import layer_keys
from resources.photoshop.layer_pixels import (
    described,
    pixel_blocks,
    quantised,
    read_picture,
    read_pixels,
    refuse_locked,
    require_rgb,
    write_pixels,
    wrong_kind,
)
from resources.photoshop.psd.codec import NATIVE
from resources.photoshop.psd.layers import HIDDEN_FLAG
from resources.photoshop.raster import resample
from resources.photoshop.shifting import shift
from resources.photoshop.smartobjects import not_rewritable, prove_rewritable

if TYPE_CHECKING:
    from resources.photoshop.document import Document, Layer
    from resources.photoshop.psd.tagged import Block

    Result = tuple[list[str], dict[str, Any]]

GUIDES: Final = 1032
GUIDE_UNITS: Final = 32
SOLID: Final = b"SoCo"
RGB: Final = (b"Rd  ", b"Grn ", b"Bl  ")
#: parts of width and height that lie before the anchor
ANCHORS: Final = {
    "center": (0.5, 0.5), "top_left": (0, 0), "top": (0.5, 0), "top_right": (1, 0), "left": (0, 0.5),
    "right": (1, 0.5), "bottom_left": (0, 1), "bottom": (0.5, 1), "bottom_right": (1, 1),
}  # fmt: skip


def keys_of(document: Document) -> list[str]:
    """The name of every record in block keys."""
    info = document.container.layer_info
    return layer_keys(info.layers if info else [])


def set_visibility(document: Document, layer: Layer, *, visible: bool) -> Result:
    """Show or hide a layer or group; locks do not guard the eye."""
    meant = []
    if layer.visible != visible:
        layer.record.flags ^= HIDDEN_FLAG
        meant = [f"layer/{keys_of(document)[layer.index]}/look"]
    return meant, {"visible": visible}


def move_by(document: Document, layer: Layer, dx: int, dy: int) -> Result:
    """Move a layer, and all that is in a group."""
    names = keys_of(document)
    for each in layer.walk():
        refuse_locked(each, "position")
    meant: list[str] = []
    for each in layer.walk():
        meant += shift(each, names[each.index], document.container.header, dx, dy)
    return meant, {"moved": {"dx": dx, "dy": dy}, "bounds": _bounds(layer)}


def move_layer(document: Document, layer: Layer, args: dict[str, Any]) -> Result:
    """Move by ``dx``, ``dy`` or so that the bounds begin at ``left``, ``top``."""
    left, top, _, _ = layer.bounds
    dx = args["left"] - left if args.get("left") is not None else args.get("dx") or 0
    dy = args["top"] - top if args.get("top") is not None else args.get("dy") or 0
    return move_by(document, layer, dx, dy)


def align_layer(document: Document, layer: Layer, args: dict[str, Any]) -> Result:
    """Move so that the bounds touch a side, or the middles meet (rounded down)."""
    left, top, right, bottom = layer.bounds
    if left >= right or top >= bottom:
        raise empty(layer)
    margin = args.get("margin", 0)
    frame = _frame(document, layer, args.get("to", "canvas"), args)
    dx = _aligned(args.get("horizontal"), left, right, frame[0], frame[2], margin)
    dy = _aligned(args.get("vertical"), top, bottom, frame[1], frame[3], margin)
    return move_by(document, layer, dx, dy)


def _aligned(how: str | None, low: int, high: int, first: int, last: int, margin: int) -> int:
    if how is None:
        return 0
    if how in {"left", "top"}:
        return first + margin - low
    if how in {"right", "bottom"}:
        return last - margin - high
    return (first + last - (low + high)) // 2


def _frame(document: Document, layer: Layer, to: str, args: dict[str, Any]) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of what is aligned to."""
    header = document.container.header
    if to == "artboard":
        at: Layer | None = layer.parent
        while at is not None:
            board = artboard_of(at)
            if board is not None:
                return board.left, board.top, board.right, board.bottom
            at = at.parent
        raise OperationFailed(
            "photoshop.artboard_missing", "no artboard is around this layer", where=described(layer),
            mend="align to the canvas",
        )  # fmt: skip
    if to == "canvas":
        return 0, 0, header.width, header.height
    across, down = guides_of(document)
    for wanted, found, name in (("horizontal", across, "vertical"), ("vertical", down, "horizontal")):
        if args.get(wanted) is not None and not found:
            raise OperationFailed(
                "photoshop.guide_missing", f"the document has no {name} guide", where=described(layer),
                mend="draw it in the template",
            )  # fmt: skip
    return (
        min(across, default=0), min(down, default=0),
        max(across, default=header.width), max(down, default=header.height),
    )  # fmt: skip


def guides_of(document: Document) -> tuple[list[int], list[int]]:
    """Vertical guides' x and horizontal guides' y, in whole pixels."""
    resource = document.container.resource(GUIDES)
    found: tuple[list[int], list[int]] = ([], [])
    if resource is None or len(resource.data) < 16:  # noqa: PLR2004 - version, grid, count
        return found
    count = struct.unpack(">I", resource.data[12:16])[0]
    for number in range(min(count, (len(resource.data) - 16) // 5)):
        at, direction = struct.unpack(">iB", resource.data[16 + 5 * number : 21 + 5 * number])
        found[1 if direction else 0].append(round(at / GUIDE_UNITS))
    return found


def empty(layer: Layer) -> OperationFailed:
    """The refusal of a layer without pixels."""
    return OperationFailed(
        "photoshop.layer_empty", "the layer has no pixels", where=described(layer), mend="address another one"
    )


def _bounds(layer: Layer) -> dict[str, int]:
    return dict(zip(("left", "top", "right", "bottom"), layer.bounds, strict=True))


def new_box(layer: Layer, args: dict[str, Any]) -> tuple[int, int, int, int]:
    """The rectangle that a resize asks for; raises ``photoshop.layer_empty``."""
    left, top, right, bottom = layer.bounds
    wide, high = right - left, bottom - top
    if wide <= 0 or high <= 0:
        raise empty(layer)
    if args.get("percent") is not None:
        size = wide * args["percent"] / 100, high * args["percent"] / 100
    else:
        width, height = args.get("width"), args.get("height")
        scale = width / wide if width is not None else (height or high) / high
        size = width or wide * scale, height or high * scale
    width, height = max(1, round(size[0])), max(1, round(size[1]))
    before = ANCHORS[args.get("anchor", "center")]
    x = left + round((wide - width) * before[0])
    y = top + round((high - height) * before[1])
    return x, y, x + width, y + height


def resize_pixels(document: Document, layer: Layer, args: dict[str, Any], largest: int) -> Result:
    """Resample a pixel layer, and its linked mask with it, into the new rectangle."""
    from resources.photoshop.masks import resize_mask

    require_rgb(document)
    refuse_locked(layer, "pixels", "position")
    box, header = new_box(layer, args), document.container.header
    old = layer.bounds
    width, height = box[2] - box[0], box[3] - box[1]
    if width * height > largest:
        raise OperationFailed(
            "psd.too_many_pixels", f"a layer of {width} x {height} passes the limit {largest}",
            where=described(layer), mend="resize it to less",
        )  # fmt: skip
    picture, _, _ = read_picture(layer, header)
    # Not cut to what shows: the rectangle is what was asked for.
    samples = quantised(resample(picture, width, height), header.depth)
    write_pixels(layer.record, samples, box[0], box[1], header.version)
    key = keys_of(document)[layer.index]
    meant = pixel_blocks(key) + resize_mask(layer, key, header, old, box)
    return meant, {"bounds": _bounds(layer)}


def fill_layer(document: Document, layer: Layer, colour: str, *, keep: bool) -> Result:
    """One colour: in a pixel layer's shape or over the whole canvas, or as a solid fill's own."""
    require_rgb(document)
    refuse_locked(layer, "pixels", *(() if keep else ("transparency",)))
    tone = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    key, header = keys_of(document)[layer.index], document.container.header
    if layer.kind in {"fill", "shape"}:
        return _fill_solid(layer, key, tone)
    if layer.kind != "pixel":
        raise wrong_kind(layer, "a pixel, solid fill or shape layer")
    full = (1 << header.depth) - 1
    values = [value * full // 255 for value in tone]
    if keep:
        samples = read_pixels(layer.record, header, described(layer))
        left, top = layer.record.left, layer.record.top
    else:
        samples = np.full((header.height, header.width, 4), full, NATIVE[header.depth])
        left, top = 0, 0
    samples = samples.copy()
    samples[..., :3] = values
    write_pixels(layer.record, samples, left, top, header.version)
    return pixel_blocks(key), {"color": colour.lower(), "bounds": _bounds(layer)}


def _fill_solid(layer: Layer, key: str, tone: list[int]) -> Result:
    """A solid fill's colour, in each block that tells it: shapes of newer Photoshops have two."""
    from psd_tools.psd.descriptor import DescriptorBlock

    edits: list[tuple[Block, bytes]] = []
    for block in layer.record.blocks:
        # The newer one names its kind of fill before the same descriptor.
        head = SOLID if block.key == b"vscg" and block.data[:4] == SOLID else b""
        if block.key != SOLID and not head:
            continue
        stored = block.data[len(head) :]
        try:
            data: Any = DescriptorBlock.frombytes(stored)
            written = data.tobytes()
        except Exception as fault:  # a hostile descriptor raises anything
            raise not_rewritable("the layer's fill", described(layer)) from fault
        prove_rewritable(stored, written, "the layer's fill", described(layer))
        colour = data.get(b"Clr ")
        if colour is None or any(name not in colour for name in RGB):
            raise wrong_kind(layer, "a layer with a solid fill in RGB")
        for name, value in zip(RGB, tone, strict=True):
            colour[name].value = float(value)
        edits.append((block, head + data.tobytes()))
    if not edits:
        raise wrong_kind(layer, "a layer with a solid fill")
    for block, made in edits:
        block.replace(made)
    meant = [f"layer/{key}/block/{block.key.decode()}" for block, _ in edits]
    return meant, {"color": "#" + "".join(f"{value:02x}" for value in tone), "bounds": _bounds(layer)}
