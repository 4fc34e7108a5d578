"""One run, projected from the signed events of its stream ``run:<digest>``.

Rules kept here:

* State comes from events and the tables of ``machine.py``, never from Dagster and never from a caller.
* What no table lists, or answers nothing that was asked, is a broken history: refused, never guessed at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from fabric_dagster.contracts.handoff import Handoff
from fabric_dagster.contracts.specialist import ObservationRecord, SpecialistResult, SpecialistTask
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
from fabric_dagster.supervisor.records import (
    ApprovalRecord,
    CancelRecord,
    RunRecord,
    TaskRecord,
    VerdictRecord,
)
from fabric_dagster.supervisor.results import BAD_RESULT, require_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fabric_dagster.contracts.supervisor_run import RunState, TaskState
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Event, EventStore


#: what only the runtime does
EXECUTE = "run.execute"
#: what the event that opens a run says
OPENED = frozenset({
    *("run", "reference", "graph", "pack", "partition_key", "ticket", "ticket_document", "ordinal"),
    *("commission", "goal"),
})  # fmt: skip


#: what is wrong with one run's events, though the log is sound
UNSOUND = frozenset({"supervisor.unlawful_event", "supervisor.impossible_history", BAD_RESULT})


def stream_of(run: str) -> str:
    """The spine's stream of one supervisor run."""
    return f"run:{run}"


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


def sound_part(store: EventStore, run: str, trust: TrustRoot) -> RunRecord | None:
    """The run up to the first event that is nobody's to record or that no table lists; ``None`` for none.

    For looking at a ticket's other runs, where one that is not sound must hide neither them nor a commit of
    its own whose end is unknown.
    """
    record: RunRecord | None = None
    sound: list[Event] = []
    try:
        for event in _lawful(store.read(stream_of(run)), trust):
            if record is None:
                record = fold([event])
            else:
                advance(record, event)
            sound.append(event)
    except CheckFailed as fault:
        if fault.code not in UNSOUND:
            raise  # the log itself is not sound
        record = fold(sound)
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
            if not event.body.keys() >= OPENED or event.body["run"] != event.run:
                raise _impossible(event, "it opens no run, or another one than its stream's")
            record = RunRecord(event.body["run"], dict(event.body), state, event, [event])
        else:
            advance(record, event)
    return record


def advance(record: RunRecord, event: Event) -> None:
    """Move ``record`` on by the next event of its stream; ``CheckFailed`` where no table lists it."""
    try:
        if event.type == "dagster.linked":
            record.dagster_runs.append(event.body["dagster_run"])
        else:
            where = f"event {event.position}"
            record.state = cast("RunState", transition(RUN, record.state, _kind(record, event), where))
            _apply(record, event)
            _nothing_in_flight(record, event)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        # Whoever holds any pinned key can sign any body: what has not its type's shape says nothing.
        raise _impossible(event, f"it has not the shape of {event.type}") from fault
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
            # Bytes that are still ours can be taken back: that died before it began, and is begun again.
            task.kept = task.kept or (task.compensating and "note" in body["account"])
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
