"""Binds a sealed plan template to one run: every argument, every input's digest, every random choice.

Rules kept here:

* Files reach a stage only from the artifact store or from a commissioned template, by digest.
* Random choices are drawn once per run and partition; later attempts bind the very same plan.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.physical_plan import PhysicalPlan, PlanInput
from fabric_dagster.digests import canonical, digest_file
from fabric_dagster.errors import CheckFailed, OperationFailed
from fabric_dagster.graphs.plan import bind_plan
from fabric_dagster.graphs.refs import ANY
from fabric_dagster.supervisor.joins import serving

if TYPE_CHECKING:
    from pathlib import Path

    from fabric_dagster.contracts.ticket import Ticket
    from fabric_dagster.graphs.compiled import CompiledPartition
    from fabric_dagster.supervisor.ports import Provider
    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


def load_ticket(services: Services, run: RunRecord) -> Ticket:
    """The accepted ticket of ``run``, from the artifact store."""
    from fabric_dagster.contracts.ticket import Ticket

    return Ticket.model_validate_json(services.artifacts.get(run.body["ticket_document"]))


@dataclass
class Binder:
    """Resolves ``$ref``s for one partition of one run and collects the files that it needs."""

    services: Services
    workflow: Workflow
    run: RunRecord
    partition: CompiledPartition

    def __post_init__(self) -> None:
        """Start with no inputs."""
        self.ticket = load_ticket(self.services, self.run)
        self.inputs: dict[str, str] = {}

    def bind(self, provider: Provider) -> PhysicalPlan:
        """The bound plan; its random choices are those of the first attempt, if there was one."""
        template = self.partition.template
        if template is None:
            raise CheckFailed("plan.no_template", f"the partition {self.partition.id} has no plan")
        earlier = self.run.task(self.partition.id)
        drawn: dict[str, str] = {}
        if earlier is not None:
            drawn = self._load(earlier.task.plan).allocations
        plan = self._plan(template, drawn)
        return plan if drawn else self._plan(template, provider.allocate(plan))

    def _plan(self, template: PhysicalPlan, allocations: dict[str, str]) -> PhysicalPlan:
        self.inputs.clear()
        bound = bind_plan(template, self.resolve, run=self.run.run, inputs=(), allocations=allocations)
        inputs = tuple(PlanInput(path=p, digest=d) for p, d in sorted(self.inputs.items()))
        return bound.model_copy(update={"inputs": inputs})

    def _load(self, digest: str) -> PhysicalPlan:
        return PhysicalPlan.model_validate_json(self.services.artifacts.get(digest))

    def resolve(self, source: str, name: str) -> Any:  # noqa: ANN401 - a graph's value
        """The value of ``source.name``; a file becomes its path in the stage."""
        if source == "input":
            if name in self.ticket.files:
                found = self.ticket.files[name]
                return self._file(name, found.digest, f".{found.format}")
            return self.ticket.inputs.get(name)
        if source.startswith(f"{ANY}:"):
            source = serving(self.workflow.compiled, self.run, source.removeprefix(f"{ANY}:"))
        node = self.workflow.compiled.nodes[source]
        if node.application == "fabric" and node.capability.startswith("fabric.asset_decision@"):
            return self._decided(name)
        if source in self.run.handoffs:
            handoff = self.run.handoffs[source]
            return self._file(source, handoff.artifact.digest, f".{handoff.artifact.kind}")
        return self._produced(source, name)

    def _decided(self, name: str) -> Any:  # noqa: ANN401 - a decided value
        decision = self.run.decision
        if decision is None:
            raise CheckFailed(
                "supervisor.no_decision", "the run has no asset decision yet", where=self.run.key
            )
        value = decision["values"][name]
        if isinstance(value, str) and value in decision["templates"]:
            return self._file("template", decision["templates"][value], PurePosixPath(value).suffix)
        return value

    def _produced(self, source: str, name: str) -> Any:  # noqa: ANN401 - a node's output
        for record in reversed(self.run.tasks):
            if record.state != "succeeded" or record.result is None:
                continue
            for artifact in record.result.artifacts:
                if artifact.node == source and artifact.name == name:
                    return self._file(f"{source}_{name}", artifact.digest, f".{artifact.kind}")
            if (value := record.result.values.get(f"{source}.{name}")) is not None:
                return value
        raise CheckFailed("supervisor.no_output", f"{source}.{name} was not produced", where=self.run.key)

    def _file(self, name: str, digest: str, suffix: str) -> str:
        path = f"inputs/{name}{suffix}"
        self.inputs[path] = digest
        return path


def store_plan(services: Services, plan: PhysicalPlan) -> str:
    """Keep a plan in the artifact store; the digest of its bytes is how events name it."""
    return services.artifacts.put_bytes(canonical(plan.body()))


def lay_inputs(services: Services, plan: PhysicalPlan, stage: Path) -> None:
    """Copy the plan's inputs into ``stage``, each proven to have its digest there."""
    for item in plan.inputs:
        target = stage / item.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(services.artifacts.path(item.digest), target)
        target.chmod(0o444)
        if digest_file(target) != item.digest:
            raise OperationFailed(
                "supervisor.stage_corrupt",
                "a copied input has other bytes",
                where=item.path,
                mend="check the disk",
            )
