"""``fabric pack``: what packs there are, whether each holds together, and their locks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, PacksOption, emit, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabric_dagster.errors import Fault
    from fabric_dagster.intelligence import LoadedPack

PackArgument = Annotated[str | None, typer.Argument(help="A pack's name or folder; all packs if left out.")]


def register(app: typer.Typer) -> None:
    """Add the command and its verbs."""
    group = typer.Typer(help="List, check or lock Expert Packs.", no_args_is_help=True)
    group.command("list")(list_)
    group.command("check")(check)
    group.command("lock")(lock)
    app.add_typer(group, name="pack")


def list_(*, home: HomeOption = None, packs: PacksOption = None, as_json: JsonFlag = False) -> None:
    """Print every pack with its digest, its graphs, and whether it is as locked."""
    from fabric_dagster.cli.packs import catalog, nearby

    known = catalog(nearby(home), packs)
    rows = [_row(pack) for pack in known.packs.values()]
    broken = {name: [fault.as_dict() for fault in faults] for name, faults in known.broken.items()}

    def human() -> None:
        for row in rows:
            say(f"{row['name']}  {row['version']}  {row['digest']}  {row['lock']}")
            say(f"  {row['title']}: {', '.join(row['graphs'])}")
        for name, faults in known.broken.items():
            say(f"{name}  does not load: {_count(faults)}; see `fabric pack check {name}`")

    emit({"packs": rows, "broken": broken}, as_json=as_json, human=human)


def _row(pack: LoadedPack) -> dict[str, Any]:
    from fabric_dagster.intelligence.manifest import lock_faults

    drift = lock_faults(pack.folder, pack.files)
    state = (
        "locked" if not drift else "no lock" if drift[0].code == "pack.no_lock" else "differs from its lock"
    )
    return {
        "name": pack.pack.name,
        "version": pack.pack.version,
        "title": pack.pack.title,
        "digest": pack.digest,
        "lock": state,
        "graphs": sorted(pack.graphs),
        "folder": str(pack.folder),
    }


def check(
    pack: PackArgument = None,
    *,
    home: HomeOption = None,
    packs: PacksOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Prove that packs hold together: every fault of every file, with its line. Writes nothing."""
    from fabric_dagster.errors import InvalidDocument

    faults: list[Fault] = []
    rows: list[dict[str, Any]] = []
    for folder in _folders(pack, home, packs):
        found, more = _check_one(folder)
        faults += more
        rows.append(
            {"name": folder.name, "sound": not more, "faults": [fault.as_dict() for fault in more]}
            | ({"digest": found.digest, "graphs": sorted(found.graphs)} if found else {})
        )

    def human() -> None:
        for row in rows:
            state = _count(row["faults"]) if row["faults"] else "sound"
            say(f"{row['name']}  {row.get('digest', 'does not load')}  {state}")

    emit({"packs": rows}, as_json=as_json, human=human)
    if faults:
        raise InvalidDocument.of(faults)


def _count(faults: Sequence[object]) -> str:
    return f"{len(faults)} fault{'s' if len(faults) > 1 else ''}"


def _check_one(folder: Path) -> tuple[LoadedPack | None, list[Fault]]:
    from fabric_dagster.capabilities.registry import capabilities
    from fabric_dagster.cli.packs import served_here
    from fabric_dagster.errors import InvalidDocument
    from fabric_dagster.graphs.validate import validate_graph
    from fabric_dagster.intelligence import load_pack
    from fabric_dagster.intelligence.examples import example_faults
    from fabric_dagster.intelligence.manifest import lock_faults

    try:
        pack = load_pack(folder)
    except InvalidDocument as fault:
        return None, list(fault.faults)
    faults = [fault for read in pack.graphs.values() for fault in validate_graph(read, capabilities())]
    faults += _validator_faults(pack)
    return pack, [*faults, *example_faults(pack, served_here()), *lock_faults(pack.folder, pack.files)]


def _validator_faults(pack: LoadedPack) -> list[Fault]:
    """Validators that a graph binds and nobody has, and parameters that theirs do not take."""
    from pydantic import ValidationError

    from fabric_dagster.documents import complaints
    from fabric_dagster.errors import Fault, InvalidDocument
    from fabric_dagster.validators.registry import validators

    try:
        known = validators(pack.folder)
    except InvalidDocument as fault:
        return list(fault.faults)
    faults = []
    for read in pack.graphs.values():
        for index, binding in enumerate(read.graph.validators):
            if binding.id not in known:
                what, where = "no such validator is installed", read.source.where(("validators", index, "id"))
                mend = f"use one of: {', '.join(known)}"
                faults.append(Fault("pack.unknown_validator", what, where, mend, binding.id))
    for name, params in pack.pack.checks.items():
        if name in known:
            try:
                known[name].validator.params.model_validate(params)
            except ValidationError as fault:
                faults += complaints(fault, pack.source, ("checks", name))
    return faults


def lock(
    pack: PackArgument = None,
    *,
    home: HomeOption = None,
    packs: PacksOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Write each pack's ``pack.lock`` from its files as they are now; a pack that does not load gets none."""
    from fabric_dagster.errors import InvalidDocument
    from fabric_dagster.intelligence import load_pack
    from fabric_dagster.intelligence.manifest import LOCK, lock_bytes, lock_document, lock_faults
    from resources.files.durable import write_durably

    loaded: list[LoadedPack] = []
    faults: list[Fault] = []
    for folder in _folders(pack, home, packs):
        try:
            loaded.append(load_pack(folder))
        except InvalidDocument as fault:
            faults += fault.faults
    if faults:
        raise InvalidDocument.of(faults)
    rows: list[dict[str, Any]] = []
    for found in loaded:
        drift = lock_faults(found.folder, found.files)
        if drift:
            document = lock_document(found.pack.name, found.pack.version, found.files)
            write_durably(found.folder / LOCK, lock_bytes(document))
        changed = [fault.where for fault in drift if fault.code == "pack.lock_drift"]
        rows.append(
            {"name": found.pack.name, "digest": found.digest, "written": bool(drift), "changed": changed}
        )

    def human() -> None:
        for row in rows:
            say(f"{row['name']}  {row['digest']}  {'locked' if row['written'] else 'is as locked'}")
            for path in row["changed"]:
                say(f"  {path}")

    emit({"packs": rows}, as_json=as_json, human=human)


def _folders(name: str | None, home: Path | None, packs: Path | None) -> list[Path]:
    """The folders that the call means: one by name or path, or all."""
    from fabric_dagster.cli.packs import nearby, roots
    from fabric_dagster.errors import UsageFault
    from fabric_dagster.intelligence.catalog import pack_folders

    if name is not None and (Path(name) / "pack.yaml").is_file():
        return [Path(name).absolute()]
    known = pack_folders(roots(nearby(home), packs))
    found = [folder for folder in known if name in {None, folder.name}]
    if not found:
        names = ", ".join(folder.name for folder in known) or "none are there"
        raise UsageFault("pack.unknown", "there is no such pack", mend=f"use one of: {names}", value=name)
    return found
