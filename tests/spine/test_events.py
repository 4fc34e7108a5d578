"""What an event's bytes are, and that nothing else passes for them."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from fabric_dagster.digests import canonical, digest_bytes
from fabric_dagster.errors import CheckFailed, InvalidDocument
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.spine.checkpoints import Checkpoint, open_checkpoint, sign_checkpoint
from fabric_dagster.spine.events import MAX_PAYLOAD, Place, decode, message, open_event, same_intent, seal
from fabric_dagster.spine.ports import NewEvent
from resources.keys import signer_of

RUNTIME = signer_of("runtime", Ed25519PrivateKey.from_private_bytes(b"r" * 32))
OTHER = signer_of("operator", Ed25519PrivateKey.from_private_bytes(b"o" * 32))
TRUST = TrustRoot.of({"runtime": RUNTIME.public, "operator": OTHER.public})
PLACE = Place("default", "main", 7, 3, "sha256:" + "0" * 64, "2026-01-02T03:04:05.000006Z")
NEW = NewEvent("run:sha256:ab", "task.issued", {"n": 1, "text": "ü"}, "key-1")

scalars = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=20)
bodies = st.dictionaries(
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8),
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=4), max_leaves=8),
    max_size=6,
)


@given(body=bodies)
@settings(max_examples=200, deadline=None)
def test_sealed_bytes_open_to_the_event_that_was_sealed(body):
    """Sealing then opening gives the same event, with the digest of exactly the stored bytes."""
    sealed = seal(NewEvent("home", "home.noted", body), PLACE, RUNTIME)
    opened = open_event(sealed.payload, sealed.signature, TRUST)
    assert opened == sealed.event
    assert opened.digest == digest_bytes(sealed.payload)
    assert canonical(dict(opened.body)) == canonical(body)


@given(at=st.integers(0, 10_000), bit=st.integers(0, 7))
@settings(max_examples=300, deadline=None)
def test_one_flipped_bit_is_refused(at, bit):
    """No bit of payload or signature can change without the event being refused."""
    sealed = seal(NEW, PLACE, RUNTIME)
    whole = bytearray(sealed.payload + sealed.signature)
    whole[at % len(whole)] ^= 1 << bit
    payload, signature = bytes(whole[: len(sealed.payload)]), bytes(whole[len(sealed.payload) :])
    with pytest.raises(CheckFailed) as caught:
        open_event(payload, signature, TRUST)
    assert caught.value.code in {"spine.signature", "spine.bytes"}


def test_the_signature_is_over_the_dsse_encoding_of_the_stored_bytes():
    """An independent verifier needs the bytes, the type and the key, nothing of ours."""
    sealed = seal(NEW, PLACE, RUNTIME)
    kind = b"application/vnd.fabric.event.v1+json"
    expected = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(sealed.payload), sealed.payload)
    assert message(sealed.payload) == expected
    assert TRUST.verify("runtime", sealed.signature, expected)


def test_an_actor_cannot_sign_with_anothers_key():
    """The key decides who acted: a payload that names another actor is refused."""
    sealed = seal(NEW, PLACE, RUNTIME)
    forged = sealed.payload.replace(b'"actor":"runtime"', b'"actor":"operator"')
    with pytest.raises(CheckFailed, match="belongs to runtime"):
        open_event(forged, RUNTIME.sign(message(forged)), TRUST)


def test_an_unpinned_key_signs_nothing():
    """A valid signature by a key that is not in the trust root is refused."""
    stranger = signer_of("runtime", Ed25519PrivateKey.from_private_bytes(b"s" * 32))
    sealed = seal(NEW, PLACE, stranger)
    with pytest.raises(CheckFailed, match="not in the trust root"):
        open_event(sealed.payload, sealed.signature, TRUST)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        json.dumps({"schema": "fabric.event.v1"}).encode(),
        seal(NEW, PLACE, RUNTIME).payload.replace(b'"version":3', b'"version":"3"'),
        seal(NEW, PLACE, RUNTIME).payload.replace(b'"version":3', b'"version":true'),
        seal(NEW, PLACE, RUNTIME).payload.replace(b'"body":{', b'"extra":{},"body":{'),
    ],
)
def test_bytes_that_are_no_event_are_refused(payload):
    """Whatever stands in the payload column, the answer is one clear error."""
    with pytest.raises(CheckFailed) as caught:
        decode(payload)
    assert caught.value.code == "spine.bytes"


@pytest.mark.parametrize(
    ("new", "code"),
    [
        (NewEvent("", "a.b", {}), "spine.bad_event"),
        (NewEvent("run:a b", "a.b", {}), "spine.bad_event"),
        (NewEvent("home", "nodot", {}), "spine.bad_event"),
        (NewEvent("home", "a.b", {}, "line\nbreak"), "spine.bad_event"),
        (NewEvent("home", "a.b", {"x": 1.5}), "digest.not_canonical"),
        (NewEvent("home", "a.b", {"x": 2**53}), "digest.not_canonical"),
        (NewEvent("home", "a.b", {"x": "y" * MAX_PAYLOAD}), "spine.too_large"),
    ],
)
def test_an_event_that_cannot_be_kept_is_refused_before_it_is_signed(new, code):
    """Names, floats, big integers and sizes are refused with their own code."""
    with pytest.raises(InvalidDocument) as caught:
        seal(new, PLACE, RUNTIME)
    assert caught.value.code == code


def test_an_event_of_a_run_says_of_which_and_cannot_say_of_another():
    """The run follows from the stream; events from before it was written are without it."""
    payload = seal(NEW, PLACE, RUNTIME).payload
    assert decode(payload).run == "sha256:ab"
    assert decode(payload.replace(b'"run":"sha256:ab",', b"")).run == "sha256:ab"
    with pytest.raises(CheckFailed, match="no event"):
        decode(payload.replace(b'"run":"sha256:ab"', b'"run":"sha256:cd"'))
    at_home = seal(NewEvent("home", "a.b", {}), PLACE, RUNTIME).payload
    assert decode(at_home).run is None
    with pytest.raises(CheckFailed, match="no event"):
        decode(at_home.replace(b'"schema"', b'"run":"sha256:ab","schema"'))


def test_the_same_intent_is_stream_type_and_body():
    """Nulls and tuples count as the canonical form has them."""
    earlier = seal(NEW, PLACE, RUNTIME).event
    assert same_intent(NewEvent(NEW.stream, NEW.type, {**NEW.body, "gone": None}), earlier)
    assert not same_intent(NewEvent(NEW.stream, NEW.type, {**NEW.body, "n": 2}), earlier)
    assert not same_intent(NewEvent("home", NEW.type, NEW.body), earlier)


def test_a_checkpoint_opens_only_for_its_own_log_and_trusted_signer():
    """Another workspace, a stranger's key or a changed byte: refused as a checkpoint."""
    point = Checkpoint("default", "main", 7, "sha256:" + "1" * 64)
    data = sign_checkpoint(point, RUNTIME)
    assert open_checkpoint(data, TRUST, "default", "main") == point
    stranger = signer_of("runtime", Ed25519PrivateKey.from_private_bytes(b"s" * 32))
    for bad, log in (
        (data, ("other", "main")),
        (data, ("default", "trial")),
        (sign_checkpoint(point, stranger), ("default", "main")),
        (data.replace(b"payload", b"Payload", 1), ("default", "main")),
        (b"", ("default", "main")),
        (b"[]", ("default", "main")),
    ):
        with pytest.raises(CheckFailed) as caught:
            open_checkpoint(bad, TRUST, *log)
        assert caught.value.code == "spine.checkpoint"
