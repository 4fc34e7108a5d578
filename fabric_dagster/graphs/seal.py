"""Sealing: the one digest of a graph, over all that it means and all that it binds.

What counts as meaning: everything in the body, titles and descriptions included, because a person
certified the graph that they read. What does not: the order of nodes, needs, validators, recovery edges,
effects, owners and keys, comments, and YAML's ways of writing the same value. The digests of the bound
capabilities are sealed in, so a changed capability is another graph.

A node's digest is narrower, because Dagster shows a node stale when it changes: its capability, its
arguments, its declared outputs and the validators that judge it, but no prose and no other node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabric_dagster.digests import digest_of
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.graphs.validate import validate_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.capabilities.base import Capability
    from fabric_dagster.contracts.skill_graph import Node, SkillGraph
    from fabric_dagster.graphs.source import GraphSource

GRAPH_SCHEMA = "fabric.sealed-graph.v1"
NODE_SCHEMA = "fabric.sealed-node.v1"


@dataclass(frozen=True, slots=True)
class SealedGraph:
    """A valid graph in canonical order with its digest and its nodes'. A candidate: it may do nothing."""

    graph: SkillGraph
    digest: str
    node_digests: Mapping[str, str]


def canonical_graph(graph: SkillGraph) -> SkillGraph:
    """``graph`` with everything sorted whose order carries no meaning."""
    nodes = [
        node.model_copy(update={"needs": tuple(sorted(node.needs))})
        for node in sorted(graph.nodes, key=lambda node: node.id)
    ]
    return graph.model_copy(
        update={
            "owners": tuple(sorted(graph.owners)),
            "effects": tuple(sorted(graph.effects)),
            "nodes": tuple(nodes),
            "validators": tuple(sorted(graph.validators, key=lambda item: (item.id, item.after))),
            "recovery": tuple(sorted(graph.recovery, key=lambda edge: (edge.at, edge.on, edge.resume))),
        }
    )


def seal_graph(gs: GraphSource, capabilities: Mapping[str, Capability]) -> SealedGraph:
    """Validate and seal ``gs``. Raises ``InvalidDocument`` with every fault."""
    if faults := validate_graph(gs, capabilities):
        raise InvalidDocument.of(faults)
    graph = canonical_graph(gs.graph)
    body = graph.body()
    del body["schema"]
    bound = {node.id: capabilities[node.capability].digest for node in graph.nodes}
    judges: dict[str, list[Any]] = {}
    for item in graph.validators:
        judges.setdefault(item.after, []).append({"id": item.id, "blocking": item.blocking})
    return SealedGraph(
        graph,
        digest_of(GRAPH_SCHEMA, {"graph": body, "capabilities": bound}),
        {node.id: _node_digest(node, bound[node.id], judges.get(node.id, [])) for node in graph.nodes},
    )


def _node_digest(node: Node, capability: str, validators: list[Any]) -> str:
    return digest_of(
        NODE_SCHEMA,
        {
            "capability": capability,
            "args": node.args,
            "outputs": node.outputs,
            "validators": validators,
        },
    )
