"""``fabric unity``: look at and edit Unity projects without an editor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import JsonFlag, emit, note, say, seen
from fabric_dagster.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resources.unity.apply import Applied
    from resources.unity.index import IndexCache
    from resources.unity.index.graph import Neighbourhood

ProjectFolder = Annotated[Path, typer.Argument(metavar="PROJECT", help="The folder that holds Assets.")]
SHOWN = 20
#: a list of known GUIDs; a large project has some hundred thousand
MAX_KNOWN = 64 << 20


def register(app: typer.Typer) -> None:
    """Add ``fabric unity``."""
    group = typer.Typer(no_args_is_help=True, help="Read and edit Unity projects, headless.")
    group.command("inspect")(inspect)
    group.command("apply")(apply)
    group.command("recover")(recover)
    app.add_typer(group, name="unity")


def inspect(
    project: ProjectFolder,
    known: Annotated[
        Path | None, typer.Option("--known", help="A JSON object: GUID → where a package has it.")
    ] = None,
    asset: Annotated[
        str | None, typer.Option("--asset", help="What uses this asset, and what it needs.")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option("--graph", metavar="OUT.svg", help="Draw that, with --asset.")
    ] = None,
    depth: Annotated[int, typer.Option("--depth", min=1, max=9, help="How many references away.")] = 2,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache", help="Where to keep what was read, outside of the project; default the home."
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Read everything, keep nothing.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Version, packages, GUIDs, what is wrong with metas and references; or what lies around one asset."""
    from resources.unity.index import index_project
    from resources.unity.index.graph import References
    from resources.unity.inspection import summary
    from resources.unity.project import open_project

    _folder(project)
    if graph is not None and asset is None:
        raise UsageFault("unity.no_asset", "there is nothing to draw", mend="add --asset Assets/…")
    packages = _known(known)
    opened = open_project(project)
    with seen("files") as step:
        index = index_project(opened, cache=None if no_cache else _cache(cache, opened.root), step=step)
    if asset is None:
        found = summary(index, packages)
        emit(found, as_json=as_json, human=lambda: _tell(found))
        return
    around = References(index, packages).around(asset.replace("\\", "/"), depth)
    if graph is not None:
        _draw(around, graph)
    emit(around.as_dict(), as_json=as_json, human=lambda: _tell_around(around))


def _cache(where: Path | None, project: Path) -> IndexCache | None:
    """The kept index: in the folder that was given, else in the home; never inside the project."""
    from resources.home import Home
    from resources.unity.index import IndexCache

    home = Home.find(None)
    folder = where or (home.path / "cache" / "unity" if home.exists else None)
    if folder is None:
        return None
    if folder.resolve().is_relative_to(project):
        if where is None:
            return None
        raise UsageFault(
            "unity.cache_inside",
            "the cache would lie inside the project",
            where=str(folder),
            mend="give a folder elsewhere, or --no-cache",
        )
    return IndexCache(folder.resolve())


def _draw(around: Neighbourhood, target: Path) -> None:
    from resources.unity.index.picture import draw

    try:
        target.write_text(draw(around), encoding="utf-8")
    except OSError as fault:
        raise UsageFault(
            "unity.not_written", f"the picture cannot be written: {fault.strerror}", where=str(target),
            mend="give another place with --graph",
        ) from None  # fmt: skip
    note(f"Drew {target}")


def _tell_around(around: Neighbourhood) -> None:
    for title, layers in (("used by", around.users), ("needs", around.needs)):
        for distance, paths in layers.items():
            far = "" if distance == 1 else f", {distance} references away"
            _list(f"{title}{far}", paths)
        if not layers:
            say(f"  {title}: nothing")
    _list("outside of the project", [f"{guid} ({kind})" for guid, kind in sorted(around.outside.items())])


