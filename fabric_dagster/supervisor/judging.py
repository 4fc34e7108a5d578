"""Asks the independent validator, records its signed verdict, and takes back what failed.

Rules kept here:

* Evidence holds source facts and actual artifacts; nothing of a specialist's result is put into it.
* The verdict is believed for its signature by the pinned validator key, and only for the very evidence,
  run, graph and side that were asked about.
* A failed verdict issues the registered compensation where the bytes are still ours; where it is refused,
  the completion is unknown again and a person looks. Verdict and compensation are begun together.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fabric_dagster.contracts.evidence import BlindEvidence, CheckRequest, FileFact
from fabric_dagster.digests import canonical, digest_file
from fabric_dagster.errors import CheckFailed
from fabric_dagster.supervisor.binding import load_ticket
from fabric_dagster.supervisor.execution import admit, store_manifest
from fabric_dagster.supervisor.failures import absorbed, after_verdict, conclude
from fabric_dagster.supervisor.services import Step
from fabric_dagster.supervisor.stages import discard, fresh, stage_folder
from fabric_dagster.validators.verdicts import open_verdict

if TYPE_CHECKING:
    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.evidence import Verdict
    from fabric_dagster.supervisor.projection import RunRecord, TaskRecord, VerdictRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


def judge_side(services: Services, workflow: Workflow, run_id: str, side: str) -> Verdict:
    """The signed verdict on what partition ``side`` made; recorded once per task."""
    with services.alone(run_id):
        run = services.reload(run_id)
        recorded, task = run.verdict(side), run.task(side)
        if recorded is not None and recorded.passed and task is not None and task.state == "succeeded":
            return trusted_verdict(services, run, recorded)[0]
        commission = admit(services, workflow, run)
        if task is not None and task.state in {"failed", "compensated"}:
            raise conclude(services, workflow, run) or absorbed(run, side)
        if task is None or task.state != "succeeded":
            raise CheckFailed("supervisor.nothing_to_judge", f"{side} has not succeeded", where=run.key)
        with services.at_project(task.task.specialist.partition("/")[0]):
            evidence = _evidence(services, workflow, run, side, task, commission)
            verdict, envelope = _ask(services, evidence)
            body = {
                "side": side,
                "task": task.digest,
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
    manifest = task.manifest or store_manifest(services)
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
    out = fresh(stage_folder(services, evidence.run) / f"verdict-{evidence.side}")
    try:
        envelope = services.judge.judge(evidence, out)
        verdict = open_verdict(envelope, services.trust, evidence)
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
    verdict = open_verdict(json.loads(services.artifacts.get(record.envelope)), services.trust, evidence)
    said = (verdict.run, verdict.graph, verdict.side, verdict.passed)
    if said != (run.run, run.body["graph"], record.side, record.passed):
        raise CheckFailed(
            "verdict.other_subject", "the stored verdict speaks of something else", where=run.key
        )
    return verdict, evidence
