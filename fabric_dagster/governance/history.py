"""What the spine says about a graph: the lawful events of its stream, in order.

Rules kept here:

* Nothing but signed events is read; an event whose signer may not record it counts as not there.
* A certificate or commission is believed only as far as its own bytes agree with its stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from fabric_dagster.contracts.commission import Certificate, Commission
from fabric_dagster.governance.roles import lawful

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Event, EventStore

ENDED = frozenset({"graph.suspended", "graph.revoked"})


def stream_of(graph: str) -> str:
    """The stream of the graph with this digest."""
    return f"graph:{graph}"


def receipt_key(receipt: str) -> str:
    """The idempotency key under which a receipt is consumed."""
    return f"receipt:{receipt}"


@dataclass(frozen=True, slots=True)
class Certified:
    """A certificate with its event."""

    certificate: Certificate
    event: Event


@dataclass(frozen=True, slots=True)
class Commissioned:
    """A commission with its event."""

    commission: Commission
    event: Event


@dataclass
class History:
    """One graph's lifecycle as signed."""

    graph: str
    qualified: list[Event] = field(default_factory=list)
    certified: list[Certified] = field(default_factory=list)
    #: the commission in force, if any; a later one replaces an earlier one.
    commissioned: Commissioned | None = None
    #: the event that ended the last commission, if one did.
    ended: Event | None = None


def history(store: EventStore, trust: TrustRoot, graph: str) -> History:
    """The lifecycle of ``graph``, read whole: a missing event of the stream is seen."""
    found = History(graph)
    for event in store.read(stream_of(graph)):
        if not lawful(event, trust):
            continue
        if event.type == "graph.qualified":
            found.qualified.append(event)
        elif event.type == "graph.certified":
            certificate = certificate_of(event)
            if certificate is not None and certificate.graph == graph:
                found.certified.append(Certified(certificate, event))
        elif event.type == "graph.commissioned":
            commission = commission_of(event)
            if commission is not None and commission.graph == graph:
                found.commissioned, found.ended = Commissioned(commission, event), None
        elif event.type in ENDED and found.commissioned is not None:
            found.commissioned, found.ended = None, event
    return found


def commissioned_graphs(
    store: EventStore, trust: TrustRoot, reference: str, *, without: str | None = None
) -> Mapping[str, Commissioned]:
    """Graph digest → the commission in force, for every graph commissioned as ``reference`` but one."""
    graphs = {
        commission.graph: None
        for event in store.read(types=["graph.commissioned"])
        if lawful(event, trust)
        and (commission := commission_of(event)) is not None
        and commission.reference == reference
        and commission.graph != without
    }
    standing = ((graph, history(store, trust, graph).commissioned) for graph in graphs)
    return {graph: found for graph, found in standing if found is not None}


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
