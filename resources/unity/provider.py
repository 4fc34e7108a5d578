"""The headless Unity provider: the supervisor's port on a project tree, without an editor.

Rules kept here:

* ``stage`` works on a workspace; the project is only read. All faults of a plan are raised together.
* ``commit``, ``recover`` and ``undo`` go through one journaled transaction and refuse while an editor has the
  project open. Journals and lock lie in ``Library/Fabric`` unless the caller keeps them elsewhere; the lock
  always lies there, so that two callers with journals of their own exclude each other.
* ``observe`` reads the project again and believes nothing that staging said.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError

from fabric_dagster.capabilities.base import Arguments
from fabric_dagster.capabilities.registry import capability
from fabric_dagster.capabilities.unity_undo_transaction import CAPABILITY as UNDO
from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import FabricError, Fault, InvalidDocument, OperationFailed
from fabric_dagster.graphs.refs import Ref, find_refs, replace_refs
from fabric_dagster.supervisor import watch
from fabric_dagster.supervisor.ports import FileChange, Observation, Produced, Staged, Standing
from resources.files.paths import under
from resources.files.transaction import FileTransactions
from resources.unity.observations import observe_plan, reference_observations
from resources.unity.operations.base import UnityOperation, operations
from resources.unity.operations.workspace import Workspace
from resources.unity.project import Project, open_project

FOLDER_ASSET = b"\nfolderAsset: yes"
#: type of an output → what stands in for one that is not made yet, while arguments are checked
STAND_INS: dict[str, Any] = {
    "unity_reference": {"fileID": "21300000", "guid": "0" * 32, "type": 3},
    "unity_path": "Assets/texture.png",
}


class HeadlessUnity:
    """``fabric_dagster.supervisor.ports.Provider`` for the project at ``project``.

    ``journals`` is where undo journals lie (default ``Library/Fabric/transactions``); ``patience`` how many
    seconds a commit waits for another writer; ``draw`` makes a random 128-bit id as 32 hex digits and is
    injected by tests.
    """

    application: ClassVar[str] = "unity"
    name: ClassVar[str] = "headless"
    version: ClassVar[str] = "1"

    def __init__(
        self,
        project: Path,
        journals: Path | None = None,
        *,
        patience: float = 5.0,
        draw: Callable[[], str] | None = None,
        hook: Callable[[str], None] | None = None,
    ) -> None:
        self._place = project
        self._journals = journals
        self._patience = patience
        self._hook = hook
        self._draw = draw or (lambda: uuid.uuid4().hex)

    @cached_property
    def project(self) -> Project:
        """The opened project; ``InvalidDocument`` where the folder is none."""
        return open_project(self._place)

    @cached_property
    def transactions(self) -> FileTransactions:
        """The transactions of the project's root; refused where a link leads its state elsewhere."""
        self.project.refuse_links()
        return FileTransactions(
            self.project.root,
            self._journals or self.project.state / "transactions",
            lock=self.project.state / "writer.lock",
            patience=self._patience,
            guard=self.project.refuse_open_editor,
            hook=self._hook,
        )

    @property
    def serves(self) -> frozenset[str]:
        """The capability ids that this provider can execute."""
        return frozenset({*operations(), UNDO.id})

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.project.root

    # -- the plan

    def check(self, plan: PhysicalPlan) -> None:
        """Raise ``InvalidDocument`` with every fault of ``plan`` that can be seen without executing it."""
        faults: list[Fault] = []
        if plan.application != self.application:
            faults.append(
                Fault(
                    "plan.application",
                    "the plan is for another application",
                    "application",
                    value=plan.application,
                )
            )
        outputs: dict[str, str] = {}
        for index, operation in enumerate(plan.operations):
            where = operation.node or f"operations[{index}]"
            try:
                self._arguments(operation, _stand_in(outputs), where)
                outputs |= _outputs(operation)
            except FabricError as error:
                faults += error.faults
        if faults:
            raise InvalidDocument.of(faults)

    def allocate(self, plan: PhysicalPlan) -> dict[str, str]:
        """A random id for every new GUID and sprite id that ``plan`` needs on the project as it is now."""
        self.check(plan)
        workspace = Workspace(self.project, self.root)
        names: dict[str, None] = {}
        outputs: dict[str, str] = {}
        for index, operation in enumerate(plan.operations):
            where = operation.node or f"operations[{index}]"
            args = self._arguments(operation, _stand_in(outputs), where)
            outputs |= _outputs(operation)
            executed = operations().get(operation.capability)
            if executed is not None:
                names |= dict.fromkeys(executed.allocations(workspace, args))
        return {name: self._draw() for name in sorted(names)}

    def stage(self, plan: PhysicalPlan, stage: Path) -> Staged:
        """Execute ``plan``; new bytes lie under ``stage / "changes"``. Every failure is reported."""
        self.check(plan)
        workspace = Workspace(self.project, stage / "changes", plan.allocations, inputs=stage)
        produced: list[Produced] = []
        made: dict[str, Any] = {}
        faults: list[Fault] = []
        for index, operation in enumerate(plan.operations):
            node = operation.node or f"operation_{index + 1}"
            watch.check()
            if any(
                isinstance(r, Ref) and f"{r.source}.{r.name}" not in made for r in find_refs(operation.args)
            ):
                if not faults:
                    faults.append(
                        Fault("unity.output_missing", "an earlier operation made no such output", node)
                    )
                continue  # what it waits for failed, and is reported
            try:
                outputs = self._execute(workspace, operation, made, node)
            except FabricError as error:
                faults += error.faults
                continue
            watch.note(Observation(node, "executed in the stage", "executed in the stage", holds=True))
            made |= {f"{node}.{name}": value for name, value in outputs.items()}
            kinds = capability(operation.capability).outputs
            produced += [Produced(node, name, kinds[name], value=value) for name, value in outputs.items()]
        if faults:
            raise OperationFailed.of(faults)
        changes = workspace.flush()
        seen = tuple(reference_observations(workspace))
        return Staged(changes, tuple(produced), seen, tuple(workspace.warnings), workspace.diff())

    def _execute(
        self, workspace: Workspace, operation: Operation, made: dict[str, Any], node: str
    ) -> dict[str, Any]:
        args = self._arguments(operation, lambda ref: made[f"{ref.source}.{ref.name}"], node)
        return self._operation(operation, node).execute(workspace, args)

    @staticmethod
    def _operation(operation: Operation, where: str) -> UnityOperation[Any]:
        if operation.capability == UNDO.id:
            raise OperationFailed(
                "unity.undo_alone",
                "a transaction is undone by itself, not within a plan that writes",
                where=where,
                mend="ask for the undo in a plan of its own",
            )
        return operations()[operation.capability]

    def _arguments(self, operation: Operation, resolve: Callable[[Ref], Any], where: str) -> Arguments:
        if operation.capability not in self.serves:
            raise InvalidDocument(
                "capability.not_served",
                "this provider does not serve the capability",
                where=where,
                value=operation.capability,
                mend=f"use one of: {', '.join(sorted(self.serves))}",
            )
        try:
            args = replace_refs(operation.args, resolve)
            return capability(operation.capability).arguments.model_validate(args)
        except ValueError as fault:
            raise InvalidDocument.of(_argument_faults(fault, where)) from fault

    # -- the transaction

    def commit(self, stage: Path, staged: Staged, transaction: str) -> None:
        """Apply ``staged``; ``Conflict`` if anything changed underneath or an editor is open."""
        metas = [change for change in staged.changes if change.path.endswith(".meta")]
        folders = {change.path: change.path.removesuffix(".meta") for change in metas}
        emptied = tuple(
            folders[change.path]
            for change in metas
            if change.after is None and under(self.root, folders[change.path]).is_dir()
        )
        made = tuple(
            folders[change.path]
            for change in metas
            if change.before is None and FOLDER_ASSET in under(stage / "changes", change.path).read_bytes()
        )
        self.transactions.commit(transaction, stage / "changes", staged.changes, emptied, made)

    def standing(self, transaction: str, changes: tuple[FileChange, ...]) -> Standing:  # noqa: ARG002 - the port's
        """What is there now, by reading the bytes."""
        return self.transactions.standing(changes)

    def recover(self, transaction: str) -> Standing:
        """Bring an interrupted transaction to ``after`` or ``before``."""
        return self.transactions.recover(transaction)

    def undo(self, transaction: str) -> None:
        """Restore what ``transaction`` wrote, where every byte is still ours."""
        self.transactions.undo(transaction)

    def forget(self, transaction: str) -> None:
        """Drop the undo journal of a finished transaction."""
        self.transactions.forget(transaction)

    def abandon(self, transaction: str) -> None:
        """Drop the journal of a transaction that a person has settled by hand."""
        self.transactions.abandon(transaction)

    def observe(self, plan: PhysicalPlan, staged: Staged) -> tuple[Observation, ...]:
        """Read the project again: bytes, metas, properties and references, against what the plan asks for."""
        made = {f"{item.node}.{item.name}": item.value for item in staged.produced}
        requests = []
        for index, operation in enumerate(plan.operations):
            node = operation.node or f"operation_{index + 1}"
            args = self._arguments(operation, lambda ref: made[f"{ref.source}.{ref.name}"], node)
            requests.append((self._operation(operation, node), args))
        found = [
            Observation(change.path, change.after or "no file", now, now == (change.after or "no file"))
            for change in staged.changes
            for now in (self._digest(change.path),)
        ]
        return (*found, *observe_plan(self.project, requests))

    def _digest(self, path: str) -> str:
        target = under(self.root, path)
        return digest_file(target) if target.is_file() else "no file"


