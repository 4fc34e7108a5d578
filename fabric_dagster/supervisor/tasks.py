"""What a specialist is asked for, and the bounds that it cannot leave.

Rules kept here:

* Every value of a task is derived: capabilities, effects, objective and criteria from the sealed partition,
  scope from the commission or from the paths that the bound plan names, risk from the effects, retries from
  the graph's recovery edges, budget from the home.
* A plan that needs anything else is refused before a stage exists. The provider is handed nothing else.
* A specialist may plan locally: insert operations that only read, and cut its plan into steps. Each operation
  with an effect stays exactly as it was bound, once, and in its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from fabric_dagster.capabilities.effects import risk_of
from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.contracts.specialist import ArtifactRef, SpecialistTask
from fabric_dagster.errors import Fault, OperationFailed, Refused
from fabric_dagster.supervisor.binding import store_plan
from fabric_dagster.supervisor.ports import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from fabric_dagster.capabilities.base import Capability
    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan
    from fabric_dagster.graphs.compiled import CompiledGraph, CompiledPartition
    from fabric_dagster.supervisor.ports import Provider
    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.services import Services

OUT_OF_TASK = "authority.out_of_task"
#: argument types that name files which an operation makes in its delivery.
MADE = "relative_path"


@runtime_checkable
class PlansLocally(Protocol):
    """A provider that looks before it acts: its own steps for a bound plan, within the task's bounds."""

    def local_plan(self, plan: PhysicalPlan) -> tuple[Operation, ...]:
        """The operations to execute, in order."""
        ...


def new_task(
    services: Services,
    compiled: CompiledGraph,
    run: RunRecord,
    partition: CompiledPartition,
    provider: Provider,
    plan: PhysicalPlan,
    commission: Commission,
) -> SpecialistTask:
    """The task of executing ``plan`` for ``partition``; nothing is issued yet."""
    sizes = {item.digest: services.artifacts.path(item.digest).stat().st_size for item in plan.inputs}
    return SpecialistTask(
        schema_="fabric.specialist-task.v1",
        parent_run=run.run,
        partition=partition.id,
        specialist=f"{partition.application}/{provider.name}",
        objective=partition.objective,
        capabilities=allowed(partition, provider),
        scope=scope_of(plan, commission),
        effects=partition.effects,
        inputs=tuple(
            ArtifactRef(name=item.path, kind="file", digest=item.digest, size=sizes[item.digest])
            for item in plan.inputs
        ),
        plan_template=str(partition.template_digest),
        plan=store_plan(services, plan),
        completion_criteria=partition.criteria,
        risk=risk_of(partition.effects),
        budget=services.budget,
        retry_limit=retries(compiled, partition),
        attempt=sum(item.task.partition == partition.id for item in run.tasks) + 1,
    )


def allowed(partition: CompiledPartition, provider: Provider) -> tuple[str, ...]:
    """The sealed partition's capabilities, and those of its application that only read."""
    known = capabilities()
    reading = {
        name
        for name in provider.serves
        if name in known and not known[name].effects and known[name].application == partition.application
    }
    return tuple(sorted({*partition.capabilities, *reading}))


def scope_of(plan: PhysicalPlan, commission: Commission) -> tuple[str, ...]:
    """What the plan may write: of a project what is commissioned, of a delivery the files that it names."""
    if plan.application == PROJECT:
        return commission.scope.writes
    known, found = capabilities(), set()
    for operation in plan.operations:
        kinds = known[operation.capability].arguments.kinds()
        found |= {
            str(operation.args[name])
            for name, kind in kinds.items()
            if kind == MADE and name in operation.args
        }
    return tuple(sorted(found))


def retries(compiled: CompiledGraph, partition: CompiledPartition) -> int:
    """How often recovery edges may have something tried again for what fails in ``partition``."""
    return sum(edge.attempts for edge in compiled.recovery if edge.at in partition.nodes)


def require_within(
    task: SpecialistTask, plan: PhysicalPlan, commission: Commission, provider: Provider
) -> None:
    """``Refused`` (``authority.out_of_task``) with every way in which ``plan`` leaves ``task``."""
    faults = [
        Fault(OUT_OF_TASK, what, task.partition, "seal a graph that declares it, and commission that", value)
        for what, value in _beyond(task, plan.operations, commission, provider.serves)
    ]
    if faults:
        raise Refused.of(faults)


def _beyond(
    task: SpecialistTask, operations: Sequence[Operation], commission: Commission, served: frozenset[str]
) -> Iterator[tuple[str, str]]:
    known = capabilities()
    for item in operations:
        if item.capability not in task.capabilities:
            yield "the plan needs a capability that the task does not allow", item.capability
            continue
        if item.capability not in served:
            yield "the specialist does not serve this capability", item.capability
        for effect in sorted(known[item.capability].effects - set(task.effects)):
            yield "the plan has an effect that the task does not allow", effect
    for effect in sorted(set(task.effects) - set(commission.effects)):
        yield "the task has an effect outside of the commissioned envelope", effect
    if len(operations) > task.budget.operations:
        yield (
            f"the plan has more operations than the {task.budget.operations} of its budget",
            str(len(operations)),
        )


def local_plan(
    task: SpecialistTask, plan: PhysicalPlan, commission: Commission, provider: Provider
) -> PhysicalPlan:
    """What ``provider`` executes for ``plan``: its own local plan, proven to stay within ``task``."""
    if not isinstance(provider, PlansLocally):
        return plan
    local = plan.model_copy(update={"operations": tuple(provider.local_plan(plan))})
    require_within(task, local, commission, provider)
    if acting(local.operations, capabilities()) != acting(plan.operations, capabilities()):
        raise Refused(
            OUT_OF_TASK,
            "the local plan is not the bound plan with inspections: what acts was changed, left out or moved",
            where=task.partition,
            mend="report this",
        )
    return local


def acting(operations: Sequence[Operation], known: Mapping[str, Capability]) -> list[dict[str, object]]:
    """The operations that have an effect, as they are, in order."""
    return [item.body() for item in operations if known[item.capability].effects]


def require_budget(task: SpecialistTask, stage: Path) -> None:
    """``OperationFailed`` where what was made in ``stage``, inputs aside, is over the budget of bytes."""
    inputs = {stage / item.name for item in task.inputs}
    made = (path for path in stage.rglob("*") if path.is_file() and path not in inputs)
    total = sum(path.lstat().st_size for path in made)
    if total > task.budget.bytes:
        raise OperationFailed(
            over_budget(task),
            f"the task made more than its budget of {task.budget.bytes} bytes",
            where=task.partition,
            value=str(total),
            mend="nothing was committed; make the work smaller, or raise `budget` in home.yaml",
        )


def over_budget(task: SpecialistTask) -> str:
    """The failure code of a task that exceeded its budget; a recovery edge may name it."""
    return f"{task.specialist.partition('/')[0]}.{OVER_BUDGET}"


OVER_BUDGET = "budget_exceeded"
