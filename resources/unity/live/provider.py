"""The live Unity provider: the headless engine's bytes, an editor's eyes, and what only an editor can do.

Rules kept here:

* Bytes are the engine's, in both providers: GUIDs and sprite ids are drawn in the plan, an undo is exact. An
  editor imports what was written and says what it sees; it is not asked to write assets.
* Compile, test and build run while the plan is staged, in batch mode on a private copy: what fails there has
  changed nothing. In a plan they stand after every file edit, so that they see all of it.
* A commit into a project that an editor has open lends it the package, holds it still, writes through the
  same transaction, has it import exactly the written paths, and gives the manifest back. What is open in the
  editor or unsaved is refused before a byte is written.
* After a live write every file is read again (``observe``): what the editor wrote otherwise does not hold.
"""

from __future__ import annotations

import contextlib
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from fabric_dagster.capabilities.registry import capability
from fabric_dagster.digests import canonical, digest_bytes
from fabric_dagster.errors import Conflict, Fault, InvalidDocument
from fabric_dagster.graphs.refs import replace_refs
from fabric_dagster.supervisor.ports import Observation, Staged
from resources.files.durable import write_durably
from resources.files.transaction import FileTransactions
from resources.keys import private_folder
from resources.unity.live.batch import SERVES, Asked, BatchRun
from resources.unity.live.deployment import Deployments
from resources.unity.live.looks import LOOKS, Look, Route, ask
from resources.unity.live.mcp_route import McpSession
from resources.unity.live.session import EditorSession, unity_ledger
from resources.unity.provider import STAND_INS, HeadlessUnity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan
    from fabric_dagster.supervisor.ports import FileChange, Standing
    from resources.unity.live.batch import BatchEditor

LOOKS_FILE: Final = "looks.json"
#: seconds that a commit waits for the editor to load the package: a domain reload takes up to 20
SESSION_PATIENCE: Final = 180.0
STAND_INS.setdefault("unity_report", {"result": "Succeeded"})
STAND_INS.setdefault("file", "player.zip")


