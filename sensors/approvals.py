"""Goes on after a person's approval: tells Dagster of it, and requests the rest of the run.

Rules kept here:

* The decision is on the spine, signed; here it is only looked at (``supervisor/approvals.py``). What is
  requested is checked again by every step.
* Nothing waits in a process: the Dagster run before the gate ended, the one after it is new, with the same
  tags, so that both lead to the one supervisor run.
* Nothing is requested while a Dagster run of the same supervisor run lives.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import dagster as dg

from assets import metadata
from assets.names import DATA_VERSION, EVERY_ASSET, approval_key, node_key
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.approvals import gates, in_force, picture_of, wanted
from resources.supervision.dagster import FabricResource
from sensors.intake import lives, tags_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from assets.office import Office
    from fabric_dagster.spine.ports import Event
    from fabric_dagster.supervisor.records import RunRecord
    from resources.supervision.assembly import Hall

EVERY_SECONDS = 15
AT_MOST = 50
EVENT = "fabric/event"
GOES_ON = frozenset({"running", "awaiting_approval"})


@dataclass
class Answered:
    """What one look at the spine found."""

    wanted: list[tuple[RunRecord, Event]] = field(default_factory=list)
    #: the position up to which nothing waits any more.
    cursor: int = 0


def look(hall: Hall, after: int, live: Callable[[RunRecord], bool]) -> Answered:
    """Runs that were approved and that nobody has gone on with; at most ``AT_MOST``."""
    found = Answered(cursor=after)
    waiting = False
    for event in hall.services.store.read(after=after, types=["approval.given"]):
        run = hall.services.reload(event.stream.removeprefix("run:"))
        if run.state in GOES_ON and not _gone_on(run, event):
            if live(run) or len(found.wanted) >= AT_MOST:
                waiting = True
                continue
            found.wanted.append((run, event))
        if not waiting:
            found.cursor = event.position
    return found


def _gone_on(run: RunRecord, approval: Event) -> bool:
    """Whether the handoff of the approved picture was sealed, or tried, since."""
    node, subject = approval.body["node"], (approval.body["picture"], approval.body["plan"])
    for item in run.events:
        if item.position <= approval.position:
            continue
        if item.type == "handoff.sealed" and item.body["handoff"]["node"] == node:
            return True
        if item.type == "approval.requested" and (item.body["picture"], item.body["plan"]) == subject:
            return True
    return False


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


def selection(run: RunRecord, hall: Hall) -> list[dg.AssetKey]:
    """The assets that a Dagster run of ``run`` is to be asked for now; ``Refused`` where none may run."""
    workflow = hall.workflow(run.reference)
    compiled = workflow.compiled
    parts = wanted(compiled, run, hall.services.trust, hall.authorize(workflow))
    return [node_key(compiled, node) for part in parts for node in compiled.partition(part).nodes]


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
    cursor = context.cursor or ""
    after = int(cursor) if cursor.isdecimal() else 0
    found = look(hall, after, lambda run: lives(context.instance, run))
    requests, events = [], []
    for run, event in found.wanted:
        try:
            keys = selection(run, hall)
        except FabricError as fault:
            context.log.warning("%s cannot go on: %s", run.key, fault)
            continue
        events += untold(run, hall, fabric, context.instance)
        if keys:
            requests.append(
                dg.RunRequest(
                    run_key=f"approval:{run.run}:{event.position}",
                    partition_key=run.key,
                    asset_selection=keys,
                    tags=tags_of(run, hall.home.id[7:23]),
                )
            )
    if not requests and not events:
        return dg.SensorResult(skip_reason="no approved picture waits", cursor=str(found.cursor))
    return dg.SensorResult(run_requests=requests, asset_events=events, cursor=str(found.cursor))
