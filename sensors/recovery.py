"""Goes on without a person: what a registered edge reset, and what waited until somebody had looked.

Rules kept here:

* The supervisor has decided already (``recovery.followed`` or ``reconciliation.observed`` is on the spine);
  here a Dagster run of exactly that selection is requested, once per event.
* Nothing is requested for runs that `fabric run` drives: it goes on by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from assets.names import DRIVER_TAG, EVERY_ASSET
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.failures import dependants
from resources.supervision.dagster import FabricResource
from sensors.asking import EVERY_SECONDS, request, selection, waiting

if TYPE_CHECKING:
    from fabric_dagster.graphs.compiled import CompiledGraph
    from fabric_dagster.spine.ports import Event
    from fabric_dagster.supervisor.records import RunRecord

FROM = ("recovery.followed", "reconciliation.observed")
#: What may be appended to a run without anybody going on with it.
ASIDE = frozenset({"dagster.linked", "approval.requested", "approval.given"})


def _due(run: RunRecord, event: Event) -> bool:
    """Whether ``event`` is the run's newest step: nobody has gone on from it."""
    newest = next(item for item in reversed(run.events) if item.type not in ASIDE)
    return newest.position == event.position


def _reset(graph: CompiledGraph, run: RunRecord, event: Event) -> list[str]:
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
    look = waiting(context, hall, FROM, _due)
    requests = []
    for run, event in look.found:
        newest = context.instance.get_run_by_id(run.dagster_runs[-1]) if run.dagster_runs else None
        if newest is not None and DRIVER_TAG in newest.tags:
            continue
        # Up to a picture that no person has approved: the sensor `approvals` goes on from there.
        try:
            keys = selection(run, hall, _reset(hall.workflow(run.reference).compiled, run, event))
        except FabricError as fault:
            context.log.warning("%s cannot go on: %s", run.key, fault)
            continue
        if keys:
            requests.append(request(run, hall, f"recovery:{run.run}:{event.position}", keys))
    if not requests:
        return dg.SensorResult(skip_reason="nothing waits to be gone on with", cursor=str(look.cursor))
    return dg.SensorResult(run_requests=requests, cursor=str(look.cursor))
