"""May this graph execute here and now? Decided from the spine and from what lies there, never from a claim.

Rules kept here:

* Default deny: a run needs a certificate and exactly one commission in force for the graph's exact digest.
* The certificate stands on a receipt whose signature verifies with a trusted validator's key, bound to graph,
  corpus and results, consumed by exactly this event, between separate identities.
* What was commissioned must be what is there: pack, SOPs, templates, providers, effects, home, time.
* All reasons are given at once, each with its code; the caller records the refusal.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabric_dagster.errors import Fault, Refused
from fabric_dagster.governance.certification import certified_in, separate
from fabric_dagster.governance.commissioning import expiry
from fabric_dagster.governance.history import Certified, History, commissioned_graphs, history

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.governance.history import Commissioned
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import EventStore

AGAIN = "restore it, or qualify, certify and commission anew"
DEMO = "`fabric demo` certifies and commissions the sample pack"


def authorize_execution(
    store: EventStore,
    *,
    trust: TrustRoot,
    reference: str,
    graph_digest: str,
    pack_digest: str,
    workspace: str,
    home_id: str,
    now: datetime,
    effects: Iterable[str],
    providers: Mapping[str, str],
    sops: Mapping[str, str],
    templates: Mapping[str, str],
    project: str | None = None,
) -> Commission:
    """The commission under which the graph may execute, or ``Refused`` with every reason.

    ``providers`` maps application → ``provider/version``; ``sops`` citation id → digest and ``templates``
    file name → digest of what lies there now; ``project`` is the identity of the project to be written.

    Codes: ``authority.uncertified``, ``.uncommissioned``, ``.ambiguous``, ``.workspace``, ``.expired``,
    ``.demo_home``, ``.pack_drift``, ``.sop_drift``, ``.template_drift``, ``.provider_changed``, ``.effects``,
    ``.out_of_scope``, ``.same_identity``.
    """
    if workspace != store.workspace:
        raise Refused(
            "authority.workspace",
            "the log is another workspace's",
            value=store.workspace,
            mend="open the log of this home's own workspace",
        )
    found = history(store, trust, graph_digest)
    _certificate(found, trust, reference)
    standing = _commission(found, reference)
    certificate = _certificate(found, trust, reference, standing.commission.certificate)
    _unambiguous(store, trust, standing.commission, project, now)
    _separate(found, certificate, standing)
    commission = standing.commission
    faults = [
        *_general(commission, certificate, pack_digest, home_id, now),
        *_drift(commission, sops, templates, providers),
        *_reach(commission, effects, project),
    ]
    if faults:
        raise Refused.of(faults)
    return commission


def _certificate(found: History, trust: TrustRoot, reference: str, digest: str | None = None) -> Certified:
    item = certified_in(found, trust, digest=digest)
    if item is None or item.certificate.reference != reference:
        raise Refused(
            "authority.uncertified",
            "no certificate holds for this exact graph",
            where=reference,
            value=found.graph,
            mend=f"qualify, review and certify it; {DEMO}",
        )
    return item


def _commission(found: History, reference: str) -> Commissioned:
    mine = found.commissioned
    if mine is None or mine.commission.reference != reference:
        ended = found.ended
        why = (
            "is not commissioned" if ended is None else f"had its commission ended by event {ended.position}"
        )
        raise Refused(
            "authority.uncommissioned",
            f"this exact graph {why}",
            where=reference,
            value=found.graph,
            mend=f"commission it; {DEMO}",
        )
    return mine


def _unambiguous(
    store: EventStore, trust: TrustRoot, mine: Commission, project: str | None, now: datetime
) -> None:
    standing = commissioned_graphs(store, trust, mine.reference, without=mine.graph)
    wanted = mine.scope.project if project is None else project
    others = [
        item.commission.graph
        for item in standing.values()
        if item.commission.scope.project == wanted and _in_time(item.commission, now)
    ]
    if others:
        raise Refused(
            "authority.ambiguous",
            "two revisions of this graph are commissioned for one project",
            where=mine.reference,
            value=", ".join(sorted([mine.graph, *others])),
            mend="revoke the commission of the older one",
        )


def _in_time(commission: Commission, now: datetime) -> bool:
    ends = expiry(commission)
    return ends is not None and now.astimezone(UTC) < ends


def _separate(found: History, item: Certified, standing: Commissioned) -> None:
    for event in found.qualified:
        if event.body.get("results") == item.certificate.results:
            separate(
                builder=(event.actor, event.keyid),
                certifier=(item.event.actor, item.event.keyid),
                commissioner=(standing.event.actor, standing.event.keyid),
            )


def _general(
    commission: Commission, item: Certified, pack: str, home_id: str, now: datetime
) -> Iterator[Fault]:
    if not _in_time(commission, now):
        what = "the commission has expired"
        yield Fault("authority.expired", what, "", "commission it again", commission.expires)
    if commission.demo_home not in {None, home_id}:
        yield Fault("authority.demo_home", "this is the demo commission of another home", "", DEMO)
    if pack != commission.pack or pack != item.certificate.pack:
        what = "the pack is not the one that was certified and commissioned"
        yield Fault("authority.pack_drift", what, "", AGAIN, pack)


def _drift(
    commission: Commission,
    sops: Mapping[str, str],
    templates: Mapping[str, str],
    providers: Mapping[str, str],
) -> Iterator[Fault]:
    for name in sorted(commission.sops.keys() | sops.keys()):
        if commission.sops.get(name) != sops.get(name):
            what = "a cited SOP is not the commissioned revision"
            yield Fault("authority.sop_drift", what, "", AGAIN, name)
    for name, digest in sorted(commission.scope.templates.items()):
        if templates.get(name) != digest:
            what = "a template is not the commissioned one" if name in templates else "a template is missing"
            yield Fault("authority.template_drift", what, "", AGAIN, name)
    for name in sorted(commission.providers.keys() | providers.keys()):
        expected, found = commission.providers.get(name, "none"), providers.get(name, "none")
        if expected != found:
            what = f"{name} is served by another provider than the commissioned {expected}"
            mend = "commission the graph for this provider"
            yield Fault("authority.provider_changed", what, "", mend, found)


def _reach(commission: Commission, effects: Iterable[str], project: str | None) -> Iterator[Fault]:
    if beyond := sorted(set(effects) - set(commission.effects)):
        what = "the graph has effects outside of the commissioned envelope"
        mend = "commission a wider envelope, or use a graph with less"
        yield Fault("authority.effects", what, "", mend, ", ".join(beyond))
    if project not in {None, commission.scope.project}:
        what, mend = "the commission is for another project", "commission it for this project"
        yield Fault("authority.out_of_scope", what, "", mend, commission.scope.project)
