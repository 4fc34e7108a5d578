"""``fabric.handoff.v1``: an artifact sealed by its bytes between two specialists."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Digest, Document, NodeId
from fabric_dagster.contracts.specialist import ArtifactRef


class Handoff(Document):
    """Found on the spine by run and node; its bytes are verified before anyone reads them."""

    SCHEMA: ClassVar[str] = "fabric.handoff.v1"

    schema_: Literal["fabric.handoff.v1"] = Field(alias="schema")
    run: Digest
    node: NodeId
    artifact: ArtifactRef
    #: width, height, alpha bounds and coverage, colour space, bit depth: as observed on the bytes.
    facts: dict[str, Any]
    #: digests of the inputs that the artifact was made from (template, art, plan).
    lineage: dict[str, Digest]
    #: envelope digests of the verdicts that passed before the seal.
    validations: tuple[Digest, ...] = Field(strict=False)
    #: the event by which a person approved these bytes, where the commission asks for that.
    approval: Digest | None = None
