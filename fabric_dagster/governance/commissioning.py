"""Commissioning: a commissioner seals where, with what and until when a certified graph may execute.

Rules kept here:

* Only a graph that is certified and published for exactly this digest and pack is commissioned, by another
  identity than those who built, reviewed, certified and published it.
* A later commission of the same graph replaces the earlier; a commission of another revision does not, and
  while two stand nothing runs: the old one is revoked first.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabric_dagster.capabilities.effects import EFFECTS
from fabric_dagster.errors import Fault, Refused
from fabric_dagster.governance.history import duties, history, stream_of, who
from fabric_dagster.governance.lifecycle import COMMISSIONED, RESUMED, REVOKED, SUSPENDED, require_step
from fabric_dagster.governance.roles import require
from fabric_dagster.governance.separation import separate
from fabric_dagster.spine.ports import NewEvent

if TYPE_CHECKING:
    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Event, EventStore, Signer


def expiry(commission: Commission) -> datetime | None:
    """When ``commission`` ends, in UTC; ``None`` where that is no RFC 3339 time with a zone."""
    try:
        moment = datetime.fromisoformat(commission.expires)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo is not None else None


def commission(
    store: EventStore, signer: Signer, document: Commission, trust: TrustRoot, *, now: datetime | None = None
) -> Event:
    """Seal ``document``; the same one again is the same act.

    Raises ``Refused`` with every fault: ``authority.denied``, ``authority.uncertified``,
    ``authority.unpublished``, ``authority.same_identity``, ``authority.bad_commission``,
    ``authority.expired``, ``authority.lifecycle``, ``authority.ended``.
    """
    require(trust, signer, "graph.commission")
    found = history(store, trust, document.graph)
    certified = found.certificate(document.certificate)
    if certified is None or certified.certificate.pack != document.pack:
        raise Refused(
            "authority.uncertified",
            "the commission names no certificate that holds for this graph and pack",
            where=document.reference,
            mend="certify the graph first",
        )
    published = found.publication(document.certificate)
    if published is None:
        raise Refused(
            "authority.unpublished",
            "the certificate is not published",
            where=document.reference,
            value=document.certificate,
            mend=f"publish it first: `fabric publish {document.reference}`",
        )
    acts = {**duties(certified), "publisher": who(published.event)}
    separate(**acts, commissioner=(signer.identity, signer.keyid))
    faults = list(_faults(store, signer, document, now or datetime.now(UTC)))
    if document.reference != certified.certificate.reference:
        faults.append(_bad("it is for another reference than its certificate", document.reference))
    if faults:
        raise Refused.of(faults)
    require_step(found.state, COMMISSIONED, document.reference)
    body = {"commission": document.body()}
    event = store.append(
        [NewEvent(stream_of(document.graph), COMMISSIONED, body, f"commission:{document.digest}")],
        signer=signer,
    )[0]
    standing = history(store, trust, document.graph)
    if standing.commissioned is None or standing.commissioned.event.position != event.position:
        raise Refused(
            "authority.ended",
            "exactly this commission was given before and has ended",
            where=document.reference,
            mend="commission again with a new expiry",
        )
    return event


def _faults(store: EventStore, signer: Signer, document: Commission, now: datetime) -> list[Fault]:
    faults = []
    if document.workspace != store.workspace:
        faults.append(_bad("it is for another workspace", document.workspace))
    if document.commissioner != signer.identity:
        faults.append(_bad("it names another commissioner than its signer", document.commissioner))
    if unknown := sorted(set(document.effects) - EFFECTS.keys()):
        faults.append(_bad("it allows an effect that does not exist", ", ".join(unknown)))
    if bad := [p for p in document.scope.writes if p.startswith("/") or ".." in p.split("/") or "\\" in p]:
        faults.append(_bad("a prefix to write under is no plain relative path", ", ".join(bad)))
    ends = expiry(document)
    if ends is None:
        faults.append(_bad("its expiry is no RFC 3339 time with a zone", document.expires))
    elif ends <= now:
        faults.append(
            Fault("authority.expired", "it has expired already", "", "give a later time", document.expires)
        )
    return faults


def _bad(what: str, value: str) -> Fault:
    return Fault("authority.bad_commission", f"the commission is refused: {what}", "", "mend it", value)


def suspend(
    store: EventStore, signer: Signer, graph: str, reference: str, reason: str, trust: TrustRoot
) -> Event:
    """Pause the commission of ``graph`` until it is resumed: nothing new begins, nothing new is committed.

    Raises ``Refused`` (``authority.denied``, ``authority.lifecycle``, ``authority.no_reason``) and
    ``Conflict`` where somebody else acted on the graph at the same moment.
    """
    return _end(store, signer, graph, reference, reason, trust, "graph.suspend", SUSPENDED)


def resume(
    store: EventStore, signer: Signer, graph: str, reference: str, reason: str, trust: TrustRoot
) -> Event:
    """Let the suspended commission go on; what drifted meanwhile is still refused. Raises as ``suspend``."""
    return _end(store, signer, graph, reference, reason, trust, "graph.resume", RESUMED)


def revoke(
    store: EventStore, signer: Signer, graph: str, reference: str, reason: str, trust: TrustRoot
) -> Event:
    """End everything that stands for ``graph``: certificates, publications, commission. As ``suspend``."""
    return _end(store, signer, graph, reference, reason, trust, "graph.revoke", REVOKED)


def _end(
    store: EventStore,
    signer: Signer,
    graph: str,
    reference: str,
    reason: str,
    trust: TrustRoot,
    action: str,
    kind: str,
) -> Event:
    require(trust, signer, action)
    if not reason.strip():
        raise Refused("authority.no_reason", "a reason is missing", where=reference, mend="give --reason")
    found = history(store, trust, graph)
    require_step(found.state, kind, reference)
    body = {"reference": reference, "graph": graph, "reason": reason}
    if found.commissioned is not None:
        body["commission"] = found.commissioned.commission.digest
    expected = {stream_of(graph): found.version}
    return store.append([NewEvent(stream_of(graph), kind, body)], signer=signer, expected=expected)[0]
