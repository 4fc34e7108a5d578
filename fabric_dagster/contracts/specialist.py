"""``fabric.specialist-task.v1`` and ``fabric.specialist-result.v1``: what is asked and what came of it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import CapabilityId, Contract, Digest, Document, NodeId


class Budget(Contract):
    """Limits of one task. Exceeding one fails closed with a typed partial result."""

    seconds: int = Field(default=120, ge=1)


class ArtifactRef(Contract):
    """Content-addressed bytes: who made them and what they are."""

    name: str
    kind: str
    digest: Digest
    size: int
    node: NodeId | None = None
    facts: dict[str, Any] = Field(default_factory=dict)


class SpecialistTask(Document):
    """One typed child task of a supervisor run: a sealed partition, or a compensation."""

    SCHEMA: ClassVar[str] = "fabric.specialist-task.v1"

    schema_: Literal["fabric.specialist-task.v1"] = Field(alias="schema")
    parent_run: Digest
    partition: NodeId
    #: ``application/provider``
    specialist: str
    objective: str
    capabilities: tuple[CapabilityId, ...] = Field(strict=False)
    #: the roots and prefixes that the task may write, from the commission.
    scope: tuple[str, ...] = Field(strict=False)
    effects: tuple[str, ...] = Field(strict=False)
    inputs: tuple[ArtifactRef, ...] = Field(default=(), strict=False)
    plan_template: Digest
    plan: Digest
    completion_criteria: tuple[str, ...] = Field(strict=False)
    risk: Literal["low", "medium", "high"] = "medium"
    budget: Budget = Budget()
    retry_limit: int = Field(default=0, ge=0, le=5)
    attempt: int = Field(ge=1)


class ObservationRecord(Contract):
    """One looked-at fact."""

    subject: str
    expected: str
    found: str
    holds: bool


class FileChangeRecord(Contract):
    """One file that was changed: digests before and after; an absent side did not exist."""

    path: str
    before: Digest | None = None
    after: Digest | None = None


class SpecialistResult(Document):
    """What a specialist's task came to. Prose has no authority and there is none."""

    SCHEMA: ClassVar[str] = "fabric.specialist-result.v1"

    schema_: Literal["fabric.specialist-result.v1"] = Field(alias="schema")
    task: Digest
    specialist: str
    status: Literal["succeeded", "failed", "abandoned", "partial"]
    observations: tuple[ObservationRecord, ...] = Field(default=(), strict=False)
    artifacts: tuple[ArtifactRef, ...] = Field(default=(), strict=False)
    #: node.output → plain value, for outputs that are no files.
    values: dict[str, Any] = Field(default_factory=dict)
    changes: tuple[FileChangeRecord, ...] = Field(default=(), strict=False)
    #: digest of the unified diff in the artifact store, where there is one.
    diff: Digest | None = None
    warnings: tuple[str, ...] = Field(default=(), strict=False)
    failure: dict[str, str] | None = None
    #: recorded, never a gate.
    confidence: str | None = None
    recommended: Literal["advance", "recover", "reconcile", "stop"]
