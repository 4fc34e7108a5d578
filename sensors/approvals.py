"""Goes on after a person's approval: tells Dagster of it, and requests the rest of the run.

Rules kept here:

* The decision is on the spine, signed; here it is only looked at (``supervisor/approvals.py``). What is
  requested is checked again by every step.
* Nothing waits in a process: the Dagster run before the gate ended, the one after it is new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from assets import metadata
from assets.names import DATA_VERSION, EVERY_ASSET, approval_key
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.approvals import gates, in_force, picture_of
from resources.supervision.dagster import FabricResource
from sensors.asking import EVERY_SECONDS, request, selection, waiting

if TYPE_CHECKING:
    from assets.office import Office
    from fabric_dagster.spine.ports import Event
    from fabric_dagster.supervisor.records import RunRecord
    from resources.supervision.assembly import Hall

EVENT = "fabric/event"


def _due(run: RunRecord, approval: Event) -> bool:
    """Whether the handoff of the approved picture was neither sealed nor tried since."""
    node, subject = approval.body["node"], (approval.body["picture"], approval.body["plan"])
    for item in run.events:
        if item.position <= approval.position:
            continue
        if item.type == "handoff.sealed" and item.body["handoff"]["node"] == node:
            return False
        if item.type == "approval.requested" and (item.body["picture"], item.body["plan"]) == subject:
            return False
    return True


def untold(
    run: RunRecord, hall: Hall, place: Office, instance: dg.DagsterInstance
) -> list[dg.AssetMaterialization]:
    """The approvals in force of ``run`` that Dagster has not been told of, each for its external asset."""
    workflow = hall.workflow(run.reference)
    found = []
    for gate in gates(workflow.compiled):
        picture = picture_of(run, gate)
        record = None if picture is None else in_force(hall.services.trust, run, picture)
        if record is not None:
            event = dg.AssetMaterialization(
                approval_key(workflow.compiled, gate.handoff),
                description=f"{record.by} approved the picture of {gate.side}",
                partition=run.key,
                metadata=metadata.approval(place, record, run.run),
                tags={DATA_VERSION: record.picture},
            )
            there = dg.AssetRecordsFilter(event.asset_key, asset_partitions=[run.key])
            records = instance.fetch_materializations(there, limit=1).records
            told = [item.asset_materialization for item in records]
            if not any(last and last.metadata[EVENT] == event.metadata[EVENT] for last in told):
                found.append(event)
    return found


@dg.sensor(
    name="approvals",
    job_name=EVERY_ASSET,
    minimum_interval_seconds=EVERY_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Goes on with a run after a person approved its picture; once per signed approval.",
)
def approvals(context: dg.SensorEvaluationContext, fabric: FabricResource) -> dg.SensorResult:
    """Look once at what the spine says of approvals."""
    hall = fabric.hall()
    look = waiting(context, hall, ["approval.given"], _due)
    requests, events = [], []
    for run, event in look.found:
        try:
            keys = selection(run, hall)
        except FabricError as fault:
            context.log.warning("%s cannot go on: %s", run.key, fault)
            continue
        events += untold(run, hall, fabric, context.instance)
        if keys:
            requests.append(request(run, hall, f"approval:{run.run}:{event.position}", keys))
    if not requests and not events:
        return dg.SensorResult(skip_reason="no approved picture waits", cursor=str(look.cursor))
    return dg.SensorResult(run_requests=requests, asset_events=events, cursor=str(look.cursor))
