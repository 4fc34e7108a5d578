"""One run, projected from the signed events of its stream ``run:<digest>``.

Rules kept here:

* State comes from events and the tables of ``machine.py``, never from Dagster and never from a caller.
* Only the newest task of a partition counts; older attempts stay visible.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from fabric_dagster.contracts.handoff import Handoff
from fabric_dagster.contracts.specialist import SpecialistResult, SpecialistTask
from fabric_dagster.contracts.supervisor_run import SupervisorRun, TaskView, VerdictView
from fabric_dagster.errors import UsageFault
from fabric_dagster.supervisor.machine import RUN, TASK, transition
from fabric_dagster.supervisor.ports import FileChange

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabric_dagster.contracts.supervisor_run import RunState, TaskState
    from fabric_dagster.spine.ports import Event, EventStore


def stream_of(run: str) -> str:
    """The spine's stream of one supervisor run."""
    return f"run:{run}"


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
        )

    def task(self, partition: str) -> TaskRecord | None:
        """The newest task of ``partition``."""
        return next((item for item in reversed(self.tasks) if item.task.partition == partition), None)

    def by_digest(self, digest: str) -> TaskRecord:
        """The task with this digest."""
        return next(item for item in self.tasks if item.digest == digest)

    def verdict(self, side: str) -> VerdictRecord | None:
        """The newest verdict on ``side`` that judged its newest task."""
        task = self.task(side)
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
            checkpoints=tuple(self.handoffs),
            unresolved=tuple(self.unresolved),
            dagster_runs=tuple(self.dagster_runs),
            opened_at=self.opened.recorded_at,
            updated_at=self.events[-1].recorded_at,
            events=len(self.events),
        )


def load_run(store: EventStore, run: str) -> RunRecord:
    """The run with digest ``run``."""
    record = fold(store.read(stream_of(run)))
    if record is None:
        raise UsageFault(
            "run.unknown", f"there is no run {run}", mend="list the runs with `fabric runs`", value=run
        )
    return record


def fold(events: Iterable[Event]) -> RunRecord | None:
    """Project a stream's events, oldest first."""
    record: RunRecord | None = None
    for event in events:
        if record is None:
            state = cast("RunState", transition(RUN, "", event.type, f"event {event.position}"))
            record = RunRecord(event.body["run"], dict(event.body), state, event, [event])
        else:
            advance(record, event)
    return record


def advance(record: RunRecord, event: Event) -> None:
    """Move ``record`` on by the next event of its stream; ``CheckFailed`` where no table lists it."""
    if event.type == "dagster.linked":
        record.dagster_runs.append(event.body["dagster_run"])
    else:
        record.state = cast("RunState", transition(RUN, record.state, event.type, f"event {event.position}"))
        _apply(record, event)
    record.events.append(event)


def _apply(record: RunRecord, event: Event) -> None:
    body, kind = event.body, event.type
    if kind == "task.issued":
        task = SpecialistTask.model_validate(body["task"])
        record.tasks.append(
            TaskRecord(task, task.digest, _step("", kind, event), event, body.get("manifest"))
        )
    elif kind == "decision.made":
        record.decision = dict(body)
    elif kind == "handoff.sealed":
        handoff = Handoff.model_validate(body["handoff"])
        record.handoffs[handoff.node] = handoff
    elif kind == "verdict.recorded":
        record.verdicts.append(
            VerdictRecord(
                side=body["side"],
                passed=body["passed"],
                envelope=body["envelope"],
                evidence=body["evidence"],
                task=body["task"],
                failed=tuple(body["failed"]),
            )
        )
    elif kind in {"recovery.followed", "run.reopened"}:
        if kind == "recovery.followed":
            edge = edge_name(body["on"], body["at"])
            record.recoveries[edge] = record.recoveries.get(edge, 0) + 1
        record.unresolved = []
        _reset(record, body["reset"], event)
    elif kind in {"run.failed", "run.completed", "run.superseded"}:
        record.unresolved = list(body.get("unresolved", ()))
    else:
        _apply_to_task(record, event)


def _apply_to_task(record: RunRecord, event: Event) -> None:
    body, kind = event.body, event.type
    task = record.by_digest(body["task"])
    if kind == "commit.begun":
        task.transaction = body["transaction"]
        task.changes = tuple(FileChange(c["path"], c.get("before"), c.get("after")) for c in body["changes"])
        task.before = dict(body["before"])
        task.intended = SpecialistResult.model_validate(body["intended"])
    elif kind == "task.result":
        task.result, task.reported = SpecialistResult.model_validate(body["result"]), event
        kind = "task.succeeded" if task.result.status == "succeeded" else "task.failed"
    elif kind == "compensation.begun":
        task.compensating = True
    elif kind == "reconciliation.required":
        record.unresolved = [body["why"]]
    elif kind == "reconciliation.observed":
        record.unresolved = []
        kind = f"reconciliation.{body['decision']}"
        if body["decision"] == "adopted":
            task.result, task.reported, task.compensating = task.intended, event, False
        elif body["decision"] == "compensated":
            kind = "compensation.done"
    task.state = _step(task.state, kind, event)


def edge_name(on: str, at: str) -> str:
    """How a run counts what it followed."""
    return f"{on}@{at}"


def _reset(record: RunRecord, partitions: list[str], event: Event) -> None:
    for partition in partitions:
        # A handoff is a partition named by its node: what was sealed from the old attempt is void.
        record.handoffs.pop(partition, None)
        task = record.task(partition)
        if task is not None and (task.state, "task.reset") in TASK:
            task.state = _step(task.state, "task.reset", event)


def _step(state: str, kind: str, event: Event) -> TaskState:
    return cast("TaskState", transition(TASK, state, kind, f"event {event.position}"))
