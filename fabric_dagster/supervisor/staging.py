"""Executes a bound plan in its stage: on copies, under the task's watch, within its scope and budget.

Rules kept here:

* Nothing outside of the stage changes. The sources are proven unchanged afterwards.
* What a specialist reports is kept as evidence beside what the supervisor saw itself.
* What is over the budget of time, operations or bytes, or outside of the scope, is not gone on with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.contracts.specialist import (
    ArtifactRef,
    FileChangeRecord,
    ObservationRecord,
    SpecialistResult,
)
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import CheckFailed, Conflict, OperationFailed, Refused
from fabric_dagster.governance.scope import within
from fabric_dagster.supervisor.binding import lay_inputs, store_plan
from fabric_dagster.supervisor.stages import fresh
from fabric_dagster.supervisor.tasks import require_budget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fabric_dagster.contracts.physical_plan import PhysicalPlan
    from fabric_dagster.contracts.specialist import SpecialistTask
    from fabric_dagster.errors import FabricError
    from fabric_dagster.supervisor.ports import Observation, Produced, Provider, Staged
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.watch import Watch


def observations(found: Sequence[Observation]) -> tuple[ObservationRecord, ...]:
    """The port's observations as records."""
    return tuple(ObservationRecord(**item.as_dict()) for item in found)


def stage_plan(
    services: Services,
    provider: Provider,
    plan: PhysicalPlan,
    task: SpecialistTask,
    stage: Path,
    local: PhysicalPlan | None = None,
) -> tuple[Staged, SpecialistResult]:
    """Step 4: execute ``plan`` (as ``local``, the specialist's own plan for it) on copies, in ``stage``.

    What was staged, and the result as it will be if it is committed.
    """
    executed = local or plan
    fresh(stage)
    lay_inputs(services, plan, stage)
    staged = provider.stage(executed, stage)
    for item in plan.inputs:
        if digest_file(stage / item.path) != item.digest:
            raise OperationFailed(
                "supervisor.source_changed", "a source was written to", where=item.path, mend="report this"
            )
    if task.scope:
        _within_scope(task, staged)
    require_budget(task, stage)
    nodes = {item.node for item in plan.operations}
    # What a specialist inspected for itself is no output of the graph.
    outputs = [made for made in staged.produced if executed is plan or made.node in nodes]
    values = {f"{made.node}.{made.name}": made.value for made in outputs if made.path is None}
    artifacts = [_keep(services, made) for made in outputs if made.path is not None]
    intended = SpecialistResult(
        schema_="fabric.specialist-result.v1",
        task=task.digest,
        specialist=task.specialist,
        status="succeeded",
        observations=(*observations(staged.observations), *_seen(task, staged)),
        artifacts=tuple(artifacts),
        values=values,
        changes=tuple(
            FileChangeRecord(path=change.path, before=change.before, after=change.after)
            for change in staged.changes
        ),
        diff=services.artifacts.put_bytes(staged.diff.encode()) if staged.diff else None,
        local_plan=None if executed is plan else store_plan(services, executed),
        warnings=staged.warnings,
        confidence=staged.confidence,
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


def keep_before(services: Services, provider: Provider, staged: Staged) -> dict[str, str]:
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


def _seen(task: SpecialistTask, staged: Staged) -> Iterator[ObservationRecord]:
    """What the supervisor itself proved of the stage."""
    for item in task.inputs:
        subject = f"{item.name}: unchanged after staging"
        yield ObservationRecord(subject=subject, expected=item.digest, found=item.digest, holds=True)
    yield ObservationRecord(
        subject="files to write",
        expected="all within the task's scope",
        found=f"{len(staged.changes)}, all within it",
        holds=True,
    )


def _within_scope(task: SpecialistTask, staged: Staged) -> None:
    """No specialist can widen its roots."""
    for change in staged.changes:
        if not within(task.scope, change.path):
            raise Refused(
                "authority.out_of_scope",
                "the plan writes outside of the task's commissioned scope",
                where=change.path,
                mend="commission a scope that holds this path",
            )


def so_far(task: SpecialistTask, watch: Watch, fault: FabricError) -> tuple[ObservationRecord, ...]:
    """What was observed of an attempt that was ended over its budget: the evidence of a partial result."""
    limit = ObservationRecord(
        subject="budget", expected=f"within {task.budget.body()}", found=fault.faults[0].what, holds=False
    )
    return (*observations(watch.seen), limit)
