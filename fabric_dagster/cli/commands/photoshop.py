"""``fabric photoshop``: look at, render and edit PSD files without Photoshop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import JsonFlag, emit, say
from fabric_dagster.errors import FabricError, Fault, UsageFault

if TYPE_CHECKING:
    from collections.abc import Iterator

PsdFile = Annotated[Path, typer.Argument(metavar="FILE.psd", help="A PSD or PSB; it is only read.")]


def register(app: typer.Typer) -> None:
    """Add ``fabric photoshop``."""
    group = typer.Typer(no_args_is_help=True, help="Read, render and edit PSD files, headless.")
    group.command("inspect")(inspect)
    app.add_typer(group, name="photoshop")


def inspect(file: PsdFile, as_json: JsonFlag = False) -> None:
    """Semantic tree, roles, fonts, links, profile, hazards."""
    from resources.photoshop.client import shared

    found = _named(file, lambda path: shared().call("inspect", {"path": path}))
    emit(found, as_json=as_json, human=lambda: _tell(file, found))


def _named(file: Path, ask: Any) -> Any:  # noqa: ANN401 - the worker's JSON
    """Ask about ``file``; faults without a place of their own, or only with a byte, get its name."""
    if not file.is_file():
        raise UsageFault("photoshop.no_file", "there is no such file", where=str(file), mend="check the path")
    try:
        return ask(str(file.resolve()))
    except FabricError as error:
        faults = [
            Fault(f.code, f.what, f"{file}, {f.where}" if f.where else str(file), f.mend, f.value)
            for f in error.faults
        ]
        raise type(error).of(faults) from None


def _tell(file: Path, found: dict[str, Any]) -> None:
    profile = found["profile"]
    tagged = (profile["name"] or "unreadable") if profile else "untagged"
    say(f"{file.name}: {found['format']} {found['width']} x {found['height']}, {found['mode']}")
    say(f"  {found['depth']} bits, profile {tagged}, {_counts(found['counts'])}")
    say(f"  {found['digest']}")
    for line in _lines(found["layers"], ""):
        say(line)
    if found["guides"]:
        listed = ", ".join(f"{guide['direction'][0]} {guide['at']:g}" for guide in found["guides"])
        say(f"guides: {listed}")
    if found["comps"]:
        say("comps: " + ", ".join(comp["name"] for comp in found["comps"]))
    for hazard in found["hazards"]:
        where = f"{hazard['where']}: " if hazard["where"] else ""
        say(f"hazard: {where}{hazard['what']} [{hazard['code']}]")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in counts.items()) or "no layers"


def _lines(layers: list[dict[str, Any]], indent: str) -> Iterator[str]:
    for layer in layers:
        box = layer["bounds"]
        eye = "●" if layer["shown"] else "○"
        parts = [f"{indent}{eye} {layer['name']}", f"[{layer['id']}] {layer['kind'].replace('_', ' ')}"]
        parts.append(f"{box['left']},{box['top']} {box['right'] - box['left']}x{box['bottom'] - box['top']}")
        if layer["blend"] not in {"normal", "pass_through"}:
            parts.append(layer["blend"])
        if layer["clipped_to"] is not None:
            parts.append(f"clipped to {layer['clipped_to']}")
        parts += [f"locked {', '.join(layer['locks'])}"] if layer["locks"] else []
        parts += ["masked"] if layer["mask"] or layer["vector_mask"] else []
        parts += [f"effects {', '.join(layer['effects'])}"] if layer.get("effects") else []
        if text := layer.get("text"):
            parts.append(f"{text['contents']!r} in {', '.join(text['fonts']) or 'no font'}")
        if smart := layer.get("smart_object"):
            parts.append(
                f"{smart['kind']} {smart.get('name')} {smart.get('width'):g}x{smart.get('height'):g}"
            )
        yield "  ".join(parts)
        yield from _lines(layer.get("children", []), indent + "  ")
