"""The trust root's versions: signed by an admin of the one before, recorded, followed, never forged."""

import base64
import json

import pytest
from governance_world import REFERENCE, digest, fresh, rotated

from fabric_dagster.digests import canonical, dsse_sign
from fabric_dagster.errors import CheckFailed, Conflict, Refused
from fabric_dagster.governance.certification import certify
from fabric_dagster.governance.commissioning import revoke
from fabric_dagster.governance.refusals import record_refusal
from fabric_dagster.governance.rotation import (
    PAYLOAD_TYPE,
    record,
    sign_root,
    succeed,
    with_key,
    without_key,
)
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.spine.ports import NewEvent
from resources.ledger.store import SqlEventStore
from resources.pinned import opened_under


def reopened(world, root):
    """The log as it opens under a pinned file."""
    return opened_under(root, lambda under: SqlEventStore(world.url, "default", under))


def refused(call, *args, **kwargs):
    """The code with which a call is refused."""
    with pytest.raises(Refused) as caught:
        call(*args, **kwargs)
    assert caught.value.exit_code == 3
    return caught.value.code


@pytest.mark.parametrize("identity", ["certifier", "validator", "publisher", "commissioner", "builder"])
def test_after_a_rotation_everything_signed_before_still_stands(commissioned, identity):
    """Every act's key in turn: the log is sound, the graph may execute, the new key signs on."""
    old = commissioned.signers[identity]
    before = commissioned.authorize()
    new = rotated(commissioned, identity)
    assert commissioned.store.verify().sound
    assert commissioned.authorize() == before
    event = NewEvent("test", "authority.refused", {"a": 1})
    assert refused(commissioned.store.append, [event], signer=old) == "authority.key_retired"
    assert commissioned.store.append([event], signer=new)[0].keyid == new.keyid


@pytest.mark.parametrize("identity", ["certifier", "validator", "publisher", "commissioner", "builder"])
def test_after_a_revocation_nothing_that_the_key_signed_lets_anything_execute(commissioned, identity):
    """The log can still be read; execution is refused with its own code until it is all done anew."""
    old = commissioned.signers[identity]
    rotated(commissioned, identity, "revoked")
    assert commissioned.store.verify().sound
    assert refused(commissioned.authorize) == "authority.key_revoked"
    event = NewEvent("test", "authority.refused", {"a": 1})
    assert refused(commissioned.store.append, [event], signer=old) == "authority.key_revoked"
    commissioned.act(revoke, "admin")
    commissioned.commission(commissioned.certify(nonce="a" * 32))
    assert commissioned.authorize().reference == REFERENCE


@pytest.mark.parametrize("how", ["retired", "revoked"])
def test_a_receipt_in_hand_is_not_consumed_after_its_key_has_ended(world, how):
    """Whatever was signed before: what is not consumed yet is signed again by the present key."""
    qualification = world.qualify()
    receipt = world.receipt(qualification)
    rotated(world, "validator", how)
    assert refused(certify, world.store, world.signers["certifier"], receipt, world.trust) == (
        f"authority.key_{how}"
    )
    certify(world.store, world.signers["certifier"], world.receipt(qualification), world.trust)


def test_a_receipt_for_another_revision_is_refused_by_its_own_code(world):
    """It is not consumed by that."""
    receipt = world.receipt(world.qualify())
    args = (world.store, world.signers["certifier"], receipt, world.trust)
    assert refused(certify, *args, graph=digest("another")) == "authority.receipt_other_graph"
    certify(*args, graph=digest("graph"))


def test_nothing_at_all_by_a_key_that_is_revoked_wholly(commissioned):
    """Its receipts do not even count as recorded, and the certificate that stood on one is void."""
    rotated(commissioned, "validator", "revoked", everything=True)
    assert refused(commissioned.authorize) == "authority.uncertified"


def test_an_event_that_an_ended_key_signs_later_is_refused_on_read(world):
    """Whoever stole it and reached the database: neither its checkpoint nor its event is taken."""
    stolen, before = world.signers["operator"], world.trust
    rotated(world, "operator", "revoked")
    # A thief's store does not know that the key has ended, and is told that it has seen every version.
    thief = SqlEventStore(world.url, "default", before.placed(world.trust.positions))
    thief.append([NewEvent("test", "authority.refused", {"a": 1})], signer=stolen)
    thief.close()
    report = world.store.verify()
    assert not report.sound
    world.reopen()
    for code in ("spine.checkpoint", "spine.key_ended"):
        with pytest.raises(CheckFailed) as caught:
            list(world.store.read())
        assert caught.value.code == code
        world.store.before_anchors()


def test_a_program_that_runs_on_under_the_old_root_appends_nothing(world):
    """It is told to start again; it cannot sign past the end of its key unknowingly."""
    before = SqlEventStore(world.url, "default", world.trust)
    rotated(world, "operator")
    event = NewEvent("test", "authority.refused", {"a": 1})
    assert refused(before.append, [event], signer=world.signers["builder"]) == "trust.outdated"
    before.close()


def test_a_file_that_is_behind_the_log_is_followed(world):
    """Interrupted between the log and the file, or restored from a backup: the log's newest version holds."""
    first = world.trust
    for identity in ("certifier", "admin", "validator"):
        rotated(world, identity)
    for pinned in (first, world.trust):
        store = reopened(world, pinned)
        assert (store.trust.version, store.trust.digest) == (4, world.trust.digest)
        assert store.verify().sound
        store.close()


