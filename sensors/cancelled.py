"""A run that was cancelled in Dagster is cancelled on the spine.

Rules kept here:

* Dagster does not say who cancelled. The event is the runtime's own, signed by its key, and says so; nobody's
  key signs for a person who was not identified.
* The end comes at the next safe point (``supervisor/cancelling.py``), never inside a commit.
* While another Dagster run of the same supervisor run lives, a cancelled one was a doublet: nothing ends.
* What `fabric run` executes is not cancelled by Ctrl-C: it goes on when it is run again.
* A worker that died is nobody's decision: the run stays as it is on the spine, and goes on from there.
"""

import dagster as dg

from assets.names import DRIVER_TAG, RUN_TAG
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.cancelling import follow, request_cancel
from fabric_dagster.supervisor.machine import ENDED
from resources.supervision.assembly import Hall
from resources.supervision.dagster import FabricResource
from sensors.asking import EVERY_SECONDS, lives

#: how long the sensor waits for a step that is just ending, in seconds; a living one meets it itself.
PATIENCE = 5.0


def cancel(hall: Hall, run_id: str, dagster_run: str) -> str:
    """Cancel the supervisor run ``run_id``; one line on what came of it."""
    services = hall.services
    run = services.reload(run_id)
    if run.state in ENDED:
        return f"{run.key} is {run.state} already"
    why = f"cancelled in Dagster, which identified no person (Dagster run {dagster_run})"
    request_cancel(services, run_id, services.runtime, why)
    try:
        with services.alone(run_id, PATIENCE):
            run = services.reload(run_id)
            follow(services, run)
    except FabricError as fault:
        return f"{run.key}: the cancellation is asked for and waits: {fault}"
    return f"{run.key} is {run.state}"


@dg.run_status_sensor(
    name="cancelled",
    run_status=dg.DagsterRunStatus.CANCELED,
    minimum_interval_seconds=EVERY_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Cancels on the spine what was cancelled in Dagster, at the next safe point.",
)
def cancelled(context: dg.RunStatusSensorContext, fabric: FabricResource) -> None:
    """One Dagster run was cancelled."""
    tags, dagster_run = context.dagster_run.tags, context.dagster_run.run_id
    if RUN_TAG not in tags or DRIVER_TAG in tags:
        return
    hall = fabric.hall()
    if not lives(context.instance, hall.services.reload(tags[RUN_TAG])):
        context.log.info(cancel(hall, tags[RUN_TAG], dagster_run))
