"""The ticket intake: one sensor for all workflows."""

import dagster as dg

from assets.names import (
    EVERY_ASSET,
    GRAPH_TAG,
    INTAKE,
    PROJECT_TAG,
    RUN_TAG,
    TICKET_TAG,
    node_key,
    tickets,
)
from fabric_dagster.supervisor.approvals import wanted
from fabric_dagster.supervisor.records import RunRecord
from resources.supervision.dagster import FabricResource
from sensors.inbox import Taken, look

EVERY_SECONDS = 15
#: A run is requested for these alone: what is completed is done, and what has ended waits for a person.
WANTED = frozenset({"opened", "running"})


def run_tags(taken: Taken, project: str) -> dict[str, str]:
    """The tags of a taken ticket's run."""
    return tags_of(taken.opened.run, project)


def tags_of(run: RunRecord, project: str) -> dict[str, str]:
    """The tags that lead from a Dagster run to the supervisor run."""
    return {RUN_TAG: run.run, TICKET_TAG: run.key, GRAPH_TAG: run.body["graph"], PROJECT_TAG: project}


def lives(instance: dg.DagsterInstance, run: RunRecord) -> bool:
    """Whether a Dagster run of ``run`` waits or goes on."""
    return any(not item.is_finished for item in instance.get_runs(dg.RunsFilter(tags={RUN_TAG: run.run})))


@dg.sensor(
    name="ticket_intake",
    job_name=EVERY_ASSET,
    minimum_interval_seconds=EVERY_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Takes Jira-format tickets from the inbox; one governed run per accepted content.",
)
def ticket_intake(context: dg.SensorEvaluationContext, fabric: FabricResource) -> dg.SensorResult:
    """Look at the inbox once."""
    hall = fabric.hall()
    tick = look(hall, context.cursor)
    requests, partitions = [], []
    for taken in tick.taken:
        if taken.opened.run.state not in WANTED:
            continue
        graph = taken.workflow.compiled
        parts = wanted(graph, taken.opened.run, hall.services.trust, hall.authorize(taken.workflow))
        if not parts:
            continue
        partitions.append(tickets(graph).build_add_request([taken.ticket.key]))
        requests.append(
            dg.RunRequest(
                run_key=taken.opened.run_key,
                partition_key=taken.ticket.key,
                asset_selection=[node_key(graph, node) for p in parts for node in graph.partition(p).nodes],
                tags=run_tags(taken, hall.home.id[7:23]),
            )
        )
    observations = []
    for turned in tick.turned:
        reasons = "\n".join(map(str, turned.faults))
        context.log.warning("ticket %s refused:\n%s", turned.name, reasons)
        records = [
            dg.TableRecord({"what": f.what, "where": f.where, "mend": f.mend, "code": f.code})
            for f in turned.faults
        ]
        observations.append(
            dg.AssetObservation(
                INTAKE,
                description=f"{turned.name} refused: {turned.faults[0].what}",
                metadata={"ticket": turned.name, "reasons": dg.MetadataValue.table(records)},
            )
        )
    if not requests and not observations:
        return dg.SensorResult(skip_reason=f"nothing new in {hall.home.inbox}", cursor=tick.cursor)
    return dg.SensorResult(
        run_requests=requests,
        dynamic_partitions_requests=partitions,
        asset_events=observations,
        cursor=tick.cursor,
    )
