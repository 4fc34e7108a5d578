"""Drives one supervisor run through Dagster, in this process, on the home's own instance.

There is no daemon here: recovery is driven by the same function that the recovery sensor uses. A Dagster
run that a killed process left behind is closed on Dagster's side before the next one starts; the lock of
the run proves that nobody is working on it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabric_dagster.cli.output import note
from fabric_dagster.errors import FabricError, Fault
from fabric_dagster.supervisor.failures import reopen

if TYPE_CHECKING:
    import dagster as dg

    from fabric_dagster.supervisor.projection import RunRecord
    from resources.supervision.assembly import Hall
    from sensors.inbox import Taken

#: A run may follow its recovery edges at most this often here; each edge has its own bound besides.
ROUNDS = 16

PROGRESS = {
    "decision.made": "template and destination decided from cited evidence",
    "task.issued": "task issued",
    "commit.begun": "staged and checked; committing",
    "task.result": "committed; postconditions observed",
    "verdict.recorded": "independent validator's signed verdict",
    "handoff.sealed": "handoff sealed by its bytes",
    "compensation.begun": "verdict failed; taking the transaction back",
    "recovery.followed": "following a registered recovery edge",
    "run.completed": "completed",
    "run.failed": "stopped",
}


def drive(hall: Hall, taken: Taken) -> RunRecord:
    """Execute the run of ``taken`` to its end or its blocker; a completed run is only looked at."""
    services = hall.services
    run = taken.opened.run
    with hall.hold(f"drive-{run.run[7:23]}"):
        run = services.reload(run)
        if run.state in {"completed", "reconciliation_required"}:
            return run
        if run.state == "failed":
            run = reopen(services, taken.workflow, run, "operator")
        with _instance(hall) as instance:
            _close_left_behind(instance, run)
            for _ in range(ROUNDS):
                before = sum(run.recoveries.values())
                _once(hall, taken, instance)
                run = services.reload(run)
                if run.state != "running" or sum(run.recoveries.values()) == before:
                    break
    return run


def _instance(hall: Hall) -> dg.DagsterInstance:
    import dagster as dg

    os.environ["DAGSTER_HOME"] = str(hall.home.dagster)
    return dg.DagsterInstance.get()


def _close_left_behind(instance: dg.DagsterInstance, run: RunRecord) -> None:
    """Fail the Dagster runs of this supervisor run whose process is gone: the lock says that it is."""
    for identifier in run.dagster_runs:
        found = instance.get_run_by_id(identifier)
        if found is not None and not found.is_finished:
            instance.report_run_failed(found, "The process that executed this run ended before it did.")


def _once(hall: Hall, taken: Taken, instance: dg.DagsterInstance) -> None:
    import dagster as dg

    from assets.factory import workflow_assets, workflow_checks
    from assets.names import tickets
    from assets.specs import intake_spec
    from assets.templates import template_assets
    from resources.supervision.dagster import FabricResource
    from sensors.intake import run_tags

    workflow = taken.workflow
    graph, pack = workflow.compiled, workflow.pack
    definitions = dg.Definitions(
        assets=[intake_spec(), *template_assets(pack), *workflow_assets(pack, graph, pools=False)],
        asset_checks=list(workflow_checks(graph, pools=False)),
        resources={"fabric": FabricResource(home=str(hall.home.path))},
        executor=dg.in_process_executor,
    )
    instance.add_dynamic_partitions(str(tickets(graph).name), [taken.ticket.key])
    job = definitions.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(
        instance=instance,
        partition_key=taken.ticket.key,
        tags=run_tags(taken, hall.home.id[7:23]),
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        raise_on_error=False,
    )
    if not result.success:
        _surprises(hall, taken, result)


def _surprises(hall: Hall, taken: Taken, result: dg.ExecuteInProcessResult) -> None:
    """A step that failed without the run having ended says so itself; nothing is swallowed."""
    run = hall.services.reload(taken.opened.run)
    if run.state not in {"opened", "running"} or run.recoveries:
        return
    faults = []
    for event in result.filter_events(lambda item: item.is_step_failure):
        error = event.step_failure_data.error
        user = event.step_failure_data.user_failure_data
        text = (user.description if user else None) or (error.message.strip() if error else "failed")
        faults.append(Fault("dagster.step_failed", text, event.step_key or ""))
    if faults:
        raise FabricError.of(faults)


def show_progress(hall: Hall) -> None:
    """Say on standard error what happens, where a person watches."""

    def tell(kind: str, body: object) -> None:
        if kind in PROGRESS:
            about = ""
            if isinstance(body, dict):
                task = body.get("task")
                about = task.get("partition", "") if isinstance(task, dict) else body.get("side", "")
            note(f"  {about + ': ' if about else ''}{PROGRESS[kind]}")

    hall.tell = tell
