"""Lays together what a blind validator may know: source facts and actual artifacts, nothing of a result.

Rules kept here:

* Evidence on a side holds the artifacts of the partitions that it stands on, no others; evidence on the whole
  run those of all that its verdict stands on, its handoffs and the signed verdicts on its sides.
* The tree manifest is the one that was taken before the (first) judged task. What other governed runs changed
  in the project since is listed by the signed events that say so, so that nobody is blamed for their work.
* While another run's completion is unknown nobody knows what the project should look like: a person first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fabric_dagster.contracts.evidence import (
    BlindEvidence,
    CheckRequest,
    FileFact,
    GovernedChange,
    SealedFact,
    SideVerdict,
)
from fabric_dagster.digests import digest_file
from fabric_dagster.graphs.case import RUN_CHECKS
from fabric_dagster.supervisor.binding import load_ticket
from fabric_dagster.supervisor.compensation import application
from fabric_dagster.supervisor.joins import lineage
from fabric_dagster.supervisor.machine import WHOLE_RUN
from fabric_dagster.supervisor.opening import reconcile_first
from fabric_dagster.supervisor.ports import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.graphs.compiled import CompiledGraph
    from fabric_dagster.spine.ports import Event
    from fabric_dagster.supervisor.records import RunRecord, TaskRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow

BEGUN = frozenset({"commit.begun", "compensation.begun"})
ENDS = ("task.result", "compensation.done", "reconciliation.observed")


def side_evidence(
    services: Services, workflow: Workflow, run: RunRecord, side: str, commission: Commission
) -> BlindEvidence:
    """Evidence on what partition ``side`` made."""
    compiled = workflow.compiled
    standing = lineage(compiled, run, side)
    task = run.task(side)
    checks = tuple(
        CheckRequest(
            id=item.id,
            after=item.after,
            blocking=item.blocking,
            params=workflow.pack.pack.checks.get(item.id, {}),
        )
        for item in compiled.validators.get(side, ())
    )
    tasks = [record for record in _tasks(compiled, run) if record.task.partition in standing]
    return _lay(services, workflow, run, commission, side, tasks, task, checks)


def run_evidence(
    services: Services, workflow: Workflow, run: RunRecord, commission: Commission
) -> BlindEvidence:
    """Evidence on the whole run: every blocking check of its sides anew, on all that stands together."""
    compiled, store = workflow.compiled, services.artifacts
    standing = lineage(compiled, run, compiled.verdict)
    tasks = [record for record in _tasks(compiled, run) if record.task.partition in standing]
    bound = {item.id for side in standing for item in compiled.validators.get(side, ()) if item.blocking}
    checks = tuple(
        CheckRequest(
            id=name, after=compiled.verdict, blocking=True, params=workflow.pack.pack.checks.get(name, {})
        )
        for name in (*sorted(bound), *RUN_CHECKS)
    )
    first = min((task for task in tasks if task.manifest), key=lambda t: t.issued.version, default=None)
    evidence = _lay(services, workflow, run, commission, WHOLE_RUN, tasks, first, checks)
    verdicts = {record.task.partition: run.verdict(record.task.partition) for record in tasks}
    return evidence.model_copy(
        update={
            "handoffs": {
                node: SealedFact(
                    artifact=_fact(services, sealed.artifact.digest),
                    source=f"{sealed.artifact.node}.{sealed.artifact.name}",
                    lineage=dict(sealed.lineage),
                )
                for node, sealed in run.handoffs.items()
                if node in standing
            },
            "verdicts": {
                side: SideVerdict(
                    envelope=_fact(services, verdict.envelope), evidence=_fact(services, verdict.evidence)
                )
                for side, verdict in verdicts.items()
                if verdict is not None
            },
            "trust": _fact(services, store.put_bytes(services.trust.to_bytes())),
        }
    )


def store_manifest(services: Services) -> str:
    """Keep the project's tree manifest, as it is now, in the artifact store."""
    return services.artifacts.put_bytes(json.dumps(dict(services.manifest()), sort_keys=True).encode())


