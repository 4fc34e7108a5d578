"""``fabric unity apply`` and ``recover``: a plan on a project, outside of any supervisor run.

Rules kept here: every fault of plan and project is found before anything is written; all operations commit as
one transaction; what stands there afterwards is read again, and taken back where it is not what the plan asks
for. Sources are copied, never touched. The undo journals of the last plans are kept.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric_dagster.capabilities.plans import read_plan
from fabric_dagster.capabilities.unity_undo_transaction import UndoTransaction
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import Conflict, FabricError, Fault, InvalidDocument, OperationFailed, UsageFault
from fabric_dagster.graphs.refs import is_ref
from resources.unity.provider import HeadlessUnity, new_transaction

if TYPE_CHECKING:
    from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan
    from fabric_dagster.supervisor.ports import Observation, Staged

LARGEST_PLAN = 4 << 20
KEPT_JOURNALS = 20
OWN = "apply-"


@dataclass(frozen=True, slots=True)
class Applied:
    """What was (or, in a dry run, would be) done."""

    transaction: str | None
    staged: Staged | None
    observations: tuple[Observation, ...] = ()
    undone: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        document: dict[str, Any] = {"transaction": self.transaction, "undone": list(self.undone)}
        if self.staged is not None:
            document |= {
                "changes": [change.as_dict() for change in self.staged.changes],
                "produced": [
                    {"node": item.node, "name": item.name, "kind": item.kind, "value": item.value}
                    for item in self.staged.produced
                ],
                "warnings": list(self.staged.warnings),
                "diff": self.staged.diff,
            }
        document["observations"] = [item.as_dict() for item in self.observations]
        return document


def apply_plan(project: Path, plan_file: Path, *, dry_run: bool = False) -> Applied:
    """Apply the plan in ``plan_file`` to ``project``.

    Raises ``UsageFault`` for the call's own words, ``InvalidDocument`` with all faults of the plan,
    ``OperationFailed`` with every failure of its operations, ``Conflict`` where the project changed since
    or an editor has it open.
    """
    plan, typed = read_plan(_read(plan_file), "unity", str(plan_file))
    unity = HeadlessUnity(project, patience=0)
    undo = [args for args in typed if isinstance(args, UndoTransaction)]
    if undo:
        return _undo(unity, undo, typed, plan_file, dry_run=dry_run)
    with tempfile.TemporaryDirectory(prefix="fabric-unity-") as private:
        stage = Path(private)
        bound = _laid(plan, plan_file, stage)
        try:
            unity.check(bound)
            bound = bound.model_copy(update={"allocations": {**unity.allocate(bound), **plan.allocations}})
            staged = unity.stage(bound, stage)
        except FabricError as error:
            raise _named(error, plan, bound, plan_file) from error
        if dry_run or not staged.changes:
            return Applied(None, staged, staged.observations)
        transaction = new_transaction()
        unity.commit(stage, staged, transaction)
        seen = (*staged.observations, *unity.observe(bound, staged))
    broken = [item for item in seen if not item.holds]
    if broken:
        unity.undo(transaction)
        unity.forget(transaction)
        raise OperationFailed.of(
            Fault(
                "unity.postcondition_failed",
                f"expected {item.expected}, found {item.found}; everything was taken back",
                item.subject,
            )
            for item in broken
        )
    _prune(unity, transaction)
    return Applied(transaction, staged, seen)


def recover(project: Path, journals: Path | None = None) -> list[dict[str, str]]:
    """Finish or undo every interrupted transaction of ``project``; what each came to.

    ``journals`` is where they are kept, by default with the project.
    """
    unity = HeadlessUnity(project, journals)
    unity.transactions.sweep()
    return [
        {"transaction": name, "standing": unity.recover(name)} for name in unity.transactions.interrupted()
    ]


def _read(plan_file: Path) -> bytes:
    if not plan_file.is_file():
        raise UsageFault(
            "unity.no_plan", "there is no such plan", where=str(plan_file), mend="name a PLAN.json"
        )
    if plan_file.stat().st_size > LARGEST_PLAN:
        raise InvalidDocument("plan.too_large", "a plan is not that large", where=str(plan_file))
    return plan_file.read_bytes()


def _undo(
    unity: HeadlessUnity,
    undo: list[UndoTransaction],
    typed: tuple[Any, ...],
    plan_file: Path,
    *,
    dry_run: bool,
) -> Applied:
    if len(undo) != len(typed):
        raise InvalidDocument(
            "plan.mixed",
            "a plan that undoes a transaction does nothing else",
            where=str(plan_file),
            mend="write two plans",
        )
    kept = {journal.transaction for journal in unity.transactions.journaled()}
    for args in undo:
        if not dry_run:
            unity.undo(args.transaction)
        elif args.transaction not in kept:
            raise Conflict(
                "transaction.unknown",
                "there is no undo journal for this transaction",
                where=args.transaction,
                mend="it was never committed, or its journal was dropped since",
            )
    return Applied(None, None, undone=tuple(args.transaction for args in undo))


def _laid(plan: PhysicalPlan, plan_file: Path, stage: Path) -> PhysicalPlan:
    """The plan with every source copied into the stage; a missing one is reported with all others."""
    faults: list[Fault] = []
    operations: list[Operation] = []
    digests = {item.path: item.digest for item in plan.inputs}
    for index, operation in enumerate(plan.operations):
        source = operation.args.get("source")
        if not isinstance(source, str) or is_ref(source):
            operations.append(operation)
            continue
        found = _source(source, plan_file)
        if found is None:
            faults.append(
                Fault(
                    "unity.source_missing",
                    "there is no such file",
                    f"{plan_file}: operations[{index}].args.source",
                    "paths are relative to the plan's folder, then to the current one",
                    source,
                )
            )
            continue
        stated = digests.get(source)
        if stated is not None and digest_file(found) != stated:
            faults.append(
                Fault(
                    "unity.source_changed",
                    f"the file is not the one that the plan was bound to ({stated})",
                    f"{plan_file}: operations[{index}].args.source",
                    "bind the plan again",
                    source,
                )
            )
            continue
        inside = f"inputs/{index}{found.suffix if found.suffix.isascii() else ''}"
        (stage / "inputs").mkdir(exist_ok=True)
        shutil.copyfile(found, stage / inside)
        operations.append(operation.model_copy(update={"args": {**operation.args, "source": inside}}))
    if faults:
        raise InvalidDocument.of(faults)
    return plan.model_copy(update={"operations": tuple(operations)})


def _named(error: FabricError, plan: PhysicalPlan, bound: PhysicalPlan, plan_file: Path) -> FabricError:
    """The error with the plan's own names: of our private copies nobody has heard."""
    places = {
        operation.args["source"]: (f"{plan_file}: operations[{index}].args.source", plan.operations[index])
        for index, operation in enumerate(bound.operations)
        if isinstance(operation.args.get("source"), str)
    }
    faults = []
    for fault in error.faults:
        place, operation = places.get(fault.where, (fault.where or str(plan_file), None))
        value = fault.value if operation is None else str(operation.args["source"])
        faults.append(Fault(fault.code, fault.what, place, fault.mend, value))
    return type(error).of(faults)


def _source(source: str, plan_file: Path) -> Path | None:
    try:
        for folder in (plan_file.resolve().parent, Path.cwd()):
            if (folder / source).is_file():
                return folder / source
    except (OSError, ValueError):
        return None  # a name that no file can have
    return None


def _prune(unity: HeadlessUnity, latest: str) -> None:
    """Forget the oldest of this command's journals; another caller's are not touched."""
    mine = [name for name in unity.transactions.by_age() if name.startswith(OWN) and name != latest]
    for name in mine[: -(KEPT_JOURNALS - 1)]:
        unity.forget(name)
