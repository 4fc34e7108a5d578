"""Who may do what: a default-deny table from action and role to read, run, deploy, admin or deny.

Rules kept here:

* What the table does not say is denied: an unknown action, an unknown role, an unpinned identity, an ended
  key.
* An event is lawful only if its signer may do what it records (``SIGNED_BY``); a reader that believes an
  event asks ``lawful`` first. An event type that is not listed is lawful for nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabric_dagster.errors import Refused
from fabric_dagster.governance.trust import IDENTITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fabric_dagster.governance.trust import Role, TrustRoot
    from fabric_dagster.spine.ports import Event, Signer

Access = Literal["read", "run", "deploy", "admin", "deny"]


def _may(access: Access, *roles: Role) -> Mapping[str, Access]:
    return dict.fromkeys(roles, access)


_EVERYBODY = _may("read", *IDENTITIES)
_OPERATOR_OR_ADMIN = {**_may("run", "operator"), **_may("admin", "admin")}
_COMMISSIONER_OR_ADMIN = {**_may("deploy", "commissioner"), **_may("admin", "admin")}

TABLE: Mapping[str, Mapping[str, Access]] = {
    "spine.read": _EVERYBODY,
    "spine.export": _EVERYBODY,
    "run.read": _EVERYBODY,
    "graph.read": _EVERYBODY,
    "keys.read": _EVERYBODY,
    "refusal.record": _may("run", *IDENTITIES),
    "ticket.accept": _may("run", "runtime", "operator"),
    "run.execute": _may("run", "runtime"),
    "run.judge": _may("run", "validator"),
    "run.approve": _may("run", "approver"),
    "run.reconcile": _may("run", "validator", "operator"),
    # The runtime, too: for what was cancelled in Dagster, which identifies no person. It only ends a run.
    "run.cancel": {**_may("run", "runtime"), **_OPERATOR_OR_ADMIN},
    "graph.qualify": _may("run", "builder"),
    "graph.review": _may("run", "validator"),
    "graph.certify": _may("deploy", "certifier"),
    "graph.publish": _may("deploy", "publisher"),
    "graph.commission": _may("deploy", "commissioner"),
    "graph.suspend": _COMMISSIONER_OR_ADMIN,
    "graph.resume": _COMMISSIONER_OR_ADMIN,
    "graph.revoke": _COMMISSIONER_OR_ADMIN,
    "stop.core": _may("admin", "admin"),
    "stop.effects": _may("admin", "admin"),
    "artifacts.collect": _OPERATOR_OR_ADMIN,
    "keys.rotate": _may("admin", "admin"),
    "keys.revoke": _may("admin", "admin"),
    "home.initialise": _may("admin", "admin"),
}

#: event type → the action that its signer must be allowed.
SIGNED_BY: Mapping[str, str] = {
    # the home
    "home.initialised": "home.initialise",
    "trust.pinned": "home.initialise",
    "trust.rotated": "keys.rotate",
    "authority.refused": "refusal.record",
    "artifacts.collected": "artifacts.collect",
    "stop.engaged": "stop.effects",
    "stop.released": "stop.effects",
    # a graph's lifecycle
    "graph.qualified": "graph.qualify",
    "graph.certified": "graph.certify",
    "graph.published": "graph.publish",
    "graph.commissioned": "graph.commission",
    "graph.suspended": "graph.suspend",
    "graph.resumed": "graph.resume",
    "graph.revoked": "graph.revoke",
    # a ticket
    "ticket.accepted": "ticket.accept",
    "ticket.refused": "ticket.accept",
    "run.linked": "ticket.accept",
    # a run: what the runtime does
    "run.opened": "run.execute",
    "decision.made": "run.execute",
    "task.issued": "run.execute",
    "task.abandoned": "run.execute",
    "task.result": "run.execute",
    "commit.begun": "run.execute",
    "handoff.sealed": "run.execute",
    #: the verdict's own envelope is the validator's; the runtime only files it.
    "verdict.recorded": "run.execute",
    "compensation.begun": "run.execute",
    "compensation.done": "run.execute",
    "recovery.followed": "run.execute",
    "failure.absorbed": "run.execute",
    "reconciliation.required": "run.execute",
    "approval.requested": "run.execute",
    "run.completed": "run.execute",
    "run.failed": "run.execute",
    "run.cancelled": "run.execute",
    "run.superseded": "run.execute",
    "run.reopened": "run.execute",
    "dagster.linked": "run.execute",
    # a run: what people and the validator do
    "approval.given": "run.approve",
    "approval.retaken": "run.approve",
    "cancel.requested": "run.cancel",
    "reconciliation.observed": "run.reconcile",
}


def access(action: str, roles: Iterable[str]) -> Access:
    """The authority under which one of ``roles`` may do ``action``: ``deny`` unless the table says more."""
    row = TABLE.get(action, {})
    return next((row[role] for role in sorted(roles) if role in row), "deny")


def require(trust: TrustRoot, signer: Signer, action: str) -> None:
    """Refuse unless the trust root pins ``signer``'s key as active and its roles allow ``action``.

    Codes: ``authority.key_revoked``, ``authority.key_retired``, ``authority.denied``.
    """
    owner = trust.identity_of(signer.keyid)
    end = trust.ended(signer.keyid)
    if owner == signer.identity and end is not None:
        raise Refused(
            f"authority.key_{end.how}",
            f"the key of {signer.identity} was {end.how}: {end.reason}",
            value=signer.keyid,
            mend=f"sign with its present key; `fabric keys rotate {signer.identity}` makes one",
        )
    if owner == signer.identity and access(action, trust.roles(owner)) != "deny":
        return
    allowed = sorted(TABLE.get(action, {}))
    raise Refused(
        "authority.denied",
        f"{signer.identity} may not do {action}",
        mend=f"sign as {' or '.join(allowed)}" if allowed else "nobody may do that",
    )


def lawful(event: Event, trust: TrustRoot) -> bool:
    """Whether the signer of ``event`` may do what it records. The event's signature is verified already."""
    action = SIGNED_BY.get(event.type)
    return (
        action is not None
        and access(action, trust.roles(event.actor)) != "deny"
        and trust.valid_at(event.keyid, event.position)
    )
