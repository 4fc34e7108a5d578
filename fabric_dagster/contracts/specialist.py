"""``fabric.specialist-task.v1`` and ``fabric.specialist-result.v1``: what is asked and what came of it.

A task holds everything that bounds it; a result holds evidence and recommends one transition. Which result
answers which task is for ``supervisor/results.py`` to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import CapabilityId, Contract, Digest, Document, NodeId

Status = Literal["succeeded", "failed", "partial"]
Recommended = Literal["advance", "recover", "stop"]

#: status → the transitions of which a result recommends exactly one.
TRANSITIONS: Mapping[Status, frozenset[Recommended]] = {
    "succeeded": frozenset({"advance"}),
    "failed": frozenset({"recover", "stop"}),
    "partial": frozenset({"recover", "stop"}),
}


class Budget(Contract):
    """Limits of one task. Exceeding one fails closed with a typed partial result."""

    #: of staging: what happens outside of the stage is no matter of time.
    seconds: int = Field(default=120, ge=1)
    #: operations of the local plan.
    operations: int = Field(default=64, ge=1)
    #: of all files that the task writes, together.
    bytes: int = Field(default=1 << 30, ge=1)


class ArtifactRef(Contract):
    """Content-addressed bytes: who made them and what they are."""

    name: str
    kind: str
    digest: Digest
    size: int
    node: NodeId | None = None
    facts: dict[str, Any] = Field(default_factory=dict)


class SpecialistTask(Document):
    """One typed child task of a supervisor run: a sealed partition, or the judgement of the whole run."""

    SCHEMA: ClassVar[str] = "fabric.specialist-task.v1"

    schema_: Literal["fabric.specialist-task.v1"] = Field(alias="schema")
    parent_run: Digest
    partition: NodeId
    #: ``application/provider``
    specialist: str
    objective: str
    capabilities: tuple[CapabilityId, ...] = Field(strict=False)
    #: the files and folders that the task may write: of the commission, or those that its plan names.
    scope: tuple[str, ...] = Field(strict=False)
    effects: tuple[str, ...] = Field(strict=False)
    inputs: tuple[ArtifactRef, ...] = Field(default=(), strict=False)
    plan_template: Digest
    plan: Digest
    completion_criteria: tuple[str, ...] = Field(strict=False)
    #: the gravest of its effects' (``capabilities.effects``).
    risk: Literal["low", "medium", "high"] = "high"
    budget: Budget = Budget()
    #: how often recovery edges of the sealed graph may have it tried again.
    retry_limit: int = Field(default=0, ge=0, le=100)
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
    status: Status
    observations: tuple[ObservationRecord, ...] = Field(default=(), strict=False)
    artifacts: tuple[ArtifactRef, ...] = Field(default=(), strict=False)
    #: node.output → plain value, for outputs that are no files.
    values: dict[str, Any] = Field(default_factory=dict)
    changes: tuple[FileChangeRecord, ...] = Field(default=(), strict=False)
    #: digest of the unified diff in the artifact store, where there is one.
    diff: Digest | None = None
    #: digest of the specialist's local plan in the artifact store, where it is not the bound plan itself.
    local_plan: Digest | None = None
    warnings: tuple[str, ...] = Field(default=(), strict=False)
    failure: dict[str, str] | None = None
    #: recorded, never a gate.
    confidence: str | None = None
    recommended: Recommended
