"""``CompiledGraph`` → Dagster definitions. A second graph needs no Python.

One ``multi_asset(can_subset=False)`` per sealed partition, one asset key per node, one
``multi_asset_check`` per side. Half of a partition can never run, and its outputs are reported together
at the end or not at all.
"""

# No `from __future__ import annotations`: Dagster reads the context's annotation at run time.

import warnings
from collections.abc import Iterator

import dagster as dg

from assets.names import Line, Station, check_name, node_key, tickets
from assets.office import KEY
from assets.specs import approval_specs, node_spec
from assets.steps import check_step, partition_step
from fabric_dagster.contracts.skill_graph import ValidatorBinding
from fabric_dagster.graphs.compiled import CompiledGraph, CompiledPartition
from fabric_dagster.intelligence.packs import LoadedPack


def workflow_assets(
    pack: LoadedPack, graph: CompiledGraph, *, pools: bool
) -> list[dg.AssetsDefinition | dg.AssetSpec]:
    """Every asset of ``graph``. ``pools`` fences queued runs; in-process runs rely on the adapters' locks."""
    partitions = tickets(graph)
    made = [_partition(pack, graph, part, partitions, pools=pools) for part in graph.partitions]
    return [*made, *approval_specs(graph)]


def workflow_checks(graph: CompiledGraph, *, pools: bool) -> Iterator[dg.AssetChecksDefinition]:
    """The blind validators of ``graph``, one definition a side."""
    partitions = tickets(graph)
    for side, bindings in graph.validators.items():
        specs = [_check_spec(graph, item, partitions) for item in bindings]
        if not specs:
            continue
        yield _checks(graph, side, specs, pool="validator" if pools else None)


def _check_spec(
    graph: CompiledGraph, item: ValidatorBinding, partitions: dg.PartitionsDefinition[str]
) -> dg.AssetCheckSpec:
    """The one place that uses partitioned checks, which Dagster calls a preview."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*partitions_def on an AssetCheckSpec.*")
        return dg.AssetCheckSpec(
            name=check_name(item.id),
            asset=node_key(graph, item.after),
            blocking=item.blocking,
            description=item.description
            or f"Blind validator {item.id}, in its own program with its own key.",
            partitions_def=partitions,
        )


def _partition(
    pack: LoadedPack,
    graph: CompiledGraph,
    part: CompiledPartition,
    partitions: dg.PartitionsDefinition[str],
    *,
    pools: bool,
) -> dg.AssetsDefinition:
    fenced = pools and part.application != "fabric"
    line = Line(graph.workflow, graph.reference)
    station = Station(part.id, part.application, part.nodes, part.capabilities[0])

    @dg.multi_asset(
        name=f"{graph.workflow}__{part.id}",
        specs=[node_spec(pack, graph, graph.nodes[node]) for node in part.nodes],
        can_subset=False,
        partitions_def=partitions,
        required_resource_keys={KEY},
        pool=f"{part.application}__default" if fenced else None,
        description=part.objective,
    )
    def step(context: dg.AssetExecutionContext):  # type: ignore[no-untyped-def]  # noqa: ANN202 - Dagster would count a tuple's members
        results = partition_step(context, line, station)
        return results if len(results) > 1 else results[0]

    return step


def _checks(
    graph: CompiledGraph, side: str, specs: list[dg.AssetCheckSpec], *, pool: str | None
) -> dg.AssetChecksDefinition:
    line = Line(graph.workflow, graph.reference)

    @dg.multi_asset_check(
        name=f"{graph.workflow}__{side}__checks", specs=specs, required_resource_keys={KEY}, pool=pool
    )
    def judge(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        # Yielded, since Dagster would take a returned tuple for plain outputs and record no evaluation.
        yield from check_step(context, line, side)

    return judge
