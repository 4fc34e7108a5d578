"""A document as JSON for programs and people: the tree, smart objects, text, guides, comps, hazards.

Hazards are things that make an operation refuse or a person wrong; each has a stable ``code``. What
psdparse reads (text, guides, slices) is asked of it; where it can't open a file the rest
is still told, with the hazard ``details_unreadable``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabric_dagster.errors import FabricError
from resources.photoshop.address import ambiguous, path_of, resolve_roles
from resources.photoshop.artboards import artboard_of
from resources.photoshop.compose import has_preview
from resources.photoshop.comps import read_comps
from resources.photoshop.details import (
    Hazard,
    layer_comp_states,
    slice_details,
    smart_object_details,
    text_details,
)
from resources.photoshop.document import ADJUSTMENTS, FILLS, VECTOR_MASKS, Document, Layer, build, detail
from resources.photoshop.effects import reach, read_effects
from resources.photoshop.parsed import Parsed, load
from resources.photoshop.psd.container import COLOUR_CHANNELS, COMPRESSIONS, Container
from resources.photoshop.psd.layers import USER_MASK
from resources.photoshop.psd.limits import Limits
from resources.photoshop.smartobjects import Link, links, placement
from resources.photoshop.type.fonts import FontBook

THUMBNAIL = 1036
RESOLUTION = 1005
SIDES = ("left", "top", "right", "bottom")
GUIDE_UNITS = 32
BLENDS = {
    "pass": "pass_through", "norm": "normal", "diss": "dissolve", "dark": "darken", "mul": "multiply",
    "idiv": "color_burn", "lbrn": "linear_burn", "dkCl": "darker_color", "lite": "lighten",
    "scrn": "screen", "div": "color_dodge", "lddg": "linear_dodge", "lgCl": "lighter_color",
    "over": "overlay", "sLit": "soft_light", "hLit": "hard_light", "vLit": "vivid_light",
    "lLit": "linear_light", "pLit": "pin_light", "hMix": "hard_mix", "diff": "difference",
    "smud": "exclusion", "fsub": "subtract", "fdiv": "divide", "hue": "hue", "sat": "saturation",
    "colr": "color", "lum": "luminosity",
}  # fmt: skip


def inspect(
    container: Container,
    data: bytes,
    roles: Mapping[str, Any] | None = None,
    *,
    fonts: FontBook | None = None,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Everything that ``fabric photoshop inspect`` tells; ``data`` are the container's bytes.

    ``roles`` are resolved against the tree; all that can't be are one error.
    """
    document = build(container)
    named = resolve_roles(document, roles or {})
    hazards: list[dict[str, str]] = []
    parsed = _parse(data, hazards)
    linked = _links(container, hazards)
    header = container.header
    comps = _comps(container, hazards)
    context = _Context(
        parsed, linked, hazards, ambiguous(document), fonts or FontBook(), limits or Limits(), comps,
        _users(document),
    )  # fmt: skip
    layers = [_layer(layer, context) for layer in document.roots]
    _duplicates(document, hazards)
    merged = _merged(container, hazards)
    return {
        "format": document.format,
        "width": header.width,
        "height": header.height,
        "mode": document.mode,
        "depth": header.depth,
        "channels": header.channels,
        "profile": _profile(document, hazards),
        "merged_image": merged,
        "thumbnail": container.resource(THUMBNAIL) is not None,
        "guides": _guides(_ask(parsed, "guides", hazards) or {}),
        "comps": comps,
        "slices": slice_details(_ask(parsed, "slices", hazards)),
        "resolution": _resolution(container),
        "roles": {role: {"id": layer.id, "path": path_of(layer)} for role, layer in named.items()},
        "fonts": sorted(context.fonts),
        "fonts_missing": sorted(name for name in context.fonts if not context.book.has(name)),
        "counts": dict(sorted(Counter(layer.kind for layer in document.walk()).items())),
        "layers": layers,
        "hazards": hazards,
    }


def _parse(data: bytes, hazards: list[dict[str, str]]) -> Parsed | None:
    parsed = load(data)
    if parsed is None:
        _hazard(hazards, "details_unreadable", "", "text, guides and slices can't be read")
    return parsed


