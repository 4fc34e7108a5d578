"""``fabric.blind-evidence.v1`` and ``fabric.verdict.v1``: what a validator sees, and what it says.

Blind by shape: evidence has no field through which a specialist's result, conclusion or confidence
could reach a validator. It holds source facts (ticket, template, commission, the tree before the run)
and where the actual artifacts lie.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Digest, Document, NodeId
from fabric_dagster.contracts.commission import Commission
from fabric_dagster.contracts.ticket import Ticket

#: A side is named by the sealed partition that it judges, e.g. ``photoshop_1``; ``run`` is the whole run.
Side = NodeId


class FileFact(Contract):
    """A file to look at, with the digest that the source facts or the artifact store give it."""

    path: str
    digest: Digest


class CheckRequest(Contract):
    """One validator to run, bound by the graph, with the pack's parameters."""

    id: str
    after: NodeId
    blocking: bool
    params: dict[str, Any] = Field(default_factory=dict)


class SealedFact(Contract):
    """A handoff: the sealed bytes, which artifact (``node.output``) they are, and what they are made from."""

    artifact: FileFact
    source: str
    #: what it was made from → its digest; ``plan`` is the digest of the bound plan.
    lineage: dict[str, Digest]


class SideVerdict(Contract):
    """A verdict that was given on one side: its signed envelope, and the evidence that it was given on."""

    envelope: FileFact
    evidence: FileFact


class GovernedChange(Contract):
    """A file that another governed run left otherwise since the manifest was taken.

    ``event`` is the signed event that says so; without ``after`` the file is gone.
    """

    path: str
    after: Digest | None = None
    run: Digest
    event: Digest


class BlindEvidence(Document):
    """Everything that a validator may know."""

    SCHEMA: ClassVar[str] = "fabric.blind-evidence.v1"

    schema_: Literal["fabric.blind-evidence.v1"] = Field(alias="schema")
    run: Digest
    graph: Digest
    side: Side
    #: the pack's folder: validators derive the decision again from it.
    pack: str
    pack_digest: Digest
    ticket: Ticket
    #: input name → the ticket's picture bytes.
    ticket_files: dict[str, FileFact]
    commission: Commission
    #: template file name → the source file as it lies there now.
    templates: dict[str, FileFact]
    project: str
    #: the tree manifest taken before the run: a JSON object ``{posix path: sha256}``.
    manifest_before: FileFact
    #: what other governed runs changed between that manifest and now, in the order of their events.
    others: tuple[GovernedChange, ...] = Field(default=(), strict=False)
    #: ``node.output`` → the actual artifact.
    artifacts: dict[str, FileFact]
    #: for the verdict on the whole run: its handoffs by node, the verdicts on its sides, the trust root.
    handoffs: dict[NodeId, SealedFact] = Field(default_factory=dict)
    verdicts: dict[Side, SideVerdict] = Field(default_factory=dict)
    trust: FileFact | None = None
    checks: tuple[CheckRequest, ...] = Field(strict=False)


class Finding(Contract):
    """One thing that is not as expected (or, in a passed check, the thing that was looked at)."""

    expected: str
    found: str
    where: str = ""


class CheckVerdict(Contract):
    """What one validator says. A validator that crashed has failed."""

    id: str
    after: NodeId
    blocking: bool
    passed: bool
    summary: str
    findings: tuple[Finding, ...] = Field(default=(), strict=False)
    #: measured figures as text, by name.
    figures: dict[str, str] = Field(default_factory=dict)
    #: title → PNG file in the program's output folder.
    pictures: dict[str, str] = Field(default_factory=dict)
    #: file name in ``pictures`` → digest of its bytes.
    picture_digests: dict[str, Digest] = Field(default_factory=dict)


class Verdict(Document):
    """All checks of one side. ``passed`` is whether every blocking check passed."""

    SCHEMA: ClassVar[str] = "fabric.verdict.v1"

    schema_: Literal["fabric.verdict.v1"] = Field(alias="schema")
    run: Digest
    graph: Digest
    side: Side
    evidence: Digest
    passed: bool
    checks: tuple[CheckVerdict, ...] = Field(strict=False)
