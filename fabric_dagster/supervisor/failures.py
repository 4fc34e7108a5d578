"""What follows a failure: a registered recovery edge within its attempts, or the end of the run.

Rules kept here:

* Only a failure code that a recovery edge of the sealed graph names may be followed, and only as often as
  the edge says. Everything else ends the run at an exact, durable blocker.
* The owning partition and everything that depends on it reset together.
* A failed task and what follows from it are appended together: no crash leaves the one without the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.specialist import ObservationRecord, SpecialistResult
from fabric_dagster.errors import Fault
from fabric_dagster.supervisor.projection import edge_name
from fabric_dagster.supervisor.services import Step
from fabric_dagster.supervisor.stages import tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabric_dagster.contracts.evidence import Verdict
    from fabric_dagster.contracts.skill_graph import RecoveryEdge
    from fabric_dagster.contracts.specialist import SpecialistTask
    from fabric_dagster.errors import FabricError
    from fabric_dagster.graphs.compiled import CompiledGraph
    from fabric_dagster.supervisor.projection import RunRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


def after_failure(
    services: Services,
    workflow: Workflow,
    run: RunRecord,
    task: SpecialistTask,
    fault: FabricError,
    seen: Sequence[ObservationRecord] = (),
) -> FabricError:
    """Record the failed task and what follows from it; the fault comes back, to be raised."""
    edge = edge_for(workflow.compiled, run, task.partition, fault.code)
    result = SpecialistResult(
        schema_="fabric.specialist-result.v1",
        task=task.digest,
        specialist=task.specialist,
        status="failed",
        observations=tuple(seen),
        failure=first_fault(fault),
        recommended="recover" if edge else "stop",
    )
    follows = (
        failing(fault.faults, fault.exit_code)
        if edge is None
        else Step("recovery.followed", _followed(workflow.compiled, run, edge))
    )
    body = {"task": task.digest, "result": result.body()}
    services.append_all(run, Step("task.result", body, f"result:{task.digest}"), follows)
    if edge is None:
        tidy(services, run)
    return fault


def first_fault(fault: FabricError) -> dict[str, str]:
    """The first fault, in the form that contracts record."""
    return fault.faults[0].as_dict()


def failing(faults: Sequence[Fault], exit_code: int = 1) -> Step:
    """The end of a run at its exact blockers; ``exit_code`` is what a command ends with because of it."""
    body = {"unresolved": [str(item) for item in faults], "code": faults[0].code, "exit_code": exit_code}
    return Step("run.failed", body)


def fail_run(services: Services, run: RunRecord, faults: Sequence[Fault], exit_code: int = 1) -> None:
    """End the run at its exact blockers."""
    services.append_all(run, failing(faults, exit_code))


def verdict_blockers(verdict: Verdict) -> list[Fault]:
    """The checks that a failed verdict is about."""
    return [
        Fault("fabric.verdict_failed", f"{check.id}: {check.summary}", f"{verdict.side}/{check.after}")
        for check in verdict.checks
        if check.blocking and not check.passed
    ]


def edge_for(compiled: CompiledGraph, run: RunRecord, partition: str, code: str) -> RecoveryEdge | None:
    """The recovery edge that may still be followed for ``code`` at ``partition``."""
    nodes = compiled.partition(partition).nodes
    for edge in compiled.recovery:
        followed = run.recoveries.get(edge_name(edge.on, edge.at), 0)
        if edge.on == code and edge.at in nodes and followed < edge.attempts:
            return edge
    return None


def dependants(compiled: CompiledGraph, partition: str) -> list[str]:
    """``partition`` and everything downstream of it, in order."""
    reset = [partition]
    for item in compiled.partitions:
        if item.id not in reset and any(need in reset for need in item.needs):
            reset.append(item.id)
    return reset


def _followed(compiled: CompiledGraph, run: RunRecord, edge: RecoveryEdge) -> dict[str, Any]:
    return {
        "on": edge.on,
        "at": edge.at,
        "resume": edge.resume,
        "attempt": run.recoveries.get(edge_name(edge.on, edge.at), 0) + 1,
        "reset": dependants(compiled, compiled.partition_of(edge.resume).id),
    }


def reopen(services: Services, workflow: Workflow, run: RunRecord, who: str) -> RunRecord:
    """Let a person's own decision run a failed run again: what failed and all that depends on it resets.

    What had succeeded and still stands is not repeated. Only for a run whose effects are known.
    """
    with services.alone(run.run):
        run = services.reload(run)
        if run.state != "failed":
            return run
        reset: list[str] = []
        for part in workflow.compiled.partitions:
            task, verdict = run.task(part.id), run.verdict(part.id)
            failed = task is not None and task.state in {"failed", "compensated"}
            if failed or (verdict is not None and not verdict.passed):
                reset.extend(item for item in dependants(workflow.compiled, part.id) if item not in reset)
        services.append(run, "run.reopened", {"by": who, "reset": reset})
    return run
