"""The table against Cedar: another engine, with policies made from the table and policies by hand."""

import itertools

import cedarpy
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from governance_world import digest

from fabric_dagster.errors import Refused
from fabric_dagster.governance.roles import SIGNED_BY, TABLE, access, lawful, require
from fabric_dagster.governance.rotation import without_key
from fabric_dagster.governance.trust import IDENTITIES
from fabric_dagster.spine.ports import Event
from resources.keys import signer_of

#: The authority of the house as a person wrote it down, apart from the code. Nothing else is permitted.
BY_HAND = """
permit(principal in Role::"anybody",
       action in [Action::"spine.read", Action::"spine.export", Action::"run.read", Action::"graph.read",
                  Action::"keys.read", Action::"refusal.record"],
       resource) when { principal.pinned };

permit(principal in Role::"runtime",
       action in [Action::"ticket.accept", Action::"run.execute", Action::"run.cancel"], resource)
  when { principal.pinned };
permit(principal in Role::"operator",
       action in [Action::"ticket.accept", Action::"run.reconcile", Action::"run.cancel",
                  Action::"artifacts.collect"],
       resource) when { principal.pinned };
permit(principal in Role::"validator",
       action in [Action::"run.judge", Action::"run.reconcile", Action::"graph.review"],
       resource) when { principal.pinned };
permit(principal in Role::"approver", action == Action::"run.approve", resource) when { principal.pinned };

permit(principal in Role::"builder", action == Action::"graph.qualify", resource) when { principal.pinned };
permit(principal in Role::"certifier", action == Action::"graph.certify", resource)
  when { principal.pinned };
permit(principal in Role::"publisher", action == Action::"graph.publish", resource)
  when { principal.pinned };
permit(principal in Role::"commissioner",
       action in [Action::"graph.commission", Action::"graph.suspend", Action::"graph.resume",
                  Action::"graph.revoke"],
       resource) when { principal.pinned };

permit(principal in Role::"admin",
       action in [Action::"run.cancel", Action::"graph.suspend", Action::"graph.resume",
                  Action::"graph.revoke", Action::"stop.core", Action::"stop.effects",
                  Action::"artifacts.collect", Action::"keys.rotate", Action::"keys.revoke",
                  Action::"home.initialise"],
       resource) when { principal.pinned };
"""
ACTIONS = [*TABLE, "graph.promote", "run.anything", ""]
ROLES = [*IDENTITIES, "king", ""]
CELLS = list(itertools.product(ACTIONS, ROLES, [True, False]))


def from_table():
    """A permit for each cell of the table that is not denied, and no more."""
    return "\n".join(
        f'permit(principal in Role::"{role}", action == Action::"{action}", resource)'
        " when { principal.pinned };"
        for action, row in TABLE.items()
        for role, kind in row.items()
        if kind != "deny"
    )


def decisions(policies):
    """(action, role, pinned) → whether Cedar allows it."""
    parents = {role: [{"type": "Role", "id": role}] for role in ROLES}
    for role in IDENTITIES:
        parents[role].append({"type": "Role", "id": "anybody"})
    entities = [
        {
            "uid": {"type": "Identity", "id": f"{role}/{pinned}"},
            "attrs": {"pinned": pinned},
            "parents": parents[role],
        }
        for role in ROLES
        for pinned in (True, False)
    ]
    requests = [
        {
            "principal": f'Identity::"{role}/{pinned}"',
            "action": f'Action::"{action}"',
            "resource": 'Home::"here"',
            "context": {},
        }
        for action, role, pinned in CELLS
    ]
    answers = cedarpy.is_authorized_batch(requests, policies, entities)
    return dict(zip(CELLS, (answer.allowed for answer in answers), strict=True))


@pytest.mark.parametrize("policies", [from_table(), BY_HAND], ids=["from the table", "by hand"])
def test_every_cell_is_what_cedar_says(world, policies):
    """Every action with every role, pinned and not, unknown ones too: one answer, of access and require."""
    expected = decisions(policies)
    stranger = {role: signer_of(role, Ed25519PrivateKey.generate()) for role in IDENTITIES}
    for (action, role, pinned), allowed in expected.items():
        if pinned:
            assert (access(action, [role]) != "deny") == allowed, (action, role)
        if role in IDENTITIES:
            signer = world.signers[role] if pinned else stranger[role]
            assert _may(world, signer, action) == allowed, (action, role, pinned)
    assert any(expected.values())
    assert not all(expected.values())


def _may(world, signer, action):
    try:
        require(world.trust, signer, action)
    except Refused as fault:
        if (fault.code, fault.exit_code) != ("authority.denied", 3):
            raise
        return False
    return True


def test_all_five_classes_are_used_and_no_cell_is_anything_else():
    """read, run, deploy, admin; deny is what is not written."""
    found = {kind for row in TABLE.values() for kind in row.values()}
    assert found == {"read", "run", "deploy", "admin"}
    assert {role for row in TABLE.values() for role in row} == set(IDENTITIES)
    assert access("graph.promote", IDENTITIES) == "deny"


def test_what_the_runtime_may_not():
    """Who executes never grants, judges, approves, stops or changes keys."""
    allowed = {action for action in TABLE if access(action, ["runtime"]) in {"run", "deploy", "admin"}}
    assert allowed == {"ticket.accept", "run.execute", "run.cancel", "refusal.record"}


def _event(kind, actor, keyid, position=1):
    return Event(position, "s", 1, kind, {}, actor, keyid, "", "default", "main", "", digest("e"))


@pytest.mark.parametrize("kind", [*SIGNED_BY, "graph.promoted", "approval.invented"])
def test_an_event_is_lawful_only_from_whom_its_action_allows(world, kind):
    """By the table, for every identity; an event that nobody listed is lawful for nobody."""
    for identity in IDENTITIES:
        event = _event(kind, identity, world.signers[identity].keyid)
        expected = access(SIGNED_BY.get(kind, ""), [identity]) != "deny"
        assert lawful(event, world.trust) == expected, identity


def test_an_ended_key_may_nothing_and_its_later_events_are_unlawful(world):
    """Each end with its own code; what stood before counts, what came after does not."""
    certifier, builder = world.signers["certifier"], world.signers["builder"]
    ended = without_key(world.trust, certifier.keyid, "retired", "routine")
    ended = without_key(ended, builder.keyid, "revoked", "stolen").placed({1: 1, 2: 5})
    for signer, code in ((certifier, "authority.key_retired"), (builder, "authority.key_revoked")):
        with pytest.raises(Refused) as caught:
            require(ended, signer, "graph.certify")
        assert caught.value.code == code
    for position, expected in ((4, True), (5, True), (6, False)):
        event = _event("graph.certified", "certifier", certifier.keyid, position)
        assert lawful(event, ended) == expected
