"""Smart objects as stored: where one is placed (``SoLd``/``PlLd``) and what it holds (``lnk2``).

Rules kept here (found by experiment, see docs):

* ``nonAffineTransform`` holds the real quad, ``Trnf`` only its affine part; corners run top left, top
  right, bottom right, bottom left of the contents.
* A block is edited only if writing back what was read gives the same bytes; otherwise it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import InvalidDocument, OperationFailed
from resources.photoshop.descriptors import plain
from resources.photoshop.warp import is_identity

if TYPE_CHECKING:
    from psd_tools.psd.linked_layer import LinkedLayer, LinkedLayers
    from psd_tools.psd.tagged_blocks import SmartObjectLayerData

    from resources.photoshop.psd.container import Container
    from resources.photoshop.psd.layers import LayerRecord
    from resources.photoshop.psd.tagged import Block

PLACEMENTS = (b"SoLd", b"SoLE")
LINKS = (b"lnk2", b"lnk3", b"lnkD", b"lnkE")
Quad = tuple[tuple[float, float], ...]

#: what a smart object holds, by the first bytes of its contents
MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"8BPS\x00\x01", "psd"),
    (b"8BPS\x00\x02", "psb"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"%PDF", "pdf"),
    (b"%!PS", "eps"),
    (b"GIF8", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
)
SNIFFED = 1024


@dataclass(frozen=True, slots=True)
class Placement:
    """One smart-object layer's placement; ``data`` is the editable descriptor."""

    block: Block
    data: SmartObjectLayerData
    facts: dict[str, Any]

    @property
    def uuid(self) -> str:
        """Which linked item it shows."""
        return str(self.facts.get("Idnt", ""))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the contents, in their own pixels; (0, 0) where unknown."""
        size = self.facts.get("Sz") or {}
        return float(size.get("Wdth", 0)), float(size.get("Hght", 0))

    @property
    def quad(self) -> Quad:
        """The four corners in document pixels."""
        flat = self.facts.get("nonAffineTransform") or self.facts.get("Trnf") or ()
        return tuple((float(flat[i]), float(flat[i + 1])) for i in range(0, len(flat) - 1, 2))

    @property
    def warp(self) -> dict[str, Any] | None:
        """The warp's descriptor, or ``None`` where there is none in effect."""
        warp = self.facts.get("quiltWarp") or self.facts.get("warp")
        if not warp or warp.get("warpStyle") in {None, "warpNone"} or is_identity(warp):
            return None
        return dict(warp)

    @property
    def filtered(self) -> bool:
        """Whether it carries smart filters."""
        return "filterFX" in self.facts


@dataclass(slots=True)
class Link:
    """One linked item within its global block."""

    block: Block
    items: LinkedLayers
    item: LinkedLayer

    @property
    def kind(self) -> str:
        """``embedded``, ``linked`` or ``alias``."""
        return {"data": "embedded", "external": "linked"}.get(self.item.kind.name.lower(), "alias")

    @property
    def name(self) -> str:
        """The file's name as recorded."""
        return self.item.filename.rstrip("\0")

    @property
    def format(self) -> str:
        """``png``, ``psd``, … by the contents' own bytes."""
        return sniff(self.item.data or b"", self.name)


def sniff(data: bytes, name: str = "") -> str:
    """The format of ``data`` by its first bytes; ``name`` only tells apart what bytes can't."""
    for magic, kind in MAGIC:
        if data.startswith(magic):
            return "ai" if kind in {"pdf", "eps"} and name.lower().endswith(".ai") else kind
    if data[8:12] == b"WEBP":
        return "webp"
    if b"<svg" in data[:SNIFFED]:
        return "svg"
    return "unknown"


def placement(record: LayerRecord) -> Placement | None:
    """The placement of a layer, or ``None`` for other layers.

    Raises ``InvalidDocument`` (``psd.bad_smart_object``) where its descriptor is unreadable.
    """
    block = record.block(*PLACEMENTS)
    if block is None:
        return None
    from psd_tools.psd.tagged_blocks import SmartObjectLayerData

    try:
        data = SmartObjectLayerData.frombytes(block.data)
    except Exception as fault:  # a hostile descriptor raises anything
        raise _unreadable("smart object data", block.offset) from fault
    return Placement(block, data, plain(data.data))


def links(container: Container) -> dict[str, Link]:
    """Linked items by uuid. Raises ``InvalidDocument`` where a block is unreadable."""
    from psd_tools.psd.linked_layer import LinkedLayers

    found: dict[str, Link] = {}
    for block in container.blocks:
        if block.key not in LINKS or not block.data:
            continue
        try:
            items = LinkedLayers.frombytes(block.data)
        except Exception as fault:  # as above
            raise _unreadable("linked files", block.offset) from fault
        for item in items:
            found.setdefault(item.uuid.rstrip("\0"), Link(block, items, item))
    return found


def write_links(link: Link) -> None:
    """Write the edited items back into their block, padded as each reader expects."""
    link.block.replace(link.items.tobytes())


def prove_rewritable(stored: bytes, written: bytes, what: str, where: str) -> None:
    """Refuse to edit what would not come back the same when nothing is changed."""
    if stored.rstrip(b"\0") != written.rstrip(b"\0"):
        raise not_rewritable(what, where)


def not_rewritable(what: str, where: str) -> OperationFailed:
    """The refusal to edit a block that can't be written back unchanged."""
    return OperationFailed(
        "photoshop.not_rewritable",
        f"{what} holds data that can't be written back unchanged",
        where=where,
        mend="save the template again in Photoshop, then try again",
    )


def _unreadable(what: str, offset: int) -> InvalidDocument:
    return InvalidDocument(
        "psd.bad_descriptor",
        f"the {what} can't be read",
        where=f"byte {offset}",
        mend="take an undamaged copy, or save it again in Photoshop",
    )
