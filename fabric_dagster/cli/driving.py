"""Drives one supervisor run through Dagster, in this process, on the home's own instance.

Rules kept here:

* There is no daemon here: recovery is driven round by round, each a Dagster run of its own.
* One process at a time drives a run. Several runs on one project may be driven at once: blind checks compare
  its whole tree, and know what other governed runs changed in it.
* A Dagster run that a killed driver left behind is closed on Dagster's side before the next one starts. Only
  a driver's own, by its tag: the lock of the run proves that no other driver lives; what the daemon launched
  is the daemon's to watch.
* An interrupt (Ctrl-C, a termination) is the command's: Dagster closes its run, and the supervisor run
  goes on when the ticket is run again.
* A step that failed for a reason that did not end the run says so itself, with its own exit code.
"""

from __future__ import annotations

import contextlib
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Self

from fabric_dagster.errors import CheckFailed, Fault, NeedsPerson, OperationFailed, Refused, UsageFault
from fabric_dagster.supervisor.controls import require_standing
from fabric_dagster.supervisor.failures import reopen
from fabric_dagster.supervisor.machine import ENDED
from fabric_dagster.supervisor.services import ended
from fabric_dagster.supervisor.stages import tidy

if TYPE_CHECKING:
    from collections.abc import Iterator

    import dagster as dg

    from fabric_dagster.errors import FabricError
    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow
    from resources.supervision.assembly import Hall
    from sensors.inbox import Taken

#: A run may follow its recovery edges at most this often here; each edge has its own bound besides.
ROUNDS = 16
IN_PROCESS = "in-process"
#: how Dagster calls the reason of a run that was interrupted.
INTERRUPTED = "UNEXPECTED_TERMINATION"
BY_EXIT_CODE: dict[int, type[FabricError]] = {2: UsageFault, 3: Refused, 4: NeedsPerson}

PROGRESS = {
    "decision.made": "template and destination decided from cited evidence",
    "task.issued": "task issued",
    "commit.begun": "staged and checked; committing",
    "task.result": "committed; postconditions observed",
    "verdict.recorded": "independent validator's signed verdict",
    "handoff.sealed": "handoff sealed by its bytes",
    "compensation.begun": "verdict failed; taking the transaction back",
    "recovery.followed": "following a registered recovery edge",
    "approval.requested": "waits for a visual approval",
    "run.completed": "completed",
    "run.failed": "stopped",
}


def drive(hall: Hall, taken: Taken) -> RunRecord:
    """Execute the run of ``taken`` to its end or its blocker; a completed run is only looked at."""
    with Driver(hall) as driver:
        return driver.drive(taken)


