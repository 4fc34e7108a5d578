"""Another place for a layer: everything in its record that is a position in the document.

Rules kept here: pixels are not touched; masks move unless they are unlinked from their layer; groups move
with all that is in them; a block is edited only if it could be written back unchanged.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from resources.photoshop.document import ARTBOARDS, VECTOR_MASKS
from resources.photoshop.layer_pixels import described
from resources.photoshop.smartobjects import PLACEMENTS, not_rewritable, prove_rewritable

if TYPE_CHECKING:
    from resources.photoshop.document import Layer
    from resources.photoshop.psd.container import Header
    from resources.photoshop.psd.layers import LayerRecord
    from resources.photoshop.psd.tagged import Block

UNLINKED_MASK: Final = 1
UNLINKED_VECTOR: Final = 2
KNOTS: Final = {1, 2, 4, 5}
PATH_RECORD: Final = 26
#: path coordinates are parts of the canvas' sides, 24 bits after the point
UNIT: Final = 1 << 24
TEXT_TRANSFORM: Final = 2 + 4 * 8


def shift(layer: Layer, key: str, header: Header, dx: int, dy: int) -> list[str]:
    """Move one layer by whole pixels; what may differ now (``key`` is its name in block keys).

    Raises ``photoshop.not_rewritable``; the layer may be half moved then, so the caller drops the copy.
    """
    if not dx and not dy:
        return []
    record = layer.record
    meant = [f"layer/{key}/rectangle"]
    if record.left < record.right and record.top < record.bottom:
        record.left, record.right = record.left + dx, record.right + dx
        record.top, record.bottom = record.top + dy, record.bottom + dy
    if shift_mask(record, dx, dy):
        meant.append(f"layer/{key}/mask")
    for block in record.blocks:
        mover = MOVERS.get(block.key)
        if mover is not None:
            before = block.data
            mover(block, layer, header, dx, dy)
            if block.data != before:
                meant.append(f"layer/{key}/block/{block.key.decode('latin-1').strip()}")
    return meant


def shift_mask(record: LayerRecord, dx: int, dy: int) -> bool:
    """Move a linked pixel mask's rectangle (and the real one's, where a vector mask is drawn into it)."""
    mask = record.mask
    if len(mask) < 18 or mask[17] & UNLINKED_MASK:  # noqa: PLR2004 - rectangle, colour, flags
        return False
    moved = _rectangle(mask, 0, dx, dy)
    real = len(mask) - 16
    if len(mask) >= 36:  # noqa: PLR2004 - with the real mask's flags, colour and rectangle
        moved = _rectangle(moved, real if not _parameters(mask) else _real_at(mask), dx, dy)
    record.mask = moved
    return moved != mask


def _parameters(mask: bytes) -> bool:
    """Whether density and feather follow the flags."""
    return bool(mask[17] & 16)


def _real_at(mask: bytes) -> int:
    """Where the real mask's rectangle stands: after flags, parameters, its flags and colour."""
    at = 19
    bits = mask[18]
    for bit, size in ((1, 1), (2, 8), (4, 1), (8, 8)):
        at += size if bits & bit else 0
    return at + 2


def _rectangle(data: bytes, at: int, dx: int, dy: int) -> bytes:
    if at + 16 > len(data):
        return data
    top, left, bottom, right = struct.unpack(">4i", data[at : at + 16])
    if top >= bottom or left >= right:
        return data
    return data[:at] + struct.pack(">4i", top + dy, left + dx, bottom + dy, right + dx) + data[at + 16 :]


def _vector(block: Block, _layer: Layer, header: Header, dx: int, dy: int) -> None:
    """Path knots: (down, across) of three points each, as parts of the canvas."""
    data = bytearray(block.data)
    if len(data) < 8 or struct.unpack(">I", data[4:8])[0] & UNLINKED_VECTOR:  # noqa: PLR2004 - version, flags
        return
    down, across = round(dy / header.height * UNIT), round(dx / header.width * UNIT)
    for at in range(8, len(data) - PATH_RECORD + 1, PATH_RECORD):
        if struct.unpack(">H", data[at : at + 2])[0] in KNOTS:
            points = struct.unpack(">6i", data[at + 2 : at + 26])
            moved = [value + (across if number % 2 else down) for number, value in enumerate(points)]
            data[at + 2 : at + 26] = struct.pack(">6i", *moved)
    block.data = bytes(data)


