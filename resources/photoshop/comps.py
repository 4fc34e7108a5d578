"""Layer comps: what they record, and one applied to the layers.

Rules kept here (found by experiment on files that Photoshop wrote): a layer's states stand in one list,
each saying only what differs from the state before it, so a comp's state is everything said up to its own
entry; the entry of comp 0 is the document as it is; offsets count from a place that all entries share.
Applying a comp writes its state into the entry of comp 0 too, so that applying another one afterwards is
right again.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.errors import OperationFailed
from resources.photoshop.blockdiff import layer_keys
from resources.photoshop.descriptors import plain
from resources.photoshop.layer_pixels import described
from resources.photoshop.psd.layers import HIDDEN_FLAG
from resources.photoshop.shifting import shift
from resources.photoshop.smartobjects import not_rewritable, prove_rewritable

if TYPE_CHECKING:
    from resources.photoshop.document import Document, Layer
    from resources.photoshop.psd.container import Container
    from resources.photoshop.psd.tagged import Block

COMPS: Final = 1065
VISIBILITY, POSITION, APPEARANCE = 1, 2, 4
CURRENT: Final = 0
#: blend modes by the names that comps use → the key that a layer record has
BLENDS: Final[dict[str, bytes]] = {
    "passThrough": b"pass", "normal": b"norm", "dissolve": b"diss", "darken": b"dark", "multiply": b"mul ",
    "colorBurn": b"idiv", "linearBurn": b"lbrn", "darkerColor": b"dkCl", "lighten": b"lite",
    "screen": b"scrn", "colorDodge": b"div ", "linearDodge": b"lddg", "lighterColor": b"lgCl",
    "overlay": b"over", "softLight": b"sLit", "hardLight": b"hLit", "vividLight": b"vLit",
    "linearLight": b"lLit", "pinLight": b"pLit", "hardMix": b"hMix", "difference": b"diff",
    "exclusion": b"smud", "blendSubtraction": b"fsub", "blendDivide": b"fdiv", "hue": b"hue ",
    "saturation": b"sat ", "color": b"colr", "luminosity": b"lum ",
    "Nrml": b"norm", "Dslv": b"diss", "Drkn": b"dark", "Mltp": b"mul ", "CBrn": b"idiv", "Lghn": b"lite",
    "Scrn": b"scrn", "CDdg": b"div ", "Ovrl": b"over", "SftL": b"sLit", "HrdL": b"hLit", "Dfrn": b"diff",
    "Xclu": b"smud", "H": b"hue ", "Strt": b"sat ", "Clr": b"colr", "Lmns": b"lum ",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comp:
    """A comp of the document, and which kinds of state it records."""

    id: int
    name: str
    records: int

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "id": self.id, "name": self.name, "visibility": bool(self.records & VISIBILITY),
            "position": bool(self.records & POSITION), "appearance": bool(self.records & APPEARANCE),
        }  # fmt: skip


def read_comps(container: Container) -> list[Comp]:
    """The document's comps in their order; raises ``photoshop.comp_unreadable``."""
    resource = container.resource(COMPS)
    if resource is None:
        return []
    try:
        listed = plain(_descriptor(resource.data)).get("list") or []
        return [
            Comp(int(one["compID"]), str(one.get("Nm", "")), int(one.get("capturedInfo", 7)))
            for one in listed
        ]
    except Exception as fault:  # a hostile descriptor raises anything
        raise unreadable("") from fault


def find_comp(container: Container, wanted: str | int) -> Comp:
    """The one comp of this name or id; raises ``comp_not_found`` or ``comp_ambiguous``."""
    comps = read_comps(container)
    if isinstance(wanted, int):
        found = [comp for comp in comps if comp.id == wanted]
    else:
        name = unicodedata.normalize("NFC", wanted)
        found = [comp for comp in comps if unicodedata.normalize("NFC", comp.name) == name]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{comp.name!r} (id {comp.id})" for comp in (found or comps)[:8])
    if found:
        raise OperationFailed(
            "photoshop.comp_ambiguous", f"{len(found)} comps have this name", value=str(wanted),
            mend=f"name it by its id: {listed}",
        )  # fmt: skip
    raise OperationFailed(
        "photoshop.comp_not_found", "the document has no such layer comp", value=str(wanted),
        mend=f"use one of: {listed}" if listed else "record it in Photoshop",
    )  # fmt: skip


