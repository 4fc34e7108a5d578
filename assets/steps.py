"""The steps of the line: each calls the supervisor and reports what it says, all outputs at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from assets import metadata
from assets.failures import told
from assets.names import check_name, node_key
from assets.office import office, run_of
from fabric_dagster.digests import digest_of
from fabric_dagster.supervisor import controls
from fabric_dagster.supervisor.execution import run_partition
from fabric_dagster.supervisor.judging import judge_side

if TYPE_CHECKING:
    from collections.abc import Callable

    from assets.names import Line, Station
    from assets.office import Office
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow

Results = tuple[dg.MaterializeResult[None], ...]


def partition_step(context: dg.AssetExecutionContext, graph: Line, part: Station) -> Results:
    """Run one partition and report its nodes together."""
    place = office(context)
    with told():
        services, workflow = place.services(), place.workflow(graph.reference)
        run = run_of(context, services, graph.reference)
        link(services, run, context.run.run_id)
        if part.application == "fabric":
            name = part.capability.partition("@")[0]
            version, shown = CONTROLS[name](place, services, workflow, run, part.id)
            return (_result(graph, part.id, version, {"fabric/run": run, **shown}),)
        outcome = run_partition(services, workflow, run, part.id)
        text = services.artifacts.get(outcome.result.diff).decode() if outcome.result.diff else None
    results = []
    for node in part.nodes:
        diff = text if node == part.nodes[-1] else None
        version, shown = metadata.node(place, outcome, node, diff)
        results.append(_result(graph, node, version, {"fabric/run": run, **shown}))
    return tuple(results)


def _result(graph: Line, node: str, version: str, shown: metadata.Metadata) -> dg.MaterializeResult[None]:
    return dg.MaterializeResult(
        asset_key=node_key(graph, node), data_version=dg.DataVersion(version), metadata=shown
    )


def check_step(context: dg.AssetCheckExecutionContext, graph: Line, side: str) -> list[dg.AssetCheckResult]:
    """Have the independent validator judge one side; its signed verdict is what Dagster shows."""
    place = office(context)
    with told():
        services, workflow = place.services(), place.workflow(graph.reference)
        run = run_of(context, services, graph.reference)
        verdict = judge_side(services, workflow, run, side)
    return [
        dg.AssetCheckResult(
            asset_key=node_key(graph, item.after),
            check_name=check_name(item.id),
            passed=item.passed,
            severity=dg.AssetCheckSeverity.ERROR if item.blocking else dg.AssetCheckSeverity.WARN,
            description=item.summary,
            metadata={"fabric/verdict": verdict.digest, **metadata.check(place, item)},
        )
        for item in verdict.checks
    ]


def link(services: Services, run: str, dagster_run: str) -> None:
    """Note once on the spine that a Dagster run works on ``run``."""
    record = services.reload(run)
    if dagster_run in record.dagster_runs:
        return
    services.append(record, "dagster.linked", {"dagster_run": dagster_run}, f"dagster:{dagster_run}")


def _brief(
    _place: Office, services: Services, workflow: Workflow, run: str, _node: str
) -> tuple[str, metadata.Metadata]:
    ticket = controls.lay_brief(services, workflow, run)
    rows = [dg.TableRecord({"input": key, "value": value}) for key, value in ticket.inputs.items()]
    shown: metadata.Metadata = {"ticket": ticket.key, "inputs": dg.MetadataValue.table(rows)}
    for name, file in ticket.files.items():
        shown |= {f"{name} digest": file.digest}
        if file.format == "png":
            shown |= metadata.picture(_place, file.digest, name)
    return ticket.digest, shown


def _decision(
    _place: Office, services: Services, workflow: Workflow, run: str, _node: str
) -> tuple[str, metadata.Metadata]:
    body = controls.make_decision(services, workflow, run)
    return digest_of("fabric.decision.v1", body), metadata.decision(body)


def _handoff(
    place: Office, services: Services, workflow: Workflow, run: str, node: str
) -> tuple[str, metadata.Metadata]:
    sealed = controls.seal_handoff(services, workflow, run, node)
    return sealed.artifact.digest, metadata.handoff(place, sealed)


def _verdict(
    _place: Office, services: Services, workflow: Workflow, run: str, node: str
) -> tuple[str, metadata.Metadata]:
    record = controls.complete(services, workflow, run, node)
    shown: metadata.Metadata = {"state": record.state}
    for verdict in record.verdicts:
        shown[f"verdict on {verdict.side}"] = verdict.envelope
    return digest_of("fabric.completion.v1", [v.envelope for v in record.verdicts]), shown


CONTROLS: dict[str, Callable[[Office, Services, Workflow, str, str], tuple[str, metadata.Metadata]]] = {
    "fabric.ticket_brief": _brief,
    "fabric.asset_decision": _decision,
    "fabric.seal_handoff": _handoff,
    "fabric.independent_verdict": _verdict,
}
