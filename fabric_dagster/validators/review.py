"""The validator's review of a candidate graph: everything derived again, signed only where all cases pass.

Rules kept here:

* Nothing is taken from whoever asks but a folder and a name: pack, seal, compilation and every case of the
  corpus are derived here from the bytes.
* A review that did not pass is never signed. What is signed grants nothing by itself.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.qualification import Review
from fabric_dagster.errors import CheckFailed, Fault
from fabric_dagster.governance.qualification import compile_reference, qualify
from fabric_dagster.governance.receipts import sign_review, statement_of
from fabric_dagster.intelligence.packs import load_pack

if TYPE_CHECKING:
    from pathlib import Path

    from fabric_dagster.spine.ports import Signer


def examine(pack_folder: Path, reference: str, corpus: str | None = None) -> Review:
    """The review of ``reference``; ``CheckFailed`` (``review.failed``) names every failed case."""
    pack = load_pack(pack_folder)
    found = qualify(pack, compile_reference(pack, reference), corpus)
    faults = [
        Fault("review.failed", f"case {case.id} failed: {case.why}", f"{pack.pack.name}: {reference}")
        for case in found.cases
        if not case.passed
    ]
    if faults:
        raise CheckFailed.of(faults)
    return Review(
        schema_="fabric.review.v1",
        reference=found.reference,
        graph=found.graph,
        pack=found.pack,
        corpus=found.corpus,
        results=found.digest,
        cases=len(found.cases),
        passed=True,
        nonce=secrets.token_hex(16),
    )


def review(pack_folder: Path, reference: str, corpus: str | None = None) -> dict[str, Any]:
    """The in-toto Statement of a passed review."""
    return statement_of(examine(pack_folder, reference, corpus))


def signed_review(
    pack_folder: Path, reference: str, signer: Signer, corpus: str | None = None
) -> dict[str, Any]:
    """The receipt: a passed review in a DSSE envelope, signed with the validator's key."""
    return sign_review(examine(pack_folder, reference, corpus), signer)
