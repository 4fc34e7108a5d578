"""A reviewed operation of Unity-Skills, tried without effect: what is bound, or refused.

Rules kept here, each failing closed:

* Only an operation of the record, with its own parameters, each of a closed kind: no text that may be code.
* Never in Bypass mode, before and after; the mode that the record's surface names is ``dryRun``.
* Bound: the *revision* (tree id of the package on the disk), the *operation* as reviewed (the reply's own
  description must agree), the *plan* (the reply's steps and changes; else composed of the call and the bytes
  it is about), the *rollback* (the server's workflow; else the bytes on the disk; nothing for a read), and
  the *audit identity* (the last entry and the digest of its audit file, beside the reply's request id).
* The project and the audit file are as before: a dry run that executed or wrote anything is refused.
* The outcome is a record that grants nothing.
"""

from __future__ import annotations

import json
import re
import secrets
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Digest, Document
from fabric_dagster.digests import digest_bytes, digest_of
from fabric_dagster.errors import CheckFailed, OperationFailed
from resources.files.durable import found_digest
from resources.files.paths import under
from resources.unity.live.unity_skills.client import Answer, SkillsClient
from resources.unity.live.unity_skills.record import ReviewedOperation, record, require_revision
from resources.unity.manifest import tree_manifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from resources.unity.project import Project

AUDIT: Final = "Library/UnitySkillsAudit.jsonl"
LARGEST: Final = 8 << 20
MODES: Final = frozenset({"approval", "auto"})
ASSET: Final = re.compile(r"^(?:Assets|Packages)/[^\x00-\x1f\\:*?\"<>|]{1,230}$")
WORD: Final = re.compile(r"^[A-Za-z][A-Za-z0-9 ]{0,39}$")
REQUEST_ID: Final = re.compile(r"^req_[0-9A-F]{8}$")


class Bound(Contract):
    """One part of a candidate: where it comes from, and the digest of what it stands for."""

    source: Literal["reply", "composed", "disk", "none_needed"]
    digest: Digest


class Audit(Contract):
    """The audit file as it stood before and after, and the request's own id."""

    digest: Digest
    last: str
    request: str
    agent: str


class Candidate(Document):
    """``fabric.adapter-candidate.v1``. It is no handler and no capability, and grants nothing."""

    SCHEMA: ClassVar[str] = "fabric.adapter-candidate.v1"

    schema_: Literal["fabric.adapter-candidate.v1"] = Field(alias="schema")
    provider: str
    revision: str
    tree: str
    operation: str
    capability: str | None = None
    mode: Literal["dryRun"]
    arguments: Digest
    plan: Bound
    rollback: Bound
    audit: Audit
    instance: str
    inert: Literal[True]
    grants: tuple[str, ...] = Field((), max_length=0, strict=False)


def try_operation(project: Project, registry: Path, name: str, args: dict[str, Any]) -> Candidate:
    """A dry run of ``name`` in the editor that has ``project`` open; the candidate.

    Raises ``CheckFailed`` (``unity_skills.*``) for whatever cannot be bound or is not so.
    """
    known = record()
    reviewed = known.operation(name)
    _require_arguments(reviewed, args)
    tree = require_revision(project.root, known)
    client = SkillsClient(project.root, registry, agent := f"fabric-{secrets.token_hex(8)}")
    health = _require_mode(client.health())
    audit = _audit(project)
    before = tree_manifest(project.root)
    answer = client.dry_run(name, args)
    _require_reply(answer, reviewed, agent)
    _require_mode(client.health())
    if tree_manifest(project.root) != before:
        raise _refused(
            "unity_skills.wrote", "the dry run changed the project", "restore it; do not use this server"
        )
    if _audit(project) != audit:
        raise _refused(
            "unity_skills.executed",
            "the audit file grew: something was executed meanwhile",
            "let nothing else run",
        )
    require_revision(project.root, known)
    subject = _subject(project, reviewed, args)
    call = {"operation": name, "arguments": args, "subject": subject}
    return Candidate(
        schema_="fabric.adapter-candidate.v1",
        provider=known.name,
        revision=known.revision,
        tree=tree,
        operation=name,
        capability=reviewed.capability,
        mode="dryRun",
        arguments=_digest(args),
        plan=_plan(answer, call),
        rollback=_rollback(answer, health, reviewed, subject),
        audit=Audit(digest=audit[0], last=audit[1], request=answer.request_id, agent=agent),
        instance=str(health["instanceId"]),
        inert=True,
    )


def _require_arguments(reviewed: ReviewedOperation, args: dict[str, Any]) -> None:
    kinds: dict[str, Callable[[Any], object]] = {
        "asset": lambda value: isinstance(value, str) and ASSET.match(value) and ".." not in value.split("/"),
        "word": lambda value: isinstance(value, str) and WORD.match(value),
        "whole": lambda value: (
            isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 1 << 20
        ),
        "flag": lambda value: isinstance(value, bool),
    }
    if reviewed.subject not in args:
        raise _refused("unity_skills.argument", f"`{reviewed.subject}` is missing", "name the asset")
    for key, value in args.items():
        kind = reviewed.parameters.get(key)
        if kind is None or not kinds[kind](value):
            raise CheckFailed(
                "unity_skills.argument", "this argument was not reviewed, or is no value of its kind",
                where=key, value=str(value), mend=f"use: {reviewed.usage}",
            )  # fmt: skip


