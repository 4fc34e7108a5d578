"""Asks the independent validator, records its signed verdict, and takes back what failed.

Rules kept here:

* Evidence holds source facts and actual artifacts; nothing of a specialist's result is put into it.
* The verdict is believed for its signature by the pinned validator key, and only for the very evidence,
  run, graph and side that were asked about.
* A failed verdict issues the registered compensation where the bytes are still ours; where it is refused,
  the completion is unknown again and a person looks. Verdict and compensation are begun together.
* The whole run is judged once more by itself, when every side has passed: as a task of the validator, that
  nobody else can answer. Nothing completes without it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fabric_dagster.contracts.evidence import BlindEvidence
from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan, PlanInput
from fabric_dagster.contracts.specialist import SpecialistTask
from fabric_dagster.digests import canonical
from fabric_dagster.errors import CheckFailed, Refused
from fabric_dagster.supervisor.binding import store_plan
from fabric_dagster.supervisor.cancelling import refuse_cancelled
from fabric_dagster.supervisor.compensation import application
from fabric_dagster.supervisor.evidence import run_evidence, side_evidence
from fabric_dagster.supervisor.execution import admit, still_wanted
from fabric_dagster.supervisor.failures import absorbed, after_verdict, conclude
from fabric_dagster.supervisor.machine import VALIDATOR, WHOLE_RUN
from fabric_dagster.supervisor.ports import PROJECT
from fabric_dagster.supervisor.services import Step
from fabric_dagster.supervisor.stages import discard, fresh, stage_folder
from fabric_dagster.supervisor.watch import Watch, watching
from fabric_dagster.validators.verdicts import open_verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.evidence import Verdict
    from fabric_dagster.supervisor.records import RunRecord, VerdictRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


#: How long the validator's program may take for one verdict, in seconds, starting included.
JUDGE_SECONDS = 180.0


def judge_side(services: Services, workflow: Workflow, run_id: str, side: str) -> Verdict:
    """The signed verdict on what partition ``side`` made; recorded once per task."""
    with services.alone(run_id):
        run = services.reload(run_id)
        recorded, task = run.verdict(side), run.task(side)
        succeeded = task is not None and task.state == "succeeded"
        if recorded is not None and succeeded and (recorded.passed or side in run.absorbed):
            return trusted_verdict(services, run, recorded)[0]
        commission = admit(services, workflow, run)
        if task is not None and task.state in {"failed", "compensated"}:
            raise conclude(services, workflow, run) or absorbed(run, side)
        if task is None or task.state != "succeeded":
            raise CheckFailed("supervisor.nothing_to_judge", f"{side} has not succeeded", where=run.key)
        with services.at_project(application(task)):
            evidence = side_evidence(services, workflow, run, side, commission)
            return _record(services, workflow, run, task.digest, evidence)


def judge_run(services: Services, workflow: Workflow, run: RunRecord, commission: Commission) -> Verdict:
    """The signed verdict on the whole run, as a task of the validator's own; the caller holds the run.

    Asked for once all sides passed; recorded once per task. A task that nobody answered is issued anew.
    """
    recorded, last = run.verdict(WHOLE_RUN), run.judging()
    if recorded is not None and recorded.passed and last is not None and last.state == "succeeded":
        return trusted_verdict(services, run, recorded)[0]
    if last is not None and last.state == "failed":
        raise conclude(services, workflow, run) or absorbed(run, workflow.compiled.verdict)
    if last is not None and last.state == "issued":
        why = "the validator did not answer; judging has no effects"
        services.append(run, "task.abandoned", {"task": last.digest, "why": why}, f"abandon:{last.digest}")
    with services.at_project(PROJECT):
        evidence = run_evidence(services, workflow, run, commission)
        task = _task(services, workflow, run, services.artifacts.put_bytes(canonical(evidence.body())))
        services.append(run, "task.issued", {"task": task.body()}, f"judge:{task.digest}")
        return _record(services, workflow, run, task.digest, evidence)


def _task(services: Services, workflow: Workflow, run: RunRecord, evidence: str) -> SpecialistTask:
    """The validator's task: its plan is to look at exactly this evidence."""
    compiled = workflow.compiled
    node = compiled.verdict
    part = compiled.partition(node)
    template = PhysicalPlan(
        schema_="fabric.physical-plan.v1",
        application="fabric",
        operations=(Operation(capability=part.capabilities[0], node=node),),
        graph=compiled.digest,
        partition=node,
    )
    inputs = (PlanInput(path="evidence.json", digest=evidence),)
    plan = template.model_copy(update={"run": run.run, "inputs": inputs})
    return SpecialistTask(
        schema_="fabric.specialist-task.v1",
        parent_run=run.run,
        partition=node,
        specialist=VALIDATOR,
        objective=compiled.graph.goal,
        capabilities=part.capabilities,
        scope=(),
        effects=(),
        plan_template=template.digest,
        plan=store_plan(services, plan),
        completion_criteria=(*part.criteria, "every check of the whole run passes, signed by the validator"),
        risk="low",
        budget=services.budget,
        attempt=sum(item.task.partition == node for item in run.tasks) + 1,
    )


def _record(
    services: Services, workflow: Workflow, run: RunRecord, task: str, evidence: BlindEvidence
) -> Verdict:
    """Ask the validator; record what it signed, and what follows where it says no."""
    try:
        verdict, envelope = _ask(services, evidence, lambda: still_wanted(services, workflow, run))
    except Refused:
        refuse_cancelled(services, services.reload(run))
        raise
    body = {
        "side": evidence.side,
        "task": task,
        "passed": verdict.passed,
        "envelope": envelope,
        "evidence": services.artifacts.put_bytes(canonical(evidence.body())),
        "failed": [check.id for check in verdict.checks if check.blocking and not check.passed],
    }
    if verdict.passed:
        services.append(run, "verdict.recorded", body)
    else:
        after_verdict(services, workflow, run, verdict, Step("verdict.recorded", body))
    return verdict


def _ask(
    services: Services, evidence: BlindEvidence, look: Callable[[], None] = lambda: None
) -> tuple[Verdict, str]:
    """The verdict and the digest of its stored envelope; pictures go to the artifact store."""
    out = fresh(stage_folder(services, evidence.run) / f"verdict-{evidence.side}")
    try:
        with watching(Watch(JUDGE_SECONDS, "validator.time_limit", look, "run `fabric doctor`")):
            envelope = services.judge.judge(evidence, out)
        verdict = open_verdict(envelope, services.trust, evidence, at=services.store.head()[0] + 1)
        for check in verdict.checks:
            for name, digest in check.picture_digests.items():
                if services.artifacts.put_file(out / name) != digest:
                    raise CheckFailed(
                        "verdict.picture", "a picture is not the one that was signed", where=name
                    )
    finally:
        discard(out.parent)
    return verdict, services.artifacts.put_bytes(json.dumps(envelope, sort_keys=True).encode())


def trusted_verdict(
    services: Services, run: RunRecord, record: VerdictRecord
) -> tuple[Verdict, BlindEvidence]:
    """A recorded verdict and what it judged: its signature, run, graph, side and subjects verified again."""
    evidence = BlindEvidence.model_validate_json(services.artifacts.get(record.evidence))
    envelope = json.loads(services.artifacts.get(record.envelope))
    verdict = open_verdict(envelope, services.trust, evidence, at=record.position)
    said = (verdict.run, verdict.graph, verdict.side, verdict.passed)
    if said != (run.run, run.body["graph"], record.side, record.passed):
        raise CheckFailed(
            "verdict.other_subject", "the stored verdict speaks of something else", where=run.key
        )
    return verdict, evidence
