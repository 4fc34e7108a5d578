"""The asset specs of a compiled graph: keys, lineage, kinds, owners, groups, versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from assets.names import INTAKE, approval_key, node_key, template_key, tickets
from fabric_dagster.capabilities.registry import capability
from fabric_dagster.supervisor.approvals import gates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.graphs.compiled import CompiledGraph, CompiledNode
    from fabric_dagster.intelligence.packs import LoadedPack

#: application → the kinds that its assets show in the graph
KINDS: dict[str, frozenset[str]] = {
    "photoshop": frozenset({"photoshop", "psd"}),
    "unity": frozenset({"unity"}),
    "fabric": frozenset({"control"}),
}


def node_spec(pack: LoadedPack, graph: CompiledGraph, node: CompiledNode) -> dg.AssetSpec:
    """The spec of one node."""
    bound = capability(node.capability)
    kinds = set(KINDS[node.application]) | ({"png"} if "png" in bound.outputs.values() else set())
    return dg.AssetSpec(
        key=node_key(graph, node.id),
        deps=list(_upstream(pack, graph, node)),
        description=_description(graph, node),
        group_name=graph.workflow,
        code_version=node.digest,
        owners=list(graph.graph.owners),
        kinds=kinds,
        tags={"fabric/pack": pack.pack.name, "fabric/application": node.application},
        metadata={
            "fabric/capability": node.capability,
            "fabric/graph": graph.digest,
            "fabric/effects": ", ".join(sorted(bound.effects)) or "none",
        },
    )


def _upstream(pack: LoadedPack, graph: CompiledGraph, node: CompiledNode) -> Iterator[dg.AssetKey]:
    for need in node.needs:
        yield node_key(graph, need)
    if node.capability.startswith("fabric.ticket_brief@"):
        yield INTAKE
    if node.capability.startswith("fabric.asset_decision@"):
        for rule in pack.pack.rules:
            name = rule.decide.get("template")
            if rule.graph == graph.reference and name in pack.pack.templates:
                yield template_key(pack.pack.name, str(name))
    if any(gate.handoff == node.id for gate in gates(graph)):
        yield approval_key(graph, node.id)


def _description(graph: CompiledGraph, node: CompiledNode) -> str:
    bound = capability(node.capability)
    proven = "".join(f"\n* {line}" for line in bound.postconditions)
    return (
        f"{node.description or bound.summary}\n\n"
        f"`{node.capability}` of `{graph.reference}` {graph.graph.version}."
        + (f"\n\nObserved, not believed:{proven}" if proven else "")
    )


def approval_specs(graph: CompiledGraph) -> list[dg.AssetSpec]:
    """One external asset for each handoff: materialized by a person's decision, never by a run."""
    return [
        dg.AssetSpec(
            approval_key(graph, gate.handoff),
            deps=[node_key(graph, gate.node)],
            description=(
                "A person's signed decision on exactly this picture, where the commission asks for one: "
                "`fabric approve` or `fabric retake`. No run waits for it; the sensor `approvals` goes on."
            ),
            group_name=graph.workflow,
            owners=list(graph.graph.owners),
            kinds={"approval"},
            partitions_def=tickets(graph),
        )
        for gate in gates(graph)
    ]


def intake_spec() -> dg.AssetSpec:
    """The tickets that come in; the intake sensor observes it, accepted or refused."""
    return dg.AssetSpec(
        INTAKE,
        description="Jira-format issues in the inbox. Each refusal is observed here with all its reasons.",
        group_name="intake",
        kinds={"jira"},
    )
