"""The seven steps around a sealed partition (design/ARCHITECTURE.md, "Execution, exactly once").

Rules kept here:

* Everything that a step depends on is read now, from the spine, the commission and the target's bytes:
  never from the request, never from Dagster.
* ``commit.begun`` without a result is unknown completion: stop, never replay.
* A provider's success is no proof: postconditions are observed on what is there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.specialist import (
    ArtifactRef,
    FileChangeRecord,
    ObservationRecord,
    SpecialistResult,
    SpecialistTask,
)
from fabric_dagster.digests import digest_file, digest_of
from fabric_dagster.errors import CheckFailed, Conflict, FabricError, NeedsPerson, OperationFailed, Refused
from fabric_dagster.governance.refusals import record_refusal
from fabric_dagster.governance.scope import may_write
from fabric_dagster.supervisor.binding import Binder, lay_inputs, store_plan
from fabric_dagster.supervisor.cancelling import refuse_cancelled
from fabric_dagster.supervisor.compensation import require_reconciliation
from fabric_dagster.supervisor.failures import absorbed, after_failure, conclude
from fabric_dagster.supervisor.joins import require_order
from fabric_dagster.supervisor.machine import ENDED
from fabric_dagster.supervisor.opening import reconcile_first, reconciling, refuse_ticket
from fabric_dagster.supervisor.services import ENDED_CODE, disk_told, ended
from fabric_dagster.supervisor.stages import discard, fresh, stage_folder
from fabric_dagster.supervisor.stops import STOPPED, refuse_stopped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.physical_plan import PhysicalPlan
    from fabric_dagster.graphs.compiled import CompiledPartition
    from fabric_dagster.supervisor.ports import Observation, Produced, Provider, Staged
    from fabric_dagster.supervisor.projection import RunRecord, TaskRecord
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
    try:
        if run.state != "completed":
            refuse_stopped(services.store, services.trust, run.key)
        return _authorized(services, workflow, run)
    except Refused as fault:
        about = {"run": run.run, "reference": run.reference, "graph": workflow.compiled.digest}
        actor = services.runtime.identity
        record_refusal(services.store, services.runtime, "run.execute", fault, actor=actor, **about)
        raise


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
    task = _task(services, run, partition, provider, plan, commission)
    key = digest_of(
        "fabric.idempotency-key.v1",
        [run.body["graph"], run.run, partition.id, task.plan, task.attempt],
    )
    issued: dict[str, Any] = {"task": task.body()}
    if partition.application == "unity":
        issued["manifest"] = store_manifest(services)
    services.append(run, "task.issued", issued, key)
    stage = stage_folder(services, run.run) / f"{task.partition}-{task.attempt}"
    # Whatever lies in the run's folder was left by an attempt that died: we hold the run.
    discard(stage.parent)
    try:
        with disk_told():
            staged, intended = stage_plan(services, provider, plan, task, stage)
            _within_scope(partition, staged, commission)
            before = _keep_before(services, provider, staged)
        admit(services, workflow, services.reload(run))
    except FabricError as fault:
        discard(stage.parent)
        if fault.code in {STOPPED, ENDED_CODE}:
            give_up(services, run, task, fault)
            raise
        raise after_failure(services, workflow, run, task, fault) from fault
    transaction = task.digest[7:39]
    begun = {
        "task": task.digest,
        "transaction": transaction,
        "changes": [change.as_dict() for change in staged.changes],
        "before": before,
        "intended": intended.body(),
    }
    services.append(run, "commit.begun", begun, f"commit:{task.digest}")
    seen = _commit(services, workflow, run, partition, provider, plan, task, stage, staged)
    result = intended.model_copy(update={"observations": seen})
    body = {"task": task.digest, "result": result.body()}
    event = services.append(run, "task.result", body, f"result:{task.digest}")
    discard(stage.parent)
    return Outcome(result, task, event.digest, replayed=False)


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
    record, transaction = run.by_digest(task.digest), task.digest[7:39]
    try:
        with disk_told():
            provider.commit(stage, staged, transaction)
    except FabricError as fault:
        if isinstance(fault, NeedsPerson) or _stands(provider, staged):
            require_reconciliation(services, run, record, fault)
        discard(stage.parent)
        raise after_failure(services, workflow, run, task, fault) from fault
    with disk_told():
        seen = observations((*staged.observations, *provider.observe(plan, staged)))
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


def observations(found: Sequence[Observation]) -> tuple[ObservationRecord, ...]:
    """The port's observations as records."""
    return tuple(ObservationRecord(**item.as_dict()) for item in found)