def _tasks(compiled: CompiledGraph, run: RunRecord) -> Iterator[TaskRecord]:
    """The newest task of each sealed partition, if it succeeded, in the order of the work."""
    for part in compiled.partitions:
        record = run.task(part.id) if part.template is not None else None
        if record is not None and record.state == "succeeded" and record.result is not None:
            yield record


def _lay(
    services: Services,
    workflow: Workflow,
    run: RunRecord,
    commission: Commission,
    side: str,
    tasks: list[TaskRecord],
    first: TaskRecord | None,
    checks: tuple[CheckRequest, ...],
) -> BlindEvidence:
    ticket = load_ticket(services, run)
    artifacts: dict[str, FileFact] = {}
    for record in tasks:
        for item in record.result.artifacts if record.result is not None else ():
            artifacts[f"{item.node}.{item.name}"] = _fact(services, item.digest)
        # What stood before the first judged task: what a later one found is not how it was before.
        later = first is not None and record.issued.version >= first.issued.version
        if later and application(record) == PROJECT:
            for path, digest in record.before.items():
                artifacts.setdefault(f"before:{path}", _fact(services, digest))
    manifest = first.manifest if first is not None else None
    others: tuple[GovernedChange, ...] = ()
    if first is not None and manifest is not None:
        others = changes_of_others(services, run, first.issued.position)
    return BlindEvidence(
        schema_="fabric.blind-evidence.v1",
        run=run.run,
        graph=workflow.compiled.digest,
        side=side,
        pack=str(workflow.pack.folder),
        pack_digest=workflow.pack.digest,
        ticket=ticket,
        ticket_files={name: _fact(services, file.digest) for name, file in ticket.files.items()},
        commission=commission,
        templates={
            name: FileFact(path=str(services.templates / name), digest=digest_file(services.templates / name))
            for name in (run.decision or {}).get("templates", {})
        },
        project=str(services.project),
        manifest_before=_fact(services, manifest or store_manifest(services)),
        others=others,
        artifacts=artifacts,
        checks=checks,
    )


def _fact(services: Services, digest: str) -> FileFact:
    return FileFact(path=str(services.artifacts.path(digest)), digest=digest)


def changes_of_others(services: Services, run: RunRecord, since: int) -> tuple[GovernedChange, ...]:
    """What other runs' tasks left in the project after event ``since``, oldest first.

    The caller holds the project, so that a commit that is begun and has no end is one whose process died:
    ``NeedsPerson`` (``run.reconciliation_required``) then.
    """
    known: dict[str, RunRecord] = {}
    found: list[GovernedChange] = []
    unknown: dict[str, RunRecord] = {}
    for event in services.store.read(after=since, types=[*sorted(BEGUN), *ENDS]):
        name = event.stream.removeprefix("run:")
        if name == run.run or not event.stream.startswith("run:"):
            continue
        other = known.get(name) or known.setdefault(name, services.reload(name))
        task = other.by_digest(event.body["task"])
        if application(task) != PROJECT or not task.changes:
            continue
        if event.type in BEGUN:
            unknown[task.digest] = other
        else:
            unknown.pop(task.digest, None)
            found += _left(event, other, task)
    for other in unknown.values():
        raise reconcile_first(other)
    return tuple(found)


def _left(event: Event, other: RunRecord, task: TaskRecord) -> Iterator[GovernedChange]:
    """How ``event`` says that the files of ``task`` stand: as it wrote them, or as they were before."""
    body = event.body
    written = (event.type == "task.result" and body["result"]["status"] == "succeeded") or body.get(
        "decision"
    ) == "adopted"
    for change in task.changes:
        after = change.after if written else change.before
        yield GovernedChange(path=change.path, after=after, run=other.run, event=event.digest)
