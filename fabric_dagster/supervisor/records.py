"""What the spine says of one run, as records that ``projection.py`` makes from signed events.

Rules kept here:

* ``projection.py`` alone moves a record on, event by event; everybody else reads it, or moves a ``twin``.
* Only the newest task of a partition counts; older attempts stay visible.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from fabric_dagster.contracts.supervisor_run import SupervisorRun, TaskView, VerdictView
from fabric_dagster.supervisor.machine import VALIDATOR, WHOLE_RUN

if TYPE_CHECKING:
    from fabric_dagster.contracts.handoff import Handoff
    from fabric_dagster.contracts.specialist import SpecialistResult, SpecialistTask
    from fabric_dagster.contracts.supervisor_run import RunState, TaskState
    from fabric_dagster.spine.ports import Event
    from fabric_dagster.supervisor.ports import FileChange


@dataclass
class TaskRecord:
    """One attempt at one partition."""

    task: SpecialistTask
    digest: str
    state: TaskState
    issued: Event
    #: digest of the tree manifest taken before the task, where the provider has a tree.
    manifest: str | None = None
    transaction: str | None = None
    changes: tuple[FileChange, ...] = ()
    #: path → digest of the bytes that stood there before, in the artifact store.
    before: dict[str, str] = field(default_factory=dict)
    #: the result as it will be reported once the commit is known to have happened.
    intended: SpecialistResult | None = None
    result: SpecialistResult | None = None
    #: the event that reported the result, or the observation that stands in for it.
    reported: Event | None = None
    compensating: bool = False
    #: its compensation was refused, and a person looked and said that what it wrote stays.
    kept: bool = False


@dataclass
class VerdictRecord:
    """A signed verdict on one side."""

    side: str
    passed: bool
    envelope: str
    #: digest of the stored evidence that it speaks of.
    evidence: str
    task: str
    failed: tuple[str, ...]
    #: of the event that records it.
    position: int


@dataclass
class ApprovalRecord:
    """A visual decision that was asked for: on one picture's bytes, under one bound plan."""

    side: str
    node: str
    picture: str
    plan: str
    state: Literal["requested", "given", "retaken"] = "requested"
    #: the identity that decided, and its note.
    by: str = ""
    note: str = ""
    #: the event that decided.
    decided: Event | None = None

    def as_dict(self) -> dict[str, str]:
        """The JSON form; what is not there yet is left out."""
        parts = {
            "side": self.side,
            "node": self.node,
            "picture": self.picture,
            "plan": self.plan,
            "state": self.state,
            "by": self.by,
            "note": self.note,
            "event": self.decided.digest if self.decided is not None else "",
        }
        return {key: value for key, value in parts.items() if value}


@dataclass
class CancelRecord:
    """That somebody asked for the run's end; it comes at the next safe point."""

    event: Event
    why: str


@dataclass
class RunRecord:
    """Everything that the spine says of one run."""

    run: str
    body: dict[str, Any]
    state: RunState
    opened: Event
    events: list[Event] = field(default_factory=list)
    tasks: list[TaskRecord] = field(default_factory=list)
    decision: dict[str, Any] | None = None
    handoffs: dict[str, Handoff] = field(default_factory=dict)
    verdicts: list[VerdictRecord] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)
    dagster_runs: list[str] = field(default_factory=list)
    #: recovery edge (``code@node``) → how often it was followed.
    recoveries: dict[str, int] = field(default_factory=dict)
    #: partition whose failure an ``any`` join absorbs → its faults, as data.
    absorbed: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    approvals: list[ApprovalRecord] = field(default_factory=list)
    cancels: list[CancelRecord] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The ticket's key: the Dagster partition."""
        return str(self.body["partition_key"])

    @property
    def reference(self) -> str:
        """``Name@MAJOR``."""
        return str(self.body["reference"])

    @property
    def version(self) -> int:
        """The version of the run's stream that this record is the projection of."""
        return self.events[-1].version

    def twin(self) -> RunRecord:
        """A copy that can be moved on without moving this one."""
        return replace(
            self,
            events=list(self.events),
            tasks=[replace(item, before=dict(item.before)) for item in self.tasks],
            handoffs=dict(self.handoffs),
            verdicts=list(self.verdicts),
            unresolved=list(self.unresolved),
            dagster_runs=list(self.dagster_runs),
            recoveries=dict(self.recoveries),
            absorbed=dict(self.absorbed),
            approvals=[replace(item) for item in self.approvals],
            cancels=list(self.cancels),
        )

    def task(self, partition: str) -> TaskRecord | None:
        """The newest task of ``partition``."""
        return next((item for item in reversed(self.tasks) if item.task.partition == partition), None)

    def judging(self) -> TaskRecord | None:
        """The newest task of the validator: the judgement of the whole run."""
        return next((item for item in reversed(self.tasks) if item.task.specialist == VALIDATOR), None)

    def approval(self, node: str) -> ApprovalRecord | None:
        """The newest decision asked for before ``node``."""
        return next((item for item in reversed(self.approvals) if item.node == node), None)

    def by_digest(self, digest: str) -> TaskRecord:
        """The task with this digest."""
        return next(item for item in self.tasks if item.digest == digest)

    def verdict(self, side: str) -> VerdictRecord | None:
        """The newest verdict on ``side`` that judged its newest task; ``WHOLE_RUN`` is a side, too."""
        task = self.judging() if side == WHOLE_RUN else self.task(side)
        found = (v for v in reversed(self.verdicts) if v.side == side and task and v.task == task.digest)
        return next(found, None)

    def document(self) -> SupervisorRun:
        """The public form, ``fabric.supervisor-run.v1``."""
        body = self.body
        return SupervisorRun(
            schema_="fabric.supervisor-run.v1",
            run=self.run,
            workspace=self.opened.workspace,
            reference=self.reference,
            graph=body["graph"],
            partition_key=self.key,
            ticket=body["ticket"],
            ordinal=body["ordinal"],
            commission=body["commission"],
            goal=body["goal"],
            state=self.state,
            tasks=tuple(
                TaskView(
                    task=item.digest,
                    partition=item.task.partition,
                    attempt=item.task.attempt,
                    state=item.state,
                    plan=item.task.plan,
                    result=item.result.digest if item.result else None,
                    failure=item.result.failure if item.result else None,
                )
                for item in self.tasks
            ),
            handoffs={node: handoff.digest for node, handoff in self.handoffs.items()},
            verdicts=tuple(
                VerdictView(side=v.side, passed=v.passed, envelope=v.envelope, failed_checks=v.failed)
                for v in self.verdicts
            ),
            approvals=tuple(item.as_dict() for item in self.approvals),
            absorbed={name: tuple(faults) for name, faults in self.absorbed.items()},
            checkpoints=tuple(self.handoffs),
            unresolved=tuple(self.unresolved),
            dagster_runs=tuple(self.dagster_runs),
            opened_at=self.opened.recorded_at,
            updated_at=self.events[-1].recorded_at,
            events=len(self.events),
        )
