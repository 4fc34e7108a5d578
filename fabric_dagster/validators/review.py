"""The validator's review of a candidate graph: everything derived again; only a passed one comes to be.

Rules kept here:

* Nothing is taken from whoever asks but a folder and a name: pack, seal, compilation and every case of the
  corpus are derived here from the bytes.
* A review that did not pass is an error, never a document: there is nothing that could be signed.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from fabric_dagster.contracts.qualification import Review
from fabric_dagster.errors import CheckFailed, Fault
from fabric_dagster.governance.qualification import compile_reference, qualify
from fabric_dagster.intelligence.packs import load_pack
from fabric_dagster.validators.bindings import bindings_of

if TYPE_CHECKING:
    from pathlib import Path


def examine(pack_folder: Path, reference: str, corpus: str | None = None) -> Review:
    """The review of ``reference``; ``CheckFailed`` (``review.failed``) names every failed case."""
    pack = load_pack(pack_folder)
    compiled = compile_reference(pack, reference)
    found = qualify(pack, compiled, bindings_of(compiled), corpus)
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
        bindings=found.bindings,
        cases=len(found.cases),
        passed=True,
        nonce=secrets.token_hex(16),
    )
