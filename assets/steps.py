"""The steps of the line: each calls the supervisor and reports what it says, all outputs at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from assets import metadata
from assets.failures import fault_table, told
from assets.names import GRAPH_TAG, RUN_TAG, TICKET_TAG, check_name, node_key
from assets.office import office, run_of
from fabric_dagster.digests import digest_of
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor import approvals, controls
from fabric_dagster.supervisor.execution import run_partition
from fabric_dagster.supervisor.joins import absence
from fabric_dagster.supervisor.judging import judge_side, trusted_verdict
from fabric_dagster.supervisor.machine import WHOLE_RUN
from fabric_dagster.supervisor.opening import renewed

if TYPE_CHECKING:
    from collections.abc import Callable

    from assets.names import Line, Station
    from assets.office import Office
    from fabric_dagster.errors import Fault
    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow

FIRST = "fabric.ticket_brief@"
ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
Results = tuple[dg.MaterializeResult[None], ...]


def partition_step(context: dg.AssetExecutionContext, graph: Line, part: Station) -> Results:
    """Run one partition and report its nodes together."""
    place = office(context)
    with told():
        services, workflow = place.services(), place.workflow(graph.reference)
        run = run_of(context, services, graph.reference)
        if part.capability.startswith(FIRST) and RUN_TAG not in context.run.tags:
            # A backfill by hand begins here: under another commission it is another run of the ticket.
            run = renewed(services, workflow, services.reload(run)).run
        link(context, services, run)
        if faults := absence(workflow.compiled, services.reload(run), part.id):
            return _absent(graph, part, run, faults)
        if part.application == "fabric":
            name = part.capability.partition("@")[0]
            version, shown = CONTROLS[name](place, services, workflow, run, part.id)
            return (_result(graph, part.id, version, {"fabric/run": run, **shown}),)
        try:
            outcome = run_partition(services, workflow, run, part.id)
        except FabricError:
            # A failure that a join absorbs is data of this partition: Dagster must not skip what is below.
            if faults := absence(workflow.compiled, services.reload(run), part.id):
                return _absent(graph, part, run, faults)
            raise
        if not workflow.compiled.validators.get(part.id):
            approvals.ask(services, workflow, run)
        text = services.artifacts.get(outcome.result.diff).decode() if outcome.result.diff else None
    results = []
    for node in part.nodes:
        diff = text if node == part.nodes[-1] else None
        version, shown = metadata.node(place, outcome, node, diff)
        results.append(_result(graph, node, version, {"fabric/run": run, **shown}))
    return tuple(results)


def _absent(graph: Line, part: Station, run: str, faults: list[Fault]) -> Results:
    """The outputs of a partition that gives nothing in this run: why, as data."""
    told_as = [item.as_dict() for item in faults]
    shown: metadata.Metadata = {
        "fabric/run": run,
        "fabric/absent": True,
        "code": faults[0].code,
        "faults": fault_table(faults),
    }
    version = digest_of("fabric.absence.v1", {"run": run, "partition": part.id, "faults": told_as})
    return tuple(_result(graph, node, version, shown) for node in part.nodes)


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
        if services.reload(run).verdict(side) is None and (
            faults := absence(workflow.compiled, services.reload(run), side)
        ):
            return _unjudged(graph, workflow, side, run, faults)
        verdict = judge_side(services, workflow, run, side)
        approvals.ask(services, workflow, run)
        record = services.reload(run)
        event = _event(record, "verdict.recorded", side=side)
    return [
        dg.AssetCheckResult(
            asset_key=node_key(graph, item.after),
            check_name=check_name(item.id),
            passed=item.passed,
            # What a join absorbs is told and blocks nothing.
            severity=ERROR if item.blocking and side not in record.absorbed else WARN,
            description=item.summary,
            metadata={
                "fabric/run": run,
                "fabric/verdict": verdict.digest,
                "fabric/event": event,
                **metadata.check(place, item),
            },
        )
        for item in verdict.checks
    ]


def _unjudged(
    graph: Line, workflow: Workflow, side: str, run: str, faults: list[Fault]
) -> list[dg.AssetCheckResult]:
    """The checks of a side that gives nothing in this run: not passed, and nothing to block for."""
    return [
        dg.AssetCheckResult(
            asset_key=node_key(graph, item.after),
            check_name=check_name(item.id),
            passed=False,
            severity=WARN,
            description=f"nothing to judge: {faults[0]}",
            metadata={"fabric/run": run, "fabric/absent": True},
        )
        for item in workflow.compiled.validators[side]
    ]


def link(context: dg.AssetExecutionContext, services: Services, run: str) -> None:
    """Lead from a Dagster run to ``run`` and back: once on the spine, and in the tags of a run by hand."""
    record, dagster_run = services.reload(run), context.run.run_id
    if RUN_TAG not in context.run.tags:
        tags = {RUN_TAG: run, TICKET_TAG: record.key, GRAPH_TAG: record.body["graph"]}
        context.instance.add_run_tags(dagster_run, tags)
    if dagster_run not in record.dagster_runs:
        services.append(record, "dagster.linked", {"dagster_run": dagster_run}, f"dagster:{dagster_run}")


def _event(record: RunRecord, kind: str, **about: str) -> str:
    """The digest of the newest event of ``kind`` in the run, so that the spine is found from Dagster."""
    found = (
        event
        for event in reversed(record.events)
        if event.type == kind and all(event.body.get(key) == value for key, value in about.items())
    )
    return next(found).digest


def _brief(
    _place: Office, services: Services, workflow: Workflow, run: str, _node: str
) -> tuple[str, metadata.Metadata]:
    ticket = controls.lay_brief(services, workflow, run)
    rows = [dg.TableRecord({"input": key, "value": value}) for key, value in ticket.inputs.items()]
    shown: metadata.Metadata = {
        "fabric/event": services.reload(run).opened.digest,
        "ticket": ticket.key,
        "inputs": dg.MetadataValue.table(rows),
    }
    for name, file in ticket.files.items():
        shown |= {f"{name} digest": file.digest}
        if file.format == "png":
            shown |= metadata.picture(_place, file.digest, name)
    return ticket.digest, shown


def _decision(
    _place: Office, services: Services, workflow: Workflow, run: str, _node: str
) -> tuple[str, metadata.Metadata]:
    body = controls.make_decision(services, workflow, run)
    event = _event(services.reload(run), "decision.made")
    return digest_of("fabric.decision.v1", body), {"fabric/event": event, **metadata.decision(body)}


def _handoff(
    place: Office, services: Services, workflow: Workflow, run: str, node: str
) -> tuple[str, metadata.Metadata]:
    sealed = controls.seal_handoff(services, workflow, run, node)
    sealing = (
        event.digest
        for event in reversed(services.reload(run).events)
        if event.type == "handoff.sealed" and event.body["handoff"]["node"] == node
    )
    return sealed.artifact.digest, {"fabric/event": next(sealing), **metadata.handoff(place, sealed)}


def _verdict(
    _place: Office, services: Services, workflow: Workflow, run: str, node: str
) -> tuple[str, metadata.Metadata]:
    record = controls.complete(services, workflow, run, node)
    shown: metadata.Metadata = {"fabric/event": _event(record, "run.completed"), "state": record.state}
    for verdict in record.verdicts:
        shown[f"verdict on {verdict.side}"] = verdict.envelope
    if (whole := record.verdict(WHOLE_RUN)) is not None:
        said, _ = trusted_verdict(services, record, whole)
        shown["whole run"] = dg.MetadataValue.table(
            [
                dg.TableRecord({"check": item.id, "passed": str(item.passed), "said": item.summary})
                for item in said.checks
            ]
        )
    return digest_of("fabric.completion.v1", [v.envelope for v in record.verdicts]), shown


CONTROLS: dict[str, Callable[[Office, Services, Workflow, str, str], tuple[str, metadata.Metadata]]] = {
    "fabric.ticket_brief": _brief,
    "fabric.asset_decision": _decision,
    "fabric.seal_handoff": _handoff,
    "fabric.independent_verdict": _verdict,
}
