"""PSD documents, opened by psd-tools and re-opened by psdparse, as facts to compare.

Rules kept here:

* Layers are known by their id (by their path where a file has none); facts hold everything that is stored
  for a layer, each block as the digest of its bytes, so nothing can change unseen.
* Both readers must open the file and see the same size and number of layers: what one tolerates is not yet
  a document.
* Nothing is written; ``psd_tools``' own previews and compositor are never asked.
"""

from __future__ import annotations

import hashlib
import io
import unicodedata
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fabric_dagster.validators.base import Unjudgeable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from fabric_dagster.validators.view import Actual

SIGNATURE = b"8BPS"
PLACEMENTS = ("SMART_OBJECT_LAYER_DATA1", "SMART_OBJECT_LAYER_DATA2", "PLACED_LAYER1", "PLACED_LAYER2")
EFFECTS = (
    "OBJECT_BASED_EFFECTS_LAYER_INFO",
    "OBJECT_BASED_EFFECTS_LAYER_INFO_V0",
    "OBJECT_BASED_EFFECTS_LAYER_INFO_V1",
)
LINKS = ("LINKED_LAYER1", "LINKED_LAYER2", "LINKED_LAYER3", "LINKED_LAYER_EXTERNAL")
#: image resources that show the picture small; they follow the picture
THUMBNAILS = frozenset({1033, 1036})
ICC, GUIDES = 1039, 1032
GUIDE_UNITS = 32
MOST_PIXELS = 64_000_000

Quad = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Link:
    """An embedded item: its name and bytes."""

    name: str
    data: bytes