def _task(
    services: Services,
    run: RunRecord,
    partition: CompiledPartition,
    provider: Provider,
    plan: PhysicalPlan,
    commission: Commission,
) -> SpecialistTask:
    earlier = [item for item in run.tasks if item.task.partition == partition.id]
    return SpecialistTask(
        schema_="fabric.specialist-task.v1",
        parent_run=run.run,
        partition=partition.id,
        specialist=f"{partition.application}/{provider.name}",
        objective=partition.objective,
        capabilities=partition.capabilities,
        scope=commission.scope.writes,
        effects=partition.effects,
        inputs=tuple(
            ArtifactRef(
                name=item.path,
                kind="file",
                digest=item.digest,
                size=services.artifacts.path(item.digest).stat().st_size,
            )
            for item in plan.inputs
        ),
        plan_template=str(partition.template_digest),
        plan=store_plan(services, plan),
        completion_criteria=partition.criteria,
        attempt=len(earlier) + 1,
    )


def stage_plan(
    services: Services, provider: Provider, plan: PhysicalPlan, task: SpecialistTask, stage: Path
) -> tuple[Staged, SpecialistResult]:
    """Step 4: execute on copies; the sources are proven unchanged afterwards."""
    fresh(stage)
    lay_inputs(services, plan, stage)
    staged = provider.stage(plan, stage)
    for item in plan.inputs:
        if digest_file(stage / item.path) != item.digest:
            raise OperationFailed(
                "supervisor.source_changed", "a source was written to", where=item.path, mend="report this"
            )
    values = {f"{made.node}.{made.name}": made.value for made in staged.produced if made.path is None}
    artifacts = [_keep(services, made) for made in staged.produced if made.path is not None]
    intended = SpecialistResult(
        schema_="fabric.specialist-result.v1",
        task=task.digest,
        specialist=task.specialist,
        status="succeeded",
        observations=observations(staged.observations),
        artifacts=tuple(artifacts),
        values=values,
        changes=tuple(
            FileChangeRecord(path=change.path, before=change.before, after=change.after)
            for change in staged.changes
        ),
        diff=services.artifacts.put_bytes(staged.diff.encode()) if staged.diff else None,
        warnings=staged.warnings,
        recommended="advance",
    )
    return staged, intended


def _keep(services: Services, item: Produced) -> ArtifactRef:
    if item.path is None:
        raise CheckFailed("supervisor.no_file", f"{item.node}.{item.name} is no file")
    return ArtifactRef(
        name=item.name,
        kind=item.kind,
        digest=services.artifacts.put_file(item.path),
        size=item.path.stat().st_size,
        node=item.node,
        facts=dict(item.facts),
    )


def store_manifest(services: Services) -> str:
    """Keep the project's tree manifest, as it is now, in the artifact store."""
    return services.artifacts.put_bytes(json.dumps(dict(services.manifest()), sort_keys=True).encode())


def _keep_before(services: Services, provider: Provider, staged: Staged) -> dict[str, str]:
    """The bytes that stand at the target now, for the blind validators and for people."""
    kept = {}
    for change in staged.changes:
        if change.before is not None:
            kept[change.path] = services.artifacts.put_file(provider.root / change.path)
            if kept[change.path] != change.before:
                raise Conflict(
                    "transaction.changed", "the file changed while the plan was staged", where=change.path,
                    mend="run it again",
                )  # fmt: skip
    return kept


def _within_scope(partition: CompiledPartition, staged: Staged, commission: Commission) -> None:
    """No specialist can widen its roots."""
    if partition.application != "unity":
        return
    for change in staged.changes:
        if not may_write(commission, change.path):
            raise Refused(
                "authority.out_of_scope",
                "the plan writes outside of the commissioned scope",
                where=change.path,
                mend="commission a scope that holds this path",
            )