class Driver:
    """The home's Dagster instance, opened once for as many runs as its user drives."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self._jobs: dict[str, dg.JobDefinition] = {}
        #: what Dagster knows of each template, so that it is asked once.
        self._seen: dict[dg.AssetKey, str | None] = {}
        self._instance: dg.DagsterInstance | None = None

    @property
    def instance(self) -> dg.DagsterInstance:
        """The home's instance, opened when it is first needed."""
        if self._instance is None:
            import dagster as dg

            os.environ["DAGSTER_HOME"] = str(self._hall.home.dagster)
            # First openers take turns: Dagster makes its databases without asking who else does.
            with self._hall.hold("dagster"), _sound(self._hall):
                self._instance = dg.DagsterInstance.get()
        return self._instance

    def __enter__(self) -> Self:
        """Nothing is opened yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the instance."""
        if self._instance is not None:
            self._instance.dispose()
            self._instance = None

    def drive(self, taken: Taken) -> RunRecord:
        """Execute the run of ``taken`` to its end or its blocker."""
        from resources.supervision.dagster import FabricResource
        from sensors.approvals import untold
        from sensors.asking import selection

        place = FabricResource(home=str(self._hall.home.path))
        hall, services = self._hall, self._hall.services
        run = taken.opened.run
        look = partial(_worth_waiting, services, run)
        with hall.hold(f"drive-{run.run[7:9]}", look):
            run = services.reload(run)
            if run.state == "completed":
                with services.alone(run.run):
                    tidy(services, run)
                    require_standing(services, taken.workflow, run)
            if run.state == "failed":
                run = reopen(services, taken.workflow, run, "operator")
            with _sound(hall):
                _close_left_behind(self.instance, run)
            if run.state not in {"opened", "running", "awaiting_approval"}:
                return run
            with _sound(hall):
                self._observe(taken.workflow)
            for _ in range(ROUNDS):
                before = sum(run.recoveries.values())
                keys = selection(run, hall)
                if not keys:
                    return run
                job = self._job(taken.workflow)
                with _sound(hall):
                    for event in untold(run, hall, place, self.instance):
                        self.instance.report_runless_asset_event(event)
                    result = _once(hall, taken, self.instance, job, keys)
                _interrupted(result)
                run = services.reload(run)
                if run.state != "running" or sum(run.recoveries.values()) == before:
                    break
            if run.state in {"opened", "running"}:
                _surprises(result)
        return run

    def _observe(self, workflow: Workflow) -> None:
        """Tell Dagster of each template whose bytes are not those that it saw last."""
        import dagster as dg

        from assets.names import DATA_VERSION, template_key

        digests = self._hall.template_digests(workflow)
        for name, template in workflow.pack.pack.templates.items():
            found, key = digests.get(template.file), template_key(workflow.pack.pack.name, name)
            if key not in self._seen:
                records = self.instance.fetch_observations(key, limit=1).records
                last = records[0].asset_observation if records else None
                self._seen[key] = last.data_version if last is not None else None
            if found is not None and self._seen[key] != found:
                told = dg.AssetObservation(key, metadata={"file": template.file}, tags={DATA_VERSION: found})
                self.instance.report_runless_asset_event(told)
                self._seen[key] = found

    def _job(self, workflow: Workflow) -> dg.JobDefinition:
        """The workflow as one Dagster job, built once for its exact digest and pack."""
        key = f"{workflow.compiled.digest} {workflow.pack.digest}"
        if key not in self._jobs:
            self._jobs[key] = _job(self._hall, workflow)
        return self._jobs[key]


def _worth_waiting(services: Services, run: RunRecord) -> None:
    """Nobody waits for his turn while effects are stopped, or for a run that ended in the meantime."""
    services.unstopped()
    now = services.reload(run)
    if now.state in ENDED and now.state not in {run.state, "completed"}:
        raise ended(now)


@contextlib.contextmanager
def _sound(hall: Hall) -> Iterator[None]:
    """What Dagster raises where its settings or its own database fail, as one error of ours."""
    import dagster as dg
    import yaml
    from sqlalchemy.exc import OperationalError, SQLAlchemyError

    try:
        yield
    except (dg.DagsterError, SQLAlchemyError, yaml.YAMLError) as fault:
        mend = "move that folder away and run `fabric init`: what governs is the signed log"
        if isinstance(fault, OperationalError):
            mend = f"look for a full disk, missing permissions or another program that holds it; else {mend}"
        raise OperationFailed(
            "dagster.unavailable",
            f"Dagster cannot work in its home: {str(fault).strip().splitlines()[0]}",
            where=str(hall.home.dagster),
            mend=mend,
        ) from fault


def _close_left_behind(instance: dg.DagsterInstance, run: RunRecord) -> None:
    """Fail the Dagster runs of this supervisor run whose driver is gone: we hold the driver's lock."""
    import dagster as dg

    from assets.names import DRIVER_TAG, RUN_TAG

    open_ones = [status for status in dg.DagsterRunStatus if status not in dg_finished()]
    mine = dg.RunsFilter(tags={RUN_TAG: run.run, DRIVER_TAG: IN_PROCESS}, statuses=open_ones)
    for found in instance.get_runs(mine):
        instance.report_run_failed(found, "The process that executed this run ended before it did.")


