"""Compilation: a sealed graph becomes partitions with plan templates. Nothing is interpreted at run time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan
from fabric_dagster.graphs.compiled import CompiledGraph, CompiledNode, CompiledPartition
from fabric_dagster.graphs.order import topological
from fabric_dagster.graphs.partitions import CONTROL, Partition, partition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.capabilities.base import Capability
    from fabric_dagster.contracts.skill_graph import Node, ValidatorBinding
    from fabric_dagster.graphs.seal import SealedGraph

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def workflow_name(name: str) -> str:
    """``CreateOfferIcon`` → ``create_offer_icon``."""
    return _WORD.sub("_", name).lower()


def compile_graph(sealed: SealedGraph, capabilities: Mapping[str, Capability]) -> CompiledGraph:
    """Cut ``sealed`` into partitions and lay down each application partition's plan template.

    ``capabilities`` are those that it was sealed with.
    """
    graph = sealed.graph
    nodes = {node.id: node for node in graph.nodes}
    bound = {node.id: capabilities[node.capability] for node in graph.nodes}
    parents = {node.id: node.needs for node in graph.nodes}
    applications = {name: str(item.application) for name, item in bound.items()}
    any_joins = frozenset(node.id for node in graph.nodes if node.join == "any")
    cut = partition(parents, applications, topological(parents), any_joins)
    home = {node: part.id for part in cut for node in part.nodes}
    judged: dict[str, tuple[ValidatorBinding, ...]] = {
        part.id: tuple(item for item in graph.validators if item.after in part.nodes) for part in cut
    }
    return CompiledGraph(
        graph=graph,
        digest=sealed.digest,
        reference=graph.reference,
        workflow=workflow_name(graph.name),
        nodes={
            name: CompiledNode(
                id=name,
                capability=node.capability,
                application=applications[name],
                description=node.description,
                needs=node.needs,
                digest=sealed.node_digests[name],
                outputs={**bound[name].outputs, **node.outputs},
                join=node.join,
            )
            for name, node in nodes.items()
        },
        partitions=tuple(_compile(part, sealed.digest, nodes, bound, judged[part.id], home) for part in cut),
        validators=judged,
        recovery=graph.recovery,
    )


def _compile(
    part: Partition,
    digest: str,
    nodes: Mapping[str, Node],
    bound: Mapping[str, Capability],
    judges: tuple[ValidatorBinding, ...],
    home: Mapping[str, str],
) -> CompiledPartition:
    members = [bound[name] for name in part.nodes]
    required = {
        home[need]
        for name in part.nodes
        if nodes[name].join == "all"
        for need in nodes[name].needs
        if home[need] != part.id
    }
    alternatives = [
        tuple(sorted({home[need] for need in nodes[name].needs}))
        for name in part.nodes
        if nodes[name].join == "any"
    ]
    template = None
    if part.application != CONTROL:
        template = PhysicalPlan.model_validate(
            {
                "schema": PhysicalPlan.SCHEMA,
                "application": part.application,
                "operations": [
                    Operation(capability=nodes[name].capability, args=nodes[name].args, node=name)
                    for name in part.nodes
                ],
                "graph": digest,
                "partition": part.id,
            }
        )
    wishes = [f"{name}: {text}" for name in part.nodes for text in bound[name].postconditions]
    return CompiledPartition(
        id=part.id,
        application=part.application,
        nodes=part.nodes,
        needs=part.needs,
        required=tuple(sorted(required)),
        alternatives=tuple(sorted(set(alternatives))),
        capabilities=tuple(sorted({item.id for item in members})),
        effects=tuple(sorted({effect for item in members for effect in item.effects})),
        objective=" ".join(nodes[name].description or bound[name].summary for name in part.nodes),
        criteria=(*wishes, *(f"{item.id} passes after {item.after}" for item in judges if item.blocking)),
        template=template,
        template_digest=template.digest if template else None,
    )
