"""Goes on without a person: what a registered edge reset, and what waited until somebody had looked.

Rules kept here:

* The supervisor has decided already (``recovery.followed`` or ``reconciliation.observed`` is on the spine);
  here a Dagster run of exactly that selection is requested, once per event.
* Nothing is requested while a Dagster run of the same supervisor run lives, and nothing for runs that
  `fabric run` drives: it goes on by itself.
* The new Dagster run carries the same tags, so that both lead to the one supervisor run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import dagster as dg

from assets.names import DRIVER_TAG, EVERY_ASSET, node_key
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.approvals import wanted
from fabric_dagster.supervisor.failures import dependants
from resources.supervision.dagster import FabricResource
from sensors.intake import lives, tags_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.graphs.compiled import CompiledGraph
    from fabric_dagster.spine.ports import Event
    from fabric_dagster.supervisor.records import RunRecord
    from resources.supervision.assembly import Hall

EVERY_SECONDS = 15
AT_MOST = 50
FROM = ("recovery.followed", "reconciliation.observed")


@dataclass
class Recoveries:
    """What one look at the spine found."""

    wanted: list[tuple[RunRecord, Event]] = field(default_factory=list)
    #: the position up to which nothing waits any more.
    cursor: int = 0


#: What may be appended to a run without anybody going on with it.
ASIDE = frozenset({"dagster.linked", "approval.requested", "approval.given"})
GOES_ON = frozenset({"running", "awaiting_approval"})


def look(hall: Hall, after: int, live: Callable[[RunRecord], bool]) -> Recoveries:
    """Runs whose newest step is one of ``FROM`` that nobody has gone on from; at most ``AT_MOST``."""
    found = Recoveries(cursor=after)
    waiting = False
    for event in hall.services.store.read(after=after, types=FROM):
        run = hall.services.reload(event.stream.removeprefix("run:"))
        newest = next(item for item in reversed(run.events) if item.type not in ASIDE)
        if run.state in GOES_ON and newest.position == event.position:
            if live(run) or len(found.wanted) >= AT_MOST:
                waiting = True
                continue
            found.wanted.append((run, event))
        if not waiting:
            found.cursor = event.position
    return found


def _selection(graph: CompiledGraph, run: RunRecord, event: Event) -> list[str]:
    """The partitions to run: what the edge reset; after a look, the one looked at and all that needs it."""
    if event.type == "recovery.followed":
        return list(event.body["reset"])
    return dependants(graph, run.by_digest(event.body["task"]).task.partition)


@dg.sensor(
    name="recovery",
    job_name=EVERY_ASSET,
    minimum_interval_seconds=EVERY_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Runs again what a recovery edge has reset, and goes on after a reconciliation; once each.",
)
def recovery(context: dg.SensorEvaluationContext, fabric: FabricResource) -> dg.SensorResult:
    """Look once at what the spine says of recoveries."""
    hall = fabric.hall()
    cursor = context.cursor or ""
    after = int(cursor) if cursor.isdecimal() else 0
    found = look(hall, after, lambda run: lives(context.instance, run))
    requests = []
    for run, event in found.wanted:
        newest = context.instance.get_run_by_id(run.dagster_runs[-1]) if run.dagster_runs else None
        if newest is not None and DRIVER_TAG in newest.tags:
            continue
        workflow = hall.workflow(run.reference)
        graph = workflow.compiled
        # Up to a picture that no person has approved: the sensor `approvals` goes on from there.
        try:
            parts = set(wanted(graph, run, hall.services.trust, hall.authorize(workflow)))
        except FabricError as fault:
            context.log.warning("%s cannot go on: %s", run.key, fault)
            continue
        reset = set(_selection(graph, run, event)) & parts
        nodes = [node for part in graph.partitions if part.id in reset for node in part.nodes]
        if not nodes:
            continue
        requests.append(
            dg.RunRequest(
                run_key=f"recovery:{run.run}:{event.position}",
                partition_key=run.key,
                asset_selection=[node_key(graph, node) for node in nodes],
                tags=tags_of(run, hall.home.id[7:23]),
            )
        )
    if not requests:
        return dg.SensorResult(skip_reason="nothing waits to be gone on with", cursor=str(found.cursor))
    return dg.SensorResult(run_requests=requests, cursor=str(found.cursor))
