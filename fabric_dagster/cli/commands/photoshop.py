"""``fabric photoshop``: look at, render and edit PSD files without Photoshop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import JsonFlag, emit, say
from fabric_dagster.errors import FabricError, Fault, InvalidDocument, UsageFault, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

PsdFile = Annotated[Path, typer.Argument(metavar="FILE.psd", help="A PSD or PSB; it is only read.")]


FontFolders = Annotated[
    list[Path] | None,
    typer.Option("--fonts", help="A folder of fonts; before the home's and the system's. Repeatable."),
]


def register(app: typer.Typer) -> None:
    """Add ``fabric photoshop``."""
    group = typer.Typer(no_args_is_help=True, help="Read, render and edit PSD files, headless.")
    group.command("inspect")(inspect)
    group.command("render")(render)
    group.command("apply")(apply)
    app.add_typer(group, name="photoshop")


def inspect(
    file: PsdFile,
    roles: Annotated[
        Path | None, typer.Option("--roles", help="YAML or JSON: role to layer path, id or address.")
    ] = None,
    pack: Annotated[
        str | None, typer.Option("--pack", help="An Expert Pack whose role map is resolved.")
    ] = None,
    template: Annotated[
        str | None, typer.Option("--template", help="The pack's template; by default the one of this name.")
    ] = None,
    packs: Annotated[Path | None, typer.Option("--packs", help="The folder that holds packs.")] = None,
    fonts: FontFolders = None,
    as_json: JsonFlag = False,
) -> None:
    """Semantic tree, roles, fonts, links, profile, hazards."""
    from resources.photoshop.client import shared

    if pack is None and (template is not None or packs is not None):
        raise UsageFault(
            "photoshop.roles", "--template and --packs belong to --pack", where="--pack", mend="name a pack"
        )
    wanted = {
        **(_pack_roles(pack, template, packs, file) if pack is not None else {}),
        **(_roles(roles) if roles is not None else {}),
    }
    folders = [str(folder.resolve()) for folder in _fonts(fonts)]
    params = {"roles": wanted, "fonts": folders}
    found = _named(file, lambda path: shared().call("inspect", {"path": path, **params}))
    emit(found, as_json=as_json, human=lambda: _tell(file, found))


def render(
    file: PsdFile,
    out: Annotated[Path, typer.Argument(metavar="OUT.png", help="The picture to write.")],
    layer: Annotated[str | None, typer.Option("--layer", help="One layer or group, by path.")] = None,
    preset: Annotated[str, typer.Option("--preset", help="A built-in export preset.")] = "canvas",
    as_json: JsonFlag = False,
) -> None:
    """Export what is visible as a PNG: sRGB, straight alpha."""
    import tempfile

    from fabric_dagster.capabilities.photoshop_shared import PRESETS
    from resources.photoshop.apply import check_target
    from resources.photoshop.client import shared

    if preset not in PRESETS:
        raise UsageFault(
            "photoshop.preset_unknown", "no built-in preset has this name", where="--preset", value=preset,
            mend=f"use one of: {', '.join(PRESETS)}",
        )  # fmt: skip
    check_target(out)
    if out.exists() and file.exists() and out.samefile(file):
        raise UsageFault(
            "photoshop.out_is_source", "the target is the source itself", where=str(out),
            mend="write to another file: sources are never overwritten",
        )  # fmt: skip
    address = {"path": layer} if layer is not None else None
    with tempfile.TemporaryDirectory(prefix=".fabric-", dir=out.parent.resolve()) as private:
        made = Path(private) / "render.png"
        wanted = {"out": str(made), "layer": address, "preset": preset}
        facts = _named(file, lambda path: shared().call("render", {"path": path, **wanted}))
        made.replace(out)
    emit(
        {"file": str(out), **facts},
        as_json=as_json,
        human=lambda: say(
            f"{out}: {facts['width']} x {facts['height']}, {facts['colour_space']}, {facts['digest']}"
        ),
    )


def apply(
    file: PsdFile,
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json", help="A fabric.physical-plan.v1.")],
    out: Annotated[Path, typer.Argument(metavar="OUT.psd", help="The edited copy; exports go beside it.")],
    fonts: FontFolders = None,
    as_json: JsonFlag = False,
) -> None:
    """Run typed operations on a copy; the source's digest is proven unchanged."""
    from resources.photoshop.apply import apply_plan
    from resources.photoshop.provider import describe, warnings_of

    done = apply_plan(file, plan, out, fonts=_fonts(fonts))
    document = {"document": done.document, "operations": done.operations, "written": done.written}

    def human() -> None:
        for line in describe([done.document]).splitlines():
            say(line)
        for operation in done.operations:
            for said in warnings_of(operation):
                say(one_line(f"warning: {operation['capability']}: {said}"))
        say(f"source unchanged: {done.document['source_digest']}")
        for path, digest in done.written.items():
            say(f"wrote {path}  {digest}")

    emit(document, as_json=as_json, human=human)


def _fonts(given: list[Path] | None) -> tuple[Path, ...]:
    """The folders that are named, then the home's, if there is one."""
    from fabric_dagster.cli.packs import nearby

    for folder in given or ():
        if not folder.is_dir():
            raise UsageFault("photoshop.no_folder", "there is no such folder", where=str(folder))
    home = nearby(None)
    return (*(given or ()), *((home.fonts,) if home else ()))


