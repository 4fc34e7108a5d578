"""Canonical bytes and signed envelopes: one form, and nothing that has none."""

import json

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from fabric_dagster.digests import MAX_INTEGER, canonical, digest_bytes, digest_of, dsse_open, dsse_sign
from fabric_dagster.errors import CheckFailed, InvalidDocument
from resources.keys import signer_of

ascii_keys = st.text(st.characters(max_codepoint=126), max_size=6)
values = st.recursive(
    st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ascii_keys, inner, max_size=4),
    max_leaves=15,
)


@given(value=values)
def test_canonical_bytes_are_those_of_rfc_8785(value):
    """An independent implementation of RFC 8785 comes to the same bytes; reading gives the value back."""
    found = canonical(value)
    assert rfc8785.dumps(value) == found
    assert json.loads(found) == value


@given(value=st.dictionaries(ascii_keys, values, max_size=5))
def test_order_and_nulls_carry_no_meaning(value):
    """Keys in another order, and keys with null: the same digest."""
    turned = dict(reversed(value.items()))
    assert digest_of("x", turned) == digest_of("x", value)
    assert canonical({**value, "\x7fnull": None}) == canonical(value)


@pytest.mark.parametrize(
    "value",
    [1.0, float("nan"), MAX_INTEGER + 1, -MAX_INTEGER - 1, {"ä": 1}, {1: 2}, "\ud800", {"a": b"x"}, [{1, 2}]],
)
def test_what_has_no_canonical_form_is_refused(value):
    """Floats, big integers, keys that are no ASCII text, half characters, other types."""
    with pytest.raises(InvalidDocument) as caught:
        canonical(value)
    assert caught.value.code == "digest.not_canonical"


def test_an_envelope_opens_with_its_key_only():
    """One signature, over the type and the payload; anything else is untrusted."""
    key = signer_of("x", Ed25519PrivateKey.from_private_bytes(b"x" * 32))

    def verify(signature, message):
        try:
            Ed25519PrivateKey.from_private_bytes(b"x" * 32).public_key().verify(signature, message)
        except Exception:  # noqa: BLE001 - any failure means no
            return False
        return True

    envelope = dsse_sign("text/plain", b"payload", key.keyid, key.sign)
    assert dsse_open(envelope, "text/plain", verify) == b"payload"
    for bad in (
        {**envelope, "payload": "cGF5bG9hZDI="},
        {**envelope, "payload": "not base64!"},
        {**envelope, "payloadType": "text/html"},
        {**envelope, "signatures": []},
        {**envelope, "signatures": envelope["signatures"] * 2},
        {**envelope, "signatures": [{"keyid": key.keyid, "sig": ""}]},
        {},
    ):
        with pytest.raises(CheckFailed) as caught:
            dsse_open(bad, "text/plain", verify)
        assert caught.value.code == "envelope.untrusted"
    with pytest.raises(CheckFailed):
        dsse_open(envelope, "text/html", verify)


def test_known_digests():
    """SHA-256 of nothing, and of a document as its bytes are written out here."""
    assert digest_bytes(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest_of("s", {"b": 1, "a": "ü"}) == digest_bytes(
        '{"body":{"a":"ü","b":1},"schema":"s"}'.encode()
    )
