"""The report of one run: what ran, what each check said, digests, where things are, the exact diff."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabric_dagster.cli.output import say
from fabric_dagster.contracts.ticket import Ticket
from fabric_dagster.digests import digest_file
from fabric_dagster.supervisor.approvals import waiting
from fabric_dagster.supervisor.machine import WHOLE_RUN
from fabric_dagster.validators.verdicts import open_verdict

if TYPE_CHECKING:
    from pathlib import Path

    from fabric_dagster.artifacts.ports import ArtifactStore
    from fabric_dagster.supervisor.records import RunRecord, TaskRecord
    from resources.supervision.assembly import Hall

SHORT = 19


def report(hall: Hall, run: RunRecord) -> dict[str, Any]:
    """Everything that a person asks of a run, as one JSON document."""
    artifacts, home = hall.home.open_artifacts(), hall.home
    ticket = Ticket.model_validate_json(artifacts.get(run.body["ticket_document"]))
    trust = home.trust_root()
    document: dict[str, Any] = {
        "run": run.document().body(),
        "ticket": {"key": ticket.key, "summary": ticket.summary, "inputs": ticket.inputs},
        "decision": run.decision or {},
        "partitions": [_partition(task, artifacts) for task in run.tasks],
        "handoffs": {node: item.body() for node, item in run.handoffs.items()},
        "waiting": [
            {**item.as_dict(), "path": picture_file(hall, run, item.side, item.picture)}
            for item in waiting(run)
        ],
        "verdicts": [],
        "files": _files(hall, run),
        "diffs": [],
        "events": [
            {
                "position": e.position,
                "type": e.type,
                "actor": e.actor,
                "at": e.recorded_at,
                "digest": e.digest,
            }
            for e in run.events
        ],
    }
    for record in run.verdicts:
        verdict = open_verdict(json.loads(artifacts.get(record.envelope)), trust)
        document["verdicts"].append({"envelope": record.envelope, **verdict.body()})
    for task in run.tasks:
        if task.state in {"succeeded", "compensated"} and task.result and task.result.diff:
            text = artifacts.get(task.result.diff).decode()
            document["diffs"].append(
                {
                    "partition": task.task.partition,
                    "attempt": task.task.attempt,
                    "state": task.state,
                    "text": text,
                }
            )
    return document


def side_name(side: str) -> str:
    """What a verdict is on, for people."""
    return "the whole run" if side == WHOLE_RUN else side


def _partition(task: TaskRecord, artifacts: ArtifactStore) -> dict[str, Any]:
    result = task.result
    plan = json.loads(artifacts.get(task.task.plan))
    return {
        "partition": task.task.partition,
        "specialist": task.task.specialist,
        "attempt": task.task.attempt,
        "state": task.state,
        "plan": task.task.plan,
        "operations": [
            {"node": item.get("node", ""), "capability": item["capability"]} for item in plan["operations"]
        ],
        "changes": [change.as_dict() for change in task.changes],
        "observations": [o.model_dump() for o in result.observations] if result else [],
        "artifacts": [a.body() for a in result.artifacts] if result else [],
        "failure": result.failure if result else None,
    }


def _files(hall: Hall, run: RunRecord) -> dict[str, list[str]]:
    """Where the files of each application lie now."""
    files: dict[str, list[str]] = {}
    for task in run.tasks:
        if task.state != "succeeded" or not task.changes:
            continue
        application = task.task.specialist.partition("/")[0]
        root: Path = hall.provider(application, run.run, run.key).root
        files.setdefault(application, []).extend(str(root / change.path) for change in task.changes)
    return files


def picture_file(hall: Hall, run: RunRecord, side: str, digest: str) -> str:
    """Where a person finds a picture: as it was delivered, if those are its bytes, else in the store."""
    task = run.task(side)
    if task is not None:
        root = hall.provider(task.task.specialist.partition("/")[0], run.run, run.key).root
        for change in task.changes:
            path = root / change.path
            if change.after == digest and path.is_file() and digest_file(path) == digest:
                return str(path)
    return str(hall.home.open_artifacts().path(digest))


def print_report(document: dict[str, Any]) -> None:
    """The report for a person; plain lines, so that nothing is cut where no terminal says how wide it is."""
    run, ticket = document["run"], document["ticket"]
    say(f"Ticket    {ticket['key']}  {ticket['summary']}")
    say(f"Graph     {run['reference']}  {run['graph'][:SHORT]}")
    say(f"Run       {run['run'][:SHORT]}  {run['state']}, {run['events']} signed events")
    if document["decision"]:
        _print_decision(document["decision"])
    say("\nWhat ran")
    for part in document["partitions"]:
        attempt = f", attempt {part['attempt']}" if part["attempt"] > 1 else ""
        say(f"  {part['state']:<10} {part['partition']:<12} {part['specialist']}{attempt}")
        for item in part["operations"]:
            say(f"             {item['node']:<16} {item['capability']}")
        if part["failure"]:
            say(f"             {part['failure']['what']} [{part['failure']['code']}]")
    _print_absorbed(run.get("absorbed", {}))
    _print_checks(document["verdicts"])
    _print_files(document)
    for item in run.get("approvals", ()):
        if item["state"] != "requested":
            say(f"\nApproval  {item['state']} by {item['by']}: {item.get('note') or 'no note'}")
            say(f"          {item['picture']}")
    for item in document["waiting"]:
        say(f"\nWaits     for a visual approval of {item['side']}; look at")
        say(f"          {item['path']}")
        say(f"          {item['picture']}")
        word = run["run"][7:19]
        say(f"          fabric approve {word} --as approver --note TEXT   (or fabric retake)")
    if run.get("unresolved"):
        say("\nUnresolved")
        for line in run["unresolved"]:
            say(f"  {line}")


def _print_absorbed(absorbed: dict[str, Any]) -> None:
    for part, faults in absorbed.items():
        say(f"\nWithout   {part}, whose failure a join absorbs: {faults[0]['what']} [{faults[0]['code']}]")


def _print_decision(decision: dict[str, Any]) -> None:
    say(f"Decision  rule {decision['rule']}")
    for name, value in decision["values"].items():
        say(f"          {name}: {value if isinstance(value, str) else json.dumps(value, sort_keys=True)}")
    for item in decision["evidence"]:
        say(f"          cites {item.get('citation', '')}: “{item.get('quote', '')}”")


def _print_checks(verdicts: list[dict[str, Any]]) -> None:
    for verdict in verdicts:
        say(f"\nBlind checks on {side_name(verdict['side'])}, signed by the validator")
        if verdict["side"] == WHOLE_RUN and verdict["passed"]:
            say(f"  {'passed':<10} all {len(verdict['checks'])}, on everything as it stands together")
            continue
        for check in verdict["checks"]:
            word = "passed" if check["passed"] else "FAILED" if check["blocking"] else "warning"
            say(f"  {word:<10} {check['id']:<22} {check['summary']}")
            if not check["passed"]:
                for item in check.get("findings", ()):
                    say(f"             {item['where']}: expected {item['expected']}, found {item['found']}")


def _print_files(document: dict[str, Any]) -> None:
    for application, files in document["files"].items():
        say(f"\nFiles, {application}")
        for file in files:
            say(f"  {file}")
    digests = [
        (f"{artifact.get('node', '')}.{artifact['name']}", artifact["digest"])
        for part in document["partitions"]
        for artifact in part["artifacts"]
    ]
    if digests:
        say("\nDigests")
        for name, digest in digests:
            say(f"  {name}  {digest}")
    for diff in document["diffs"]:
        taken_back = " (taken back)" if diff["state"] == "compensated" else ""
        say(f"\nExact diff of {diff['partition']}{taken_back}")
        for line in diff["text"].splitlines():
            say(f"  {line}")
