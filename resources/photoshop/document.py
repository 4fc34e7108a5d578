"""The semantic document: what a person sees in Photoshop's layers panel, from the container's blocks.

Rules kept here:

* Layers keep the order of the file (bottom to top) in ``Document.layers``; ``roots`` and ``children``
  run top to bottom, as the panel shows them.
* ``shown`` is visibility as seen through all parents; a hidden clip base hides what is clipped to it.
* Nothing here decodes pixels.
"""

from __future__ import annotations

import math
import struct
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from resources.photoshop.psd.container import MODES, VERSIONS, Container
from resources.photoshop.psd.layers import HIDDEN_FLAG, LayerRecord
from resources.photoshop.smartobjects import PLACEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP_OPEN, GROUP_CLOSED, GROUP_END = 1, 2, 3
ADJUSTMENTS = {
    b"levl": "levels", b"curv": "curves", b"hue2": "hue_saturation", b"hue ": "hue_saturation",
    b"blnc": "color_balance", b"brit": "brightness_contrast", b"selc": "selective_color",
    b"thrs": "threshold", b"post": "posterize", b"nvrt": "invert", b"mixr": "channel_mixer",
    b"phfl": "photo_filter", b"expA": "exposure", b"grdm": "gradient_map", b"vibA": "vibrance",
    b"blwh": "black_and_white", b"clrL": "color_lookup",
}  # fmt: skip
FILLS = {b"SoCo": "solid", b"GdFl": "gradient", b"PtFl": "pattern"}
TEXT = (b"TySh", b"tySh")
VECTOR_MASKS = (b"vmsk", b"vsms")
ARTBOARDS = (b"artb", b"artd", b"abdd")
LOCKS = {1: "transparency", 2: "pixels", 4: "position", 8: "artboard_nesting", 1 << 31: "all"}


@dataclass(slots=True)
class Layer:
    """One layer or group. ``id`` is ``None`` only in files of very old writers."""

    index: int
    record: LayerRecord
    name: str
    kind: str
    parent: Layer | None = None
    children: list[Layer] = field(default_factory=list)
    clip_base: Layer | None = None
    #: the record that ends this group, for groups
    end: int | None = None

    @property
    def id(self) -> int | None:
        """The layer's id."""
        return self.record.id

    @property
    def visible(self) -> bool:
        """Its own eye."""
        return not self.record.flags & HIDDEN_FLAG

    @property
    def shown(self) -> bool:
        """Visible through all parents and its clip base."""
        upward = self.parent.shown if self.parent else True
        base = self.clip_base.visible if self.clip_base else True
        return self.visible and upward and base

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """Left, top, right, bottom in document pixels; a group's are its children's."""
        if self.kind in {"group", "artboard"}:
            boxes = [box for box in (child.bounds for child in self.children) if box[0] < box[2]]
            return _union(boxes)
        return self.record.left, self.record.top, self.record.right, self.record.bottom

    @property
    def names(self) -> tuple[str, ...]:
        """Names from the top level down to this one."""
        return (*(self.parent.names if self.parent else ()), self.name)

    @property
    def locks(self) -> list[str]:
        """What is locked, by name."""
        block = self.record.block(b"lspf")
        bits = struct.unpack(">I", block.data[:4])[0] if block and len(block.data) >= 4 else 0  # noqa: PLR2004
        return [name for bit, name in LOCKS.items() if bits & bit]

    def walk(self) -> Iterator[Layer]:
        """This one and everything below it, top to bottom."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(slots=True)
class Document:
    """A container with its layers as a tree."""

    container: Container
    roots: list[Layer]

    @property
    def mode(self) -> str:
        """``rgb``, ``cmyk`` and so on."""
        return MODES[self.container.header.mode]

    @property
    def format(self) -> str:
        """``PSD`` or ``PSB``."""
        return VERSIONS[self.container.header.version]

    @property
    def icc(self) -> bytes | None:
        """The embedded profile (resource 1039), as stored."""
        resource = self.container.resource(1039)
        return resource.data if resource else None

    def walk(self) -> Iterator[Layer]:
        """Every layer and group, top to bottom."""
        for root in self.roots:
            yield from root.walk()


def build(container: Container) -> Document:
    """Make the tree. Unbalanced groups end at the top level, as Photoshop reads them."""
    info = container.layer_info
    records = info.layers if info else []
    roots: list[Layer] = []
    open_groups: list[Layer] = []
    for index in range(len(records) - 1, -1, -1):
        record = records[index]
        if record.section == GROUP_END:
            if open_groups:
                open_groups.pop().end = index
            continue
        parent = open_groups[-1] if open_groups else None
        layer = Layer(index, record, layer_name(record), _kind(record), parent)
        (parent.children if parent else roots).append(layer)
        if record.section in {GROUP_OPEN, GROUP_CLOSED}:
            open_groups.append(layer)
    _clip(roots)
    return Document(container, roots)


def layer_name(record: LayerRecord) -> str:
    """The Unicode name, else the Pascal one (UTF-8, else Mac Roman); normalised to NFC."""
    block = record.block(b"luni")
    if block and len(block.data) >= 4:  # noqa: PLR2004 - the count itself
        count = struct.unpack(">I", block.data[:4])[0]
        text = block.data[4 : 4 + 2 * count].decode("utf-16-be", errors="replace")
    else:
        raw = record.name[1 : 1 + record.name[0]] if record.name else b""
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            text = raw.decode("mac-roman")
    return unicodedata.normalize("NFC", text.rstrip("\0"))


def _kind(record: LayerRecord) -> str:
    keys = {block.key for block in record.blocks}
    if record.section in {GROUP_OPEN, GROUP_CLOSED}:
        return "artboard" if keys & set(ARTBOARDS) else "group"
    if keys & set(TEXT):
        return "text"
    if keys & set(PLACEMENTS) or (b"PlLd" in keys or b"plLd" in keys):
        return "smart_object"
    if keys & FILLS.keys():
        return "shape" if keys & set(VECTOR_MASKS) else "fill"
    return "adjustment" if keys & ADJUSTMENTS.keys() else "pixel"


def _clip(siblings: list[Layer]) -> None:
    base: Layer | None = None
    for layer in reversed(siblings):
        if layer.record.clipping and base is not None:
            layer.clip_base = base
        else:
            base = layer
        _clip(layer.children)


def _union(boxes: list[tuple[int, int, int, int]]) -> tuple[int, int, int, int]:
    if not boxes:
        return 0, 0, 0, 0
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def detail(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """``value`` as JSON: tuples as lists, bytes as their length, floats rounded (no number: ``None``)."""
    if isinstance(value, dict):
        return {str(key): detail(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [detail(item) for item in value]
    if isinstance(value, bytes):
        return {"bytes": len(value)}
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value
