"""Qualification of one real installation: the conformance cases, run in it, and a signed record of them.

Rules kept here: the cases work on copies in a private folder that is gone afterwards; every case is in the
record, also one that failed or was not asked; the record is signed by the builder and grants nothing.
"""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pydantic import Field, ValidationError

from fabric_dagster.contracts.base import Digest, Document
from fabric_dagster.digests import canonical, digest_file, dsse_open, dsse_sign
from fabric_dagster.errors import CheckFailed
from fabric_dagster.governance.roles import require
from resources.conformance import CaseRecord, all_passed, recorded
from resources.photoshop.uxp.cases import CASES, Bench
from resources.photoshop.uxp.provider import PATIENCE, UxpPhotoshop
from resources.photoshop.uxp.schema import PLUGIN, schema_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Signer
    from resources.photoshop.uxp.bridge import Bridge

PAYLOAD_TYPE: Final = "application/vnd.fabric.photoshop-qualification+json"


class Qualification(Document):
    """``fabric.photoshop-qualification.v1``."""

    SCHEMA: ClassVar[str] = "fabric.photoshop-qualification.v1"

    schema_: Literal["fabric.photoshop-qualification.v1"] = Field(alias="schema")
    application: str
    version: str
    plugin: str
    #: what the handshake agreed on, and the very bundle that this checkout ships.
    protocol: Digest
    bundle: Digest
    provider: str
    builder: str
    ran_at: str
    cases: tuple[CaseRecord, ...] = Field(strict=False)

    @property
    def passed(self) -> bool:
        """Whether every case that was asked passed, and something was asked."""
        return all_passed(self.cases)


def qualify(
    bridge: Bridge,
    builder: Signer,
    trust: TrustRoot,
    *,
    patience: float = PATIENCE,
    tell: Callable[[str], None] = lambda _line: None,
) -> tuple[Qualification, dict[str, Any]]:
    """Run every case in the Photoshop behind ``bridge``; the record and its DSSE envelope."""
    require(trust, builder, "graph.qualify")
    bridge.open()
    bridge.ledger.require_settled()
    proof = bridge.wait(patience)
    cases = []
    with tempfile.TemporaryDirectory(prefix="fabric-qualify-") as private:
        for case in CASES:
            # Resolved: Photoshop is given real paths, also where the system's temporary folder is a link.
            folder = Path(private).resolve() / case.name
            provider = UxpPhotoshop(folder / "deliveries", folder / "journals", bridge, patience=patience)
            cases.append(recorded(case, provider, partial(Bench, provider, folder / "stages")))
            tell(f"{case.name}: {cases[-1].verdict}")
    record = Qualification(
        schema_="fabric.photoshop-qualification.v1",
        application=proof.application,
        version=proof.version,
        plugin=proof.plugin,
        protocol=schema_digest(),
        bundle=digest_file(PLUGIN / "dist" / "main.js"),
        provider=f"{UxpPhotoshop.name}/{UxpPhotoshop.version}",
        builder=builder.identity,
        ran_at=datetime.now(UTC).isoformat(timespec="seconds"),
        cases=tuple(cases),
    )
    return record, dsse_sign(PAYLOAD_TYPE, canonical(record.body()), builder.keyid, builder.sign)


def open_qualification(envelope: dict[str, Any], trust: TrustRoot) -> Qualification:
    """The record in ``envelope``; ``CheckFailed`` unless a pinned builder signed it."""

    def verify(signature: bytes, message: bytes) -> bool:
        return trust.signed_by_role("builder", signature, message) is not None

    try:
        return Qualification.model_validate(json.loads(dsse_open(envelope, PAYLOAD_TYPE, verify)))
    except ValidationError as fault:
        raise CheckFailed("uxp.bad_qualification", "the signed record is no qualification") from fault
