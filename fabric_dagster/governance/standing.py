"""How a graph stands, told to people: its state, who did what, what would end it, and what did.

Rules kept here: this reads and decides nothing; whether a graph may execute is ``authority.py``'s answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.governance.authority import CODES
from fabric_dagster.governance.history import history, revisions
from fabric_dagster.governance.lifecycle import NEXT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.errors import Fault
    from fabric_dagster.governance.history import History
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Event, EventStore

Told = dict[str, Any]


def standing(
    store: EventStore, trust: TrustRoot, reference: str, graph: str, why_not: Iterable[Fault]
) -> Told:
    """The present revision ``graph`` of ``reference``; ``why_not`` are authority's reasons, if any."""
    found = history(store, trust, graph)
    faults = [fault.as_dict() for fault in why_not]
    others = [item for item in revisions(store, trust, reference) if item.graph != graph]
    return {
        "reference": reference,
        "graph": graph,
        "state": found.state,
        "may_execute": not faults,
        "why_not": faults,
        "next": NEXT[found.state].format(graph=reference),
        "acts": _acts(found, trust),
        "sealed": _sealed(found),
        "invalidated_by": [
            {"code": code, "holds": code not in {item["code"] for item in faults}, "must": must}
            for code, must in CODES.items()
        ],
        "ignored": [{**_of(event), "why": why} for event, why in found.ignored],
        "other_revisions": [{"graph": item.graph, "state": item.state} for item in others],
    }


def _of(event: Event) -> Told:
    return {
        "event": event.position,
        "type": event.type,
        "at": event.recorded_at,
        "by": event.actor,
        "keyid": event.keyid,
    }


def _acts(found: History, trust: TrustRoot) -> list[Told]:
    """Every act that counts, oldest first; a revoked key is named."""
    acts = [{**_of(event), "digest": event.body["results"]} for event in found.qualified]
    for item in found.certified:
        receipt = item.receipt
        reviewed = {"by": receipt.validator, "keyid": receipt.keyid, "digest": receipt.digest}
        acts.append({**_of(item.event), "type": "receipt", **reviewed})
        acts.append({**_of(item.event), "digest": item.certificate.digest})
    acts += [{**_of(item.event), "digest": item.certified.certificate.digest} for item in found.published]
    if found.commissioned is not None:
        given = found.commissioned
        acts.append({**_of(given.event), "digest": given.commission.digest})
    if found.ended is not None:
        acts.append({**_of(found.ended), "reason": found.ended.body.get("reason", "")})
    for act in acts:
        if (end := trust.ended(act["keyid"])) is not None:
            act["key"] = end.how
    return sorted(acts, key=lambda act: int(act["event"]))


def _sealed(found: History) -> Told:
    """What the newest certificate and the commission seal: a change of any of it invalidates."""
    certified = found.certified[-1].certificate if found.certified else None
    commission = None if found.commissioned is None else found.commissioned.commission
    told: Told = {}
    if certified is not None:
        told |= {
            "certificate": certified.digest,
            "pack": certified.pack,
            "corpus": certified.corpus,
            "results": certified.results,
            **certified.bindings.body(),
        }
    if commission is not None:
        told |= _commission(commission)
    return told


def _commission(commission: Commission) -> Told:
    return {
        "commission": commission.digest,
        "project": commission.scope.project,
        "templates": dict(commission.scope.templates),
        "writes": list(commission.scope.writes),
        "effects": list(commission.effects),
        "approval": commission.approval,
        "sops": dict(commission.sops),
        "providers": dict(commission.providers),
        "expires": commission.expires,
        **({} if commission.demo_home is None else {"demo_home": commission.demo_home}),
    }