class LiveUnity(HeadlessUnity):
    """The project at ``project``; ``state`` is Fabric's own folder for snapshots, ledger and the package.

    ``batch`` says how to start an editor; without one, the capabilities that need it are not served. ``mcp``
    tells the address of an MCP server that a running editor is reached by, instead of lending it our package.
    """

    name: ClassVar[str] = "live"
    version: ClassVar[str] = "1.0.0"

    def __init__(
        self,
        project: Path,
        journals: Path | None = None,
        *,
        state: Path,
        batch: BatchEditor | None = None,
        mcp: Callable[[], str] | None = None,
        patience: float = 5.0,
        session_patience: float = SESSION_PATIENCE,
        request_seconds: float = 120.0,
        draw: Callable[[], str] | None = None,
        hook: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(project, journals, patience=patience, draw=draw, hook=hook)
        self._state = state
        self._batch = batch
        self._mcp = mcp
        self._session_patience = session_patience
        self._request_seconds = request_seconds
        #: the session that holds the editor still now
        self._held: Route | None = None

    @cached_property
    def transactions(self) -> FileTransactions:
        """As the headless provider's, but a held editor is none that is in the way."""
        self.project.refuse_links()
        return FileTransactions(
            self.project.root,
            self._journals or self.project.state / "transactions",
            lock=self.project.state / "writer.lock",
            patience=self._patience,
            guard=self._guard,
            hook=self._hook,
        )

    def _guard(self) -> None:
        if self._held is None:
            self.project.refuse_open_editor()

    @cached_property
    def deployments(self) -> Deployments:
        """The package's deployments into this project."""
        return Deployments(self.project, self._state, patience=self._patience, hook=self._hook)

    @property
    def serves(self) -> frozenset[str]:
        """The headless provider's capabilities, and with an editor those that need one."""
        return super().serves | (SERVES if self._batch is not None else frozenset())

    # -- the plan

    def check(self, plan: PhysicalPlan) -> None:
        """As the headless provider, and no file edit after an operation that looks at all of them."""
        super().check(plan)
        kinds = [operation.capability in SERVES for operation in plan.operations]
        if any(kinds) and not all(kinds[kinds.index(True) :]):
            late = kinds.index(True) + kinds[kinds.index(True) :].index(False)
            raise InvalidDocument.of(
                [
                    Fault(
                        "unity.order",
                        "a file edit follows an operation that compiles, tests or builds",
                        plan.operations[late].node or f"operations[{late}]",
                        "put compile, tests and build at the end",
                    )
                ]
            )

    def stage(self, plan: PhysicalPlan, stage: Path) -> Staged:
        """Stage the file edits; then do on a copy what needs an editor."""
        self.check(plan)
        edits, asked = _parted(plan)
        staged = super().stage(plan.model_copy(update={"operations": edits}), stage)
        made = {f"{item.node}.{item.name}": item.value for item in staged.produced}
        looks = [_resolved(operation, made) for operation in edits if operation.capability in LOOKS]
        write_durably(stage / LOOKS_FILE, json.dumps(looks).encode())
        if self._batch is None or not asked:
            return staged
        run = BatchRun(self._batch, self.project, self._state, stage)
        produced, seen, warnings = run.run(asked, staged.changes, stage / "changes")
        return Staged(
            staged.changes,
            (*staged.produced, *produced),
            (*staged.observations, *seen),
            (*staged.warnings, *warnings),
            staged.diff,
        )

    def observe(self, plan: PhysicalPlan, staged: Staged) -> tuple[Observation, ...]:
        """Read the project again; and what a running editor said that it sees, where there was one."""
        edits, _ = _parted(plan)
        found = super().observe(plan.model_copy(update={"operations": edits}), staged)
        looked = self._looked(staged.changes)
        if not looked.is_file():
            return found
        return (*found, *(Observation(**item) for item in json.loads(looked.read_bytes())))

    # -- the transaction

    def commit(self, stage: Path, staged: Staged, transaction: str) -> None:
        """Apply ``staged``; with the editor's consent and eyes where one has the project open.

        Raises, beside the headless provider's: ``OperationFailed`` where the editor refuses or is not there
        (nothing is written), ``NeedsPerson`` (``unity.uncertain``, ``unity.restoration_required``).
        """
        unity_ledger(self._state).require_settled()
        self._looked(staged.changes).unlink(missing_ok=True)
        if not self.editor_is_open():
            with self.deployments.alone():
                self.deployments.restore_all()
            super().commit(stage, staged, transaction)
            return
        looks = [
            LOOKS[method](method, args) for method, args in json.loads((stage / LOOKS_FILE).read_bytes())
        ]
        with self._lent() as session:
            paths = sorted({change.path for change in staged.changes})
            session.call("session.hold", {"paths": paths})
            self._held = session
            try:
                super().commit(stage, staged, transaction)
                self._import(session, staged.changes, looks, transaction)
            finally:
                self._held = None

    def recover(self, transaction: str) -> Standing:
        """As the headless provider, with the package taken out of a manifest that a killed process left."""
        with self.deployments.alone():
            self.deployments.restore_all()
        return super().recover(transaction)

    def undo(self, transaction: str) -> None:
        """Restore what ``transaction`` wrote; a running editor is held still, and imports what came back."""
        if not self.editor_is_open():
            super().undo(transaction)
            return
        changes = next(
            (item.changes for item in self.transactions.journaled() if item.transaction == transaction), ()
        )
        with self._lent() as session:
            session.call("session.hold", {"paths": sorted(change.path for change in changes)})
            self._held = session
            try:
                super().undo(transaction)
                session.call("session.import", {"paths": _assets(changes)}, partition=transaction)
            finally:
                self._held = None

    def _import(
        self, session: Route, changes: tuple[FileChange, ...], looks: list[Look], transaction: str
    ) -> None:
        session.call("session.import", {"paths": _assets(changes)}, partition=transaction)
        seen = ask(session, self.root, looks)
        private_folder(self._looked(changes).parent)
        write_durably(
            self._looked(changes), json.dumps([item.as_dict() for item in seen], sort_keys=True).encode()
        )

    @contextlib.contextmanager
    def _lent(self) -> Iterator[Route]:
        """A session with the editor that has the project open, which has the package for as long."""
        ledger = unity_ledger(self._state)
        if self._mcp is not None:
            yield McpSession(self.project, self._mcp, ledger, seconds=self._request_seconds)
            return
        with self.deployments.deployed() as deployment:
            session = EditorSession(self.project, deployment, ledger, seconds=self._request_seconds)
            try:
                session.open(self._session_patience)
                yield session
            finally:
                # The package lets go of the editor when its mailbox is gone.
                session.close()

    def editor_is_open(self) -> bool:
        """Whether an editor has the project open."""
        try:
            self.project.refuse_open_editor()
        except Conflict:
            return True
        return False

    def _looked(self, changes: tuple[FileChange, ...]) -> Path:
        """Where the editor's answers about ``changes`` are kept between commit and observation."""
        key = digest_bytes(canonical({"changes": [change.as_dict() for change in changes]}))
        return self._state / "looked" / f"{key[7:39]}.json"


def _parted(plan: PhysicalPlan) -> tuple[tuple[Operation, ...], list[Asked]]:
    """The file edits, and what needs an editor."""
    edits = tuple(item for item in plan.operations if item.capability not in SERVES)
    asked = [
        Asked(
            item.node or f"operation_{number + 1}",
            item.capability,
            capability(item.capability).arguments.model_validate(item.args),
        )
        for number, item in enumerate(plan.operations)
        if item.capability in SERVES
    ]
    return edits, asked


def _resolved(operation: Operation, made: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """An operation with the outputs of earlier ones in place, as typed JSON."""
    args = replace_refs(operation.args, lambda ref: made[f"{ref.source}.{ref.name}"])
    typed = capability(operation.capability).arguments.model_validate(args)
    return operation.capability, typed.body()


def _assets(changes: tuple[FileChange, ...]) -> list[str]:
    """The assets that ``changes`` touch: of a meta, what it is the meta of. What went is told, too."""
    names = (change.path.removesuffix(".meta") for change in changes)
    return sorted({name for name in names if name.startswith(("Assets/", "Packages/"))})