class PsdDocument:
    """A document's facts; ``where`` names it in findings. Raises ``Unjudgeable`` for what is none."""

    def __init__(self, data: bytes, where: str) -> None:
        from psd_tools import PSDImage

        self.data = data
        self.where = where
        #: decoded rasters, kept for whoever draws this document (``expectation.py``)
        self.rasters: dict[int, Any] = {}
        if not data.startswith(SIGNATURE):
            raise Unjudgeable("a PSD or PSB document", "other bytes", where)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.image = PSDImage.open(io.BytesIO(data))
            except Exception as fault:  # a damaged file makes it raise anything
                raise Unjudgeable("a document that opens", f"psd-tools: {fault}", where) from fault
        if self.image.width * self.image.height > MOST_PIXELS:
            raise Unjudgeable(f"at most {MOST_PIXELS} pixels", f"{self.size[0]} x {self.size[1]}", where)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return int(self.image.width), int(self.image.height)

    @property
    def form(self) -> str:
        """Colour mode and depth, e.g. ``RGB 8 bit``."""
        return f"{self.image.color_mode.name} {self.image.depth} bit"

    def walk(self) -> Iterator[Any]:
        """Every layer and group, top down, as ``psd_tools`` has them."""
        return iter(list(self.image.descendants()))

    def layer(self, address: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a psd_tools layer
        """The one layer at ``{"id": N}`` or ``{"path": "Group/Layer"}``."""
        if "id" in address:
            found = [layer for layer in self.walk() if layer.layer_id == int(address["id"])]
        else:
            found = [layer for layer in self.walk() if path_of(layer) == address.get("path")]
        if len(found) != 1:
            raise Unjudgeable(f"one layer at {dict(address)}", f"{len(found)} of them", self.where)
        return found[0]

    @cached_property
    def icc(self) -> bytes | None:
        """The embedded colour profile."""
        from psd_tools.constants import Resource

        profile = self.image.image_resources.get_data(Resource.ICC_PROFILE)
        return bytes(profile) if profile else None

    @cached_property
    def guides(self) -> tuple[list[float], list[float]]:
        """Positions of the vertical and of the horizontal guides, in pixels, sorted."""
        from psd_tools.constants import Resource

        stored = self.image.image_resources.get_data(Resource.GRID_AND_GUIDES_INFO)
        vertical: list[float] = []
        horizontal: list[float] = []
        for position, direction in getattr(stored, "data", None) or ():
            (horizontal if direction else vertical).append(position / GUIDE_UNITS)
        return sorted(vertical), sorted(horizontal)

    @cached_property
    def links(self) -> dict[str, Link]:
        """Uuid → embedded item."""
        from psd_tools.constants import Tag

        found: dict[str, Link] = {}
        blocks = self.image.tagged_blocks
        for name in LINKS:
            tag = getattr(Tag, name, None)
            for item in (blocks.get_data(tag) if blocks is not None and tag is not None else None) or ():
                found[item.uuid.rstrip("\0")] = Link(item.filename.rstrip("\0"), bytes(item.data or b""))
        return found

    def resources(self) -> dict[str, str]:
        """Image resource → digest of its bytes, without thumbnails."""
        return {
            f"image resource {int(key)}": _digest(resource.data)
            for key, resource in self.image.image_resources.items()
            if int(key) not in THUMBNAILS
        }

    def global_blocks(self) -> dict[str, str]:
        """Document-wide block → digest of its bytes, without the linked items."""
        blocks = self.image.tagged_blocks
        return {
            f"document block {_name(key)}": _digest(block.data)
            for key, block in (blocks.items() if blocks is not None else ())
            if _name(key) not in LINKS
        }

    def layers(self) -> dict[str, dict[str, str]]:
        """Layer (id and path) → all facts of it, in the order of the panel, top down."""
        found: dict[str, dict[str, str]] = {}
        for layer in self.walk():
            name, count = label(layer), 1
            while name in found:
                count += 1
                name = f"{label(layer)}, number {count}"
            found[name] = _layer_facts(layer)
        return found

    def merged(self) -> NDArray[np.float32]:
        """The stored merged image ``(h, w, 4)``, straight RGBA in 0…1 in the document's own colours."""
        import numpy as np

        if not self.image.has_preview():
            raise Unjudgeable("a merged image in the document", "none", self.where)
        stored = np.asarray(decoded(self.image.numpy, self.where), np.float32)
        if self.image.color_mode.name != "RGB":
            raise Unjudgeable("an RGB document", self.form, self.where)
        if stored.shape[2] > 3 and _transparent(self.image):  # noqa: PLR2004 - a fourth channel
            return np.ascontiguousarray(stored[..., :4])
        return np.concatenate([stored[..., :3], np.ones((*stored.shape[:2], 1), np.float32)], axis=-1)


def decoded(read: Callable[[], Any], where: str) -> Any:  # noqa: ANN401 - pixels
    """Pixels that ``read`` decodes; ``Unjudgeable`` for damaged ones."""
    try:
        return read()
    except Exception as fault:  # damaged data makes it raise anything
        raise Unjudgeable("pixels that can be decoded", f"psd-tools: {fault}", where) from fault


def open_document(actual: Actual) -> PsdDocument:
    """The document in an artifact or source file."""
    return PsdDocument(actual.data, actual.name)


def reopened(data: bytes) -> tuple[int, int, int] | None:
    """Width, height and number of layer records as psdparse reads them; ``None`` where it cannot."""
    import psdparse  # type: ignore[import-not-found]

    parsed = psdparse.PSDFile()
    try:
        if not parsed.load_bytes(data):
            return None
    except RuntimeError:
        return None
    return int(parsed.header.width), int(parsed.header.height), len(parsed.layers)


def records(document: PsdDocument) -> int:
    """Number of layer records as psd-tools reads them, group ends included."""
    information = document.image._record.layer_and_mask_information.layer_info  # noqa: SLF001 - nowhere public
    return len(information.layer_records) if information else 0


def path_of(layer: Any) -> str:  # noqa: ANN401 - a psd_tools layer
    """Names from the top level down, joined by slashes, as role maps write them."""
    names = [layer.name]
    parent = layer.parent
    while parent is not None and parent.parent is not None:
        names.append(parent.name)
        parent = parent.parent
    return "/".join(_escaped(name) for name in reversed(names))


def _escaped(name: str) -> str:
    return unicodedata.normalize("NFC", name).replace("\\", "\\\\").replace("/", "\\/")


def label(layer: Any) -> str:  # noqa: ANN401 - a psd_tools layer
    """A layer's name in findings: its path and id."""
    return f"{path_of(layer)} (id {layer.layer_id})"


def placement(layer: Any) -> dict[str, Any]:  # noqa: ANN401 - a psd_tools layer
    """The placement descriptor of a smart object, by its keys; empty for other layers."""
    from psd_tools.constants import Tag

    for name in PLACEMENTS[:2]:
        stored = layer.tagged_blocks.get_data(getattr(Tag, name))
        if stored is not None:
            return {bytes(key).decode("latin-1").strip(): value for key, value in stored.data.items()}
    return {}


def quad_of(layer: Any, where: str) -> Quad:  # noqa: ANN401 - a psd_tools layer
    """The four corners of a smart object in document pixels, from the contents' top left, clockwise.

    Raises ``Unjudgeable`` for other layers, and for warps and smart filters, which are not drawn here.
    """
    found = placement(layer)
    if not found:
        raise Unjudgeable("a smart object", f"a {layer.kind} layer", f"{where}: {label(layer)}")
    for key, what in (("quiltWarp", "a warp"), ("warp", "a warp"), ("filterFX", "smart filters")):
        style = _warp_style(found.get(key)) if what == "a warp" else found.get(key)
        if style not in {None, "warpNone"}:
            raise Unjudgeable("a placement that the simple renderer draws", what, f"{where}: {label(layer)}")
    flat = [float(value) for value in found.get("nonAffineTransform") or found.get("Trnf") or ()]
    if len(flat) != 8:  # noqa: PLR2004 - four corners
        raise Unjudgeable("a placement with four corners", f"{len(flat)} numbers", f"{where}: {label(layer)}")
    return tuple(zip(flat[0::2], flat[1::2], strict=True))


def _warp_style(warp: Any) -> str | None:  # noqa: ANN401 - a descriptor
    if warp is None:
        return None
    style = warp.get(b"warpStyle")
    enum = getattr(style, "enum", None)
    return enum.decode("latin-1") if isinstance(enum, bytes) else str(enum)


def shows_effects(layer: Any) -> bool:  # noqa: ANN401 - a psd_tools layer
    """Whether any layer effect is switched on; of old files that cannot be read, yes."""
    from psd_tools.constants import Tag

    for name in EFFECTS:
        stored = layer.tagged_blocks.get_data(getattr(Tag, name))
        if stored is None:
            continue
        master = stored.get(b"masterFXSwitch")
        if master is not None and not getattr(master, "value", master):
            return False
        return any(_enabled(value) for value in stored.values())
    return layer.tagged_blocks.get_data(Tag.EFFECTS_LAYER) is not None


def _enabled(value: Any) -> bool:  # noqa: ANN401 - a descriptor's value
    if isinstance(value, list | tuple) or type(value).__name__ == "List":
        return any(_enabled(item) for item in value)
    switch = value.get(b"enab") if hasattr(value, "get") else None
    return bool(getattr(switch, "value", switch))


def contents_size(layer: Any) -> tuple[float, float] | None:  # noqa: ANN401 - a psd_tools layer
    """Width and height of a smart object's contents in their own pixels, as recorded."""
    size = placement(layer).get("Sz")
    if size is None:
        return None
    wide, high = float(size[b"Wdth"]), float(size[b"Hght"])
    return (wide, high) if wide > 0 and high > 0 else None


def contents_uuid(layer: Any) -> str:  # noqa: ANN401 - a psd_tools layer
    """Which linked item a smart object shows."""
    found = placement(layer).get("Idnt")
    return str(getattr(found, "value", found) or "").rstrip("\0")


def _layer_facts(layer: Any) -> dict[str, str]:  # noqa: ANN401 - a psd_tools layer
    record = layer._record  # noqa: SLF001 - facts that have no public name
    facts = {
        "kind": str(layer.kind),
        "visible": str(layer.visible),
        "opacity": str(layer.opacity),
        "blend mode": str(layer.blend_mode.name),
        "clipping": str(record.clipping),
        "flags": _digest(record.flags),
        "blending ranges": _digest(record.blending_ranges),
        "mask": _digest(record.mask_data),
        "rectangle": str((record.left, record.top, record.right, record.bottom)),
        "pixels": _pixels(layer),
    }
    for key, block in layer.tagged_blocks.items():
        facts[f"block {_name(key)}"] = _digest(block.data)
    return facts


def _pixels(layer: Any) -> str:  # noqa: ANN401 - a psd_tools layer
    state = hashlib.sha256()
    for information, channel in zip(layer._record.channel_info, layer._channels, strict=False):  # noqa: SLF001
        state.update(b"%d %d " % (int(information.id), int(channel.compression)))
        state.update(channel.data)
    return state.hexdigest()[:16]


def _digest(value: Any) -> str:  # noqa: ANN401 - an element of psd_tools, or bytes
    if value is None:
        return "none"
    data = (
        value
        if isinstance(value, bytes | bytearray)
        else value.tobytes()
        if hasattr(value, "tobytes")
        else None
    )
    text = data if data is not None else repr(value).encode()
    return hashlib.sha256(text).hexdigest()[:16]


def _name(key: Any) -> str:  # noqa: ANN401 - a Tag or raw bytes
    name = getattr(key, "name", None)
    return str(name) if name else (key.decode("latin-1") if isinstance(key, bytes) else str(key))


def _transparent(image: Any) -> bool:  # noqa: ANN401 - a PSDImage
    information = image._record.layer_and_mask_information.layer_info  # noqa: SLF001 - nowhere public
    return information is not None and information.layer_count < 0
