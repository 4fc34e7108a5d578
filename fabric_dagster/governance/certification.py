"""Qualified and certified: a builder's no-write pass recorded; a validator's receipt consumed, once.

Rules kept here:

* The receipt must be bound to a qualification that a builder recorded: same graph, pack, corpus, results.
* Builder, validator and certifier are three identities with three keys.
* A receipt is consumed by its payload digest: of any number who try, one succeeds.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.commission import Certificate
from fabric_dagster.errors import Conflict, Refused
from fabric_dagster.governance.history import history, qualifications, receipt_key, stream_of, who
from fabric_dagster.governance.lifecycle import CERTIFIED, QUALIFIED, require_step
from fabric_dagster.governance.receipts import open_receipt
from fabric_dagster.governance.roles import require
from fabric_dagster.governance.separation import separate
from fabric_dagster.spine.ports import NewEvent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.contracts.qualification import Qualification
    from fabric_dagster.governance.receipts import Receipt
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Event, EventStore, Signer


def record_qualification(
    store: EventStore, signer: Signer, qualification: Qualification, trust: TrustRoot
) -> Event:
    """Record that ``qualification`` passed; it grants nothing. Refuses one that did not pass.

    The same results again are the same act, until what stood on them was revoked.
    """
    require(trust, signer, "graph.qualify")
    if not qualification.passed:
        failed = ", ".join(case.id for case in qualification.cases if not case.passed)
        raise Refused(
            "authority.unqualified",
            f"the qualification did not pass: {failed}",
            where=qualification.reference,
            mend="mend the pack, or the corpus where it expects the wrong thing",
        )
    found = history(store, trust, qualification.graph)
    body = {
        "reference": qualification.reference,
        "graph": qualification.graph,
        "pack": qualification.pack,
        "corpus": qualification.corpus,
        "results": qualification.digest,
        "cases": len(qualification.cases),
    }
    key = f"qualified:{qualification.digest}:{found.revocations}"
    return store.append([NewEvent(stream_of(qualification.graph), QUALIFIED, body, key)], signer=signer)[0]


def certify(
    store: EventStore,
    signer: Signer,
    envelope: Mapping[str, Any],
    trust: TrustRoot,
    *,
    graph: str | None = None,
) -> Certificate:
    """Consume the receipt in ``envelope`` and certify its graph; ``graph`` is the digest that is meant.

    Raises ``Refused``: ``authority.denied``, ``authority.bad_receipt``, ``authority.key_revoked``,
    ``authority.key_retired``, ``authority.receipt_other_graph``, ``authority.receipt_consumed``,
    ``authority.unqualified``, ``authority.same_identity``.
    """
    require(trust, signer, "graph.certify")
    receipt = open_receipt(envelope, trust)
    review = receipt.review
    if graph not in {None, review.graph}:
        raise Refused(
            "authority.receipt_other_graph",
            "the receipt is for another revision of the graph",
            where=review.reference,
            value=review.graph,
            mend="let the validator review the graph as it is now",
        )
    if store.by_key(receipt_key(receipt.digest)) is not None:
        raise _consumed(receipt)
    _still_good(receipt, trust)
    found = history(store, trust, review.graph)
    builders = qualifications(found, receipt)
    if not builders:
        raise Refused(
            "authority.unqualified",
            "no recorded qualification has the receipt's corpus and results",
            where=review.reference,
            mend="qualify the graph as it is now, then let the validator review it",
        )
    for builder in builders:
        separate(
            builder=who(builder),
            validator=(receipt.validator, receipt.keyid),
            certifier=(signer.identity, signer.keyid),
        )
    require_step(found.state, CERTIFIED, review.reference)
    certificate = Certificate(
        schema_="fabric.certificate.v1",
        reference=review.reference,
        graph=review.graph,
        pack=review.pack,
        corpus=review.corpus,
        results=review.results,
        bindings=review.bindings,
        receipt=receipt.digest,
        validator=receipt.validator,
        certifier=signer.identity,
    )
    body = {
        "certificate": certificate.body(),
        "receipt": dict(envelope),
        # Makes each attempt an act of its own, so that the log lets one of them win and tells the others.
        "claim": secrets.token_hex(16),
    }
    event = NewEvent(stream_of(review.graph), CERTIFIED, body, receipt_key(receipt.digest))
    try:
        store.append([event], signer=signer)
    except Conflict as fault:
        if fault.code != "spine.key_reused":
            raise
        raise _consumed(receipt) from None
    return certificate


def _consumed(receipt: Receipt) -> Refused:
    return Refused(
        "authority.receipt_consumed",
        "this receipt was consumed already",
        where=receipt.review.reference,
        value=receipt.digest,
        mend="let the validator review the graph again for another certificate",
    )


def _still_good(receipt: Receipt, trust: TrustRoot) -> None:
    """A receipt is consumed while its validator's key is active."""
    end = trust.ended(receipt.keyid)
    if end is not None:
        raise Refused(
            f"authority.key_{end.how}",
            f"the receipt is signed with a key of {receipt.validator} that was {end.how}: {end.reason}",
            where=receipt.review.reference,
            value=receipt.keyid,
            mend="let the validator review the graph again with its present key",
        )
