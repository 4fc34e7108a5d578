"""``fabric.physical-plan.v1``: a list of typed operations on one application.

One shape, two uses (design/DETAILS.md, "Plans"): a *template*, sealed with its graph, holds ``$ref``
objects where dispatch will put values; a *bound* plan holds every argument, the digest of every input
and every random choice, so that each attempt does the same. ``fabric photoshop apply`` and
``fabric unity apply`` take a hand-written one with just ``schema``, ``application`` and ``operations``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import CapabilityId, Contract, Digest, Document, NodeId


class Operation(Contract):
    """One capability with its arguments; ``node`` names the graph node that it came from."""

    capability: CapabilityId
    args: dict[str, Any] = Field(default_factory=dict)
    node: NodeId | None = None


class PlanInput(Contract):
    """A file that a bound plan reads: ``path`` is what its arguments call it."""

    path: str
    digest: Digest


class PhysicalPlan(Document):
    """Operations in order, on one application, as one atomic unit."""

    SCHEMA: ClassVar[str] = "fabric.physical-plan.v1"

    schema_: Literal["fabric.physical-plan.v1"] = Field(alias="schema")
    #: ``fabric`` for the plan of the validator's own task.
    application: Literal["photoshop", "unity", "fabric"]
    operations: tuple[Operation, ...] = Field(min_length=1, strict=False)
    graph: Digest | None = None
    partition: NodeId | None = None
    run: Digest | None = None
    inputs: tuple[PlanInput, ...] = Field(default=(), strict=False)
    #: Random choices drawn once, before ``task.issued``: GUIDs, sprite ids, uuids, by a name.
    allocations: dict[str, str] = Field(default_factory=dict)