def _text(block: Block, _layer: Layer, _header: Header, dx: int, dy: int) -> None:
    """The last two numbers of the transform."""
    x, y = struct.unpack(">2d", block.data[TEXT_TRANSFORM : TEXT_TRANSFORM + 16])
    moved = struct.pack(">2d", x + dx, y + dy)
    block.data = block.data[:TEXT_TRANSFORM] + moved + block.data[TEXT_TRANSFORM + 16 :]


def _reference(block: Block, _layer: Layer, _header: Header, dx: int, dy: int) -> None:
    """The point that a layer's style is laid out from."""
    if len(block.data) >= 16:  # noqa: PLR2004 - two doubles
        x, y = struct.unpack(">2d", block.data[:16])
        block.data = struct.pack(">2d", x + dx, y + dy) + block.data[16:]


def _placement(block: Block, layer: Layer, _header: Header, dx: int, dy: int) -> None:
    from psd_tools.psd.tagged_blocks import SmartObjectLayerData

    data: Any = _opened(SmartObjectLayerData, block, layer)
    for key in (b"Trnf", b"nonAffineTransform"):
        if key in data.data:
            for number, item in enumerate(data.data[key]):
                item.value += dy if number % 2 else dx
    block.replace(data.tobytes())


def _older(block: Block, layer: Layer, _header: Header, dx: int, dy: int) -> None:
    from psd_tools.psd.tagged_blocks import PlacedLayerData

    data: Any = _opened(PlacedLayerData, block, layer)
    data.transform = tuple(value + (dy if number % 2 else dx) for number, value in enumerate(data.transform))
    block.replace(data.tobytes())


def _artboard(block: Block, layer: Layer, _header: Header, dx: int, dy: int) -> None:
    from psd_tools.psd.descriptor import DescriptorBlock

    data: Any = _opened(DescriptorBlock, block, layer)
    _box(data.get(b"artboardRect"), dx, dy)
    block.replace(data.tobytes())


def _origin(block: Block, layer: Layer, _header: Header, dx: int, dy: int) -> None:
    """Live shapes: the box that they are drawn in, and its corners."""
    from psd_tools.psd.descriptor import DescriptorBlock2

    data: Any = _opened(DescriptorBlock2, block, layer)
    for origin in data.get(b"keyDescriptorList") or ():
        _box(origin.get(b"keyOriginShapeBBox"), dx, dy)
        corners = origin.get(b"keyOriginBoxCorners")
        for corner in corners.values() if corners is not None else ():
            for key, value in ((b"Hrzn", dx), (b"Vrtc", dy)):
                if hasattr(corner, "classID") and key in corner:
                    corner[key].value += value
    block.replace(data.tobytes())


def _box(box: Any, dx: int, dy: int) -> None:  # noqa: ANN401 - a psd-tools descriptor
    if box is None:
        return
    for key, value in ((b"Left", dx), (b"Rght", dx), (b"Top ", dy), (b"Btom", dy)):
        if key in box:
            box[key].value += value


def _opened(kind: Any, block: Block, layer: Layer) -> Any:  # noqa: ANN401 - psd-tools classes
    try:
        data = kind.frombytes(block.data)
        written = data.tobytes()
    except Exception as fault:  # a hostile descriptor raises anything
        raise not_rewritable(f"the block {block.key.decode('latin-1')}", described(layer)) from fault
    prove_rewritable(block.data, written, f"the block {block.key.decode('latin-1')}", described(layer))
    return data


MOVERS: Final[dict[bytes, Any]] = {
    b"TySh": _text, b"fxrp": _reference, b"PlLd": _older, b"vogk": _origin,
    **dict.fromkeys(VECTOR_MASKS, _vector), **dict.fromkeys(PLACEMENTS, _placement),
    **dict.fromkeys(ARTBOARDS, _artboard),
}  # fmt: skip
