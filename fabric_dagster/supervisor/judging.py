"""Asks the independent validator, records its signed verdict, and takes back what failed.

Rules kept here:

* Evidence holds source facts and actual artifacts; nothing of a specialist's result is put into it.
* The verdict is believed for its signature by the pinned validator key, and only for the very evidence,
  run, graph and side that were asked about.
* A failed verdict issues the registered compensation where the bytes are still ours; where it is refused,
  the completion is unknown again and a person looks.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.contracts.evidence import BlindEvidence, CheckRequest, FileFact
from fabric_dagster.digests import canonical, digest_file
from fabric_dagster.errors import CheckFailed, Conflict, Fault
from fabric_dagster.supervisor.binding import load_ticket
from fabric_dagster.supervisor.execution import admit, reconcile_first, require_reconciliation
from fabric_dagster.supervisor.failures import fail_run
from fabric_dagster.validators.verdicts import open_verdict

if TYPE_CHECKING:
    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.evidence import Verdict
    from fabric_dagster.supervisor.projection import RunRecord, TaskRecord, VerdictRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


def judge_side(services: Services, workflow: Workflow, run_id: str, side: str) -> Verdict:
    """The signed verdict on what partition ``side`` made; recorded once per task."""
    with services.hold(f"run-{run_id[7:23]}"):
        run = services.reload(run_id)
        recorded = run.verdict(side)
        if recorded is not None and recorded.passed:
            return trusted_verdict(services, run, recorded)
        commission = admit(services, workflow, run)
        task = run.task(side)
        if task is None or task.state != "succeeded":
            raise CheckFailed("supervisor.nothing_to_judge", f"{side} has not succeeded", where=run.key)
        evidence = _evidence(services, workflow, run, side, task, commission)
        verdict, envelope = _ask(services, evidence)
        failed = [check.id for check in verdict.checks if check.blocking and not check.passed]
        body = {
            "side": side,
            "task": task.digest,
            "passed": verdict.passed,
            "envelope": envelope,
            "evidence": services.artifacts.put_bytes(canonical(evidence.body())),
            "failed": failed,
        }
        services.append(run, "verdict.recorded", body)
        if not verdict.passed:
            _compensate(services, run, side, task, verdict)
        return verdict


def _evidence(
    services: Services,
    workflow: Workflow,
    run: RunRecord,
    side: str,
    task: TaskRecord,
    commission: Commission,
) -> BlindEvidence:
    store = services.artifacts
    ticket = load_ticket(services, run)
    artifacts: dict[str, FileFact] = {}
    for record in (run.task(p.id) for p in workflow.compiled.partitions):
        if record is None or record.result is None or record.state != "succeeded":
            continue
        for item in record.result.artifacts:
            artifacts[f"{item.node}.{item.name}"] = FileFact(
                path=str(store.path(item.digest)), digest=item.digest
            )
        for path, digest in record.before.items():
            artifacts[f"before:{path}"] = FileFact(path=str(store.path(digest)), digest=digest)
    manifest = task.manifest or store.put_bytes(
        json.dumps(dict(services.manifest()), sort_keys=True).encode()
    )
    templates = {
        name: FileFact(path=str(services.templates / name), digest=digest_file(services.templates / name))
        for name in (run.decision or {}).get("templates", {})
    }
    return BlindEvidence(
        schema_="fabric.blind-evidence.v1",
        run=run.run,
        graph=workflow.compiled.digest,
        side=side,
        pack=str(workflow.pack.folder),
        pack_digest=workflow.pack.digest,
        ticket=ticket,
        ticket_files={
            name: FileFact(path=str(store.path(file.digest)), digest=file.digest)
            for name, file in ticket.files.items()
        },
        commission=commission,
        templates=templates,
        project=str(services.project),
        manifest_before=FileFact(path=str(store.path(manifest)), digest=manifest),
        artifacts=artifacts,
        checks=tuple(
            CheckRequest(
                id=item.id,
                after=item.after,
                blocking=item.blocking,
                params=workflow.pack.pack.checks.get(item.id, {}),
            )
            for item in workflow.compiled.validators.get(side, ())
        ),
    )


def _ask(services: Services, evidence: BlindEvidence) -> tuple[Verdict, str]:
    """The verdict and the digest of its stored envelope; pictures go to the artifact store."""
    out = services.stages / evidence.run[7:23] / f"verdict-{evidence.side}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    envelope = services.judge.judge(evidence, out)
    verdict = open_verdict(envelope, services.trust)
    _about(verdict, evidence)
    for check in verdict.checks:
        for name, digest in check.picture_digests.items():
            if services.artifacts.put_file(out / name) != digest:
                raise CheckFailed("verdict.picture", "a picture is not the one that was signed", where=name)
    shutil.rmtree(out, ignore_errors=True)
    return verdict, services.artifacts.put_bytes(json.dumps(envelope, sort_keys=True).encode())


def _about(verdict: Verdict, evidence: BlindEvidence) -> None:
    asked = (evidence.run, evidence.graph, evidence.side, evidence.digest)
    if (verdict.run, verdict.graph, verdict.side, verdict.evidence) != asked:
        raise CheckFailed(
            "verdict.other_subject", "the verdict speaks of something else", where=evidence.side
        )
    wanted = {(item.id, item.after, item.blocking) for item in evidence.checks}
    if {(item.id, item.after, item.blocking) for item in verdict.checks} != wanted:
        raise CheckFailed("verdict.incomplete", "the verdict does not hold every check", where=evidence.side)
    if verdict.passed != all(item.passed for item in verdict.checks if item.blocking):
        raise CheckFailed(
            "verdict.contradiction", "the verdict contradicts its own checks", where=evidence.side
        )


def trusted_verdict(services: Services, run: RunRecord, record: VerdictRecord) -> Verdict:
    """A recorded verdict, its signature verified again, for this run and side."""
    verdict = open_verdict(json.loads(services.artifacts.get(record.envelope)), services.trust)
    if (verdict.run, verdict.side, verdict.passed) != (run.run, record.side, record.passed):
        raise CheckFailed(
            "verdict.other_subject", "the stored verdict speaks of something else", where=run.key
        )
    return verdict


def _compensate(services: Services, run: RunRecord, side: str, task: TaskRecord, verdict: Verdict) -> None:
    """Take back what the failed side wrote, if its application registers a compensation."""
    application = task.task.specialist.partition("/")[0]
    undo = f"{application}.undo_transaction@1"
    if undo in capabilities() and task.transaction is not None and task.changes:
        provider = services.provider(application, run.run, run.key)
        begun = {"task": task.digest, "capability": undo, "transaction": task.transaction}
        services.append(run, "compensation.begun", begun, f"undo:{task.digest}")
        try:
            provider.undo(task.transaction)
        except Conflict as fault:
            require_reconciliation(services, run, services.reload(run).by_digest(task.digest))
            raise reconcile_first(run) from fault
        standing = provider.standing(task.transaction, task.changes)
        done = {"task": task.digest, "standing": standing}
        services.append(run, "compensation.done", done, f"undone:{task.digest}")
    blockers = [
        Fault("fabric.verdict_failed", f"{check.id}: {check.summary}", f"{side}/{check.after}")
        for check in verdict.checks
        if check.blocking and not check.passed
    ]
    fail_run(services, run, blockers)