def apply(
    project: ProjectFolder,
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json", help="A fabric.physical-plan.v1.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the diff and write nothing.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Run typed operations as one transaction; rolled back on any failure."""
    from resources.unity.apply import apply_plan

    _folder(project)
    done = apply_plan(project, plan, dry_run=dry_run)
    document = {"dry_run": dry_run, **done.as_dict()}
    emit(document, as_json=as_json, human=lambda: _tell_applied(done, dry_run=dry_run))


def recover(project: ProjectFolder, as_json: JsonFlag = False) -> None:
    """Finish or undo an interrupted transaction."""
    from resources.home import Home
    from resources.unity.apply import recover as recover_all

    _folder(project)
    done = recover_all(project)
    home = Home.find(None)
    if home.exists and home.project.resolve() == project.resolve():
        # A governed run keeps its journals in the home, where cleaning the project's caches spares them.
        done += recover_all(project, home.transactions / "unity")

    def human() -> None:
        if not done:
            say("Nothing was interrupted.")
        for item in done:
            outcome = "finished" if item["standing"] == "after" else "undone: the project is as before it"
            say(f"{item['transaction']}  {outcome}")

    emit({"recovered": done}, as_json=as_json, human=human)


def _folder(project: Path) -> None:
    if not project.is_dir():
        raise UsageFault(
            "unity.no_folder", "there is no such folder", where=str(project), mend="name a Unity project"
        )


def _known(path: Path | None) -> Mapping[str, str] | None:
    if path is None:
        return None
    import json

    from fabric_dagster.errors import InvalidDocument

    try:
        with path.open("rb") as reader:
            data = reader.read(MAX_KNOWN + 1)
        found = json.loads(data) if len(data) <= MAX_KNOWN else None
    except (OSError, ValueError, RecursionError) as fault:
        raise InvalidDocument("unity.known_guids", f"cannot be read: {fault}", where=str(path)) from None
    if not isinstance(found, dict):
        raise InvalidDocument("unity.known_guids", "it is no JSON object", where=str(path))
    return {str(guid).lower(): str(name) for guid, name in found.items()}


def _tell(found: dict[str, Any]) -> None:
    references = found["references"]
    say(f"{found['project']}: Unity {found['unity_version'] or 'unknown'}")
    kinds = ", ".join(f"{count} {kind}" for kind, count in list(found["kinds"].items())[:8])
    named = ", ".join(list(found["packages"])[:4]) + (", …" if len(found["packages"]) > 4 else "")  # noqa: PLR2004
    embedded = f", {len(found['embedded_packages'])} embedded" if found["embedded_packages"] else ""
    say(
        f"  {len(found['packages'])} packages{embedded}: {named or 'none'};"
        f" {len(found['assemblies'])} assemblies"
    )
    say(f"  {found['files']} files, {found['assets']} assets with a GUID: {kinds}")
    outside = f"{references['built_in']} built in, {references['package']} in packages"
    say(f"  {references['total']} references: {references['within_project']} within the project, {outside},")
    say(f"    {references['broken']} broken, {references['unknown']} unknown (no package cache to look in)")
    if not found["force_text"]:
        say("  Asset Serialization is not Force Text: binary assets cannot be edited")
    for title, key in (
        ("duplicate GUIDs", "duplicate_guids"),
        ("manifests that cannot be read", "unreadable_manifests"),
        ("orphan .meta", "orphan_metas"),
        ("missing .meta", "missing_metas"),
        ("GUID-only .meta", "stub_metas"),
        (".meta without a GUID", "broken_metas"),
        ("GUIDs that look typed by hand", "suspicious_guids"),
        ("names that differ only by case", "case_twins"),
        ("links, not followed", "links"),
    ):
        _list(title, found[key])
    _list("unresolved references", [_use(item) for item in found["unresolved"]])


def _use(item: dict[str, Any]) -> str:
    return f"{item['in']}: {{fileID: {item['fileID']}, guid: {item['guid']}}} ({item['class']})"


def _list(title: str, items: Any) -> None:  # noqa: ANN401 - a list of paths, pairs, or GUID → paths
    lines = (
        [f"{guid}: {', '.join(paths)}" for guid, paths in items.items()] if isinstance(items, dict) else items
    )
    say(f"  {title}: {len(lines)}")
    for line in lines[:SHOWN]:
        say(f"    {line if isinstance(line, str) else ' | '.join(line)}")
    if len(lines) > SHOWN:
        say(f"    … and {len(lines) - SHOWN} more (--json lists all)")


def _tell_applied(done: Applied, *, dry_run: bool) -> None:
    for name in done.undone:
        say(f"{'Would undo' if dry_run else 'Undid'} {name}.")
    if done.staged is None:
        return
    if done.staged.diff:
        say(done.staged.diff.rstrip("\n"))
        say()
    for text in done.staged.warnings:
        say(f"warning: {text}")
    count = len(done.staged.changes)
    if not count:
        say("Nothing to change: the project is as the plan asks for.")
    elif dry_run:
        say(f"Dry run: {count} files would change. Nothing was written.")
    else:
        say(f"{count} files changed as transaction {done.transaction}, read back and as planned.")