def dg_finished() -> frozenset[dg.DagsterRunStatus]:
    """The states of a Dagster run that has ended."""
    from dagster import DagsterRunStatus as Status

    return frozenset({Status.SUCCESS, Status.FAILURE, Status.CANCELED})


def _job(hall: Hall, workflow: Workflow) -> dg.JobDefinition:
    import dagster as dg

    from assets.factory import workflow_assets, workflow_checks
    from assets.specs import intake_spec
    from resources.supervision.dagster import FabricResource

    graph, pack = workflow.compiled, workflow.pack
    # Without the templates: a run of these would observe each of them in a step of its own (`_observe`).
    definitions = dg.Definitions(
        assets=[intake_spec(), *workflow_assets(pack, graph, pools=False)],
        asset_checks=list(workflow_checks(graph, pools=False)),
        resources={"fabric": FabricResource(home=str(hall.home.path))},
        executor=dg.in_process_executor,
    )
    return definitions.resolve_implicit_global_asset_job_def()


def _once(
    hall: Hall, taken: Taken, instance: dg.DagsterInstance, job: dg.JobDefinition, keys: list[dg.AssetKey]
) -> dg.ExecuteInProcessResult:
    from assets.names import DRIVER_TAG, console, tickets
    from sensors.asking import tags_of

    instance.add_dynamic_partitions(str(tickets(taken.workflow.compiled).name), [taken.ticket.key])
    return job.execute_in_process(
        instance=instance,
        partition_key=taken.ticket.key,
        asset_selection=None if len(keys) == len(taken.workflow.compiled.nodes) else keys,
        tags={**tags_of(taken.opened.run, hall), DRIVER_TAG: IN_PROCESS},
        run_config=console("CRITICAL"),
        raise_on_error=False,
    )


def _interrupted(result: dg.ExecuteInProcessResult) -> None:
    """Dagster closes an interrupted run by itself: it is the command that was interrupted."""
    import dagster as dg

    for event in result.all_events:
        if event.event_type == dg.DagsterEventType.RUN_CANCELED:
            raise KeyboardInterrupt
        if event.event_type == dg.DagsterEventType.RUN_FAILURE:
            reason = event.job_failure_data.failure_reason
            if reason is not None and reason.name == INTERRUPTED:
                raise KeyboardInterrupt


def _surprises(result: dg.ExecuteInProcessResult) -> None:
    """A step that failed without the run having ended says so itself; nothing is swallowed."""
    faults: list[Fault] = []
    codes: set[int] = set()
    for event in result.filter_events(lambda item: item.is_step_failure):
        error, user = event.step_failure_data.error, event.step_failure_data.user_failure_data
        step = event.step_key or ""
        if user is not None and "exit_code" in user.metadata:
            # One of ours (assets/failures.py): it says its own code, once.
            code = str(user.metadata["code"].value)
            text = (user.description or "failed").removesuffix(f" [{code}]")
            faults.append(Fault(code, text, step))
            codes.add(int(str(user.metadata["exit_code"].value)))
        else:
            # Dagster wraps what a step raised: the innermost is what happened.
            while error is not None and error.cause is not None:
                error = error.cause
            text = error.message.strip() if error else "failed"
            faults.append(Fault("dagster.step_failed", text, step))
    if faults:
        raise BY_EXIT_CODE.get(max(codes, default=1), CheckFailed).of(faults)


def show_progress(hall: Hall) -> None:
    """Say on standard error what happens, where a person watches.

    While a step runs, Dagster turns standard error into its log file; what a person sees is held here before.
    """
    if not sys.stderr.isatty():
        return
    watched = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8", errors="backslashreplace")

    def tell(kind: str, body: object) -> None:
        if kind in PROGRESS:
            about = ""
            if isinstance(body, dict):
                task = body.get("task")
                about = task.get("partition", "") if isinstance(task, dict) else body.get("side", "")
            print(f"  {about + ': ' if about else ''}{PROGRESS[kind]}", file=watched, flush=True)

    hall.tell = tell