def _links(container: Container, hazards: list[dict[str, str]]) -> dict[str, Link]:
    try:
        return links(container)
    except FabricError as fault:
        _hazard(hazards, "links_unreadable", "", str(fault))
        return {}


def _hazard(hazards: list[dict[str, str]], code: str, where: str, what: str) -> None:
    hazards.append({"code": code, "where": where, "what": what})


@dataclass(slots=True)
class _Context:
    """What every layer's telling needs."""

    parsed: Parsed | None
    linked: dict[str, Link]
    hazards: list[dict[str, str]]
    ambiguous: set[int]
    book: FontBook
    limits: Limits
    comps: list[dict[str, Any]]
    #: smart object's uuid → ids of the layers that show it
    users: dict[str, list[int | None]]
    fonts: set[str] = field(default_factory=set)

    def at(self, path: str) -> Hazard:
        """Note hazards of one layer."""
        return lambda code, _where, what: _hazard(self.hazards, code, path, what)


def _layer(layer: Layer, context: _Context) -> dict[str, Any]:
    record = layer.record
    path = path_of(layer)
    blend = record.blend.decode("latin-1").strip()
    if layer.kind in {"group", "artboard"}:
        section = record.block(b"lsct", b"lsdk")
        if section and len(section.data) >= 12:  # noqa: PLR2004 - type, signature, blend mode
            blend = section.data[8:12].decode("latin-1").strip()
    fill = record.block(b"iOpa")
    effects = read_effects(record)
    grown = reach(effects)
    bounds = layer.bounds
    signs = (-1, -1, 1, 1)
    with_effects = [side + sign * more for side, sign, more in zip(bounds, signs, grown, strict=True)]
    found: dict[str, Any] = {
        "id": layer.id,
        "name": layer.name,
        "path": path,
        "path_is_unique": layer.index not in context.ambiguous,
        "kind": layer.kind,
        "bounds": dict(zip(SIDES, bounds, strict=True)),
        "bounds_with_effects": dict(
            zip(SIDES, with_effects if bounds[0] < bounds[2] else bounds, strict=True)
        ),
        "visible": layer.visible,
        "shown": layer.shown,
        "opacity": record.opacity,
        "fill_opacity": fill.data[0] if fill and fill.data else 255,
        "blend": BLENDS.get(blend, blend),
        "clipped_to": layer.clip_base.id if layer.clip_base else None,
        "locks": layer.locks,
        "mask": _mask(layer),
        "vector_mask": any(block.key in VECTOR_MASKS for block in record.blocks),
        "effects": list(dict.fromkeys(e["effect"] for e in effects if e["enabled"])),
        "effect_values": effects,
    }
    if states := layer_comp_states(layer, context.comps):
        found["comps"] = states
    if (board := artboard_of(layer)) is not None:
        found["artboard"] = {
            **dict(zip(SIDES, (board.left, board.top, board.right, board.bottom), strict=True)),
            "background": detail(board.background),
        }
    if layer.kind == "adjustment":
        found["adjustment"] = next(ADJUSTMENTS[b.key] for b in record.blocks if b.key in ADJUSTMENTS)
    if layer.kind in {"fill", "shape"}:
        found["fill"] = next(FILLS[b.key] for b in record.blocks if b.key in FILLS)
    if context.parsed is not None and layer.index < len(context.parsed.layers):
        _details(layer, context.parsed, found, context)
    if layer.kind == "smart_object":
        found["smart_object"] = _smart_object(layer, path, context)
    if layer.kind in {"group", "artboard"}:
        found["children"] = [_layer(child, context) for child in layer.children]
    return found


def _mask(layer: Layer) -> dict[str, Any] | None:
    mask = layer.record.mask
    if len(mask) < 18 or layer.record.channel(USER_MASK) is None:  # noqa: PLR2004 - rectangle, colour, flags
        return None
    top, left, bottom, right = (int.from_bytes(mask[i : i + 4], "big", signed=True) for i in (0, 4, 8, 12))
    bounds = {"left": left, "top": top, "right": right, "bottom": bottom}
    linked = not mask[17] & 1
    return {"bounds": bounds, "outside": mask[16], "disabled": bool(mask[17] & 2), "linked": linked}


