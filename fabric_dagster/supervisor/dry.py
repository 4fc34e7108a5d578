"""A dry run: what a run of this ticket would do, with zero write authority.

The caller hands in services whose artifact store and stages lie in a folder that is thrown away. No event
is appended, no provider commits, and no commission is needed: a candidate graph may be looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.handoff import Handoff
from fabric_dagster.contracts.specialist import SpecialistTask
from fabric_dagster.digests import canonical, digest_of
from fabric_dagster.graphs.case import SEAL
from fabric_dagster.intelligence.decide import decide
from fabric_dagster.spine.ports import Event
from fabric_dagster.supervisor.binding import Binder, store_plan
from fabric_dagster.supervisor.records import RunRecord, TaskRecord
from fabric_dagster.supervisor.staging import stage_plan

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fabric_dagster.contracts.ticket import Ticket
    from fabric_dagster.graphs.compiled import CompiledPartition
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


def dry_run(
    services: Services, workflow: Workflow, ticket: Ticket, pictures: Mapping[str, Path]
) -> dict[str, Any]:
    """Decide, bind and stage every partition in order; what would change, and the exact diff."""
    for path in pictures.values():
        services.artifacts.put_file(path)
    run = _imagined(services, workflow, ticket)
    decision = decide(workflow.pack, workflow.compiled.reference, ticket)
    template = services.artifacts.put_file(services.templates / decision.template)
    run.decision = {
        "rule": decision.rule,
        "values": dict(decision.values),
        "templates": {decision.template: template},
        "evidence": [item.body() for item in decision.evidence],
    }
    parts, diff = [], ""
    for part in workflow.compiled.partitions:
        if part.template is not None:
            shown, text = _stage(services, workflow, run, part)
            parts.append(shown)
            diff += text
        elif part.capabilities[0] == SEAL:
            _hand_off(workflow, run, part.id)
    return {"ticket": ticket.body(), "decision": run.decision, "partitions": parts, "diff": diff}


def _imagined(services: Services, workflow: Workflow, ticket: Ticket) -> RunRecord:
    identity = digest_of("fabric.dry-run.v1", [workflow.compiled.digest, ticket.digest])
    body = {
        "run": identity,
        "partition_key": ticket.key,
        "reference": workflow.compiled.reference,
        "ticket_document": services.artifacts.put_bytes(canonical(ticket.body())),
    }
    opened = Event(0, "", 0, "run.opened", body, "", "", "", "", "", "", "")
    return RunRecord(identity, body, "running", opened)


def _stage(
    services: Services, workflow: Workflow, run: RunRecord, part: CompiledPartition
) -> tuple[dict[str, Any], str]:
    provider = services.provider(part.application, run.run, run.key)
    plan = Binder(services, workflow, run, part).bind(provider)
    task = SpecialistTask(
        schema_="fabric.specialist-task.v1",
        parent_run=run.run,
        partition=part.id,
        specialist=f"{part.application}/{provider.name}",
        objective=part.objective,
        capabilities=part.capabilities,
        scope=(),
        effects=(),
        plan_template=str(part.template_digest),
        plan=store_plan(services, plan),
        completion_criteria=part.criteria,
        attempt=1,
    )
    staged, intended = stage_plan(services, provider, plan, task, services.stages / part.id)
    run.tasks.append(TaskRecord(task, task.digest, "succeeded", run.opened, result=intended))
    shown = {
        "partition": part.id,
        "operations": [{"node": item.node or "", "capability": item.capability} for item in plan.operations],
        "plan": plan.body(),
        "changes": [change.as_dict() for change in staged.changes],
        "warnings": list(staged.warnings),
    }
    return shown, staged.diff


def _hand_off(workflow: Workflow, run: RunRecord, node_id: str) -> None:
    found = next(
        artifact
        for task in run.tasks
        if task.result is not None
        for artifact in task.result.artifacts
        if (artifact.node, artifact.name) == workflow.compiled.sealed_by(node_id)
    )
    run.handoffs[node_id] = Handoff(
        schema_="fabric.handoff.v1",
        run=run.run,
        node=node_id,
        artifact=found,
        facts=dict(found.facts),
        lineage={},
        validations=(),
    )
