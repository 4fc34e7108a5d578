"""No claim executes a graph: only a certificate and a commission on the spine do, and only as they say."""

import base64
import json
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from governance_world import BINDINGS, NOW, digest

from fabric_dagster.contracts.qualification import CaseResult
from fabric_dagster.errors import Refused
from fabric_dagster.governance.certification import certify, record_qualification
from fabric_dagster.governance.commissioning import commission, resume, revoke, suspend
from fabric_dagster.governance.history import history, stream_of
from fabric_dagster.governance.receipts import sign_review
from fabric_dagster.governance.roles import SIGNED_BY, TABLE, access
from fabric_dagster.governance.trust import IDENTITIES
from fabric_dagster.spine.ports import NewEvent
from resources.keys import signer_of


def refused(call, *args, **kwargs):
    """The codes with which a call is refused."""
    with pytest.raises(Refused) as caught:
        call(*args, **kwargs)
    assert caught.value.exit_code == 3
    assert all(fault.mend for fault in caught.value.faults)
    return [fault.code for fault in caught.value.faults]


def test_a_certified_and_commissioned_graph_may_execute(world):
    """The answer is the commission as it was sealed."""
    document = world.commission(world.certify())
    assert world.authorize() == document


def test_an_unknown_graph_is_uncertified(world):
    """Default deny."""
    assert refused(world.authorize) == ["authority.uncertified"]


def test_a_qualified_graph_is_uncertified(world):
    """A qualification grants nothing."""
    world.qualify()
    assert refused(world.authorize) == ["authority.uncertified"]


def test_a_certified_graph_is_unpublished_and_a_published_one_uncommissioned(world):
    """Neither lets anything run."""
    certificate = world.certify()
    assert refused(world.authorize) == ["authority.unpublished"]
    assert refused(world.commission, certificate, publish=False) == ["authority.unpublished"]
    world.publish(certificate)
    assert refused(world.authorize) == ["authority.uncommissioned"]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"reference": "Other@1"}, "authority.uncertified"),
        ({"pack_digest": digest("changed pack")}, "authority.pack_drift"),
        ({"workspace": "other"}, "authority.workspace"),
        ({"home_id": digest("copied home")}, "authority.demo_home"),
        ({"now": NOW + timedelta(days=365)}, "authority.expired"),
        ({"effects": ["unity.asset.write", "unity.meta.write"]}, "authority.effects"),
        ({"providers": {"unity": "headless/1.0.1"}}, "authority.provider_changed"),
        ({"providers": {}}, "authority.provider_changed"),
        (
            {"providers": {"unity": "headless/1.0.0", "photoshop": "headless/1.0.0"}},
            "authority.provider_changed",
        ),
        ({"sops": {"sop_1": digest("edited sop")}}, "authority.sop_drift"),
        ({"sops": {}}, "authority.sop_drift"),
        ({"sops": {"sop_1": digest("sop"), "sop_2": digest("more")}}, "authority.sop_drift"),
        ({"templates": {"icon.psd": digest("edited template")}}, "authority.template_drift"),
        ({"templates": {}}, "authority.template_drift"),
        ({"project": digest("another project")}, "authority.out_of_scope"),
    ],
)
def test_what_differs_from_the_commission_is_refused(commissioned, changed, code):
    """Each difference has its own code."""
    assert refused(commissioned.authorize, **changed) == [code]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, "graph_drift"),
        ({"validators": {"png_valid@1": digest("mended")}}, "validator_drift"),
        ({"validators": {}}, "validator_drift"),
        ({"capabilities": {"unity.import_texture@1": digest("widened")}}, "capability_drift"),
        ({"compatibility": digest("wider")}, "compatibility_drift"),
        ({"recovery": digest("more attempts")}, "recovery_drift"),
    ],
)
def test_a_changed_graph_is_refused_by_what_changed(commissioned, changed, code):
    """The new revision has no certificate, and what makes it another one is said by its own code."""
    found = refused(
        commissioned.authorize,
        graph_digest=digest("another graph"),
        bindings=BINDINGS.model_copy(update=changed),
    )
    assert found == [f"authority.{code}", "authority.uncertified"]
    if changed:
        assert refused(commissioned.authorize, bindings=BINDINGS.model_copy(update=changed)) == [
            f"authority.{code}"
        ]


