"""What the spine says about a graph: its stream, folded by the lifecycle's table, believing nothing else.

Rules kept here:

* Nothing but signed events is read. An event counts only if its signer may record it (``roles.lawful``), the
  table lets it follow (``lifecycle.LIFECYCLE``), and what it says holds: a certificate stands on a receipt
  that verifies and on a qualification, a publication on a certificate, a commission on a publication, each
  between separate identities. What does not count is kept with its reason, for people.
* A revocation ends everything before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from fabric_dagster.contracts.commission import Certificate, Commission
from fabric_dagster.errors import Refused
from fabric_dagster.governance.lifecycle import (
    CERTIFIED,
    COMMISSIONED,
    PUBLISHED,
    QUALIFIED,
    RESUMED,
    REVOKED,
    SUSPENDED,
    follows,
)
from fabric_dagster.governance.receipts import open_receipt
from fabric_dagster.governance.roles import lawful
from fabric_dagster.governance.separation import Who, separated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fabric_dagster.governance.lifecycle import LifecycleState
    from fabric_dagster.governance.receipts import Receipt
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Event, EventStore


def stream_of(graph: str) -> str:
    """The stream of the graph with this digest."""
    return f"graph:{graph}"


def receipt_key(receipt: str) -> str:
    """The idempotency key under which a receipt is consumed."""
    return f"receipt:{receipt}"


def who(event: Event) -> Who:
    """The identity and key that signed ``event``."""
    return event.actor, event.keyid


@dataclass(frozen=True, slots=True)
class Certified:
    """A certificate that holds, with what it stands on."""

    certificate: Certificate
    event: Event
    receipt: Receipt
    #: the qualifications with the receipt's results, oldest first; never empty.
    qualified: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Published:
    """A published certificate."""

    certified: Certified
    event: Event


@dataclass(frozen=True, slots=True)
class Commissioned:
    """A commission, with what it stands on."""

    commission: Commission
    event: Event
    published: Published

    def keys(self) -> Mapping[str, str]:
        """Act → keyid of every key that this commission stands on."""
        certified = self.published.certified
        return {
            "qualification": certified.qualified[-1].keyid,
            "receipt": certified.receipt.keyid,
            "certificate": certified.event.keyid,
            "publication": self.published.event.keyid,
            "commission": self.event.keyid,
        }


@dataclass
class History:
    """One graph's lifecycle as signed."""

    graph: str
    state: LifecycleState = "candidate"
    #: version of the graph's stream that this is the projection of.
    version: int = 0
    qualified: list[Event] = field(default_factory=list)
    certified: list[Certified] = field(default_factory=list)
    published: list[Published] = field(default_factory=list)
    #: the commission in force, or suspended; a later one replaces an earlier one.
    commissioned: Commissioned | None = None
    #: the event that suspended or revoked what stood, if one did.
    ended: Event | None = None
    revocations: int = 0
    #: events that count for nothing, each with the reason.
    ignored: list[tuple[Event, str]] = field(default_factory=list)

    def certificate(self, digest: str) -> Certified | None:
        """The certificate with this digest, if it holds."""
        return next((item for item in self.certified if item.certificate.digest == digest), None)

    def publication(self, certificate: str) -> Published | None:
        """The publication of this certificate."""
        found = (item for item in self.published if item.certified.certificate.digest == certificate)
        return next(found, None)


def history(store: EventStore, trust: TrustRoot, graph: str) -> History:
    """The lifecycle of ``graph``, read whole: a missing event of the stream is seen."""
    found = History(graph)
    for event in store.read(stream_of(graph)):
        found.version = event.version
        if not lawful(event, trust):
            found.ignored.append((event, f"{event.actor} may not record it"))
            continue
        following = follows(found.state, event.type)
        if following is None:
            found.ignored.append((event, f"it cannot follow the state {found.state}"))
            continue
        why = _TAKES[event.type](found, event, trust)
        if why is not None:
            found.ignored.append((event, why))
        else:
            found.state = following
    return found


def _take_qualified(found: History, event: Event, _trust: TrustRoot) -> str | None:
    found.qualified.append(event)
    found.ended = None
    return None


def _take_certified(found: History, event: Event, trust: TrustRoot) -> str | None:
    certificate = certificate_of(event)
    if certificate is None or certificate.graph != found.graph:
        return "it holds no certificate of this graph"
    try:
        receipt = open_receipt(event.body["receipt"], trust)
    except (Refused, KeyError):
        return "its receipt does not verify"
    review = receipt.review
    parts = ("reference", "graph", "pack", "corpus", "results", "bindings")
    consumed = (certificate.receipt, event.idempotency_key) == (receipt.digest, receipt_key(receipt.digest))
    qualified = qualifications(found, receipt)
    acts = {"validator": (receipt.validator, receipt.keyid), "certifier": who(event)}
    named = (certificate.validator, certificate.certifier) == (receipt.validator, event.actor)
    apart = all(separated(builder=who(item), **acts) for item in qualified)
    alike = all(getattr(certificate, part) == getattr(review, part) for part in parts)
    needed = (
        (trust.valid_at(receipt.keyid, event.position), "its receipt was signed by a key that had ended"),
        (alike, "it does not say what its receipt says"),
        (consumed, "it did not consume its receipt"),
        (named, "it names others than those who signed"),
        (bool(qualified), "no qualification has its results"),
        (apart, "its acts do not come of separate identities"),
    )
    why = next((text for holds, text in needed if not holds), None)
    if why is None:
        found.certified.append(Certified(certificate, event, receipt, qualified))
    return why


