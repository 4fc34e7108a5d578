"""The two state machines of a governed run, as tables.

Rules kept here:

* A run's and a task's state change only by an event on the spine; what a table does not list cannot
  happen (``transition`` refuses it).
* The diagrams in ``docs/`` are generated from these tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import CheckFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.contracts.supervisor_run import RunState, TaskState

#: (run state, event type) → run state
RUN: Mapping[tuple[str, str], RunState] = {
    ("", "run.opened"): "opened",
    ("opened", "decision.made"): "running",
    ("opened", "task.issued"): "running",
    ("opened", "run.failed"): "failed",
    ("opened", "run.superseded"): "superseded",
    ("running", "decision.made"): "running",
    ("running", "task.issued"): "running",
    ("running", "commit.begun"): "running",
    ("running", "task.result"): "running",
    ("running", "task.abandoned"): "running",
    ("running", "handoff.sealed"): "running",
    ("running", "verdict.recorded"): "running",
    ("running", "compensation.begun"): "running",
    ("running", "compensation.done"): "running",
    ("running", "recovery.followed"): "running",
    ("running", "reconciliation.required"): "reconciliation_required",
    ("running", "run.completed"): "completed",
    ("running", "run.failed"): "failed",
    ("running", "run.superseded"): "superseded",
    ("reconciliation_required", "reconciliation.observed"): "running",
    ("failed", "run.reopened"): "running",
    ("failed", "run.superseded"): "superseded",
}

#: (task state, event type) → task state
TASK: Mapping[tuple[str, str], TaskState] = {
    ("", "task.issued"): "issued",
    ("issued", "commit.begun"): "committing",
    ("issued", "task.abandoned"): "abandoned",
    ("issued", "task.failed"): "failed",
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
