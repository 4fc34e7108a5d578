"""One run, projected from the signed events of its stream ``run:<digest>``.

Rules kept here:

* State comes from events and the tables of ``machine.py``, never from Dagster and never from a caller.
* Only the newest task of a partition counts; older attempts stay visible.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from fabric_dagster.contracts.handoff import Handoff
from fabric_dagster.contracts.specialist import ObservationRecord, SpecialistResult, SpecialistTask
from fabric_dagster.contracts.supervisor_run import SupervisorRun, TaskView, VerdictView
from fabric_dagster.errors import CheckFailed, UsageFault
from fabric_dagster.governance.roles import SIGNED_BY, lawful
from fabric_dagster.supervisor.machine import (
    ENDED,
    IN_FLIGHT,
    RUN,
    TASK,
    VALIDATOR,
    WHOLE_RUN,
    transition,
)
from fabric_dagster.supervisor.ports import FileChange
from fabric_dagster.supervisor.results import require_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fabric_dagster.contracts.supervisor_run import RunState, TaskState
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Event, EventStore


#: what only the runtime does
EXECUTE = "run.execute"


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
    #: its compensation could not be followed, and somebody looked and found that what it wrote stands.
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


def load_run(store: EventStore, run: str, trust: TrustRoot | None = None) -> RunRecord:
    """The run with digest ``run``.

    With ``trust``, ``CheckFailed`` (``supervisor.unlawful_event``) for an event of the runtime's that another
    signed: a run whose stream somebody else wrote into goes no further.
    """
    record = fold(_lawful(store.read(stream_of(run)), trust))
    if record is None:
        raise UsageFault(
            "run.unknown", f"there is no run {run}", mend="list the runs with `fabric runs`", value=run
        )
    return record


def _lawful(events: Iterable[Event], trust: TrustRoot | None) -> Iterator[Event]:
    for event in events:
        # What people record has readers that ask for themselves: an approval by nobody is no approval.
        runtimes = SIGNED_BY.get(event.type, EXECUTE) == EXECUTE
        if trust is not None and runtimes and not lawful(event, trust):
            raise CheckFailed(
                "supervisor.unlawful_event",
                f"{event.actor} may not record {event.type}",
                where=f"event {event.position}",
                mend="find out who signed it; change the ticket's block for a new run",
            )
        yield event


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
        where = f"event {event.position}"
        record.state = cast("RunState", transition(RUN, record.state, _kind(record, event), where))
        _apply(record, event)
        _nothing_in_flight(record, event)
    record.events.append(event)


def _kind(record: RunRecord, event: Event) -> str:
    """The event as the table knows it: an approval while other pictures wait lets the run wait on."""
    waits = sum(item.state == "requested" for item in record.approvals) > 1
    in_part = waits and event.type == "approval.given" and record.state == "awaiting_approval"
    return "approval.given_in_part" if in_part else event.type


def _nothing_in_flight(record: RunRecord, event: Event) -> None:
    """No run ends over a commit whose end is open."""
    task = next((item for item in record.tasks if item.state in IN_FLIGHT), None)
    if record.state in ENDED and task is not None:
        raise _impossible(event, f"{event.type} while {task.task.partition} is {task.state}")


def _impossible(event: Event, what: str) -> CheckFailed:
    return CheckFailed(
        "supervisor.impossible_history",
        what,
        where=f"event {event.position}",
        mend="verify the spine: `fabric spine verify`",
    )


def _apply(record: RunRecord, event: Event) -> None:
    _APPLY.get(event.type, _apply_to_task)(record, event)


def _issued(record: RunRecord, event: Event) -> None:
    task = SpecialistTask.model_validate(event.body["task"])
    attempts = sum(item.task.partition == task.partition for item in record.tasks)
    if task.parent_run != record.run or task.attempt != attempts + 1:
        raise _impossible(event, "a task of another run, or out of its turn")
    state = _step("", event.type, event)
    record.tasks.append(TaskRecord(task, task.digest, state, event, event.body.get("manifest")))


def _decided(record: RunRecord, event: Event) -> None:
    record.decision = dict(event.body)


def _sealed(record: RunRecord, event: Event) -> None:
    handoff = Handoff.model_validate(event.body["handoff"])
    record.handoffs[handoff.node] = handoff


def _judged(record: RunRecord, event: Event) -> None:
    body = event.body
    record.verdicts.append(
        VerdictRecord(
            side=body["side"],
            passed=body["passed"],
            envelope=body["envelope"],
            evidence=body["evidence"],
            task=body["task"],
            failed=tuple(body["failed"]),
            position=event.position,
        )
    )
    if body["side"] == WHOLE_RUN:
        task = record.by_digest(body["task"])
        task.state = _step(task.state, "verdict.passed" if body["passed"] else "verdict.failed", event)


def _recovered(record: RunRecord, event: Event) -> None:
    edge = edge_name(event.body["on"], event.body["at"])
    record.recoveries[edge] = record.recoveries.get(edge, 0) + 1
    _reopened(record, event)


def _absorbed(record: RunRecord, event: Event) -> None:
    record.absorbed[event.body["partition"]] = list(event.body["faults"])


def _reopened(record: RunRecord, event: Event) -> None:
    record.unresolved = []
    _reset(record, event.body["reset"], event)


def _over(record: RunRecord, event: Event) -> None:
    record.unresolved = list(event.body.get("unresolved", ()))


def _cancel_asked(record: RunRecord, event: Event) -> None:
    record.cancels.append(CancelRecord(event, event.body["why"]))


def _cancelled(record: RunRecord, event: Event) -> None:
    if not record.cancels:
        raise _impossible(event, "a run was cancelled that nobody asked to cancel")
    record.unresolved = [f"cancelled by {event.body['by']}: {event.body['why']}"]


def _approval_asked(record: RunRecord, event: Event) -> None:
    body = event.body
    record.approvals.append(ApprovalRecord(body["side"], body["node"], body["picture"], body["plan"]))
    record.unresolved = _waits(record)


def _waits(record: RunRecord) -> list[str]:
    sides = dict.fromkeys(item.side for item in record.approvals if item.state == "requested")
    return [f"{side} waits for a visual approval" for side in sides]


def _approval_answered(record: RunRecord, event: Event) -> None:
    body, given = event.body, event.type == "approval.given"
    subject = (body["picture"], body["plan"])
    open_ = (a for a in reversed(record.approvals) if a.state == "requested")
    asked = next((item for item in open_ if (item.picture, item.plan) == subject), None)
    if asked is None:
        raise _impossible(event, "a decision on a picture that nobody asked about")
    asked.state, asked.by, asked.note = "given" if given else "retaken", event.actor, body["note"]
    asked.decided = event
    retaken = f"{asked.by} asked for a retake of {asked.side}: {asked.note}"
    record.unresolved = _waits(record) if given else [retaken]


def _apply_to_task(record: RunRecord, event: Event) -> None:
    body, kind = event.body, event.type
    task = record.by_digest(body["task"])
    if kind == "commit.begun":
        if task.task.specialist == VALIDATOR:
            raise _impossible(event, "the validator's task has nothing to commit")
        task.transaction = body["transaction"]
        task.changes = tuple(FileChange(c["path"], c.get("before"), c.get("after")) for c in body["changes"])
        task.before = dict(body["before"])
        task.intended = SpecialistResult.model_validate(body["intended"])
        require_result(task.task, task.intended, f"event {event.position}")
    elif kind == "task.result":
        task.result, task.reported = SpecialistResult.model_validate(body["result"]), event
        require_result(task.task, task.result, f"event {event.position}")
        kind = "task.succeeded" if task.result.status == "succeeded" else "task.failed"
    elif kind == "compensation.begun":
        task.compensating = True
    elif kind == "reconciliation.required":
        record.unresolved = [body["why"]]
    elif kind == "reconciliation.observed":
        record.unresolved = []
        kind = f"reconciliation.{body['decision']}"
        if body["decision"] == "adopted":
            task.kept = task.kept or task.compensating
            task.result, task.reported, task.compensating = _observed(task, event), event, False
        elif body["decision"] == "compensated":
            kind = "compensation.done"
    task.state = _step(task.state, kind, event)


def _observed(task: TaskRecord, event: Event) -> SpecialistResult | None:
    """What was intended, on the evidence of the validator who found it there."""
    if task.intended is None:
        return None
    subject = f"what {event.actor} found at the target"
    seen = ObservationRecord(subject=subject, expected="after", found=event.body["standing"], holds=True)
    return task.intended.model_copy(update={"observations": (*task.intended.observations, seen)})


def edge_name(on: str, at: str) -> str:
    """How a run counts what it followed."""
    return f"{on}@{at}"


def _reset(record: RunRecord, partitions: list[str], event: Event) -> None:
    for partition in partitions:
        # A handoff is a partition named by its node: what was sealed from the old attempt is void.
        record.handoffs.pop(partition, None)
        record.absorbed.pop(partition, None)
        task = record.task(partition)
        if task is not None and (task.state, "task.reset") in TASK:
            task.state = _step(task.state, "task.reset", event)


def _step(state: str, kind: str, event: Event) -> TaskState:
    return cast("TaskState", transition(TASK, state, kind, f"event {event.position}"))


#: event type → what it does to the record; every other event is about one task.
_APPLY: Mapping[str, Callable[[RunRecord, Event], None]] = {
    "task.issued": _issued,
    "decision.made": _decided,
    "handoff.sealed": _sealed,
    "verdict.recorded": _judged,
    "recovery.followed": _recovered,
    "failure.absorbed": _absorbed,
    "run.reopened": _reopened,
    "run.failed": _over,
    "run.completed": _over,
    "run.superseded": _over,
    "cancel.requested": _cancel_asked,
    "run.cancelled": _cancelled,
    "approval.requested": _approval_asked,
    "approval.given": _approval_answered,
    "approval.retaken": _approval_answered,
}
