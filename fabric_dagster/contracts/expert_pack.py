"""``fabric.expert-pack.v1``: the knowledge of one project and domain, as data.

``pack.yaml`` has this shape. Graphs, SOP texts, example tickets, corpora and validators lie in folders
beside it (design/DETAILS.md, "A pack's folder"). Decisions cite evidence: a rule without a citation that
holds word for word in an SOP of the cited digest decides nothing.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Digest, Document, SemVer


class Citation(Contract):
    """An SOP text under ``sop/``, at one revision."""

    file: str
    title: str
    revision: str
    digest: Digest


class Evidence(Contract):
    """A sentence that must stand, word for word, in the cited text (whitespace folded)."""

    citation: str
    quote: str = Field(min_length=8)


class Category(Contract):
    """One id of the taxonomy."""

    title: str
    description: str = ""


class Template(Contract):
    """An approved PSD under the templates root; ``roles`` names the layers that operations may address."""

    file: str
    description: str = ""
    #: role → ``{"path": …}`` or ``{"id": …}``.
    roles: dict[str, dict[str, Any]] = Field(default_factory=dict)


class DecisionRule(Contract):
    """When every key of ``when`` equals the ticket's value, ``decide`` holds.

    A decided value may hold ``{input_name}`` placeholders, filled from the ticket. ``template`` names one
    of the pack's templates; ``role:NAME`` stands for that template's layer; ``preset`` and ``profile``
    name the pack's.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    graph: str
    when: dict[str, str]
    decide: dict[str, Any]
    evidence: tuple[Evidence, ...] = Field(min_length=1, strict=False)


class PictureLimits(Contract):
    """What a ticket's picture may be at most."""

    formats: tuple[Literal["png", "psd", "psb"], ...] = Field(default=("png", "psd"), strict=False)
    max_bytes: int = Field(default=32 << 20, ge=1)
    max_pixels: int = Field(default=64_000_000, ge=1)
    min_side: int = Field(default=1, ge=1)


class ExpertPack(Document):
    """A versioned project and domain pack."""

    SCHEMA: ClassVar[str] = "fabric.expert-pack.v1"

    schema_: Literal["fabric.expert-pack.v1"] = Field(alias="schema")
    name: str = Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")
    version: SemVer
    title: str
    description: str = ""
    owners: tuple[str, ...] = Field(default=(), strict=False)
    #: application → version range; where the pack applies.
    compatibility: dict[str, str] = Field(default_factory=dict)
    citations: dict[str, Citation]
    taxonomy: dict[str, Category]
    templates: dict[str, Template] = Field(default_factory=dict)
    #: export presets by name, typed by ``photoshop.export_png``.
    presets: dict[str, dict[str, Any]] = Field(default_factory=dict)
    #: certified importer profiles by name, typed by ``unity.import_texture``.
    profiles: dict[str, dict[str, Any]] = Field(default_factory=dict)
    rules: tuple[DecisionRule, ...] = Field(default=(), strict=False)
    pictures: PictureLimits = PictureLimits()
    #: validator id → its parameters.
    checks: dict[str, dict[str, Any]] = Field(default_factory=dict)
    #: failure code → what a person of this project does about it; adds to the capability's own mend.
    failures: dict[str, str] = Field(default_factory=dict)
