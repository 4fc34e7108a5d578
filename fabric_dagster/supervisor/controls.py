"""The controls between sealed partitions: brief, decision, sealed handoff, completion.

Controls decide nothing by themselves: the decision is the pack's rule with evidence that holds, a handoff
needs a verdict signed by the validator and, where commissioned, a person's approval; completion needs a
verdict for every side and the artifacts as judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.handoff import Handoff
from fabric_dagster.errors import CheckFailed, Conflict, FabricError, OperationFailed
from fabric_dagster.governance.scope import may_write
from fabric_dagster.intelligence.decide import decide
from fabric_dagster.supervisor.approvals import require_approval
from fabric_dagster.supervisor.binding import load_ticket
from fabric_dagster.supervisor.execution import admit
from fabric_dagster.supervisor.failures import fail_run, verdict_blockers
from fabric_dagster.supervisor.joins import absent, require_order
from fabric_dagster.supervisor.judging import judge_run, trusted_verdict
from fabric_dagster.supervisor.machine import WHOLE_RUN
from fabric_dagster.supervisor.stages import tidy

if TYPE_CHECKING:
    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.evidence import BlindEvidence
    from fabric_dagster.contracts.ticket import Ticket
    from fabric_dagster.graphs.compiled import CompiledPartition
    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


def lay_brief(services: Services, workflow: Workflow, run_id: str) -> Ticket:
    """The source facts: the ticket as accepted, its files proven to be in the artifact store."""
    run = services.reload(run_id)
    if run.state != "completed":
        admit(services, workflow, run)
    ticket = load_ticket(services, run)
    if ticket.digest != run.body["ticket"]:
        raise CheckFailed(
            "ticket.digest", "the stored ticket is not the one that was accepted", where=run.key
        )
    for file in ticket.files.values():
        services.artifacts.path(file.digest)
    return ticket


def make_decision(services: Services, workflow: Workflow, run_id: str) -> dict[str, Any]:
    """Template, destination and dependencies, decided from cited evidence and recorded once."""
    with services.alone(run_id):
        run = services.reload(run_id)
        if run.decision is not None:
            return run.decision
        commission = admit(services, workflow, run)
        try:
            decision = decide(workflow.pack, workflow.compiled.reference, load_ticket(services, run))
            templates = {decision.template: _template(services, commission, decision.template)}
            _decided_paths_in_scope(decision.values, commission)
        except FabricError as fault:
            fail_run(services, run, fault.faults, fault.exit_code)
            raise
        body = {
            "rule": decision.rule,
            "values": dict(decision.values),
            "templates": templates,
            "evidence": [item.body() for item in decision.evidence],
        }
        services.append(run, "decision.made", body, "decision")
        return body


def _template(services: Services, commission: Commission, name: str) -> str:
    """The template's digest, as commissioned and as it lies there; its bytes go to the artifact store."""
    path = services.templates / name
    expected = commission.scope.templates.get(name)
    there = path.is_file() and not path.is_symlink()
    # The digest of the bytes that were kept: a template that is touched meanwhile is not the kept one.
    found = services.artifacts.put_file(path) if there else None
    if expected is None or found != expected:
        raise OperationFailed(
            "fabric.template_drift",
            f"the template is not the commissioned one ({expected or 'none'})",
            where=name,
            value=found or "missing",
            mend="certify and commission the new template, or restore the old one",
        )
    return found


def _decided_paths_in_scope(values: Any, commission: Commission) -> None:  # noqa: ANN401 - decided values
    for name, value in values.items():
        if isinstance(value, str) and value.startswith("Assets/") and not may_write(commission, value):
            raise OperationFailed(
                "fabric.out_of_scope",
                f"the decided {name} lies outside of the commissioned scope",
                where=value,
                mend="commission a scope that holds it",
            )


