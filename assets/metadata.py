"""What a materialization and a check report show: typed metadata, pictures by URL, digests in full."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import dagster as dg

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assets.office import Office
    from fabric_dagster.contracts.evidence import CheckVerdict
    from fabric_dagster.contracts.handoff import Handoff
    from fabric_dagster.contracts.specialist import ArtifactRef
    from fabric_dagster.supervisor.execution import Outcome
    from fabric_dagster.supervisor.records import ApprovalRecord

Metadata = dict[str, Any]


def picture(place: Office, digest: str, title: str) -> Metadata:
    """A picture that the UI shows, if there is a place to look at it."""
    url = place.picture(digest)
    return {title: dg.MetadataValue.md(f"![{title}]({url})")} if url else {}


def artifact(place: Office, ref: ArtifactRef) -> Metadata:
    """Digest, size and facts of an artifact, and its picture where it is one."""
    shown: Metadata = {f"{ref.name} digest": ref.digest, f"{ref.name} bytes": ref.size}
    if ref.facts:
        shown[f"{ref.name} facts"] = dg.MetadataValue.json(dict(ref.facts))
    if ref.kind == "png":
        shown |= picture(place, ref.digest, ref.name)
    return shown


def node(place: Office, outcome: Outcome, node_id: str, diff: str | None) -> tuple[str, Metadata]:
    """The data version and metadata of one node of a sealed partition."""
    result = outcome.result
    shown: Metadata = {
        "fabric/task": result.task,
        "fabric/event": outcome.event,
        "fabric/replayed": outcome.replayed,
        "fabric/plan": outcome.task.plan,
    }
    mine = [ref for ref in result.artifacts if ref.node == node_id]
    for ref in mine:
        shown |= artifact(place, ref)
    values = {k.partition(".")[2]: v for k, v in result.values.items() if k.startswith(f"{node_id}.")}
    if values:
        shown["outputs"] = dg.MetadataValue.json(values)
    if result.changes:
        shown["changed files"] = dg.MetadataValue.table(
            [
                dg.TableRecord({"file": c.path, "before": c.before or "(new)", "after": c.after or "(gone)"})
                for c in result.changes
            ]
        )
    if diff:
        shown["diff"] = dg.MetadataValue.md(f"```diff\n{diff}\n```")
    shown["observed"] = dg.MetadataValue.table(
        [
            dg.TableRecord(
                {"subject": o.subject, "expected": o.expected, "found": o.found, "holds": str(o.holds)}
            )
            for o in result.observations
        ]
        or [dg.TableRecord({"subject": "-", "expected": "-", "found": "-", "holds": "-"})]
    )
    version = mine[-1].digest if mine else result.digest
    return version, shown


def handoff(place: Office, sealed: Handoff) -> Metadata:
    """What a sealed handoff holds."""
    return {
        "fabric/handoff": sealed.digest,
        **({"fabric/approval": sealed.approval} if sealed.approval else {}),
        **artifact(place, sealed.artifact),
        "lineage": dg.MetadataValue.json(dict(sealed.lineage)),
        "verdicts": dg.MetadataValue.json(list(sealed.validations)),
    }


def approval(place: Office, record: ApprovalRecord, run: str) -> Metadata:
    """What a person decided: on which bytes and plan, who, with what note, and the signed event."""
    return {
        "fabric/run": run,
        "fabric/event": record.decided.digest if record.decided is not None else "",
        "approved digest": record.picture,
        "fabric/plan": record.plan,
        "approver": record.by,
        "note": record.note or "-",
        **picture(place, record.picture, "picture"),
    }


def check(place: Office, verdict: CheckVerdict) -> Metadata:
    """A check report: what was expected, what was found and where."""
    shown: Metadata = {}
    if verdict.findings:
        shown["report"] = dg.MetadataValue.table(
            [
                dg.TableRecord({"expected": f.expected, "found": f.found, "where": f.where or "-"})
                for f in verdict.findings
            ]
        )
    if verdict.figures:
        shown["figures"] = dg.MetadataValue.json(dict(verdict.figures))
    for title, file in verdict.pictures.items():
        shown |= picture(place, verdict.picture_digests[file], title)
    return shown


def decision(body: Mapping[str, Any]) -> Metadata:
    """The decided values, the rule and the evidence that it cites."""
    values = {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in body["values"].items()
    }
    return {
        "rule": body["rule"],
        "decided": dg.MetadataValue.table(
            [dg.TableRecord({"what": key, "value": value}) for key, value in values.items()]
        ),
        "evidence": dg.MetadataValue.table(
            [dg.TableRecord({key: str(value) for key, value in item.items()}) for item in body["evidence"]]
        ),
        "templates": dg.MetadataValue.json(dict(body["templates"])),
    }
