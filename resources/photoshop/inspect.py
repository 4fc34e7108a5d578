"""A document as JSON for programs and people: the tree, smart objects, text, guides, comps, hazards.

Hazards are things that make an operation refuse or a person wrong; each has a stable ``code``. What
psdparse reads (text, effects, comps, guides, slices) is asked of it; where it can't open a file the rest
is still told, with the hazard ``details_unreadable``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import FabricError
from resources.photoshop.address import ambiguous, path_of, resolve_roles
from resources.photoshop.compose import has_preview
from resources.photoshop.document import ADJUSTMENTS, FILLS, VECTOR_MASKS, Document, Layer, build, detail
from resources.photoshop.parsed import Parsed, load
from resources.photoshop.psd.container import COLOUR_CHANNELS, COMPRESSIONS, Container
from resources.photoshop.psd.layers import USER_MASK
from resources.photoshop.smartobjects import Link, links, placement
from resources.photoshop.warp import warp_refusal

THUMBNAIL = 1036
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
EFFECTS = {
    "DrSh": "drop_shadow", "dropShadowMulti": "drop_shadow", "IrSh": "inner_shadow",
    "innerShadowMulti": "inner_shadow", "OrGl": "outer_glow", "IrGl": "inner_glow", "ebbl": "bevel",
    "ChFX": "satin", "SoFi": "color_overlay", "solidFillMulti": "color_overlay",
    "GrFl": "gradient_overlay", "gradientFillMulti": "gradient_overlay", "patternFill": "pattern_overlay",
    "FrFX": "stroke", "frameFXMulti": "stroke",
}  # fmt: skip


def inspect(container: Container, data: bytes, roles: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Everything that ``fabric photoshop inspect`` tells; ``data`` are the container's bytes.

    ``roles`` are resolved against the tree; all that can't be are one error.
    """
    document = build(container)
    named = resolve_roles(document, roles or {})
    hazards: list[dict[str, str]] = []
    parsed = _parse(data, hazards)
    linked = _links(container, hazards)
    header = container.header
    context = _Context(parsed, linked, hazards, ambiguous(document))
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
        "comps": detail(_ask(parsed, "layer_comps", hazards) or []),
        "slices": len((_ask(parsed, "slices", hazards) or {}).get("slices", ())),
        "roles": {role: {"id": layer.id, "path": path_of(layer)} for role, layer in named.items()},
        "fonts": sorted(context.fonts),
        "counts": dict(sorted(Counter(layer.kind for layer in document.walk()).items())),
        "layers": layers,
        "hazards": hazards,
    }


def _parse(data: bytes, hazards: list[dict[str, str]]) -> Parsed | None:
    parsed = load(data)
    if parsed is None:
        _hazard(hazards, "details_unreadable", "", "text, effects, comps and guides can't be read")
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
    fonts: set[str] = field(default_factory=set)


def _layer(layer: Layer, context: _Context) -> dict[str, Any]:
    record = layer.record
    path = path_of(layer)
    blend = record.blend.decode("latin-1").strip()
    if layer.kind in {"group", "artboard"}:
        section = record.block(b"lsct", b"lsdk")
        if section and len(section.data) >= 12:  # noqa: PLR2004 - type, signature, blend mode
            blend = section.data[8:12].decode("latin-1").strip()
    fill = record.block(b"iOpa")
    found: dict[str, Any] = {
        "id": layer.id,
        "name": layer.name,
        "path": path,
        "path_is_unique": layer.index not in context.ambiguous,
        "kind": layer.kind,
        "bounds": dict(zip(("left", "top", "right", "bottom"), layer.bounds, strict=True)),
        "visible": layer.visible,
        "shown": layer.shown,
        "opacity": record.opacity,
        "fill_opacity": fill.data[0] if fill and fill.data else 255,
        "blend": BLENDS.get(blend, blend),
        "clipped_to": layer.clip_base.id if layer.clip_base else None,
        "locks": layer.locks,
        "mask": _mask(layer),
        "vector_mask": any(block.key in VECTOR_MASKS for block in record.blocks),
    }
    if layer.kind == "adjustment":
        found["adjustment"] = next(ADJUSTMENTS[b.key] for b in record.blocks if b.key in ADJUSTMENTS)
    if layer.kind in {"fill", "shape"}:
        found["fill"] = next(FILLS[b.key] for b in record.blocks if b.key in FILLS)
    if context.parsed is not None and layer.index < len(context.parsed.layers):
        _details(layer, context.parsed, found, context)
    if layer.kind == "smart_object":
        found["smart_object"] = _smart_object(layer, path, context.linked, context.hazards)
    if layer.kind in {"group", "artboard"}:
        found["children"] = [_layer(child, context) for child in layer.children]
    return found


