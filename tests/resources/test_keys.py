"""Key files: made once, owner-only, refused when others can read them."""

import os
import pickle
import stat

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from fabric_dagster.errors import OperationFailed, Refused, UsageFault
from fabric_dagster.governance.trust import keyid_of
from resources.keys import generate_key, key_path, load_signer

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX file modes")


def test_a_loaded_key_is_the_one_that_was_made(tmp_path):
    """Same keyid, and its signatures verify with its public key."""
    made = generate_key(tmp_path / "keys", "runtime")
    loaded = load_signer(tmp_path / "keys", "runtime")
    assert (loaded.identity, loaded.keyid, loaded.public) == ("runtime", made.keyid, made.public)
    assert loaded.keyid == keyid_of(loaded.public)
    Ed25519PublicKey.from_public_bytes(loaded.public).verify(loaded.sign(b"message"), b"message")


@posix
def test_a_key_is_its_owners_alone(tmp_path):
    """0600 in a folder of 0700, whatever the umask; nothing else is left there."""
    before = os.umask(0)
    try:
        generate_key(tmp_path / "keys", "runtime")
    finally:
        os.umask(before)
    folder = tmp_path / "keys"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [(p.name, stat.S_IMODE(p.stat().st_mode)) for p in folder.iterdir()] == [("runtime.key", 0o600)]


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o777])
def test_a_key_that_others_can_reach_is_not_loaded(tmp_path, mode):
    """The error says what to do."""
    generate_key(tmp_path, "runtime")
    (tmp_path / "runtime.key").chmod(mode)
    with pytest.raises(Refused) as caught:
        load_signer(tmp_path, "runtime")
    assert caught.value.code == "keys.exposed"
    assert "chmod 600" in caught.value.faults[0].mend


def test_a_key_is_never_overwritten(tmp_path):
    """A second one of the same name is refused and the first stays."""
    made = generate_key(tmp_path, "runtime")
    with pytest.raises(OperationFailed) as caught:
        generate_key(tmp_path, "runtime")
    assert caught.value.code == "keys.exists"
    assert load_signer(tmp_path, "runtime").keyid == made.keyid
    assert [p.name for p in tmp_path.iterdir()] == ["runtime.key"]


@pytest.mark.parametrize(
    "data", [b"", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", b"x" * 9999]
)
def test_a_file_that_is_no_key_is_refused(tmp_path, data):
    """Empty, damaged, too large."""
    generate_key(tmp_path, "runtime")
    (tmp_path / "runtime.key").write_bytes(data)
    with pytest.raises(OperationFailed) as caught:
        load_signer(tmp_path, "runtime")
    assert caught.value.code == "keys.unreadable"


@posix
def test_a_link_to_a_key_is_refused(tmp_path):
    """Neither a linked key nor a linked folder."""
    generate_key(tmp_path / "real", "runtime")
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "runtime.key").symlink_to(tmp_path / "real" / "runtime.key")
    with pytest.raises(OperationFailed):
        load_signer(tmp_path / "keys", "runtime")
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    with pytest.raises(OperationFailed) as caught:
        generate_key(tmp_path / "linked", "operator")
    assert caught.value.code == "keys.symlink"


def test_a_missing_key_says_how_to_get_one(tmp_path):
    """With the place where it should be."""
    with pytest.raises(UsageFault) as caught:
        load_signer(tmp_path, "runtime")
    assert caught.value.code == "keys.missing"
    assert "fabric init" in caught.value.faults[0].mend


@pytest.mark.parametrize("name", ["", "../runtime", "a/b", "A", "x" * 41, "run time", "run\x00time"])
def test_an_identity_is_a_plain_name(tmp_path, name):
    """Names never climb out of the folder."""
    with pytest.raises(UsageFault) as caught:
        key_path(tmp_path, name)
    assert caught.value.code == "keys.bad_identity"


def test_a_signer_does_not_travel(tmp_path):
    """Neither pickled nor printed."""
    signer = generate_key(tmp_path, "runtime")
    with pytest.raises(TypeError):
        pickle.dumps(signer)
    assert "PrivateKey" not in repr(signer)
