"""``fabric.supervisor-run.v1``: one run, as projected from the signed events of its stream."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Digest, Document, NodeId

RunState = Literal[
    "opened",
    "running",
    "awaiting_approval",
    "reconciliation_required",
    "completed",
    "failed",
    "stopped",
    "cancelled",
    "superseded",
]
TaskState = Literal[
    "issued", "committing", "succeeded", "failed", "abandoned", "reconciliation_required", "compensated"
]


class TaskView(Contract):
    """One task of the run."""

    task: Digest
    partition: NodeId
    attempt: int
    state: TaskState
    plan: Digest
    result: Digest | None = None
    failure: dict[str, str] | None = None


class VerdictView(Contract):
    """One signed verdict."""

    side: str
    passed: bool
    envelope: Digest
    failed_checks: tuple[str, ...] = Field(default=(), strict=False)


class SupervisorRun(Document):
    """The shared state of one governed run; append-only underneath, projected here."""

    SCHEMA: ClassVar[str] = "fabric.supervisor-run.v1"

    schema_: Literal["fabric.supervisor-run.v1"] = Field(alias="schema")
    run: Digest
    workspace: str
    #: ``Name@MAJOR``
    reference: str
    graph: Digest
    partition_key: str
    ticket: Digest
    ordinal: int
    commission: Digest
    goal: str
    state: RunState
    tasks: tuple[TaskView, ...] = Field(default=(), strict=False)
    handoffs: dict[str, Digest] = Field(default_factory=dict)
    verdicts: tuple[VerdictView, ...] = Field(default=(), strict=False)
    approvals: tuple[dict[str, Any], ...] = Field(default=(), strict=False)
    checkpoints: tuple[str, ...] = Field(default=(), strict=False)
    #: partition whose failure an ``any`` join absorbs → its faults.
    absorbed: dict[NodeId, tuple[dict[str, str], ...]] = Field(default_factory=dict)
    unresolved: tuple[str, ...] = Field(default=(), strict=False)
    #: Dagster runs that worked on this one.
    dagster_runs: tuple[str, ...] = Field(default=(), strict=False)
    opened_at: str
    updated_at: str
    events: int
