"""``fabric.skill-graph.v1``: a sealed DAG of capabilities with typed handoffs.

The YAML of a pack's ``graphs/*.yaml`` and the body of a sealed graph have this one shape. An argument
is a literal or ``{"$ref": "SOURCE.NAME"}``: SOURCE is ``input`` (the ticket) or a node's id, NAME one of
its outputs. Nodes, validators and edges are sets: their order carries no meaning and no digest.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import CapabilityId, Contract, Document, NodeId, SemVer


class InputField(Contract):
    """One key of the ticket's fenced block."""

    type: Literal["slug", "taxonomy_id", "picture", "text"]
    required: bool = True
    description: str = ""
    #: lengths in characters after NFC, for ``slug`` and ``text``.
    min_length: int = Field(default=1, ge=0)
    max_length: int = Field(default=200, ge=1, le=10_000)
    #: a regular expression that the whole value must match, for ``slug`` and ``text``.
    pattern: str | None = None
    #: a value for this key needs a provider that serves this capability.
    requires: CapabilityId | None = None


class Node(Contract):
    """One capability in the graph. Its outputs are its capability's."""

    id: NodeId
    capability: CapabilityId
    description: str = ""
    needs: tuple[NodeId, ...] = Field(default=(), strict=False)
    join: Literal["all", "any"] = "all"
    args: dict[str, Any] = Field(default_factory=dict)
    #: name → value type; only for capabilities with open outputs (``fabric.asset_decision``).
    outputs: dict[str, str] = Field(default_factory=dict)


class ValidatorBinding(Contract):
    """A blind validator (``name@N``) that judges what stands after node ``after``."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*@[1-9][0-9]*$")
    after: NodeId
    blocking: bool = True
    description: str = ""


class RecoveryEdge(Contract):
    """On failure code ``on`` of node ``at``, reset from node ``resume`` at most ``attempts`` times."""

    on: str = Field(pattern=r"^[a-z]+\.[a-z][a-z0-9_]*$")
    at: NodeId
    resume: NodeId
    attempts: int = Field(ge=1, le=5)


class SkillGraph(Document):
    """A workflow's sealed graph. ``name@MAJOR`` is how tickets and people call it."""

    SCHEMA: ClassVar[str] = "fabric.skill-graph.v1"

    schema_: Literal["fabric.skill-graph.v1"] = Field(alias="schema")
    name: str = Field(pattern=r"^[A-Z][A-Za-z0-9]{2,79}$")
    version: SemVer
    title: str
    goal: str
    owners: tuple[str, ...] = Field(default=(), strict=False)
    #: application or ``fabric`` → version range such as ``>=2021.3,<6001``.
    compatibility: dict[str, str]
    inputs: dict[str, InputField]
    #: the effect closure: exactly the union of the nodes' effects.
    effects: tuple[str, ...] = Field(strict=False)
    nodes: tuple[Node, ...] = Field(min_length=1, strict=False)
    validators: tuple[ValidatorBinding, ...] = Field(default=(), strict=False)
    recovery: tuple[RecoveryEdge, ...] = Field(default=(), strict=False)

    @property
    def reference(self) -> str:
        """``Name@MAJOR``."""
        return f"{self.name}@{self.version.partition('.')[0]}"