def _require_mode(health: dict[str, Any]) -> dict[str, Any]:
    mode = health.get("currentMode")
    if mode not in MODES:
        raise CheckFailed(
            "unity_skills.mode", "the server is in a mode that asks nobody", value=str(mode),
            mend="choose Approval or Auto in its panel",
        )  # fmt: skip
    if health.get("version") != record().version:
        raise _refused(
            "unity_skills.other_revision", "the server says it is another version", "use the pinned one"
        )
    return health


def _require_reply(answer: Answer, reviewed: ReviewedOperation, agent: str) -> None:
    """The reply is a dry run's, of this operation as it was reviewed, and valid."""
    found = answer.document
    if found.get("status") != "dryRun":
        raise _refused(
            "unity_skills.executed", "the reply is not that of a dry run", "do not use this server"
        )
    if not REQUEST_ID.match(answer.request_id) or answer.agent_id != agent:
        raise _refused(
            "unity_skills.unbound", "the reply does not name the request", "use the pinned revision"
        )
    skill = found.get("skill")
    told = skill if isinstance(skill, dict) else {}
    seen = (told.get("name"), told.get("operation"), told.get("readOnly"), told.get("riskLevel"))
    wanted = (reviewed.name, list(reviewed.operation), reviewed.read_only, reviewed.risk)
    if seen != wanted or told.get("mayTriggerReload") or told.get("mayEnterPlayMode"):
        raise CheckFailed(
            "unity_skills.other_operation", "the reply describes another operation than was reviewed",
            value=str(seen), mend="use the pinned revision",
        )  # fmt: skip
    if found.get("valid") is not True:
        raise CheckFailed(
            "unity_skills.invalid", "the operation would not be valid", where=reviewed.name,
            value=json.dumps(found.get("validation"))[:200], mend="mend the arguments",
        )  # fmt: skip


def _subject(project: Project, reviewed: ReviewedOperation, args: dict[str, Any]) -> dict[str, str]:
    """The bytes that the operation is about: what an undo from the disk would bring back."""
    path = str(args[reviewed.subject])
    try:
        found = {name: found_digest(under(project.root, name)) for name in (path, f"{path}.meta")}
    except OperationFailed as fault:
        raise CheckFailed.of(fault.faults) from None
    return {name: digest for name, digest in found.items() if digest and digest != "irregular"}


def _plan(answer: Answer, call: dict[str, Any]) -> Bound:
    steps, changes = answer.document.get("steps"), answer.document.get("changes")
    if steps:
        return Bound(source="reply", digest=_digest({"steps": steps, "changes": changes, "call": call}))
    if not call["subject"]:
        raise _refused(
            "unity_skills.unbound",
            "the reply has no steps and the asset is not on the disk",
            "name one that is",
        )
    return Bound(source="composed", digest=_digest(call))


def _rollback(
    answer: Answer, health: dict[str, Any], reviewed: ReviewedOperation, subject: dict[str, str]
) -> Bound:
    if reviewed.read_only:
        return Bound(source="none_needed", digest=_digest({"reads": reviewed.name}))
    skill = answer.document["skill"]
    if skill.get("tracksWorkflow") is True and health.get("workflowRecoveryMode") is False:
        return Bound(source="reply", digest=_digest({"workflow": reviewed.name, "subject": subject}))
    if len(subject) == 2:  # noqa: PLR2004 - the asset and its meta
        return Bound(source="disk", digest=_digest(subject))
    raise _refused(
        "unity_skills.unbound", "nothing could take the operation back", "name an asset with a meta"
    )


def _audit(project: Project) -> tuple[str, str]:
    """Digest of the audit file, and its last entry's time and type."""
    try:
        with under(project.root, AUDIT).open("rb") as stream:
            data = stream.read(LARGEST)
        last = json.loads(data.splitlines()[-1])
        return digest_bytes(data), f"{last['ts']} {last['type']}"
    except (OSError, IndexError, ValueError, KeyError, TypeError, OperationFailed):
        raise CheckFailed(
            "unity_skills.unbound", "there is no audit file to bind to, or its end is damaged", where=AUDIT,
            mend="change the mode in the server's panel once: it writes an entry",
        ) from None  # fmt: skip


def _digest(body: Any) -> str:  # noqa: ANN401 - JSON of a reply
    """Over JSON as text: a reply may hold decimals, which our canonical form refuses."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return digest_of("fabric.adapter-part.v1", {"json": digest_bytes(text.encode())})


def _refused(code: str, what: str, mend: str) -> CheckFailed:
    return CheckFailed(code, what, mend=mend)
