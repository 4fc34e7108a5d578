"""What a compiled graph is: frozen data that the line, the supervisor and the command line read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fabric_dagster.graphs.case import VERDICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.contracts.physical_plan import PhysicalPlan
    from fabric_dagster.contracts.skill_graph import RecoveryEdge, SkillGraph, ValidatorBinding


@dataclass(frozen=True, slots=True)
class CompiledNode:
    """One node. ``digest`` is its code version; ``outputs`` maps a name to its value type."""

    id: str
    capability: str
    application: str
    description: str
    needs: tuple[str, ...]
    digest: str
    outputs: Mapping[str, str]
    join: Literal["all", "any"] = "all"


@dataclass(frozen=True, slots=True)
class CompiledPartition:
    """One atomic unit. A fabric control is one by itself, named by its node, and has no plan template.

    ``nodes`` are in the order in which they run; ``needs`` are the partitions right above: ``required`` each
    of them, and of each group of ``alternatives`` (an ``any`` join) at least one.
    """

    id: str
    application: str
    nodes: tuple[str, ...]
    needs: tuple[str, ...]
    required: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    capabilities: tuple[str, ...]
    effects: tuple[str, ...]
    objective: str
    criteria: tuple[str, ...]
    template: PhysicalPlan | None
    template_digest: str | None


@dataclass(frozen=True, slots=True)
class CompiledGraph:
    """A sealed graph, cut into partitions in topological order."""

    graph: SkillGraph
    digest: str
    #: ``Name@MAJOR``
    reference: str
    #: the name in snake case: asset keys are ``[workflow, node]``.
    workflow: str
    nodes: Mapping[str, CompiledNode]
    partitions: tuple[CompiledPartition, ...]
    #: partition id → the validators that judge it, sorted; every partition has an entry.
    validators: Mapping[str, tuple[ValidatorBinding, ...]]
    recovery: tuple[RecoveryEdge, ...]

    def partition(self, identifier: str) -> CompiledPartition:
        """The partition with this id."""
        return next(part for part in self.partitions if part.id == identifier)

    def partition_of(self, node: str) -> CompiledPartition:
        """The partition that ``node`` belongs to."""
        return next(part for part in self.partitions if node in part.nodes)

    def sealed_by(self, handoff: str) -> tuple[str, str]:
        """The node and its output that ``handoff`` seals."""
        args = next(node.args for node in self.graph.nodes if node.id == handoff)
        source, _, name = str(args["artifact"]["$ref"]).partition(".")
        return source, name

    @property
    def verdict(self) -> str:
        """The node of the independent verdict, which is a partition of its own."""
        return next(node.id for node in self.nodes.values() if node.capability == VERDICT)