def qualifications(found: History, receipt: Receipt) -> tuple[Event, ...]:
    """The recorded qualifications that the receipt reviews, oldest first."""
    review = receipt.review
    wanted = {
        "reference": review.reference,
        "pack": review.pack,
        "corpus": review.corpus,
        "results": review.results,
    }
    return tuple(
        event
        for event in found.qualified
        if all(event.body.get(key) == value for key, value in wanted.items())
    )


def duties(certified: Certified) -> dict[str, Who]:
    """Who did what up to the certificate, for ``separate``."""
    return {
        "builder": who(certified.qualified[-1]),
        "validator": (certified.receipt.validator, certified.receipt.keyid),
        "certifier": who(certified.event),
    }


def _take_published(found: History, event: Event, _trust: TrustRoot) -> str | None:
    certified = found.certificate(str(event.body.get("certificate")))
    if certified is None:
        return "it names no certificate that holds"
    if not separated(**duties(certified), publisher=who(event)):
        return "its acts do not come of separate identities"
    found.published.append(Published(certified, event))
    return None


def _take_commissioned(found: History, event: Event, _trust: TrustRoot) -> str | None:
    commission = commission_of(event)
    if commission is None or commission.graph != found.graph:
        return "it holds no commission of this graph"
    published = found.publication(commission.certificate)
    if published is None:
        return "it names no certificate that is published"
    certificate = published.certified.certificate
    if (commission.reference, commission.pack) != (certificate.reference, certificate.pack):
        return "it is for another reference or pack than its certificate"
    acts = {**duties(published.certified), "publisher": who(published.event)}
    if commission.commissioner != event.actor or not separated(**acts, commissioner=who(event)):
        return "its acts do not come of separate identities"
    found.commissioned, found.ended = Commissioned(commission, event, published), None
    return None


def _take_suspended(found: History, event: Event, _trust: TrustRoot) -> str | None:
    found.ended = event
    return None


def _take_resumed(found: History, _event: Event, _trust: TrustRoot) -> str | None:
    found.ended = None
    return None


def _take_revoked(found: History, event: Event, _trust: TrustRoot) -> str | None:
    found.qualified, found.certified, found.published = [], [], []
    found.commissioned, found.ended = None, event
    found.revocations += 1
    return None


_TAKES: Mapping[str, Callable[[History, Event, TrustRoot], str | None]] = {
    QUALIFIED: _take_qualified,
    CERTIFIED: _take_certified,
    PUBLISHED: _take_published,
    COMMISSIONED: _take_commissioned,
    SUSPENDED: _take_suspended,
    RESUMED: _take_resumed,
    REVOKED: _take_revoked,
}


def commissioned_graphs(
    store: EventStore, trust: TrustRoot, reference: str, *, without: str | None = None
) -> Mapping[str, Commissioned]:
    """Graph digest → the commission in force, for every graph commissioned as ``reference`` but one."""
    graphs = {
        commission.graph: None
        for event in store.read(types=[COMMISSIONED])
        if (commission := commission_of(event)) is not None
        and commission.reference == reference
        and commission.graph != without
    }
    standing = {graph: history(store, trust, graph) for graph in graphs}
    return {
        graph: found.commissioned
        for graph, found in standing.items()
        if found.state == "commissioned" and found.commissioned is not None
    }


def revisions(store: EventStore, trust: TrustRoot, reference: str) -> list[History]:
    """The history of every graph that was ever qualified as ``reference``, the latest begun last."""
    graphs = {
        str(event.body.get("graph")): None
        for event in store.read(types=[QUALIFIED])
        if event.body.get("reference") == reference
    }
    return [history(store, trust, graph) for graph in graphs]


def certified_before(store: EventStore, trust: TrustRoot, reference: str, without: str) -> Certified | None:
    """The newest certificate of ``reference`` for another graph than ``without``: changes are told by it."""
    for event in reversed(list(store.read(types=[CERTIFIED]))):
        certificate = certificate_of(event)
        if certificate is None or certificate.reference != reference or certificate.graph == without:
            continue
        found = history(store, trust, certificate.graph).certificate(certificate.digest)
        if found is not None:
            return found
    return None


def certificate_of(event: Event) -> Certificate | None:
    """The certificate in a ``graph.certified`` event, or ``None`` where there is no valid one."""
    try:
        return Certificate.model_validate(event.body["certificate"])
    except (ValidationError, KeyError):
        return None


def commission_of(event: Event) -> Commission | None:
    """The commission in a ``graph.commissioned`` event, or ``None`` where there is no valid one."""
    try:
        return Commission.model_validate(event.body["commission"])
    except (ValidationError, KeyError):
        return None