def unreadable(where: str) -> OperationFailed:
    """The refusal of comp data that can't be understood."""
    return OperationFailed(
        "photoshop.comp_unreadable", "the layer comps can't be read", where=where,
        mend="record them again in Photoshop",
    )  # fmt: skip


def _descriptor(data: bytes) -> Any:  # noqa: ANN401 - psd-tools' own
    from psd_tools.psd.descriptor import DescriptorBlock

    return DescriptorBlock.frombytes(data)


@dataclass(slots=True)
class _States:
    """One layer's entries, editable."""

    block: Block
    metadata: Any
    entries: Any

    def of(self, comp: int) -> dict[bytes, Any] | None:
        """Everything said up to the comp's entry, as descriptor values; ``None`` where it has no entry."""
        merged: dict[bytes, Any] = {}
        for entry in self.entries:
            merged.update({key: value for key, value in entry.items() if key != b"compList"})
            if comp in plain(entry.get(b"compList")):
                return merged
        return None

    def entry(self, comp: int) -> Any:  # noqa: ANN401 - a psd-tools descriptor
        """The comp's own entry."""
        return next((one for one in self.entries if comp in plain(one.get(b"compList"))), None)


def _states(layer: Layer) -> _States | None:
    """A layer's comp states, or ``None`` where it has none; raises ``photoshop.comp_unreadable``."""
    from psd_tools.psd.tagged_blocks import MetadataSettings

    block = layer.record.block(b"shmd")
    if block is None:
        return None
    try:
        metadata: Any = MetadataSettings.frombytes(block.data)
        found = next((item for item in metadata if item.key == b"cmls"), None)
        entries = found.data.get(b"layerSettings") if found is not None else None
        if entries is None:
            return None
        for entry in entries:
            plain(entry)
        written = metadata.tobytes()
    except Exception as fault:  # a hostile descriptor raises anything
        raise unreadable(described(layer)) from fault
    prove_rewritable(block.data, written, "the layer's comp states", described(layer))
    return _States(block, metadata, entries)


def apply_comp(document: Document, wanted: str | int) -> tuple[list[str], dict[str, Any]]:
    """Bring every layer to the comp's state: what may differ now, and facts.

    Raises the capability's failures; the copy is to be dropped then.
    """
    container = document.container
    comp = find_comp(container, wanted)
    info = container.layer_info
    names = layer_keys(info.layers if info else [])
    meant: list[str] = []
    changed: dict[str, list[int | None]] = {"visibility": [], "position": [], "appearance": []}
    for layer in document.walk():
        states = _states(layer)
        target = states.of(comp.id) if states is not None else None
        if states is None or target is None:
            continue
        current = states.of(CURRENT) or {}
        key = names[layer.index]
        _refuse_specific(layer, comp, target, current)
        if comp.records & VISIBILITY:
            shown = bool(target[b"enab"].value) if b"enab" in target else True
            if shown != layer.visible:
                layer.record.flags ^= HIDDEN_FLAG
                changed["visibility"].append(layer.id)
                meant.append(f"layer/{key}/look")
        if comp.records & POSITION:
            dx, dy = (a - b for a, b in zip(_offset(target), _offset(current), strict=True))
            if dx or dy:
                meant += shift(layer, key, container.header, dx, dy)
                changed["position"].append(layer.id)
        if comp.records & APPEARANCE:
            blocks = _appearance(layer, key, target)
            if blocks:
                changed["appearance"].append(layer.id)
            meant += blocks
        if _remember(states, target, comp.records):
            meant.append(f"layer/{key}/block/shmd")
    meant += _last_applied(container, comp)
    return meant, {"comp": comp.name, "id": comp.id, "changed": changed}


def states_of(layer: Layer, comps: list[int]) -> dict[int, bool]:
    """Comp id → whether the comp shows the layer, for comps that the layer has a state in."""
    states = _states(layer)
    found = {}
    for comp in comps if states is not None else ():
        state = states.of(comp) if states is not None else None
        if state is not None:
            found[comp] = bool(state[b"enab"].value) if b"enab" in state else True
    return found


def _offset(state: dict[bytes, Any]) -> tuple[int, int]:
    found = plain(state[b"Ofst"]) if b"Ofst" in state else {}
    return round(float(found.get("Hrzn", 0))), round(float(found.get("Vrtc", 0)))