def test_all_differences_are_named_at_once(commissioned):
    """Several reasons, one refusal."""
    found = refused(commissioned.authorize, sops={}, templates={}, effects=["artifact.seal"])
    assert found == ["authority.sop_drift", "authority.template_drift", "authority.effects"]


def test_a_replaced_commission_counts(commissioned):
    """The newest commission of a graph is in force."""
    certificate = commissioned.certify(corpus=digest("second corpus"))
    replaced = commissioned.commission(certificate, expires="2027-01-01T00:00:00Z")
    assert commissioned.authorize() == replaced


def test_a_suspended_commission_waits_and_goes_on(commissioned):
    """The same commission; nothing is commissioned over a suspension."""
    before = commissioned.authorize()
    commissioned.act(suspend, "commissioner")
    assert refused(commissioned.authorize) == ["authority.suspended"]
    certificate = commissioned.certificate
    assert refused(commissioned.commission, certificate, expires="2027-01-01T00:00:00Z") == [
        "authority.lifecycle"
    ]
    assert refused(commissioned.act, suspend, "admin") == ["authority.lifecycle"]
    commissioned.act(resume, "admin")
    assert commissioned.authorize() == before


def test_a_revoked_graph_begins_anew(commissioned):
    """Old certificates, publications and commissions are void; every step is done again."""
    certificate = commissioned.certificate
    commissioned.act(revoke, "admin")
    assert refused(commissioned.authorize) == ["authority.revoked"]
    assert refused(commissioned.act, revoke, "admin") == ["authority.lifecycle"]
    assert refused(commissioned.commission, certificate, publish=False) == ["authority.uncertified"]
    assert refused(commissioned.publish, certificate) == ["authority.uncertified"]
    again = commissioned.certify(nonce="f" * 32)
    commissioned.commission(again, expires="2027-01-02T00:00:00Z")
    assert commissioned.authorize().expires == "2027-01-02T00:00:00Z"


def test_a_replaced_commission_does_not_come_back(commissioned):
    """The same words are the same act, and that act has ended; another expiry is another commission."""
    commissioned.commission(commissioned.certificate, expires="2027-01-01T00:00:00Z")
    assert refused(commissioned.commission, commissioned.certificate) == ["authority.ended"]
    commissioned.commission(commissioned.certificate, expires="2027-01-02T00:00:00Z")
    assert commissioned.authorize().expires == "2027-01-02T00:00:00Z"


def test_two_revisions_in_force_are_ambiguous_until_one_is_revoked(commissioned):
    """Exactly one commissioned digest a reference and project, else nothing runs."""
    other = commissioned.certify(graph=digest("second revision"))
    commissioned.commission(other)
    assert refused(commissioned.authorize) == ["authority.ambiguous"]
    assert refused(commissioned.authorize, graph_digest=digest("second revision")) == ["authority.ambiguous"]
    commissioned.act(revoke, "commissioner")
    assert commissioned.authorize(graph_digest=digest("second revision")).graph == digest("second revision")
    assert refused(commissioned.authorize) == ["authority.revoked"]


def test_an_expired_revision_or_one_for_another_project_is_not_in_the_way(commissioned):
    """Only commissions in force for the same project count."""
    second = commissioned.certify(graph=digest("second revision"))
    scope = {"project": digest("elsewhere"), "templates": {}, "writes": ["Assets/"]}
    commissioned.commission(second, scope=scope)
    third = commissioned.certify(graph=digest("third revision"))
    commissioned.commission(third, expires="2026-06-02T00:00:00Z")
    assert refused(commissioned.authorize) == ["authority.ambiguous"]
    later = NOW + timedelta(days=3)
    assert commissioned.authorize(now=later).graph == digest("graph")


def test_a_caller_cannot_claim_a_lifecycle(world):
    """Events that grant something count only from those who may sign them."""
    certificate = world.certify()
    world.publish(certificate)
    body = {"commission": world.document(certificate).body()}
    for identity in ("runtime", "builder", "operator", "certifier", "admin"):
        event = NewEvent(stream_of(digest("graph")), "graph.commissioned", body)
        world.store.append([event], signer=world.signers[identity])
    assert refused(world.authorize) == ["authority.uncommissioned"]