def _mask(layer: Layer) -> dict[str, Any] | None:
    mask = layer.record.mask
    if len(mask) < 18 or layer.record.channel(USER_MASK) is None:  # noqa: PLR2004 - rectangle, colour, flags
        return None
    top, left, bottom, right = (int.from_bytes(mask[i : i + 4], "big", signed=True) for i in (0, 4, 8, 12))
    bounds = {"left": left, "top": top, "right": right, "bottom": bottom}
    return {"bounds": bounds, "outside": mask[16], "disabled": bool(mask[17] & 2)}


def _details(layer: Layer, parsed: Parsed, found: dict[str, Any], context: _Context) -> None:
    seen = parsed.layers[layer.index]
    try:
        effects, text, artboard, states = seen.effects, seen.text, seen.artboard, seen.comp_states
    except Exception:  # one unreadable layer must not hide the others  # noqa: BLE001
        _hazard(context.hazards, "details_unreadable", found["path"], "its text or effects can't be read")
        return
    found["effects"] = _effects(effects)
    if states:
        found["comps"] = {str(comp): state["enabled"] for comp, state in states.items() if comp}
    if artboard:
        found["artboard"] = detail(artboard)
    if text:
        body = text.get("text", "")
        fonts = list(dict.fromkeys(run["font"] for run in text.get("runs", ()) if run.get("font")))
        context.fonts.update(fonts)
        found["text"] = {
            "contents": body.rstrip("\r\0").replace("\r", "\n"),
            "fonts": fonts,
            "sizes": sorted({round(run["size_px"], 3) for run in text.get("runs", ()) if run.get("size_px")}),
            "orientation": text.get("orientation"),
            "transform": detail(text.get("transform")),
        }


def _effects(effects: dict[str, Any] | None) -> list[str]:
    """Names of the effects that are switched on."""
    if not effects or not effects.get("masterFXSwitch", True):
        return []
    names = []
    for key, value in effects.items():
        parts = value if isinstance(value, list) else [value]
        on = any(part is True or (isinstance(part, dict) and part.get("enab", True)) for part in parts)
        if on and key in EFFECTS and EFFECTS[key] not in names:
            names.append(EFFECTS[key])
    return names


def _smart_object(
    layer: Layer, path: str, linked: dict[str, Link], hazards: list[dict[str, str]]
) -> dict[str, Any]:
    try:
        placed = placement(layer.record)
    except FabricError as fault:
        _hazard(hazards, "smart_object_unreadable", path, str(fault))
        return {"kind": "unreadable"}
    if placed is None:
        _hazard(hazards, "legacy_placed_layer", path, "only the old placement block is there")
        return {"kind": "legacy"}
    link = linked.get(placed.uuid)
    refusal = warp_refusal(placed.warp)
    found: dict[str, Any] = {
        "kind": link.kind if link else "missing",
        "uuid": placed.uuid,
        "name": link.name if link else None,
        "format": link.format if link and link.item.data else None,
        "bytes": len(link.item.data or b"") if link else 0,
        "digest": digest_bytes(link.item.data) if link and link.item.data else None,
        "width": detail(placed.size[0]),
        "height": detail(placed.size[1]),
        "quad": detail(placed.quad),
        "warp": placed.warp.get("warpStyle") if placed.warp else None,
        "filters": placed.filtered,
    }
    if link is None:
        _hazard(hazards, "link_missing", path, "its contents are not in the file")
    elif link.kind != "embedded":
        _hazard(hazards, "linked_file", path, f"its contents are the outside file {link.name!r}")
    elif found["format"] not in {"png", "psd", "psb", "jpeg"}:
        _hazard(hazards, "contents_format", path, f"its contents are {found['format']}, not pixels")
    if placed.filtered:
        _hazard(hazards, "smart_filters", path, "smart filters can't be rendered again here")
    if refusal:
        _hazard(hazards, "warp", path, refusal)
    return found


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