def _refuse_specific(layer: Layer, comp: Comp, target: dict[bytes, Any], current: dict[bytes, Any]) -> None:
    """A comp that changes what can't be drawn here: a text's warp, a smart object's own comp."""
    wanted, now = (plain(s[b"layerSpecific"]) if b"layerSpecific" in s else None for s in (target, current))
    if comp.records & APPEARANCE and now is not None and wanted is not None and wanted != now:
        raise OperationFailed(
            "photoshop.comp_unsupported",
            f"the comp {comp.name!r} changes the inside of this {layer.kind.replace('_', ' ')} layer",
            where=described(layer),
            mend="record the comp without it",
        )


def _appearance(layer: Layer, key: str, target: dict[bytes, Any]) -> list[str]:
    """Blend mode, opacity, fill and style of a layer as recorded; what may differ."""
    record = layer.record
    before = (record.blend, record.opacity, [block.data for block in record.blocks])
    options = target.get(b"blendOptions")
    told = plain(options) if options is not None else {}
    mode = BLENDS.get(str(told.get("Md"))) if "Md" in told else None
    if "Md" in told and mode is None:
        raise unreadable(described(layer))
    if mode is not None:
        _blend(layer, mode)
    if "Opct" in told:
        record.opacity = round(float(told["Opct"]) * 255 / 100)
    fill = record.block(b"iOpa")
    if "fillOpacity" in told and fill is not None:
        fill.data = bytes([round(float(told["fillOpacity"]) * 255 / 100)]) + fill.data[1:]
    if b"Lefx" in target:
        _style(layer, target[b"Lefx"])
    if before == (record.blend, record.opacity, [block.data for block in record.blocks]):
        return []
    return [f"layer/{key}/look", *(f"layer/{key}/block/{name}" for name in ("iOpa", "lsct", "lfx2"))]


def _blend(layer: Layer, mode: bytes) -> None:
    """A group's mode stands in its section block; the record of a passing one says ``pass`` too."""
    section = layer.record.block(b"lsct", b"lsdk")
    if layer.kind in {"group", "artboard"} and section is not None and len(section.data) >= 12:  # noqa: PLR2004
        section.data = section.data[:8] + mode + section.data[12:]
    layer.record.blend = mode


def _style(layer: Layer, effects: Any) -> None:  # noqa: ANN401 - a psd-tools descriptor
    from psd_tools.psd.descriptor import DescriptorBlock2

    block = layer.record.block(b"lfx2")
    if block is None:
        return
    try:
        stored: Any = DescriptorBlock2.frombytes(block.data)
        written = stored.tobytes()
    except Exception as fault:  # a hostile descriptor raises anything
        raise not_rewritable("the layer's effects", described(layer)) from fault
    prove_rewritable(block.data, written, "the layer's effects", described(layer))
    if plain(stored) == plain(effects):
        return
    made = DescriptorBlock2(
        version=stored.version, data_version=stored.data_version, name=effects.name,
        classID=stored.classID, items=list(effects.items()),
    )  # fmt: skip
    block.replace(made.tobytes())


def _remember(states: _States, target: dict[bytes, Any], records: int) -> bool:
    """Write the comp's state into the entry of the document as it is; whether that changed it."""
    import copy

    from psd_tools.psd.descriptor import Bool

    entry = states.entry(CURRENT)
    if entry is None:
        return False
    current = states.of(CURRENT) or {}
    wanted: dict[bytes, Any] = {}
    if records & VISIBILITY:
        wanted[b"enab"] = target.get(b"enab") or Bool(value=True)
    for bit, keys in ((POSITION, (b"Ofst", b"FXRefPoint")), (APPEARANCE, (b"blendOptions", b"Lefx"))):
        if records & bit:
            wanted |= {key: target[key] for key in keys if key in target}
    changed = False
    for key, value in wanted.items():
        if key not in current or plain(current[key]) != plain(value):
            entry[key] = copy.deepcopy(value)
            changed = True
    if changed:
        states.block.replace(states.metadata.tobytes())
    return changed


def _last_applied(container: Container, comp: Comp) -> list[str]:
    """Note the comp as the one applied last, as Photoshop's panel shows it."""
    from psd_tools.psd.descriptor import Integer

    resource = container.resource(COMPS)
    if resource is None:
        return []
    data = _descriptor(resource.data)
    prove_rewritable(resource.data, data.tobytes(), "the layer comps", "")
    found = data.get(b"lastAppliedComp")
    if found is not None and found.value == comp.id:
        return []
    data[b"lastAppliedComp"] = Integer(comp.id)
    resource.replace(data.tobytes())
    return [f"resource/{COMPS}"]
