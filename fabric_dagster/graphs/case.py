"""What the rules of validation look at: the graph, its document, and everything derived from them once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fabric_dagster.errors import Fault
from fabric_dagster.graphs.order import ancestors, guaranteed, topological
from fabric_dagster.graphs.partitions import Partition, partition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fabric_dagster.capabilities.base import Capability
    from fabric_dagster.contracts.skill_graph import Node, SkillGraph
    from fabric_dagster.documents import Source

Path = tuple[str | int, ...]

BRIEF = "fabric.ticket_brief@1"
VERDICT = "fabric.independent_verdict@1"
SEAL = "fabric.seal_handoff@1"
#: What the validator judges of a whole run besides what the graph binds; its verdict is the verdict node's.
RUN_CHECKS = ("handoffs_delivered@1", "sides_judged@1")


def check_code(validator: str) -> str:
    """The failure code of a failed blocking check: ``safe_area@1`` fails as ``check.safe_area``."""
    return f"check.{validator.partition('@')[0]}"


class Case:
    """A graph under validation. Derived parts hold for faulty graphs too, as far as they have meaning.

    Where an id stands twice, it means the first node that has it. ``capabilities`` holds, by node id, the
    capability of each node that binds a registered one.
    """

    def __init__(self, graph: SkillGraph, source: Source, registry: Mapping[str, Capability]) -> None:
        self.graph = graph
        self.source = source
        self.registry = registry
        #: node id → its first place in the document.
        self.index: dict[str, int] = {}
        for place, node in enumerate(graph.nodes):
            self.index.setdefault(node.id, place)
        self.nodes: dict[str, Node] = {name: graph.nodes[place] for name, place in self.index.items()}
        self.capabilities: dict[str, Capability] = {
            name: registry[node.capability]
            for name, node in self.nodes.items()
            if node.capability in registry
        }
        #: every node that binds a registered capability, those with a taken id too: place, node, capability.
        self.bound: list[tuple[int, Node, Capability]] = [
            (place, node, registry[node.capability])
            for place, node in enumerate(graph.nodes)
            if node.capability in registry
        ]
        #: node id → the nodes right above it, without those that do not exist.
        self.parents: dict[str, tuple[str, ...]] = {
            name: tuple(dict.fromkeys(need for need in node.needs if need in self.nodes))
            for name, node in self.nodes.items()
        }
        self.order = topological(self.parents)
        self.ancestors = ancestors(self.parents, self.order)

    @property
    def acyclic(self) -> bool:
        """Whether the nodes have an order."""
        return len(self.order) == len(self.nodes)

    @cached_property
    def guaranteed(self) -> Mapping[str, frozenset[str]]:
        """Node → what has certainly run before it; only for acyclic graphs."""
        return guaranteed(self.parents, self.order, self.any_joins)

    @cached_property
    def any_joins(self) -> frozenset[str]:
        """The nodes that join any of their parents, where there are several to choose from."""
        return frozenset(
            name for name, node in self.nodes.items() if node.join == "any" and len(self.parents[name]) > 1
        )

    @cached_property
    def partitions(self) -> tuple[Partition, ...] | None:
        """The partitions; ``None`` on a circle or where a node binds no registered capability."""
        if not self.acyclic or len(self.capabilities) < len(self.nodes):
            return None
        return partition(self.parents, self.applications, self.order, self.any_joins)

    @cached_property
    def partition_of(self) -> Mapping[str, Partition]:
        """Node id → its partition; empty where there are none."""
        return {node: part for part in self.partitions or () for node in part.nodes}

    @cached_property
    def applications(self) -> dict[str, str]:
        """Node id → the application of its capability; an unregistered one is told by its name."""
        return {name: node.capability.partition(".")[0] for name, node in self.nodes.items()} | {
            name: item.application for name, item in self.capabilities.items()
        }

    def outputs(self, node: str) -> Mapping[str, str] | None:
        """Output → value type of ``node``; ``None`` where its capability is unknown."""
        bound = self.capabilities.get(node)
        if bound is None:
            return None
        return {**bound.outputs, **self.nodes[node].outputs} if bound.open_outputs else bound.outputs

    def at(self, node: str, *path: str | int) -> Path:
        """The place of a part of ``node`` in the document."""
        return ("nodes", self.index[node], *path)

    def fault(self, path: Path, code: str, what: str, mend: str = "", value: str | None = None) -> Fault:
        """A fault at ``path`` of the document."""
        return Fault(f"graph.{code}", what, self.source.where(path), mend, value)


def listed(names: Iterable[str]) -> str:
    """Names in a sentence, sorted: ``a, b, c``, or ``nothing``."""
    return ", ".join(sorted(names)) or "nothing"
