"""The trust root: whose key, which roles; nothing else verifies."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fabric_dagster.errors import InvalidDocument
from fabric_dagster.governance.trust import TrustRoot, keyid_of
from resources.keys import signer_of

ONE = signer_of("runtime", Ed25519PrivateKey.from_private_bytes(b"1" * 32))
TWO = signer_of("runtime", Ed25519PrivateKey.from_private_bytes(b"2" * 32))


def key(signer):
    """How a key stands in the document."""
    return {"keyid": signer.keyid, "public": base64.b64encode(signer.public).decode()}


def document(**identities):
    """A trust root as JSON bytes."""
    return json.dumps({"schema": "fabric.trust-root.v1", "version": 1, "identities": identities}).encode()


def test_it_survives_its_own_file():
    """Written and read, it is the same document with the same digest."""
    trust = TrustRoot.of({"runtime": ONE.public, "admin": TWO.public})
    assert TrustRoot.parse(trust.to_bytes(), "trust.json") == trust


def test_a_rotated_identity_verifies_with_each_of_its_keys():
    """By name: any of its keys; by keyid: only that one."""
    trust = TrustRoot.parse(document(runtime={"roles": ["runtime"], "keys": [key(ONE), key(TWO)]}), "t")
    for signer in (ONE, TWO):
        assert trust.verify("runtime", signer.sign(b"m"), b"m")
        assert trust.signed_by_role("runtime", signer.sign(b"m"), b"m") == ("runtime", signer.keyid)
    assert trust.verify(ONE.keyid, ONE.sign(b"m"), b"m")
    assert not trust.verify(ONE.keyid, TWO.sign(b"m"), b"m")


def test_what_is_not_pinned_verifies_nothing():
    """Unknown names, unknown keys, wrong messages, signatures that are none."""
    trust = TrustRoot.of({"runtime": ONE.public})
    assert trust.identity_of(TWO.keyid) is None
    assert trust.roles("nobody") == frozenset()
    assert not trust.verify("nobody", ONE.sign(b"m"), b"m")
    assert not trust.verify("runtime", TWO.sign(b"m"), b"m")
    assert not trust.verify("runtime", ONE.sign(b"m"), b"n")
    assert not trust.verify("runtime", b"", b"m")
    assert trust.signed_by_role("validator", ONE.sign(b"m"), b"m") is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[" * 100_000,
        b"\xff\xfe",
        b" " * (2 << 20),
        document(runtime={"roles": [], "keys": [key(ONE)]}),
        document(runtime={"roles": ["king"], "keys": [key(ONE)]}),
        document(runtime={"roles": ["runtime"], "keys": []}),
        document(runtime={"roles": ["runtime"], "keys": [{**key(ONE), "keyid": TWO.keyid}]}),
        document(runtime={"roles": ["runtime"], "keys": [{**key(ONE), "public": "!!"}]}),
        document(
            runtime={"roles": ["runtime"], "keys": [{"keyid": keyid_of(b"short"), "public": "c2hvcnQ="}]}
        ),
        document(
            runtime={"roles": ["runtime"], "keys": [key(ONE)]}, admin={"roles": ["admin"], "keys": [key(ONE)]}
        ),
        document(runtime={"roles": ["runtime"], "keys": [key(ONE)], "extra": 1}),
    ],
)
def test_a_bad_document_is_refused(data):
    """A shared key, an unknown role, a key under another's name, no JSON: one clear error."""
    with pytest.raises(InvalidDocument):
        TrustRoot.parse(data, "trust.json")