def test_a_certificate_without_a_receipt_is_none(world):
    """A certifier's word alone certifies nothing."""
    qualification = world.qualify()
    certificate = world.document(world.certify()).model_dump(mode="json")
    review = world.review(qualification)
    forged = {
        "schema": "fabric.certificate.v1",
        "reference": review.reference,
        "graph": digest("forged"),
        "pack": review.pack,
        "corpus": review.corpus,
        "results": review.results,
        "receipt": digest("no receipt"),
        "validator": "validator",
        "certifier": "certifier",
    }
    for body in (
        {"certificate": forged},
        {"certificate": forged, "receipt": {}},
        {"certificate": forged, "receipt": world.receipt(qualification)},
        {"certificate": certificate},
    ):
        event = NewEvent(stream_of(digest("forged")), "graph.certified", body)
        world.store.append([event], signer=world.signers["certifier"])
    assert refused(world.authorize, graph_digest=digest("forged"))[-1] == "authority.uncertified"
    assert len(history(world.store, world.trust, digest("forged")).ignored) == 4


# -- certification


def test_a_receipt_certifies_once(world):
    """The second try is refused, whoever makes it."""
    qualification = world.qualify()
    receipt = world.receipt(qualification)
    certificate = certify(world.store, world.signers["certifier"], receipt, world.trust)
    assert certificate.graph == digest("graph")
    assert refused(certify, world.store, world.signers["certifier"], receipt, world.trust) == [
        "authority.receipt_consumed"
    ]
    rewrapped = json.loads(json.dumps(receipt))
    rewrapped["signatures"][0]["keyid"] = "another hint"
    assert refused(certify, world.store, world.signers["certifier"], rewrapped, world.trust) == [
        "authority.receipt_consumed"
    ]


def test_another_review_certifies_again(world):
    """A second receipt of the same results is a second certificate; a first commission stays in force."""
    qualification = world.qualify()
    for nonce in ("1" * 32, "2" * 32):
        receipt = world.receipt(qualification, nonce=nonce)
        certificate = certify(world.store, world.signers["certifier"], receipt, world.trust)
        if nonce.startswith("1"):
            document = world.commission(certificate)
    assert world.authorize() == document


@pytest.mark.parametrize(
    "changed", [{"results": digest("x")}, {"corpus": digest("x")}, {"pack": digest("x")}]
)
def test_a_receipt_for_other_results_is_refused(world, changed):
    """It must be bound to what a builder recorded."""
    receipt = world.receipt(world.qualify(), **changed)
    assert refused(certify, world.store, world.signers["certifier"], receipt, world.trust) == [
        "authority.unqualified"
    ]


def test_a_receipt_before_any_qualification_is_refused(world):
    """The order of the lifecycle holds."""
    receipt = world.receipt(world.qualification())
    assert refused(certify, world.store, world.signers["certifier"], receipt, world.trust) == [
        "authority.unqualified"
    ]


def test_a_failed_qualification_is_not_recorded(world):
    """A failed case is named."""
    found = world.qualification(cases=[CaseResult(id="bad", outcome="refused", passed=False, why="because")])
    assert refused(record_qualification, world.store, world.signers["builder"], found, world.trust) == [
        "authority.unqualified"
    ]
    assert world.store.head()[0] == 0


def _tampered(receipt, change):
    payload = change(base64.b64decode(receipt["payload"]))
    return {**receipt, "payload": base64.b64encode(payload).decode()}


def test_a_receipt_that_is_not_the_validators_is_refused(world):
    """Changed bytes, a stranger's key, another identity's key, two signatures, no signature, no envelope."""
    qualification = world.qualify()
    good = world.receipt(qualification)
    stranger = signer_of("validator", Ed25519PrivateKey.generate())
    for bad in (
        _tampered(good, lambda data: data.replace(b'"cases":1', b'"cases":9')),
        sign_review(world.review(qualification), stranger),
        world.receipt(qualification, by="certifier"),
        {**good, "signatures": good["signatures"] * 2},
        {**good, "signatures": []},
        {**good, "payloadType": "application/json"},
        {},
    ):
        assert refused(certify, world.store, world.signers["certifier"], bad, world.trust) == [
            "authority.bad_receipt"
        ]


@pytest.mark.parametrize("identity", [name for name in IDENTITIES if name != "certifier"])
def test_only_a_certifier_certifies(world, identity):
    """Nobody else, the admin included."""
    receipt = world.receipt(world.qualify())
    assert refused(certify, world.store, world.signers[identity], receipt, world.trust) == [
        "authority.denied"
    ]


