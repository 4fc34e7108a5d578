"""The two state machines of a governed run, as tables.

Rules kept here:

* A run's and a task's state change only by an event on the spine; what a table does not list cannot
  happen (``transition`` refuses it).
* No run ends while one of its commits is in flight: a begun commit is ended, or reconciled, first.
* The diagrams in ``docs/`` are generated from these tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fabric_dagster.errors import CheckFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.contracts.supervisor_run import RunState, TaskState

#: What a partition's steps append; they change tasks and facts, and leave the run where it is.
STEPS: Final = (
    "decision.made",
    "task.issued",
    "commit.begun",
    "task.result",
    "task.abandoned",
    "handoff.sealed",
    "verdict.recorded",
    "compensation.begun",
    "compensation.done",
    # A partition failed for good, and an ``any`` join has another way.
    "failure.absorbed",
)

#: (run state, event type) → run state
RUN: Mapping[tuple[str, str], RunState] = {
    ("", "run.opened"): "opened",
    ("opened", "decision.made"): "running",
    ("opened", "task.issued"): "running",
    ("opened", "cancel.requested"): "opened",
    ("opened", "run.cancelled"): "cancelled",
    ("opened", "run.failed"): "failed",
    ("opened", "run.superseded"): "superseded",
    **{("running", step): "running" for step in STEPS},
    ("running", "recovery.followed"): "running",
    ("running", "approval.requested"): "awaiting_approval",
    # A recovery edge was followed while another side waited.
    ("running", "approval.given"): "running",
    ("running", "approval.retaken"): "stopped",
    ("running", "reconciliation.required"): "reconciliation_required",
    ("running", "cancel.requested"): "running",
    ("running", "run.cancelled"): "cancelled",
    ("running", "run.completed"): "completed",
    ("running", "run.failed"): "failed",
    ("running", "run.superseded"): "superseded",
    # A run that waits for a person may go on with branches that do not depend on the decision.
    **{("awaiting_approval", step): "awaiting_approval" for step in STEPS},
    ("awaiting_approval", "recovery.followed"): "running",
    ("awaiting_approval", "approval.requested"): "awaiting_approval",
    ("awaiting_approval", "approval.given"): "running",
    # Of several pictures that wait, one was decided on.
    ("awaiting_approval", "approval.given_in_part"): "awaiting_approval",
    ("awaiting_approval", "approval.retaken"): "stopped",
    ("awaiting_approval", "reconciliation.required"): "reconciliation_required",
    ("awaiting_approval", "cancel.requested"): "awaiting_approval",
    ("awaiting_approval", "run.cancelled"): "cancelled",
    ("awaiting_approval", "run.failed"): "failed",
    ("awaiting_approval", "run.superseded"): "superseded",
    ("reconciliation_required", "reconciliation.observed"): "running",
    # Asked for now, followed once it is known what is there.
    ("reconciliation_required", "cancel.requested"): "reconciliation_required",
    ("failed", "run.reopened"): "running",
    ("failed", "run.superseded"): "superseded",
    ("stopped", "run.superseded"): "superseded",
}

#: (task state, event type) → task state
TASK: Mapping[tuple[str, str], TaskState] = {
    ("", "task.issued"): "issued",
    ("issued", "commit.begun"): "committing",
    ("issued", "task.abandoned"): "abandoned",
    ("issued", "task.failed"): "failed",
    # The validator's own task, the verdict on the whole run, has no effect to commit.
    ("issued", "verdict.passed"): "succeeded",
    ("issued", "verdict.failed"): "failed",
    ("committing", "task.succeeded"): "succeeded",
    ("committing", "task.failed"): "failed",
    ("committing", "reconciliation.required"): "reconciliation_required",
    ("reconciliation_required", "reconciliation.adopted"): "succeeded",
    ("reconciliation_required", "reconciliation.dismissed"): "abandoned",
    ("succeeded", "compensation.begun"): "committing",
    ("committing", "compensation.done"): "compensated",
    ("reconciliation_required", "compensation.done"): "compensated",
    ("succeeded", "task.reset"): "abandoned",
    ("failed", "task.reset"): "abandoned",
    ("compensated", "task.reset"): "abandoned",
}

#: States from which nothing more happens without a new ticket revision or a person.
ENDED: frozenset[RunState] = frozenset({"completed", "failed", "stopped", "cancelled", "superseded"})

#: Task states in which something may stand half done at the target: no run ends over one of these.
IN_FLIGHT: frozenset[TaskState] = frozenset({"committing", "reconciliation_required"})

#: The side name of the verdict on the whole run, and who is given that task.
WHOLE_RUN: Final = "run"
VALIDATOR: Final = "fabric/validator"


def transition(table: Mapping[tuple[str, str], str], state: str, event: str, where: str) -> str:
    """The next state; an event that the table does not list is a broken history."""
    try:
        return table[state, event]
    except KeyError:
        raise CheckFailed(
            "supervisor.impossible_history",
            f"the event {event} cannot follow the state {state or 'nothing'}",
            where=where,
            mend="verify the spine: `fabric spine verify`",
        ) from None
