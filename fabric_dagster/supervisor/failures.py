"""What follows a failure: a registered recovery edge within its attempts, or the end of the run.

Rules kept here:

* Only a failure code that a recovery edge of the sealed graph names may be followed, and only as often as
  the edge says. Everything else ends the run at an exact, durable blocker.
* The owning partition and everything that depends on it reset together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.specialist import ObservationRecord, SpecialistResult
from fabric_dagster.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    body = {"task": task.digest, "result": result.body()}
    services.append(run, "task.result", body, f"result:{task.digest}")
    if edge is None:
        fail_run(services, run, fault.faults, fault.exit_code)
    else:
        services.append(run, "recovery.followed", _followed(workflow.compiled, run, edge))
    return fault


def first_fault(fault: FabricError) -> dict[str, str]:
    """The first fault, in the form that contracts record."""
    return fault.faults[0].as_dict()


def fail_run(services: Services, run: RunRecord, faults: Sequence[Fault], exit_code: int = 1) -> None:
    """End the run at its exact blockers; ``exit_code`` is what a command ends with because of it."""
    body = {"unresolved": [str(item) for item in faults], "code": faults[0].code, "exit_code": exit_code}
    services.append(run, "run.failed", body)


def edge_for(compiled: CompiledGraph, run: RunRecord, partition: str, code: str) -> RecoveryEdge | None:
    """The recovery edge that may still be followed for ``code`` at ``partition``."""
    nodes = next(item.nodes for item in compiled.partitions if item.id == partition)
    for edge in compiled.recovery:
        if edge.on == code and edge.at in nodes and run.recoveries.get(edge.at, 0) < edge.attempts:
            return edge
    return None


def dependants(compiled: CompiledGraph, partition: str) -> list[str]:
    """``partition`` and everything downstream of it, in order."""
    reset = [partition]
    for item in compiled.partitions:
        if item.id not in reset and any(need in reset for need in item.needs):
            reset.append(item.id)
    return reset


def owner(compiled: CompiledGraph, node: str) -> str:
    """The partition that holds ``node``."""
    return next(item.id for item in compiled.partitions if node in item.nodes)


def _followed(compiled: CompiledGraph, run: RunRecord, edge: RecoveryEdge) -> dict[str, Any]:
    return {
        "on": edge.on,
        "at": edge.at,
        "resume": edge.resume,
        "attempt": run.recoveries.get(edge.at, 0) + 1,
        "reset": dependants(compiled, owner(compiled, edge.resume)),
    }


def reopen(services: Services, workflow: Workflow, run: RunRecord, who: str) -> RunRecord:
    """Let a person's own decision run a failed run again: what failed and all that depends on it resets.

    What had succeeded and still stands is not repeated. Only for a run whose effects are known.
    """
    reset: list[str] = []
    for part in workflow.compiled.partitions:
        task, verdict = run.task(part.id), run.verdict(part.id)
        failed = task is not None and task.state in {"failed", "compensated"}
        if failed or (verdict is not None and not verdict.passed):
            reset.extend(item for item in dependants(workflow.compiled, part.id) if item not in reset)
    services.append(run, "run.reopened", {"by": who, "reset": reset})
    return services.reload(run)