@pytest.mark.parametrize("identity", [name for name in IDENTITIES if name != "commissioner"])
def test_only_a_commissioner_commissions(world, identity):
    """Nobody else, the certifier and the admin included."""
    document = world.document(world.certify(), commissioner=identity)
    assert refused(commission, world.store, world.signers[identity], document, world.trust, now=NOW) == [
        "authority.denied"
    ]


def test_one_person_with_several_roles_promotes_nothing(world):
    """Roles may be shared by an identity; acts on one graph may not."""
    roles = world.trust.body()
    roles["identities"]["builder"]["roles"] = [
        "builder",
        "certifier",
        "publisher",
        "commissioner",
        "validator",
    ]
    world.trust = type(world.trust).model_validate(roles)
    qualification = world.qualify()
    receipt = world.receipt(qualification)
    assert refused(certify, world.store, world.signers["builder"], receipt, world.trust) == [
        "authority.same_identity"
    ]
    own = world.receipt(qualification, by="builder")
    assert refused(certify, world.store, world.signers["certifier"], own, world.trust) == [
        "authority.same_identity"
    ]
    certificate = certify(world.store, world.signers["certifier"], receipt, world.trust)
    assert refused(world.publish, certificate, by="builder") == ["authority.same_identity"]
    world.publish(certificate)
    document = world.document(certificate, commissioner="builder")
    assert refused(commission, world.store, world.signers["builder"], document, world.trust, now=NOW) == [
        "authority.same_identity"
    ]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"workspace": "other"}, "authority.bad_commission"),
        ({"commissioner": "certifier"}, "authority.bad_commission"),
        ({"effects": ["launch.rockets"]}, "authority.bad_commission"),
        ({"expires": "next year"}, "authority.bad_commission"),
        ({"expires": "2026-12-31T00:00:00"}, "authority.bad_commission"),
        ({"expires": "2026-05-31T23:59:59Z"}, "authority.expired"),
        (
            {"scope": {"project": digest("p"), "templates": {}, "writes": ["Assets/../.."]}},
            "authority.bad_commission",
        ),
        ({"reference": "Other@1"}, "authority.bad_commission"),
        ({"certificate": digest("none")}, "authority.uncertified"),
        ({"graph": digest("none")}, "authority.uncertified"),
        ({"pack": digest("none")}, "authority.uncertified"),
    ],
)
def test_a_commission_that_cannot_hold_is_refused(world, changed, code):
    """Each reason with its code, before anything is sealed."""
    certificate = world.certify()
    world.publish(certificate)
    head = world.store.head()
    assert refused(world.commission, certificate, **changed) == [code]
    assert world.store.head() == head


def test_the_same_commission_again_is_the_same_act(world):
    """Sealing is idempotent."""
    certificate = world.certify()
    world.commission(certificate)
    head = world.store.head()
    world.commission(certificate)
    assert world.store.head() == head


# -- the table


def test_the_table_denies_by_default():
    """Unknown actions, unknown roles and roles without a cell: deny."""
    assert access("graph.unknown", IDENTITIES) == "deny"
    assert access("graph.certify", ["nobody"]) == "deny"
    assert access("graph.certify", []) == "deny"
    denied = {(a, r) for a in TABLE for r in IDENTITIES if access(a, [r]) == "deny"}
    assert ("graph.certify", "builder") in denied
    assert ("run.judge", "runtime") in denied


@pytest.mark.parametrize(
    ("action", "roles"),
    [
        ("graph.qualify", {"builder"}),
        ("graph.review", {"validator"}),
        ("graph.certify", {"certifier"}),
        ("graph.publish", {"publisher"}),
        ("graph.commission", {"commissioner"}),
        ("run.judge", {"validator"}),
        ("run.execute", {"runtime"}),
        ("stop.effects", {"admin"}),
        ("stop.core", {"admin"}),
    ],
)
def test_the_acts_that_grant_have_one_role_each(action, roles):
    """Five verbs, five roles: no role holds two of them."""
    assert {role for role in IDENTITIES if access(action, [role]) != "deny"} == roles


def test_every_granting_event_has_an_action():
    """An event type without an action would be lawful for nobody."""
    assert set(SIGNED_BY.values()) <= TABLE.keys()
