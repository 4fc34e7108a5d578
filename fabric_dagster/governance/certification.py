"""Certification: a certifier consumes a validator's receipt, once, for one exact graph digest.

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
from fabric_dagster.governance.history import Certified, History, history, receipt_key, stream_of
from fabric_dagster.governance.receipts import open_receipt
from fabric_dagster.governance.roles import require
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
    """Record that ``qualification`` passed; it grants nothing. Refuses one that did not pass."""
    require(trust, signer, "graph.qualify")
    if not qualification.passed:
        failed = ", ".join(case.id for case in qualification.cases if not case.passed)
        raise Refused(
            "authority.unqualified",
            f"the qualification did not pass: {failed}",
            where=qualification.reference,
            mend="mend the pack, or the corpus where it expects the wrong thing",
        )
    body = {
        "reference": qualification.reference,
        "graph": qualification.graph,
        "pack": qualification.pack,
        "corpus": qualification.corpus,
        "results": qualification.digest,
        "cases": len(qualification.cases),
    }
    key = f"qualified:{qualification.digest}"
    return store.append(
        [NewEvent(stream_of(qualification.graph), "graph.qualified", body, key)], signer=signer
    )[0]


def certify(store: EventStore, signer: Signer, envelope: Mapping[str, Any], trust: TrustRoot) -> Certificate:
    """Consume the receipt in ``envelope`` and certify its graph.

    Raises ``Refused``: ``authority.denied``, ``authority.bad_receipt``, ``authority.unqualified``,
    ``authority.same_identity``, ``authority.receipt_consumed``.
    """
    require(trust, signer, "graph.certify")
    receipt = open_receipt(envelope, trust)
    builder = _qualified_by(store, trust, receipt)
    separate(builder=builder, validator=(receipt.validator, receipt.keyid), certifier=_of(signer))
    review = receipt.review
    certificate = Certificate.model_validate(
        {
            "schema": Certificate.SCHEMA,
            "reference": review.reference,
            "graph": review.graph,
            "pack": review.pack,
            "corpus": review.corpus,
            "results": review.results,
            "receipt": receipt.digest,
            "validator": receipt.validator,
            "certifier": signer.identity,
        }
    )
    body = {
        "certificate": certificate.body(),
        "receipt": dict(envelope),
        # Makes each attempt an act of its own, so that the log lets one of them win and tells the others.
        "claim": secrets.token_hex(16),
    }
    event = NewEvent(stream_of(review.graph), "graph.certified", body, receipt_key(receipt.digest))
    try:
        store.append([event], signer=signer)
    except Conflict as fault:
        if fault.code != "spine.key_reused":
            raise
        raise Refused(
            "authority.receipt_consumed",
            "this receipt was consumed already",
            where=review.reference,
            value=receipt.digest,
            mend="let the validator review the graph again for another certificate",
        ) from None
    return certificate


def _of(signer: Signer) -> tuple[str, str]:
    return signer.identity, signer.keyid


def _qualified_by(store: EventStore, trust: TrustRoot, receipt: Receipt) -> tuple[str, str]:
    """Who recorded the qualification that the receipt reviews; newest first."""
    review = receipt.review
    wanted = {
        "reference": review.reference,
        "pack": review.pack,
        "corpus": review.corpus,
        "results": review.results,
    }
    for event in reversed(history(store, trust, review.graph).qualified):
        if all(event.body.get(key) == value for key, value in wanted.items()):
            return event.actor, event.keyid
    raise Refused(
        "authority.unqualified",
        "no recorded qualification has the receipt's corpus and results",
        where=review.reference,
        mend="qualify the graph as it is now, then let the validator review it",
    )


def separate(**acts: tuple[str, str]) -> None:
    """Refuse (``authority.same_identity``) where two acts come of one identity or one key."""
    seen: dict[str, str] = {}
    for act, names in acts.items():
        for name in names:
            other = seen.setdefault(name, act)
            if other != act:
                raise Refused(
                    "authority.same_identity",
                    f"{act} and {other} are one: {names[0]}",
                    mend="let another identity do it: nobody promotes what they made",
                )


def certified(
    store: EventStore, trust: TrustRoot, graph: str, *, pack: str | None = None, digest: str | None = None
) -> Certified | None:
    """The newest certificate of ``graph`` (for ``pack``, with ``digest``) that holds, or ``None``."""
    return certified_in(history(store, trust, graph), trust, pack=pack, digest=digest)


def certified_in(
    found: History, trust: TrustRoot, *, pack: str | None = None, digest: str | None = None
) -> Certified | None:
    """As ``certified``, from a history that was read already."""
    for item in reversed(found.certified):
        wanted = pack in {None, item.certificate.pack} and digest in {None, item.certificate.digest}
        if wanted and holds(item, found.qualified, trust):
            return item
    return None


def holds(item: Certified, qualified: list[Event], trust: TrustRoot) -> bool:
    """Whether a recorded certificate stands on a receipt that verifies, bound to exactly what it says."""
    certificate, event = item.certificate, item.event
    try:
        receipt = open_receipt(event.body["receipt"], trust)
    except (Refused, KeyError):
        return False
    review = receipt.review
    bound = (review.reference, review.graph, review.pack, review.corpus, review.results, receipt.digest)
    said = (
        certificate.reference,
        certificate.graph,
        certificate.pack,
        certificate.corpus,
        certificate.results,
        certificate.receipt,
    )
    builders = [(q.actor, q.keyid) for q in qualified if q.body.get("results") == review.results]
    try:
        for builder in builders:
            separate(
                builder=builder,
                validator=(receipt.validator, receipt.keyid),
                certifier=(event.actor, event.keyid),
            )
    except Refused:
        return False
    return (
        bound == said
        and bool(builders)
        and certificate.certifier == event.actor
        and event.idempotency_key == receipt_key(receipt.digest)
    )
