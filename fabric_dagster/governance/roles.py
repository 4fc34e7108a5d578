"""Who may do what: a default-deny table from action and role to read, run, deploy, admin or deny.

Rules kept here:

* What the table does not say is denied: an unknown action, an unknown role, an unpinned identity.
* An event that grants something is lawful only if its signer may do what it records (``SIGNED_BY``).
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


TABLE: Mapping[str, Mapping[str, Access]] = {
    "spine.read": _may("read", *IDENTITIES),
    "run.read": _may("read", *IDENTITIES),
    "graph.read": _may("read", *IDENTITIES),
    "ticket.accept": _may("run", "runtime", "operator"),
    "run.execute": _may("run", "runtime"),
    "run.judge": _may("run", "validator"),
    "run.approve": _may("run", "approver"),
    "run.reconcile": _may("run", "validator", "operator"),
    "run.cancel": {**_may("run", "operator"), **_may("admin", "admin")},
    "graph.qualify": _may("run", "builder"),
    "graph.review": _may("run", "validator"),
    "graph.certify": _may("deploy", "certifier"),
    "graph.publish": _may("deploy", "publisher"),
    "graph.commission": _may("deploy", "commissioner"),
    "graph.suspend": {**_may("deploy", "commissioner"), **_may("admin", "admin")},
    "graph.revoke": {**_may("deploy", "commissioner"), **_may("admin", "admin")},
    "stop.core": _may("admin", "admin"),
    "stop.effects": _may("admin", "admin"),
    "home.initialise": _may("admin", "admin"),
}

#: event type → the action that its signer must be allowed.
SIGNED_BY: Mapping[str, str] = {
    "graph.qualified": "graph.qualify",
    "graph.certified": "graph.certify",
    "graph.commissioned": "graph.commission",
    "graph.suspended": "graph.suspend",
    "graph.revoked": "graph.revoke",
}


def access(action: str, roles: Iterable[str]) -> Access:
    """The authority under which one of ``roles`` may do ``action``: ``deny`` unless the table says more."""
    row = TABLE.get(action, {})
    return next((row[role] for role in sorted(roles) if role in row), "deny")


def require(trust: TrustRoot, signer: Signer, action: str) -> None:
    """Refuse (``authority.denied``) unless the trust root pins ``signer`` and its roles allow ``action``."""
    owner = trust.identity_of(signer.keyid)
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
    return action is not None and access(action, trust.roles(event.actor)) != "deny"