def test_a_file_that_is_no_version_of_the_log_is_refused(world):
    """A forged root, a forged successor, and the same version with another key."""
    first = world.trust
    rotated(world, "certifier")
    forged = TrustRoot.of({name: fresh(name).public for name in first.identities})
    assert refused(reopened, world, with_key(first, "builder", fresh("builder").public)) == "trust.not_pinned"
    with pytest.raises((Refused, CheckFailed)):
        reopened(world, forged)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("trust.rotated", {}),
        ("trust.rotated", {"version": "x"}),
        ("trust.rotated", {"version": 2}),
        ("trust.rotated", {"version": 2, "digest": 3, "envelope": []}),
        ("trust.rotated", {"version": 2, "envelope": {"payload": "!", "signatures": [{}]}}),
        ("trust.pinned", {"version": True}),
        ("trust.noted", {}),
    ],
)
def test_a_version_that_is_none_is_refused(world, kind, body):
    """Whoever holds any key and the database can write to the chain: it is refused, in a sentence."""
    rotated(world, "builder")
    world.store.append([NewEvent("trust", kind, body)], signer=world.signers["operator"])
    assert refused(reopened, world, world.trust) in {"trust.not_pinned", "trust.not_successor"}


def test_two_admins_at_once_make_one_version(world):
    """The second is told; nothing branches."""
    one, two = (with_key(world.trust, "operator", fresh("operator").public) for _ in range(2))
    record(world.store, world.signers["admin"], world.trust, one)
    with pytest.raises((Refused, Conflict)):
        record(world.store, world.signers["admin"], world.trust, two)


def test_only_an_admin_of_the_version_before_makes_the_next(world):
    """Nobody else, and no admin that came later."""
    following = with_key(world.trust, "operator", fresh("operator").public)
    for identity in world.signers:
        if identity != "admin":
            args = (world.store, world.signers[identity], world.trust, following)
            assert refused(record, *args) == "authority.denied"
            envelope = sign_root(following, world.signers[identity])
            assert refused(succeed, world.trust, envelope) == "trust.not_successor"
    assert refused(succeed, world.trust, sign_root(following, fresh("admin"))) == "trust.not_successor"


def _edited(root, change):
    body = root.body()
    change(body)
    return body


def _takes_an_identity(body):
    del body["identities"]["approver"]


def _takes_a_key(body):
    body["identities"]["operator"]["keys"] = body["identities"]["operator"]["keys"][1:]


def _widens_roles(body):
    body["identities"]["operator"]["roles"] = ["operator", "certifier"]


def _revives(body):
    for key in body["identities"]["certifier"]["keys"]:
        key.pop("ended", None)


def _skips_a_version(body):
    body["version"] += 1


def _names_another_predecessor(body):
    body["previous"] = digest("another")


def _gives_the_runtime_a_role(body):
    body["identities"]["runtime"]["roles"] = ["runtime", "certifier"]


@pytest.mark.parametrize(
    "change",
    [
        _takes_an_identity,
        _takes_a_key,
        _widens_roles,
        _revives,
        _skips_a_version,
        _names_another_predecessor,
        _gives_the_runtime_a_role,
    ],
)
def test_a_successor_takes_nothing_away_and_brings_nothing_back(world, change):
    """Signed by the admin itself, and refused."""
    rotated(world, "certifier")
    following = with_key(world.trust, "operator", fresh("operator").public)
    body = _edited(following, change)
    admin = world.signers["admin"]
    envelope = dsse_sign(PAYLOAD_TYPE, canonical(body), admin.keyid, admin.sign)
    assert refused(succeed, world.trust, envelope) == "trust.not_successor"
    assert succeed(world.trust, sign_root(following, admin)).digest == following.digest


def test_the_last_admin_key_stays(world):
    """Somebody must be able to make the next version."""
    admin = world.signers["admin"].keyid
    assert refused(without_key, world.trust, admin, "revoked", "lost") == "keys.last_admin"
    spare = with_key(world.trust, "admin", fresh("admin").public)
    assert without_key(spare, admin, "revoked", "lost").revoked(admin)


def test_an_ended_key_is_not_ended_otherwise(world):
    """A retired key may be revoked, from where it had retired; nothing else changes."""
    keyid = world.signers["operator"].keyid
    rotated(world, "operator")
    again = without_key(world.trust, keyid, "revoked", "stolen after all")
    assert (again.ended(keyid).how, again.ended(keyid).version, again.version) == ("revoked", 2, 3)
    assert refused(without_key, again, keyid, "revoked", "once more") == "keys.ended"
    assert refused(with_key, world.trust, "operator", world.signers["operator"].public) == "keys.taken"
    assert refused(with_key, world.trust, "nobody", fresh("nobody").public) == "keys.unknown_identity"


def test_an_envelope_is_json_of_the_root_and_nothing_else(world):
    """What a validator elsewhere gets is what the log holds."""
    following = with_key(world.trust, "operator", fresh("operator").public)
    record(world.store, world.signers["admin"], world.trust, following)
    (event,) = world.store.read("trust", types=["trust.rotated"])
    said = json.loads(base64.b64decode(event.body["envelope"]["payload"]))
    assert said == following.body()


def test_a_refusal_is_an_event_and_never_more_than_a_refusal(world):
    """Who, what, why; and where the log does not take it, nothing is raised."""
    fault = Refused("authority.denied", "no", mend="ask")
    event = record_refusal(
        world.store, world.signers["runtime"], "graph.certify", fault, actor="builder", reference=REFERENCE
    )
    assert event.stream == "refusals"
    assert dict(event.body) == {
        "action": "graph.certify",
        "actor": "builder",
        "code": "authority.denied",
        "faults": [{"code": "authority.denied", "what": "no", "mend": "ask"}],
        "reference": REFERENCE,
    }
    assert record_refusal(world.store, fresh("runtime"), "graph.certify", fault, actor="builder") is None
