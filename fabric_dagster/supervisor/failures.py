"""What follows a failure: a registered recovery edge, an ``any`` join that absorbs it, or the run's end.

Rules kept here:

* Only a failure code that a recovery edge of the sealed graph names may be followed, and only as often as
  the edge says. A failed blocking check ``safe_area@1`` has the code ``check.safe_area``; where several
  failed, each must have its edge, and the one that resumes earliest is followed.
* The owning partition and everything that depends on it reset together, in every application: what stands
  of it at a target is taken back first, newest first.
* A failure that is not recovered from and that nothing absorbs ends the run at an exact, durable blocker, and
  nothing that can be taken back is left standing.
* A failure and what follows from it are appended together; where something is taken back in between, the
  spine says what is still to follow, and the next step goes on with it (``conclude``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.specialist import ObservationRecord, SpecialistResult
from fabric_dagster.errors import CheckFailed, FabricError, Fault, OperationFailed
from fabric_dagster.graphs.case import check_code
from fabric_dagster.supervisor.compensation import take_back_all, undoable
from fabric_dagster.supervisor.joins import absorbs
from fabric_dagster.supervisor.machine import WHOLE_RUN
from fabric_dagster.supervisor.projection import edge_name
from fabric_dagster.supervisor.services import Step
from fabric_dagster.supervisor.stages import tidy
from fabric_dagster.supervisor.tasks import over_budget
from fabric_dagster.validators.verdicts import open_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fabric_dagster.contracts.evidence import Verdict
    from fabric_dagster.contracts.skill_graph import RecoveryEdge
    from fabric_dagster.contracts.specialist import SpecialistTask
    from fabric_dagster.graphs.compiled import CompiledGraph
    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


@dataclass(frozen=True)
class Failure:
    """What failed where: each of ``codes`` must have an edge, else ``faults`` are the blockers."""

    partition: str
    codes: tuple[str, ...]
    faults: tuple[Fault, ...]
    exit_code: int = 1


def after_failure(
    services: Services,
    workflow: Workflow,
    run: RunRecord,
    task: SpecialistTask,
    fault: FabricError,
    seen: Sequence[ObservationRecord] = (),
) -> FabricError:
    """Record the failed task and what follows from it; the fault comes back, to be raised."""
    failure = Failure(task.partition, (fault.code,), fault.faults, fault.exit_code)
    result = SpecialistResult(
        schema_="fabric.specialist-result.v1",
        task=task.digest,
        specialist=task.specialist,
        status="partial" if fault.code == over_budget(task) else "failed",
        observations=tuple(seen),
        failure=first_fault(fault),
        recommended="recover" if edge_for(workflow.compiled, run, failure) else "stop",
    )
    body = {"task": task.digest, "result": result.body()}
    follow(services, workflow, run, failure, Step("task.result", body, f"result:{task.digest}"))
    return fault


def after_verdict(
    services: Services, workflow: Workflow, run: RunRecord, verdict: Verdict, recorded: Step
) -> None:
    """Record a failed verdict and what follows from it."""
    follow(services, workflow, run, _judged(workflow.compiled, verdict), recorded)


def follow(services: Services, workflow: Workflow, run: RunRecord, failure: Failure, *cause: Step) -> None:
    """Append ``cause`` and what follows from ``failure``, taking back what must not stand any more."""
    compiled = workflow.compiled
    edge = edge_for(compiled, run, failure)
    if edge is not None:
        body = _followed(compiled, run, edge)
        after, reset = Step("recovery.followed", body), body["reset"]
    elif failure.partition != compiled.verdict and absorbs(compiled, run, failure.partition):
        what = {"partition": failure.partition, "faults": [item.as_dict() for item in failure.faults]}
        after, reset = Step("failure.absorbed", what), [failure.partition]
    else:
        after, reset = failing(failure.faults, failure.exit_code), [part.id for part in compiled.partitions]
    take_back_all(services, run, undoable(run, reset), cause, (after,))
    if after.kind == "run.failed":
        tidy(services, run)


def conclude(services: Services, workflow: Workflow, run: RunRecord) -> FabricError | None:
    """What was still to follow from the run's newest failure, because somebody died or had to look first.

    The failure as an error, to be raised; ``None`` where nothing is to follow.
    """
    failure = _pending(services, workflow.compiled, run)
    if failure is None:
        return None
    follow(services, workflow, run, failure)
    kind = CheckFailed if failure.codes[0].startswith("check.") else OperationFailed
    return kind.of(failure.faults)


#: After one of these nothing of an earlier failure is to follow any more.
CONCLUDED = frozenset({"recovery.followed", "failure.absorbed", "run.reopened", "run.failed"})


def _pending(services: Services, compiled: CompiledGraph, run: RunRecord) -> Failure | None:
    for event in reversed(run.events):
        if event.type in CONCLUDED:
            return None
        if event.type == "task.result" and event.body["result"]["status"] != "succeeded":
            task, told = run.by_digest(event.body["task"]), event.body["result"]["failure"]
            fault = Fault(**told)
            return Failure(task.task.partition, (fault.code,), (fault,))
        if event.type == "verdict.recorded" and not event.body["passed"]:
            envelope = json.loads(services.artifacts.get(event.body["envelope"]))
            return _judged(compiled, open_verdict(envelope, services.trust))
    return None


def _judged(compiled: CompiledGraph, verdict: Verdict) -> Failure:
    failed = [check.id for check in verdict.checks if check.blocking and not check.passed]
    side = compiled.verdict if verdict.side == WHOLE_RUN else verdict.side
    return Failure(side, tuple(check_code(name) for name in failed), tuple(verdict_blockers(verdict)))


def absorbed(run: RunRecord, partition: str) -> FabricError:
    """The failure of ``partition`` that a join absorbed, as an error."""
    faults = [Fault(**item) for item in run.absorbed.get(partition, [])]
    lost = Fault("supervisor.nothing_stands", f"what {partition} did was taken back", run.key)
    return CheckFailed.of(faults or [lost])


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


def edge_for(compiled: CompiledGraph, run: RunRecord, failure: Failure) -> RecoveryEdge | None:
    """The recovery edge that may still be followed; ``None`` where one of the codes has none left."""
    nodes = compiled.partition(failure.partition).nodes
    found = []
    for code in failure.codes:
        edges = (edge for edge in compiled.recovery if edge.on == code and edge.at in nodes)
        edge = next((e for e in edges if run.recoveries.get(edge_name(e.on, e.at), 0) < e.attempts), None)
        if edge is None:
            return None
        found.append(edge)
    order = [part.id for part in compiled.partitions]
    return min(found, key=lambda edge: order.index(compiled.partition_of(edge.resume).id), default=None)


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
        body = {"by": who, "reset": _failed(workflow.compiled, run)}
        services.append(run, "run.reopened", body)
    return run


def _failed(compiled: CompiledGraph, run: RunRecord) -> list[str]:
    """The partitions that failed, were taken back or got a failed verdict, with all that depends on them."""
    reset: list[str] = []
    for part in compiled.partitions:
        task, verdict = run.task(part.id), run.verdict(part.id)
        failed = task is not None and task.state in {"failed", "compensated"}
        if failed or (verdict is not None and not verdict.passed):
            reset.extend(_new(dependants(compiled, part.id), reset))
    return reset


def _new(names: Iterable[str], known: Sequence[str]) -> list[str]:
    return [name for name in names if name not in known]
