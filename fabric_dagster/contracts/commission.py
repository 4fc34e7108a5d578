"""``fabric.certificate.v1`` and ``fabric.commission.v1``: what lets a graph execute, and where."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Digest, Document
from fabric_dagster.contracts.qualification import Bindings


class Certificate(Document):
    """A validator's receipt, consumed once by a certifier, for one exact graph digest."""

    SCHEMA: ClassVar[str] = "fabric.certificate.v1"

    schema_: Literal["fabric.certificate.v1"] = Field(alias="schema")
    reference: str
    graph: Digest
    pack: Digest
    corpus: Digest
    results: Digest
    #: validators, capabilities, compatibility and recovery policy, as they were reviewed.
    bindings: Bindings
    #: digest of the receipt's payload (an in-toto Statement in a DSSE envelope).
    receipt: Digest
    validator: str
    certifier: str


class Scope(Contract):
    """The exact resources that a commissioned graph may touch."""

    #: identity of the project root (``resources.unity`` computes it); its folder at commissioning.
    project: str
    #: template file name → digest, as commissioned. Another digest is template drift: refused.
    templates: dict[str, Digest]
    #: POSIX prefixes under the project that may be written.
    writes: tuple[str, ...] = Field(strict=False)
    #: folders that pictures may be read from, besides a ticket's attachments.
    inputs: tuple[str, ...] = Field(default=(), strict=False)


class Commission(Document):
    """Seals scope, effect envelope, approval policy, SOP revisions and expiry for one graph digest."""

    SCHEMA: ClassVar[str] = "fabric.commission.v1"

    schema_: Literal["fabric.commission.v1"] = Field(alias="schema")
    workspace: str
    reference: str
    graph: Digest
    pack: Digest
    certificate: Digest
    scope: Scope
    effects: tuple[str, ...] = Field(strict=False)
    approval: Literal["none", "visual"] = "none"
    #: citation id → digest of the SOP text.
    sops: dict[str, Digest]
    #: application → ``provider/version`` as commissioned.
    providers: dict[str, str]
    #: RFC 3339, UTC.
    expires: str
    commissioner: str
    #: a demo's commission holds only in the home that made it (design/DETAILS.md, "Identities").
    demo_home: str | None = None