def _details(layer: Layer, parsed: Parsed, found: dict[str, Any], context: _Context) -> None:
    seen = parsed.layers[layer.index]
    try:
        text = seen.text
    except Exception:  # one unreadable layer must not hide the others  # noqa: BLE001
        _hazard(context.hazards, "details_unreadable", found["path"], "its text can't be read")
        return
    if text:
        told = text_details(layer, seen, text, context.book, context.at(found["path"]))
        context.fonts.update(told["fonts"])
        found["text"] = told


def _smart_object(layer: Layer, path: str, context: _Context) -> dict[str, Any]:
    try:
        placed = placement(layer.record)
    except FabricError as fault:
        _hazard(context.hazards, "smart_object_unreadable", path, str(fault))
        return {"kind": "unreadable"}
    if placed is None:
        _hazard(context.hazards, "legacy_placed_layer", path, "only the old placement block is there")
        return {"kind": "legacy"}
    link, users = context.linked.get(placed.uuid), context.users.get(placed.uuid, [])
    return smart_object_details(placed, link, users, context.limits, context.at(path))


def _users(document: Document) -> dict[str, list[int | None]]:
    """Which layers show which linked item."""
    found: dict[str, list[int | None]] = {}
    for layer in document.walk():
        if layer.kind != "smart_object":
            continue
        try:
            placed = placement(layer.record)
        except FabricError:
            continue
        if placed is not None:
            found.setdefault(placed.uuid, []).append(layer.id)
    return found


def _comps(container: Container, hazards: list[dict[str, str]]) -> list[dict[str, Any]]:
    try:
        return [comp.as_dict() for comp in read_comps(container)]
    except FabricError as fault:
        _hazard(hazards, "comps_unreadable", "", str(fault))
        return []


def _resolution(container: Container) -> float | None:
    """Pixels per inch (resource 1005: a fixed-point number)."""
    resource = container.resource(RESOLUTION)
    if resource is None or len(resource.data) < 4:  # noqa: PLR2004 - the number itself
        return None
    return round(int.from_bytes(resource.data[:4], "big") / 65536, 3)


def _duplicates(document: Document, hazards: list[dict[str, str]]) -> None:
    ids = Counter(layer.id for layer in document.walk())
    if ids.get(None):
        _hazard(hazards, "layer_id_missing", "", f"{ids[None]} layers have no id")
    for identifier, count in ids.items():
        if identifier is not None and count > 1:
            _hazard(hazards, "layer_id_repeated", f"id {identifier}", f"{count} layers have this id")
    paths = Counter(path_of(layer) for layer in document.walk())
    for path, count in paths.items():
        if count > 1:
            _hazard(hazards, "duplicate_name", path, f"{count} layers have this path: address them by id")


def _merged(container: Container, hazards: list[dict[str, str]]) -> dict[str, Any]:
    real = has_preview(container)
    if not real:
        _hazard(hazards, "merged_image_missing", "", "saved without a merged image: its preview is blank")
    header = container.header
    layers = container.layer_info
    return {
        "real": real,
        "compression": COMPRESSIONS[container.compression],
        "transparency": bool(
            layers and layers.transparency_first and header.channels > COLOUR_CHANNELS[header.mode]
        ),
    }


def _profile(document: Document, hazards: list[dict[str, str]]) -> dict[str, Any] | None:
    from resources.photoshop.colour import describe

    if document.icc is None:
        return None
    name, fault = describe(document.icc)
    if fault:
        _hazard(hazards, "profile_broken", "", fault)
    return {"name": name, "bytes": len(document.icc), "readable": not fault}


def _ask(parsed: Parsed | None, name: str, hazards: list[dict[str, str]]) -> Any:  # noqa: ANN401 - its data
    """One of psdparse's properties, or ``None`` and a hazard where it can't read it."""
    if parsed is None:
        return None
    try:
        return getattr(parsed, name)
    except Exception:  # its exceptions are of any kind  # noqa: BLE001
        _hazard(hazards, "details_unreadable", "", f"the {name.replace('_', ' ')} can't be read")
        return None


def _guides(grid: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"direction": guide["direction"], "at": detail(guide["location"] / GUIDE_UNITS)}
        for guide in grid.get("guides", ())
    ]