def seal_handoff(services: Services, workflow: Workflow, run_id: str, node_id: str) -> Handoff:
    """Seal the artifact that ``node_id`` names, on the strength of a passed, signed verdict."""
    with services.alone(run_id):
        run = services.reload(run_id)
        if node_id in run.handoffs:
            handoff = run.handoffs[node_id]
            services.artifacts.path(handoff.artifact.digest)
            return handoff
        commission = admit(services, workflow, run)
        partition = workflow.compiled.partition(node_id)
        require_order(workflow.compiled, run, partition)
        source, name = workflow.compiled.sealed_by(node_id)
        side = workflow.compiled.partition_of(source).id
        task = run.task(side)
        if task is None or task.result is None:
            raise CheckFailed("supervisor.no_output", f"{source}.{name} was not produced", where=run.key)
        validations = _passed(services, workflow, run, side)
        artifact = next(a for a in task.result.artifacts if a.node == source and a.name == name)
        services.artifacts.path(artifact.digest)
        approval = require_approval(services, workflow, run, commission, node_id)
        handoff = Handoff(
            schema_="fabric.handoff.v1",
            run=run.run,
            node=node_id,
            artifact=artifact,
            facts=dict(artifact.facts),
            lineage={
                "plan": task.task.plan,
                **{_ascii(item.name): item.digest for item in task.task.inputs},
            },
            validations=validations,
            approval=approval,
        )
        services.append(run, "handoff.sealed", {"handoff": handoff.body()})
        return handoff


def _ascii(name: str) -> str:
    return name.encode("ascii", "backslashreplace").decode()


def _passed(services: Services, workflow: Workflow, run: RunRecord, side: str) -> tuple[str, ...]:
    """The verdict that lets what ``side`` made go on; none is needed where the graph binds no validator."""
    if not workflow.compiled.validators.get(side):
        return ()
    record = run.verdict(side)
    if record is None:
        raise CheckFailed(
            "fabric.verdict_missing",
            f"there is no verdict on {side}",
            where=run.key,
            mend="materialize it together with its checks",
        )
    verdict, evidence = trusted_verdict(services, run, record)
    _judged(run, side, evidence)
    if not verdict.passed:
        raise CheckFailed(
            "fabric.verdict_failed",
            f"the independent validator failed {side}: {', '.join(record.failed)}",
            where=run.key,
            mend=f"see `fabric show {run.run[7:19]}`",
        )
    return (record.envelope,)


def _judged(run: RunRecord, side: str, evidence: BlindEvidence) -> None:
    """The artifacts that go on are those that the validator looked at."""
    task = run.task(side)
    for item in task.result.artifacts if task is not None and task.result is not None else ():
        fact = evidence.artifacts.get(f"{item.node}.{item.name}")
        if fact is None or fact.digest != item.digest:
            raise CheckFailed(
                "fabric.verdict_missing",
                f"the verdict on {side} was given on other bytes of {item.node}.{item.name}",
                where=run.key,
                mend="materialize it together with its checks",
            )


def complete(services: Services, workflow: Workflow, run_id: str, node_id: str) -> RunRecord:
    """Complete the run: every side has a passed verdict and stands as judged, and so has the whole run."""
    with services.alone(run_id):
        run = services.reload(run_id)
        if run.state == "completed":
            tidy(services, run)
            return run
        commission = admit(services, workflow, run)
        partition = workflow.compiled.partition(node_id)
        require_order(workflow.compiled, run, partition)
        envelopes = [
            env for side in sides(workflow, run) for env in _passed(services, workflow, run, side.id)
        ]
        if not envelopes:
            raise CheckFailed("fabric.verdict_missing", "no independent verdict was given", where=run.key)
        require_standing(services, workflow, run)
        verdict = judge_run(services, workflow, run, commission)
        whole = run.verdict(WHOLE_RUN)
        if not verdict.passed or whole is None:
            raise CheckFailed.of(verdict_blockers(verdict))
        body = {"verdicts": [*envelopes, whole.envelope], "unresolved": []}
        services.append(run, "run.completed", body, "completed")
        tidy(services, run)
        return run


def sides(workflow: Workflow, run: RunRecord) -> list[CompiledPartition]:
    """The sealed partitions that give something in this run."""
    gone = absent(workflow.compiled, run)
    return [
        item for item in workflow.compiled.partitions if item.template is not None and item.id not in gone
    ]


def require_standing(services: Services, workflow: Workflow, run: RunRecord) -> None:
    """What every side wrote still stands at its target, by reading the bytes; else ``Conflict``."""
    for side in sides(workflow, run):
        task = run.task(side.id)
        provider = services.provider(side.application, run.run, run.key)
        if task is None or (
            task.changes and provider.standing(task.transaction or "", task.changes) != "after"
        ):
            raise Conflict(
                "supervisor.target_changed",
                f"what {side.id} wrote has been changed since",
                where=str(provider.root),
                mend="restore the files and run it again, or change the ticket's block",
            )