def new_transaction() -> str:
    """A fresh transaction id for a caller that has no run of its own."""
    return f"apply-{secrets.token_hex(6)}"


def _outputs(operation: Operation) -> dict[str, str]:
    """Output of an operation → its type."""
    kinds = capability(operation.capability).outputs
    return {f"{operation.node}.{name}": kind for name, kind in kinds.items()}


def _stand_in(outputs: dict[str, str]) -> Callable[[Ref], Any]:
    def resolve(ref: Ref) -> Any:  # noqa: ANN401 - any output
        if f"{ref.source}.{ref.name}" not in outputs:
            raise InvalidDocument(
                "plan.unresolved",
                "no earlier operation of this plan has this output",
                value=f"{ref.source}.{ref.name}",
                mend=f"use one of: {', '.join(sorted(outputs))}" if outputs else "give the value itself",
            )
        return STAND_INS[outputs[f"{ref.source}.{ref.name}"]]

    return resolve


def _argument_faults(fault: ValueError, where: str) -> list[Fault]:
    if not isinstance(fault, ValidationError):
        return [Fault("plan.bad_reference", str(fault), where)]
    found: dict[str, Fault] = {}
    for problem in fault.errors(include_url=False):
        place = ".".join((where, *(str(part) for part in problem["loc"][:1])))
        value = problem.get("input")
        shown = None if isinstance(value, dict | list) else str(value)
        mend = "see `fabric schema` for the capability's arguments"
        found.setdefault(place, Fault("plan.argument", problem["msg"].lower(), place, mend, shown))
    return list(found.values())
