"""``fabric photoshop apply``: a plan on a copy of one file, outside of any supervisor run.

Rules kept here: every fault of plan and paths is found before anything starts; results are made in a
private folder beside the target and moved into place only when all operations succeeded and the source's
digest is still what it was; the source, under whatever name, is never a target.
"""

from __future__ import annotations

import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.capabilities.plans import read_plan
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import Conflict, FabricError, Fault, InvalidDocument, UsageFault
from resources.files.paths import folded, under
from resources.photoshop.client import Pool, Worker, shared
from resources.photoshop.provider import EXPORT, OPEN, READS, REPLACE, SERVES

if TYPE_CHECKING:
    from fabric_dagster.contracts.physical_plan import PhysicalPlan

LARGEST_PLAN: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class Applied:
    """What was done: the report of the edited copy, facts by operation, and the files written."""

    document: dict[str, Any]
    operations: list[dict[str, Any]]
    written: dict[str, str]


def apply_plan(
    source: Path,
    plan_file: Path,
    out: Path,
    *,
    fonts: tuple[Path, ...] = (),
    worker: Worker | Pool | None = None,
) -> Applied:
    """Run the plan on a copy of ``source`` and write it to ``out``; exports go beside ``out``.

    ``fonts`` are folders whose fonts come before the system's.

    Raises ``UsageFault`` for the call's own words, ``InvalidDocument`` with all faults of the plan,
    ``OperationFailed`` for an operation, ``Conflict`` if the source changed meanwhile.
    """
    worker = worker or shared()
    _check_call(source, plan_file, out)
    plan, typed = read_plan(plan_file.read_bytes(), "photoshop", str(plan_file))
    folder = out.parent.resolve()
    steps = _steps(plan, [item.body() for item in typed], source, plan_file, out)
    if source.stat().st_size > worker.limits.file_bytes:
        # Read nothing of it: taking the digest of a file without end would never end either.
        raise InvalidDocument(
            "psd.too_large",
            f"the file has {source.stat().st_size} bytes, the limit is {worker.limits.file_bytes}",
            where=str(source),
        )
    before = digest_file(source)
    names = {
        f"smart_object_uuid_{number}": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{before}/{plan.digest}/{number}"))
        for number in range(len(plan.operations))
    }
    with tempfile.TemporaryDirectory(prefix=".fabric-", dir=folder) as private:
        params: dict[str, Any] = {"steps": steps, "folder": private, "allocations": names, "implied": 1}
        params["fonts"] = [str(folder.resolve()) for folder in fonts]
        try:
            reply = worker.call("execute", params)
        except FabricError as error:
            raise _named(error, source, plan_file) from error
        if digest_file(source) != before or reply["documents"][0]["source_digest"] != before:
            raise Conflict(
                "photoshop.source_changed",
                "the source changed while it was worked on; nothing was written",
                where=str(source),
                mend="run it again",
            )
        exports = [step["args"]["out"] for step in steps if step["capability"] == EXPORT]
        written = {}
        for name in exports:
            target = under(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            (Path(private) / name).replace(target)
            written[str(target)] = digest_file(target)
        (Path(private) / "document" / out.name).replace(out)
        written[str(out)] = digest_file(out)
    report = {**reply["documents"][0], "document": str(out)}
    facts = [
        {"capability": step["capability"], **fact}
        for step, fact in zip(steps[1:], reply["facts"][1:], strict=True)
    ]
    return Applied(report, facts, written)


def _check_call(source: Path, plan_file: Path, out: Path) -> None:
    for path, what in ((source, "document"), (plan_file, "plan")):
        if not path.is_file():
            raise UsageFault("photoshop.no_file", f"there is no such {what}", where=str(path))
    if plan_file.stat().st_size > LARGEST_PLAN:
        raise InvalidDocument("plan.too_large", "a plan is not that large", where=str(plan_file))
    check_target(out)
    for path, what in ((source, "the source"), (plan_file, "the plan")):
        if _same(path, out):
            raise UsageFault(
                "photoshop.out_is_source",
                f"the target is {what} itself",
                where=str(out),
                mend="write to another file: sources are never overwritten",
            )


def check_target(out: Path) -> None:
    """Refuse a target that can't be replaced by a file: in no folder, or no plain file itself."""
    if not out.parent.is_dir():
        raise UsageFault(
            "photoshop.no_folder",
            "the folder to write into does not exist",
            where=str(out.parent),
            mend="make it first",
        )
    if out.is_dir():
        raise UsageFault(
            "photoshop.out_is_folder", "the target is a folder", where=str(out), mend="name a file"
        )
    if (out.exists() or out.is_symlink()) and not out.is_file():
        raise UsageFault(
            "photoshop.out_is_no_file",
            "the target is a device, a pipe, or a link that leads nowhere",
            where=str(out),
            mend="name a file",
        )


def _same(first: Path, second: Path) -> bool:
    """Whether two paths are one file: by name, symlink or hard link."""
    return first.resolve() == second.resolve() or (second.exists() and first.samefile(second))


def _steps(
    plan: PhysicalPlan, arguments: list[dict[str, Any]], source: Path, plan_file: Path, out: Path
) -> list[dict[str, Any]]:
    """The worker's steps, with every path found; all faults at once."""
    faults: list[Fault] = []
    opened = {"source": str(source.resolve()), "copy": f"document/{out.name}"}
    steps: list[dict[str, Any]] = [{"capability": OPEN, "args": opened}]
    inputs, taken = [source, plan_file], {folded(out.name)}
    for number, (operation, args) in enumerate(zip(plan.operations, arguments, strict=True)):
        place = f"{plan_file}: operations[{number}]"
        if operation.capability == OPEN or operation.capability not in SERVES:
            mend = "leave it out: the file and the target given here play that part"
            what = "this operation has no place in a plan for one file"
            faults.append(Fault("plan.not_here", what, f"{place}.capability", mend, operation.capability))
        key = READS.get(operation.capability, "")
        if operation.capability != OPEN and args.get(key) is not None:
            found = _find(args[key], plan_file)
            at = f"{place}.args.{key}"
            if found is None:
                mend = "give a path relative to the plan or to the current folder"
                faults.append(Fault("plan.no_file", "there is no such file", at, mend, args[key]))
            else:
                inputs.append(found)
                if _same(found, out):
                    mend = "write to another file: sources are never overwritten"
                    what = "the target is this input itself"
                    faults.append(Fault("photoshop.out_is_source", what, at, mend, args[key]))
                # A link's target may have another name: contents keep the one that the plan gives.
                named = {"contents_name": found.name} if operation.capability == REPLACE else {}
                args = {**args, key: str(found.resolve()), **named}  # noqa: PLW2901 - paths are filled in
        steps.append({"capability": operation.capability, "args": args})
    for number, step in enumerate(steps[1:]):
        if step["capability"] == EXPORT:
            at = f"{plan_file}: operations[{number}].args.out"
            faults += _check_export(str(step["args"]["out"]), at, out, inputs, taken)
    if faults:
        raise InvalidDocument.of(faults)
    return steps


def _find(path: str, plan_file: Path) -> Path | None:
    """A file beside the plan, else under the current folder."""
    for base in (plan_file.resolve().parent, Path.cwd()):
        if (base / path).is_file():
            return base / path
    return None


def _check_export(name: str, at: str, out: Path, inputs: list[Path], taken: set[str]) -> list[Fault]:
    try:
        target = under(out.parent.resolve(), name)
    except FabricError as error:
        return [Fault(f.code, f.what, at, f.mend, name) for f in error.faults]
    if target.is_dir():
        return [Fault("plan.out_is_folder", "the export's target is a folder", at, "name a file", name)]
    if any(_same(path, target) for path in inputs):
        mend = "write to another file: sources are never overwritten"
        return [Fault("photoshop.out_is_source", "the export would overwrite an input", at, mend, name)]
    if folded(name) in taken:
        mend = "give every export a name of its own"
        return [Fault("plan.out_twice", "this file is written twice", at, mend, name)]
    taken.add(folded(name))
    return []


def _named(error: FabricError, source: Path, plan_file: Path) -> FabricError:
    """The worker's error with our files' names: it knows the source by its bytes and no plan at all."""
    faults = [
        Fault(f.code, f.what, _place(f.where, source, plan_file), f.mend, f.value) for f in error.faults
    ]
    return type(error).of(faults)


def _place(where: str, source: Path, plan_file: Path) -> str:
    if where.startswith("operations["):
        return f"{plan_file}: {where}"
    if Path(where).is_absolute():
        return where
    return f"{source}, {where}" if where else str(source)
