"""Qualification of one real editor: the conformance cases, run with it, and a signed record of them.

Rules kept here: with a batch editor the cases work on a copy of the project that is gone afterwards; only
where the caller says that a running editor has a project open that is meant for it, they write there, and
take back what they wrote. Every case is in the record; it is signed by the builder and grants nothing.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pydantic import Field, ValidationError

from fabric_dagster.contracts.base import Digest, Document
from fabric_dagster.digests import canonical, dsse_open, dsse_sign
from fabric_dagster.errors import CheckFailed, UsageFault
from fabric_dagster.governance.roles import require
from resources.conformance import CaseRecord, all_passed, recorded
from resources.unity.live.cases import CASES, Bench
from resources.unity.live.package import SOURCE, tree_digest
from resources.unity.live.provider import LiveUnity
from resources.unity.project import ROOTS, open_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Signer
    from resources.unity.live.batch import BatchEditor

PAYLOAD_TYPE: Final = "application/vnd.fabric.unity-qualification+json"


class UnityQualification(Document):
    """``fabric.unity-qualification.v1``. ``route`` is how the editor was reached."""

    SCHEMA: ClassVar[str] = "fabric.unity-qualification.v1"

    schema_: Literal["fabric.unity-qualification.v1"] = Field(alias="schema")
    editor: str
    version: str
    package: Digest
    route: Literal["batch", "running", "mcp"]
    provider: str
    builder: str
    ran_at: str
    cases: tuple[CaseRecord, ...] = Field(strict=False)

    @property
    def passed(self) -> bool:
        """Whether every case that was asked passed, and something was asked."""
        return all_passed(self.cases)


def qualify(
    project: Path,
    state: Path,
    builder: Signer,
    trust: TrustRoot,
    *,
    batch: BatchEditor | None,
    mcp: str | None = None,
    target: str = "StandaloneLinux64",
    tell: Callable[[str], None] = lambda _line: None,
) -> tuple[UnityQualification, dict[str, Any]]:
    """Run the cases; the record and its envelope. Without ``batch``, in the editor that is open there."""
    require(trust, builder, "graph.qualify")
    opened = open_project(project)
    with tempfile.TemporaryDirectory(prefix="fabric-qualify-") as private:
        place = Path(private).resolve()
        root = opened.root
        if batch is not None:
            root = place / "project"
            for name in ROOTS:
                if (opened.root / name).is_dir():
                    shutil.copytree(opened.root / name, root / name, symlinks=True)
        provider = LiveUnity(
            root, place / "journals", state=state, batch=batch, mcp=None if mcp is None else lambda: mcp
        )
        if batch is None and not provider.editor_is_open():
            raise UsageFault(
                "unity.no_editor", "no editor has this project open, and none was named", where=str(project),
                mend="give --editor, or open the project and give --running",
            )  # fmt: skip
        cases = []
        for number, case in enumerate(CASES):
            bench = partial(Bench, provider, place / f"case-{number}", target)
            cases.append(recorded(case, provider, bench))
            tell(f"{case.name}: {cases[-1].verdict}")
    route: Literal["batch", "running", "mcp"] = (
        "batch" if batch is not None else "running" if mcp is None else "mcp"
    )
    record = UnityQualification(
        schema_="fabric.unity-qualification.v1",
        editor="" if batch is None else batch.command[0],
        version=opened.version,
        package=tree_digest(SOURCE),
        route=route,
        provider=f"{LiveUnity.name}/{LiveUnity.version}",
        builder=builder.identity,
        ran_at=datetime.now(UTC).isoformat(timespec="seconds"),
        cases=tuple(cases),
    )
    return record, dsse_sign(PAYLOAD_TYPE, canonical(record.body()), builder.keyid, builder.sign)


def open_qualification(envelope: dict[str, Any], trust: TrustRoot) -> UnityQualification:
    """The record in ``envelope``; ``CheckFailed`` unless a pinned builder signed it."""

    def verify(signature: bytes, message: bytes) -> bool:
        return trust.signed_by_role("builder", signature, message) is not None

    try:
        return UnityQualification.model_validate(json.loads(dsse_open(envelope, PAYLOAD_TYPE, verify)))
    except ValidationError as fault:
        raise CheckFailed("unity.bad_qualification", "the signed record is no qualification") from fault
