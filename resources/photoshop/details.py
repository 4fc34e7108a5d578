"""What ``inspect`` tells of text, smart objects, slices and comps, as JSON.

Rules kept here: nothing raises for one odd layer; what an operation would refuse is told with the code that
it would refuse with. Measures of text need its font: without it they are ``None``, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import FabricError
from resources.photoshop.comps import states_of
from resources.photoshop.document import build, detail
from resources.photoshop.psd.container import parse
from resources.photoshop.type.layout import lay_out
from resources.photoshop.type.read import read_text
from resources.photoshop.type.style import ALIGNMENTS
from resources.photoshop.warp import warp_refusal

if TYPE_CHECKING:
    from resources.photoshop.document import Layer
    from resources.photoshop.psd.limits import Limits
    from resources.photoshop.smartobjects import Link, Placement
    from resources.photoshop.type.fonts import FontBook

Hazard = Callable[[str, str, str], None]
AFFINE: Final = 1e-3
FOUR: Final = 4
LIVE_FORMATS: Final = {"png", "psd", "psb", "jpeg"}


def text_details(
    layer: Layer,
    seen: Any,  # noqa: ANN401 - psdparse's layer
    text: Mapping[str, Any],
    book: FontBook,
    hazard: Hazard,
) -> dict[str, Any]:
    """Words, runs, fonts, kind, alignment, transform, what it covers and what does not fit.

    ``seen`` is psdparse's view of the layer, ``text`` what that says of its text.
    """
    runs = text.get("runs") or ()
    fonts = list(dict.fromkeys(run["font"] for run in runs if run.get("font")))
    missing = [name for name in fonts if not book.has(name)]
    told: dict[str, Any] = {
        "contents": str(text.get("text", "")).rstrip("\r\0").replace("\r", "\n"),
        "fonts": fonts,
        "fonts_missing": missing,
        "sizes": sorted({round(run["size_px"], 3) for run in runs if run.get("size_px")}),
        "orientation": text.get("orientation"),
        "transform": detail(text.get("transform")),
        "runs": [_run(run) for run in runs],
        "alignment": [ALIGNMENTS.get(p.get("justification"), "") for p in text.get("paragraphs") or ()],
        "kind": None,
        "frame": None,
        "lines": None,
        "overflow": None,
        "refused": None,
    }
    for name in missing:
        hazard("font_missing", "", f"the font {name} is not here, so its text can't be set")
    try:
        model = read_text(seen, layer.record)
        told["kind"] = "point" if model.frame is None else "box"
        told["frame"] = detail(model.frame)
        laid = lay_out(model, book)
        told["lines"], told["overflow"] = laid.lines, laid.cut
        if laid.cut:
            hazard("text_overflow", "", f"its box cuts off {laid.cut} of {laid.lines} lines")
    except FabricError as error:
        told["refused"] = error.code
        if error.code != "photoshop.font_missing":
            hazard(error.code.removeprefix("photoshop."), "", error.faults[0].what)
    except Exception:  # a font or text that a library stumbles over must not hide the other layers  # noqa: BLE001
        told["refused"] = "photoshop.text_unreadable"
        hazard("text_unreadable", "", "its text can't be laid out")
    return told


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    colour = run.get("color") or ()
    return {
        "length": run.get("length"),
        "font": run.get("font"),
        "size": detail(run.get("size_px")),
        "color": detail(list(colour)),
        "tracking": run.get("tracking"),
        "leading": detail(run.get("leading")),
    }


def smart_object_details(
    placed: Placement, link: Link | None, shared_by: list[int | None], limits: Limits, hazard: Hazard
) -> dict[str, Any]:
    """Contents, placement, warp, filters, who shares it and what is inside."""
    refusal = warp_refusal(placed.warp)
    told: dict[str, Any] = {
        "kind": link.kind if link else "missing",
        "uuid": placed.uuid,
        "name": link.name if link else None,
        "format": link.format if link and link.item.data else None,
        "bytes": len(link.item.data or b"") if link else 0,
        "digest": digest_bytes(link.item.data) if link and link.item.data else None,
        "width": detail(placed.size[0]),
        "height": detail(placed.size[1]),
        "quad": detail(placed.quad),
        "transform": _transform(placed),
        "warp": placed.warp.get("warpStyle") if placed.warp else None,
        "quilt": bool(placed.facts.get("quiltWarp")),
        "filters": placed.filtered,
        "shared_by": shared_by,
        "inside": None,
    }
    if link is None:
        hazard("link_missing", "", "its contents are not in the file")
    elif link.kind != "embedded":
        hazard("linked_file", "", f"its contents are the outside file {link.name!r}")
    elif told["format"] not in LIVE_FORMATS:
        hazard("contents_format", "", f"its contents are {told['format']}, not pixels")
    elif told["format"] in {"psd", "psb"}:
        told["inside"] = _inside(link.item.data or b"", limits)
    if placed.filtered:
        hazard("smart_filters", "", "smart filters can't be rendered again here")
    if refusal:
        hazard("warp", "", refusal)
    return told


def _transform(placed: Placement) -> str:
    """``upright``, ``affine`` or ``perspective``; ``unknown`` where there are not four corners."""
    if len(placed.quad) != FOUR:
        return "unknown"
    a, b, c, d = placed.quad
    if max(abs(a[axis] + c[axis] - b[axis] - d[axis]) for axis in (0, 1)) >= AFFINE:
        return "perspective"
    upright = max(abs(a[1] - b[1]), abs(c[1] - d[1]), abs(b[0] - c[0]), abs(a[0] - d[0])) < AFFINE
    return "upright" if upright else "affine"


def _inside(data: bytes, limits: Limits) -> dict[str, Any]:
    """How many layers and smart objects the embedded document holds itself."""
    try:
        kinds = [layer.kind for layer in build(parse(data, limits)).walk()]
    except FabricError as error:
        return {"damaged": error.code}
    return {"layers": len(kinds), "smart_objects": kinds.count("smart_object")}


def layer_comp_states(layer: Layer, comps: list[dict[str, Any]]) -> dict[str, Any]:
    """Comp id → whether it shows the layer; empty where the layer has no states or they can't be read."""
    try:
        found = states_of(layer, [comp["id"] for comp in comps])
    except FabricError:
        return {}
    return {str(number): state for number, state in found.items()}


def slice_details(slices: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The slices that a person drew or a layer made; those that Photoshop fills in are left out."""
    return [
        {key: each.get(key) for key in ("id", "name", "left", "top", "right", "bottom")}
        for each in (slices or {}).get("slices", ())
        if each.get("origin") in {1, 2}
    ]
