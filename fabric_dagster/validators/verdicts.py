"""Verdicts as they travel: an in-toto Statement in a DSSE envelope, signed by the validator's key.

Rules kept here:

* The statement's subjects are the artifacts that were judged, by name and SHA-256, so that a verdict
  cannot be shown for other bytes; its predicate is the ``fabric.verdict.v1``.
* Only a key that the trust root gives the role ``validator`` opens one, and none whose owner is a runtime,
  too: the validator is somebody else by key. ``keyid`` is a hint.

Sources: in-toto Statement v1, https://github.com/in-toto/attestation; DSSE, ``fabric_dagster.digests``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fabric_dagster.contracts.evidence import BlindEvidence, Verdict
from fabric_dagster.digests import canonical, dsse_open, dsse_sign
from fabric_dagster.errors import CheckFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Signer

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:fabric:verdict:v1"


def sign_verdict(verdict: Verdict, evidence: BlindEvidence, signer: Signer) -> dict[str, Any]:
    """The envelope of ``verdict`` on ``evidence``."""
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": name, "digest": {"sha256": fact.digest.removeprefix("sha256:")}}
            for name, fact in sorted(evidence.artifacts.items())
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": verdict.body(),
    }
    return dsse_sign(PAYLOAD_TYPE, canonical(statement), signer.keyid, signer.sign)


def open_verdict(
    envelope: Mapping[str, Any],
    trust: TrustRoot,
    evidence: BlindEvidence | None = None,
    *,
    at: int | None = None,
) -> Verdict:
    """The verdict in ``envelope``, signed by a validator that ``trust`` pins.

    With ``evidence``, it must also be the verdict on exactly that: its digest, run, graph, side and subjects.
    With ``at``, the position of the event that records it, it must also let a run go on: its key had not
    ended there, and was not revoked since. Raises ``CheckFailed`` (``envelope.untrusted``,
    ``verdict.invalid``, ``verdict.other_evidence``, ``verdict.key_ended``).
    """
    signers: list[str] = []

    def verify(signature: bytes, message: bytes) -> bool:
        keyid = _independent(trust, signature, message)
        signers.extend([] if keyid is None else [keyid])
        return keyid is not None

    payload = dsse_open(envelope, PAYLOAD_TYPE, verify)
    if at is not None and (trust.revoked(signers[0]) or not trust.valid_at(signers[0], at)):
        raise CheckFailed(
            "verdict.key_ended",
            "the verdict is signed with a key that was retired before or revoked since",
            mend="`fabric doctor` says which key the validator has; give it an active one "
            "(`fabric keys rotate validator --keep`), then run the ticket anew",
        )
    try:
        statement = json.loads(payload)
        if (statement["_type"], statement["predicateType"]) != (STATEMENT_TYPE, PREDICATE_TYPE):
            raise _invalid("the statement is not a verdict's")
        subjects = {item["name"]: f"sha256:{item['digest']['sha256']}" for item in statement["subject"]}
        verdict = Verdict.model_validate(statement["predicate"])
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as fault:
        raise _invalid("the statement is not of the form that verdicts have") from fault
    if verdict.passed != (
        bool(verdict.checks) and all(check.passed for check in verdict.checks if check.blocking)
    ):
        raise _invalid("its checks contradict its conclusion")
    if evidence is not None:
        _is_on(verdict, subjects, evidence)
    return verdict


def _independent(trust: TrustRoot, signature: bytes, message: bytes) -> str | None:
    """The key of the validator that signed, unless it is the runtime's too."""
    signer = trust.signed_by_role("validator", signature, message)
    return None if signer is None or "runtime" in trust.roles(signer[0]) else signer[1]


def _is_on(verdict: Verdict, subjects: Mapping[str, str], evidence: BlindEvidence) -> None:
    for what, said, asked in (
        ("evidence", verdict.evidence, evidence.digest),
        ("run", verdict.run, evidence.run),
        ("graph", verdict.graph, evidence.graph),
        ("side", verdict.side, evidence.side),
        ("subjects", dict(subjects), {name: fact.digest for name, fact in evidence.artifacts.items()}),
        (
            "checks",
            [(check.id, check.after, check.blocking) for check in verdict.checks],
            [(check.id, check.after, check.blocking) for check in evidence.checks],
        ),
    ):
        if said != asked:
            raise CheckFailed(
                "verdict.other_evidence",
                f"the verdict is not one on this evidence: its {what} differ",
                mend="let the validator judge again",
            )


def _invalid(why: str) -> CheckFailed:
    return CheckFailed("verdict.invalid", f"the signed verdict is refused: {why}")
