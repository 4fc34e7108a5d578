"""The ticket intake: one sensor for all workflows."""

import dagster as dg

from assets.failures import fault_table
from assets.names import EVERY_ASSET, INTAKE, tickets
from resources.supervision.dagster import FabricResource
from sensors.asking import EVERY_SECONDS, request, selection
from sensors.inbox import look

#: A run is requested for these alone: what is completed is done, and what has ended waits for a person.
WANTED = frozenset({"opened", "running"})


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
        run = taken.opened.run
        keys = selection(run, hall) if run.state in WANTED else []
        if keys:
            partitions.append(tickets(taken.workflow.compiled).build_add_request([run.key]))
            requests.append(request(run, hall, taken.opened.run_key, keys))
    observations = []
    for turned in tick.turned:
        reasons = "\n".join(map(str, turned.faults))
        context.log.warning("ticket %s refused:\n%s", turned.name, reasons)
        observations.append(
            dg.AssetObservation(
                INTAKE,
                description=f"{turned.name} refused: {turned.faults[0].what}",
                metadata={"ticket": turned.name, "reasons": fault_table(turned.faults)},
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
