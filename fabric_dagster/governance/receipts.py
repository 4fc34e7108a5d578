"""A validator's receipt: an in-toto Statement over a review, in a DSSE envelope with one signature.

Rules kept here:

* The subject is the graph by its digest; the predicate is a ``fabric.review.v1``. Both must agree.
* Only a key that the trust root gives the role ``validator`` makes a receipt; ``keyid`` is a hint.
* A receipt is named by its payload's digest, never by its envelope's: re-wrapping it makes no second one.

Sources: in-toto Statement v1, https://github.com/in-toto/attestation; the predicate follows the shape of
SLSA's verification summary.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fabric_dagster.contracts.qualification import Review
from fabric_dagster.digests import canonical, digest_bytes, dsse_open, dsse_sign
from fabric_dagster.errors import CheckFailed, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Signer

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:fabric:review:v1"


@dataclass(frozen=True, slots=True)
class Receipt:
    """An opened receipt: the review, its identity, and whose key signed it."""

    review: Review
    digest: str
    validator: str
    keyid: str


def statement_of(review: Review) -> dict[str, Any]:
    """The in-toto Statement of ``review``."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": review.reference, "digest": {"sha256": review.graph.removeprefix("sha256:")}},
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": review.body(),
    }


def sign_review(review: Review, signer: Signer) -> dict[str, Any]:
    """The receipt's envelope."""
    return dsse_sign(PAYLOAD_TYPE, canonical(statement_of(review)), signer.keyid, signer.sign)


def open_receipt(envelope: Mapping[str, Any], trust: TrustRoot) -> Receipt:
    """The receipt in ``envelope``; ``Refused`` (``authority.bad_receipt``) for anything else."""
    signed_by: list[tuple[str, str]] = []

    def verify(signature: bytes, message: bytes) -> bool:
        found = trust.signed_by_role("validator", signature, message)
        signed_by.extend([] if found is None else [found])
        return found is not None

    try:
        payload = dsse_open(envelope, PAYLOAD_TYPE, verify)
        statement = json.loads(payload)
        review = Review.model_validate(statement["predicate"])
        (subject,) = statement["subject"]
        expected = statement_of(review)
        if {**expected, "subject": [subject]} != statement or subject not in expected["subject"]:
            raise _bad("its statement does not agree with its review")
    except CheckFailed as fault:
        raise _bad(fault.faults[0].what) from fault
    except (ValueError, KeyError, TypeError, ValidationError, RecursionError) as fault:
        raise _bad("it holds no review") from fault
    validator, keyid = signed_by[0]
    return Receipt(review, digest_bytes(payload), validator, keyid)


def _bad(why: str) -> Refused:
    return Refused(
        "authority.bad_receipt",
        f"the validator's receipt is refused: {why}",
        mend="let the validator review the graph again",
    )