def _pack_roles(name: str, template: str | None, packs: Path | None, file: Path) -> dict[str, Any]:
    """The role map that a pack has for this document."""
    from fabric_dagster.cli.packs import catalog, nearby

    known = catalog(nearby(None), packs)
    if name in known.broken:
        raise InvalidDocument.of(known.broken[name])
    if name not in known.packs:
        raise UsageFault(
            "packs.unknown", "there is no such pack", where="--pack", value=name,
            mend=f"use one of: {', '.join(sorted(known.packs)) or 'none loads'}",
        )  # fmt: skip
    templates = known.packs[name].pack.templates
    found = [
        each
        for key, each in templates.items()
        if (key == template if template is not None else each.file == file.name)
    ]
    if len(found) != 1:
        listed = ", ".join(f"{key} ({each.file})" for key, each in sorted(templates.items()))
        raise UsageFault(
            "packs.no_template", "the pack has not one template of this name", where="--template",
            value=template or file.name, mend=f"name one of: {listed}",
        )  # fmt: skip
    return dict(found[0].roles)


def _roles(file: Path) -> dict[str, Any]:
    """A role map from a file: text is a path, a number an id, a mapping an address."""
    import yaml

    if not file.is_file():
        raise UsageFault("photoshop.no_file", "there is no such file", where=str(file), mend="check the path")
    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        found = None
    good = isinstance(found, dict) and all(
        isinstance(role, str)
        and (
            isinstance(layer, str | int)
            or (isinstance(layer, dict) and len(layer) == 1 and layer.keys() <= {"path", "id"})
        )
        for role, layer in found.items()
    )
    if not good:
        raise InvalidDocument(
            "photoshop.bad_roles", "this is no role map", where=str(file),
            mend='write one mapping, such as `art: Art/Art` or `art: {"id": 3}`',
        )  # fmt: skip
    return dict(found)


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
    say(one_line(f"  {found['depth']} bits, profile {tagged}, {_counts(found['counts'])}"))
    say(f"  {found['digest']}")
    for line in _lines(found["layers"], ""):
        say(line)
    for role, layer in found["roles"].items():
        say(one_line(f"role {role}: {layer['path']} [{layer['id']}]"))
    if found["fonts"]:
        say(one_line("fonts: " + ", ".join(found["fonts"])))
    if found["fonts_missing"]:
        say(one_line("fonts that are not here: " + ", ".join(found["fonts_missing"])))
    if found["guides"]:
        listed = ", ".join(f"{guide['direction'][0]} {guide['at']:g}" for guide in found["guides"])
        say(f"guides: {listed}")
    if found["comps"]:
        say(one_line("comps: " + ", ".join(f"{comp['name']} [{comp['id']}]" for comp in found["comps"])))
    if found["slices"]:
        say(one_line("slices: " + ", ".join(each["name"] or str(each["id"]) for each in found["slices"])))
    for hazard in found["hazards"]:
        where = f"{hazard['where']}: " if hazard["where"] else ""
        say(one_line(f"hazard: {where}{hazard['what']} [{hazard['code']}]"))


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in counts.items()) or "no layers"


def _box(box: dict[str, int]) -> str:
    return f"{box['left']},{box['top']} {box['right'] - box['left']}x{box['bottom'] - box['top']}"


def _grown(layer: dict[str, Any]) -> bool:
    return bool(layer["bounds"] != layer["bounds_with_effects"])


def _told_text(text: dict[str, Any]) -> list[str]:
    sizes = ", ".join(f"{size:g} px" for size in text["sizes"])
    told = [f"{text['contents']!r} in {', '.join(text['fonts']) or 'no font'} {sizes}".strip()]
    told += [f"{text['kind']} text, {' '.join(dict.fromkeys(text['alignment']))}"] if text["kind"] else []
    told += [f"{text['overflow']} lines cut off"] if text["overflow"] else []
    return told


def _told_smart_object(smart: dict[str, Any], own: int | None) -> list[str]:
    if "uuid" not in smart:
        return [str(smart["kind"])]
    told = [f"{smart['kind']} {smart['name']} {smart['width']:g}x{smart['height']:g}", smart["transform"]]
    told += [f"warp {smart['warp']}"] if smart["warp"] else []
    others = [str(user) for user in smart["shared_by"] if user != own]
    told += [f"shared with {', '.join(others)}"] if others else []
    return told


def _lines(layers: list[dict[str, Any]], indent: str) -> Iterator[str]:
    for layer in layers:
        box = layer["bounds"]
        eye = "●" if layer["shown"] else "○"
        parts = [f"{indent}{eye} {layer['name']}", f"[{layer['id']}] {layer['kind'].replace('_', ' ')}"]
        parts.append(_box(box))
        if layer["blend"] not in {"normal", "pass_through"}:
            parts.append(layer["blend"])
        if layer["clipped_to"] is not None:
            parts.append(f"clipped to {layer['clipped_to']}")
        parts += [f"locked {', '.join(layer['locks'])}"] if layer["locks"] else []
        parts += ["masked"] if layer["mask"] else []
        parts += ["vector mask"] if layer["vector_mask"] else []
        parts += [f"effects {', '.join(layer['effects'])}"] if layer.get("effects") else []
        parts += _told_text(layer["text"]) if layer.get("text") else []
        parts += _told_smart_object(layer["smart_object"], layer["id"]) if layer.get("smart_object") else []
        parts += [f"effects reach {_box(layer['bounds_with_effects'])}"] if _grown(layer) else []
        yield one_line("  ".join(parts))
        yield from _lines(layer.get("children", []), indent + "  ")
