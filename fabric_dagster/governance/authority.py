"""May this graph execute here and now? Decided from the spine and from what lies there, never from a claim.

Rules kept here:

* Default deny: a run needs a certificate and exactly one commission in force for the graph's exact digest.
* The graph's state is ``commissioned`` (``history.py``): every step of its lifecycle was done, in order, by
  separate identities, and none of their keys was revoked since.
* What was certified and commissioned must be what is there: graph, capabilities, validators, compatibility,
  recovery policy, pack, SOPs, templates, providers, effects, project, home, time.
* All reasons are given at once, each with its code; the caller records the refusal.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabric_dagster.errors import Fault, Refused
from fabric_dagster.governance.commissioning import expiry
from fabric_dagster.governance.history import certified_before, commissioned_graphs, history

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fabric_dagster.contracts.commission import Certificate, Commission
    from fabric_dagster.contracts.qualification import Bindings
    from fabric_dagster.governance.history import Commissioned, History
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import EventStore

ANEW = "qualify, certify, publish and commission anew"
AGAIN = f"restore it, or {ANEW}"
DEMO = "`fabric demo` takes the sample pack through all of it"

#: code → what must be so for a graph to execute; docs/invalidation.md and its test hold every one of them.
CODES: Mapping[str, str] = {
    "authority.workspace": "the log is this workspace's own",
    "authority.uncertified": "a certificate holds for the graph's exact digest",
    "authority.graph_drift": "the graph (nodes, arguments, inputs, bound checks) is the certified revision",
    "authority.capability_drift": "every bound capability is declared as it was certified",
    "authority.validator_drift": "every bound built-in validator has the code that was certified",
    "authority.compatibility_drift": "the compatibility range is the certified one",
    "authority.recovery_drift": "the recovery policy is the certified one",
    "authority.unpublished": "the certificate is published",
    "authority.uncommissioned": "a commission was given",
    "authority.suspended": "the commission is not suspended",
    "authority.revoked": "the graph was not revoked",
    "authority.key_revoked": "no key that any of these acts was signed with was revoked since",
    "authority.ambiguous": "no other revision is commissioned for the same project",
    "authority.expired": "the commission has not expired",
    "authority.demo_home": "a demo's commission is used in the home that made it",
    "authority.pack_drift": "the pack (knowledge, its own validators, corpora) is the certified one",
    "authority.sop_drift": "every cited SOP is the commissioned revision",
    "authority.template_drift": "every template is the commissioned one",
    "authority.provider_changed": "every application is served by the commissioned provider and version",
    "authority.effects": "the graph's effects lie within the commissioned envelope",
    "authority.out_of_scope": "the project to be written is the commissioned one",
}


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
    bindings: Bindings,
    project: str | None = None,
) -> Commission:
    """The commission under which the graph may execute, or ``Refused`` with every reason.

    ``providers`` maps application → ``provider/version``; ``sops`` citation id → digest and ``templates``
    file name → digest of what lies there now; ``bindings`` are ``validators.bindings_of`` the graph, now;
    ``project`` is the identity of the project to be written.

    Codes, by what was changed or is missing: ``CODES``.
    """
    if workspace != store.workspace:
        raise Refused(
            "authority.workspace",
            "the log is another workspace's",
            value=store.workspace,
            mend="open the log of this home's own workspace",
        )
    found = history(store, trust, graph_digest)
    standing = _standing(store, trust, found, reference, bindings)
    commission, certificate = standing.commission, standing.published.certified.certificate
    _unambiguous(store, trust, commission, project, now)
    faults = [
        *_keys(standing, trust),
        *_general(commission, certificate, pack_digest, home_id, now),
        *binding_drift(certificate.bindings, bindings),
        *_drift(commission, sops, templates, providers),
        *_reach(commission, effects, project),
    ]
    if faults:
        raise Refused.of(faults)
    return commission


def _standing(
    store: EventStore, trust: TrustRoot, found: History, reference: str, bindings: Bindings
) -> Commissioned:
    """The commission that stands for the graph, or the reason why none does."""
    mine = found.commissioned
    named = [item for item in found.certified if item.certificate.reference == reference]
    if found.state == "revoked" and found.ended is not None:
        why = f"this exact graph was revoked by {found.ended.actor}: {found.ended.body.get('reason', '')}"
        raise Refused("authority.revoked", why, where=reference, value=found.graph, mend=ANEW)
    if not named:
        raise Refused.of(
            [*_changed(store, trust, found, reference, bindings), _uncertified(found, reference)]
        )
    if found.state == "certified":
        raise Refused(
            "authority.unpublished",
            "this exact graph is certified and not published",
            where=reference,
            value=found.graph,
            mend=f"publish it: `fabric publish {reference}`",
        )
    if mine is None or mine.commission.reference != reference:
        raise Refused(
            "authority.uncommissioned",
            "this exact graph is not commissioned",
            where=reference,
            value=found.graph,
            mend=f"commission it: `fabric commission {reference} --template` begins a scope",
        )
    if found.state == "suspended" and found.ended is not None:
        raise Refused(
            "authority.suspended",
            f"the commission was suspended by {found.ended.actor}: {found.ended.body.get('reason', '')}",
            where=reference,
            mend=f"find out why; then `fabric resume {reference}` or `fabric revoke {reference}`",
        )
    return mine


def _uncertified(found: History, reference: str) -> Fault:
    return Fault(
        "authority.uncertified",
        "no certificate holds for this exact graph",
        reference,
        f"qualify, review and certify it; {DEMO}",
        found.graph,
    )


def _changed(
    store: EventStore, trust: TrustRoot, found: History, reference: str, bindings: Bindings
) -> Iterator[Fault]:
    """What makes this graph another than the one that was certified under its name."""
    before = certified_before(store, trust, reference, found.graph)
    if before is None:
        return
    drift = list(binding_drift(before.certificate.bindings, bindings))
    yield from drift
    if not drift:
        what = "the graph is not the revision that was certified"
        yield Fault("authority.graph_drift", what, reference, AGAIN, before.certificate.graph)


def binding_drift(sealed: Bindings, now: Bindings) -> Iterator[Fault]:
    """What of a certificate's bindings is not what is there now, each with its own code."""
    parts = (
        ("validator", "a validator", sealed.validators, now.validators),
        ("capability", "a capability", sealed.capabilities, now.capabilities),
    )
    for code, what, was, present in parts:
        for name in sorted(was.keys() | present.keys()):
            if was.get(name) != present.get(name):
                said = f"{what} is not the one that was certified"
                yield Fault(f"authority.{code}_drift", said, "", AGAIN, name)
    if sealed.compatibility != now.compatibility:
        what = "the compatibility range is not the one that was certified"
        yield Fault("authority.compatibility_drift", what, "", AGAIN)
    if sealed.recovery != now.recovery:
        what = "the recovery policy is not the one that was certified"
        yield Fault("authority.recovery_drift", what, "", AGAIN)


def _keys(standing: Commissioned, trust: TrustRoot) -> Iterator[Fault]:
    """Nothing that a revoked key signed lets anything execute, however old the signature is."""
    for act, keyid in standing.keys().items():
        if trust.revoked(keyid):
            what = f"the {act} was signed with a key of {trust.identity_of(keyid)} that was revoked"
            yield Fault("authority.key_revoked", what, "", ANEW, keyid)


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


def _general(
    commission: Commission, certificate: Certificate, pack: str, home_id: str, now: datetime
) -> Iterator[Fault]:
    if not _in_time(commission, now):
        what = "the commission has expired"
        yield Fault("authority.expired", what, "", "commission it again", commission.expires)
    if commission.demo_home not in {None, home_id}:
        yield Fault("authority.demo_home", "this is the demo commission of another home", "", DEMO)
    if pack != commission.pack or pack != certificate.pack:
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
