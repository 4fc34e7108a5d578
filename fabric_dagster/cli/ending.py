"""Ends the Dagster runs that work on a supervisor run which was cancelled.

Rules kept here: Dagster is asked to end what it launched or queued; a worker that is in the middle of a
commit ends that first (``supervisor/shield.py``). What another `fabric run` executes is not Dagster's to end:
it meets the cancellation at its next safe point.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabric_dagster.supervisor.records import RunRecord
    from resources.supervision.assembly import Hall


def end_dagster_runs(hall: Hall, run: RunRecord) -> list[str]:
    """Ask Dagster to end what waits or goes on for ``run``; the ids of those that it was asked about."""
    import dagster as dg

    from assets.names import DRIVER_TAG, RUN_TAG
    from fabric_dagster.cli.driving import Driver, dg_finished

    with Driver(hall) as driver:
        instance = driver.instance
        going_on = [status for status in dg.DagsterRunStatus if status not in dg_finished()]
        mine = instance.get_runs(dg.RunsFilter(tags={RUN_TAG: run.run}, statuses=going_on))
        asked = [item.run_id for item in mine if DRIVER_TAG not in item.tags]
        for name in asked:
            # Nobody may be there who could end it: its worker is gone, or its code server cannot be reached.
            with contextlib.suppress(dg.DagsterError):
                instance.run_coordinator.cancel_run(name)
    return asked
