"""The seven steps around a sealed partition (design/ARCHITECTURE.md, "Execution, exactly once").

Rules kept here:

* Everything that a step depends on is read now, from the spine, the commission and the target's bytes:
  never from the request, never from Dagster.
* ``commit.begun`` without a result is unknown completion: stop, never replay.
* A provider's success is no proof: postconditions are observed on what is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabric_dagster.digests import digest_file, digest_of
from fabric_dagster.errors import CheckFailed, Conflict, FabricError, NeedsPerson, OperationFailed, Refused
from fabric_dagster.governance.refusals import record_refusal
from fabric_dagster.supervisor.binding import Binder
from fabric_dagster.supervisor.cancelling import refuse_cancelled, wanted
from fabric_dagster.supervisor.compensation import require_reconciliation
from fabric_dagster.supervisor.evidence import store_manifest
from fabric_dagster.supervisor.failures import absorbed, after_failure, conclude
from fabric_dagster.supervisor.joins import require_order
from fabric_dagster.supervisor.machine import ENDED
from fabric_dagster.supervisor.opening import reconcile_first, reconciling, refuse_ticket
from fabric_dagster.supervisor.ports import PROJECT
from fabric_dagster.supervisor.services import ENDED_CODE, disk_told, ended
from fabric_dagster.supervisor.shield import uninterrupted
from fabric_dagster.supervisor.stages import discard, stage_folder
from fabric_dagster.supervisor.staging import keep_before, observations, so_far, stage_plan
from fabric_dagster.supervisor.stops import STOPPED, refuse_stopped
from fabric_dagster.supervisor.tasks import local_plan, new_task, over_budget, require_within
from fabric_dagster.supervisor.watch import Watch, watching

if TYPE_CHECKING:
    from pathlib import Path

    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.physical_plan import PhysicalPlan
    from fabric_dagster.contracts.specialist import ObservationRecord, SpecialistResult, SpecialistTask
    from fabric_dagster.graphs.compiled import CompiledPartition
    from fabric_dagster.supervisor.ports import Provider, Staged
    from fabric_dagster.supervisor.records import RunRecord, TaskRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


@dataclass(frozen=True)
class Outcome:
    """What a partition came to. ``replayed`` is true when nothing was done because it was verified before."""

    result: SpecialistResult
    task: SpecialistTask
    event: str
    replayed: bool


def run_partition(services: Services, workflow: Workflow, run_id: str, partition_id: str) -> Outcome:
    """Execute ``partition_id`` of ``run_id`` once, or return what was verified before."""
    partition = workflow.compiled.partition(partition_id)
    with services.alone(run_id):
        run = services.reload(run_id)
        commission = admit(services, workflow, run)
        provider = services.provider(partition.application, run.run, run.key)
        require_order(workflow.compiled, run, partition)
        last = run.task(partition.id)
        if last is not None:
            settled = settle(services, workflow, run, last, provider)
            if settled is not None:
                return settled
        if (other := reconciling(services, run)) is not None:
            raise reconcile_first(other)
        with services.at_project(partition.application):
            return _execute(services, workflow, run, partition, provider, commission)


def admit(services: Services, workflow: Workflow, run: RunRecord) -> Commission:
    """Step 1, and every safe point: cancellation, stops, authority, commission and the run's own state.

    All read now. A cancellation that was asked for is followed here. What authority refuses is an event.
    """
    refuse_cancelled(services, run)
    if run.state == "reconciliation_required":
        raise reconcile_first(run)
    if run.state in ENDED - {"completed"}:
        raise ended(run)
    if run.state != "completed":
        _unstopped(services, workflow, run)
    try:
        return _authorized(services, workflow, run)
    except Refused as fault:
        _record(services, workflow, run, fault)
        raise


def _unstopped(services: Services, workflow: Workflow, run: RunRecord) -> None:
    try:
        refuse_stopped(services.store, services.trust, run.key)
    except Refused as fault:
        _record(services, workflow, run, fault)
        raise


def _record(services: Services, workflow: Workflow, run: RunRecord, fault: Refused) -> None:
    """What authority refuses a run is an event."""
    about = {"run": run.run, "reference": run.reference, "graph": workflow.compiled.digest}
    actor = services.runtime.identity
    record_refusal(services.store, services.runtime, "run.execute", fault, actor=actor, **about)


def _authorized(services: Services, workflow: Workflow, run: RunRecord) -> Commission:
    if run.body["graph"] != workflow.compiled.digest:
        raise Refused(
            "authority.graph_changed",
            "the run was opened for another revision of the graph",
            where=run.reference,
            mend="certify and commission the new revision, then run the ticket again",
        )
    try:
        commission = services.authorize(workflow)
        _same_commission(run, commission)
    except Refused as fault:
        refuse_ticket(services, run.key, run.body["ticket"], fault)
        raise
    return commission


def _same_commission(run: RunRecord, commission: Commission) -> None:
    """What was decided under one commission is not gone on with under another."""
    if run.state != "completed" and run.body["commission"] != commission.digest:
        raise Refused(
            "authority.other_commission",
            "the run was opened, and decided, under another commission",
            where=run.key,
            mend="run the ticket again: it is accepted anew under the present one",
        )


def settle(
    services: Services, workflow: Workflow, run: RunRecord, last: TaskRecord, provider: Provider
) -> Outcome | None:
    """Step 2: what the spine knows of this partition. ``None`` means: issue it (again)."""
    if last.state == "succeeded":
        return _verified(services, last, provider)
    if last.state == "committing":
        require_reconciliation(services, run, last)
    if last.state == "issued":
        discard(stage_folder(services, run.run))
        why = "the process ended before the commit; nothing outside the stage can have happened"
        services.append(run, "task.abandoned", {"task": last.digest, "why": why}, f"abandon:{last.digest}")
    if last.state in {"failed", "compensated"}:
        raise conclude(services, workflow, run) or absorbed(run, last.task.partition)
    return None


def _verified(services: Services, last: TaskRecord, provider: Provider) -> Outcome:
    """Verified before: look at the stored bytes and at the target once more, and repeat nothing."""
    result = last.result
    if result is None:
        raise CheckFailed("supervisor.no_result", "a succeeded task has no result", where=last.digest)
    for artifact in result.artifacts:
        services.artifacts.path(artifact.digest)
    moved = [
        item.path for item in last.changes if provider.standing(last.transaction or "", (item,)) != "after"
    ]
    if moved:
        raise Conflict(
            "supervisor.target_changed",
            f"what {last.task.partition} wrote has been changed since: {', '.join(moved)}",
            where=str(provider.root),
            mend="restore the files, or change the ticket's block so that a new run starts",
        )
    event = last.reported or last.issued
    return Outcome(result, last.task, event.digest, replayed=True)


def _execute(
    services: Services,
    workflow: Workflow,
    run: RunRecord,
    partition: CompiledPartition,
    provider: Provider,
    commission: Commission,
) -> Outcome:
    """Steps 3 to 7."""
    plan = Binder(services, workflow, run, partition).bind(provider)
    task = new_task(services, workflow.compiled, run, partition, provider, plan, commission)
    try:
        require_within(task, plan, commission, provider)
        local = local_plan(task, plan, commission, provider)
    except Refused as fault:
        _record(services, workflow, run, fault)
        raise
    key = digest_of(
        "fabric.idempotency-key.v1",
        [run.body["graph"], run.run, partition.id, task.plan, task.attempt],
    )
    issued: dict[str, Any] = {"task": task.body()}
    if partition.application == PROJECT:
        issued["manifest"] = store_manifest(services)
    services.append(run, "task.issued", issued, key)
    stage = stage_folder(services, run.run) / f"{task.partition}-{task.attempt}"
    # Whatever lies in the run's folder was left by an attempt that died: we hold the run.
    discard(stage.parent)
    watch = Watch(task.budget.seconds, over_budget(task), lambda: still_wanted(services, workflow, run))
    try:
        with disk_told():
            with watching(watch):
                staged, intended = stage_plan(services, provider, plan, task, stage, local)
            before = keep_before(services, provider, staged)
        admit(services, workflow, services.reload(run))
    except FabricError as fault:
        discard(stage.parent)
        if fault.code in {STOPPED, ENDED_CODE}:
            give_up(services, run, task, fault)
            refuse_cancelled(services, services.reload(run))
            raise
        seen = so_far(task, watch, fault) if fault.code == watch.code else ()
        raise after_failure(services, workflow, run, task, fault, seen) from fault
    transaction = task.digest[7:39]
    begun = {
        "task": task.digest,
        "transaction": transaction,
        "changes": [change.as_dict() for change in staged.changes],
        "before": before,
        "intended": intended.body(),
    }
    with uninterrupted():
        services.append(run, "commit.begun", begun, f"commit:{task.digest}")
        observed = _commit(services, workflow, run, partition, provider, plan, task, stage, staged)
        result = intended.model_copy(update={"observations": (*intended.observations, *observed)})
        body = {"task": task.digest, "result": result.body()}
        event = services.append(run, "task.result", body, f"result:{task.digest}")
        discard(stage.parent)
    return Outcome(result, task, event.digest, replayed=False)


def still_wanted(services: Services, workflow: Workflow, run: RunRecord) -> None:
    """What may end an attempt early, while it works in its stage: a stop, or a cancellation."""
    _unstopped(services, workflow, run)
    if wanted(services, services.reload(run)) is not None:
        raise Refused(ENDED_CODE, "the run's cancellation was asked for", where=run.key)


def give_up(services: Services, run: RunRecord, task: SpecialistTask, fault: FabricError) -> None:
    """End an attempt that was not to go on, and did not fail: the run is resumable, or has ended already."""
    now = services.reload(run)
    if now.by_digest(task.digest).state == "issued" and now.state not in ENDED:
        body = {"task": task.digest, "why": f"not gone on with: {fault.faults[0].what}"}
        services.append(run, "task.abandoned", body, f"abandon:{task.digest}")


def _commit(  # noqa: PLR0917 - the surroundings of one commit, handed on as they are
    services: Services,
    workflow: Workflow,
    run: RunRecord,
    partition: CompiledPartition,
    provider: Provider,
    plan: PhysicalPlan,
    task: SpecialistTask,
    stage: Path,
    staged: Staged,
) -> tuple[ObservationRecord, ...]:
    """Steps 6 and 7: apply, then look. What was seen, or the typed end of the attempt."""
    record = run.by_digest(task.digest)
    transaction = record.transaction or ""
    try:
        with disk_told():
            provider.commit(stage, staged, transaction)
    except FabricError as fault:
        if isinstance(fault, NeedsPerson) or _stands(provider, staged):
            require_reconciliation(services, run, record, fault)
        discard(stage.parent)
        raise after_failure(services, workflow, run, task, fault) from fault
    with disk_told():
        seen = observations(provider.observe(plan, staged))
    broken = [item for item in seen if not item.holds]
    if not broken:
        return seen
    try:
        if staged.changes:
            provider.undo(transaction)
    except FabricError as fault:
        require_reconciliation(services, run, record, fault)
    discard(stage.parent)
    raise after_failure(services, workflow, run, task, _broken(partition, broken[0]), seen)


def _stands(provider: Provider, staged: Staged) -> bool:
    """Whether anything of a commit that failed stands at its target, by reading every file.

    What others wrote there in the meantime is theirs, and no reason to stop for a person.
    """
    for change in staged.changes:
        path = provider.root / change.path
        found = digest_file(path) if path.is_file() and not path.is_symlink() else None
        if found == change.after != change.before:
            return True
    return False


def _broken(partition: CompiledPartition, item: ObservationRecord) -> OperationFailed:
    """Step 7: what was observed is not what the plan must come to."""
    return OperationFailed(
        f"{partition.application}.postcondition_failed",
        f"{item.subject}: expected {item.expected}",
        value=item.found,
        mend="what was written was taken back; see the task's observations",
    )
