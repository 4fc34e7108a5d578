"""The validator's desk, killed while it follows the trust root."""

from cryptography.hazmat.primitives import serialization

from fabric_dagster.governance.rotation import record, with_key
from fabric_dagster.validators.keys import key_file
from resources.keys import generate_key
from resources.reviewer.desk import Desk, pin_root


def test_a_version_that_its_log_has_and_its_file_lacks_is_followed_by_telling_it_again(world, tmp_path):
    """Killed between its log and its file, it is told once more: rotation and revocation go on."""
    home = tmp_path / "validator"
    key = key_file(home)
    key.parent.mkdir(mode=0o700, parents=True)
    pem = world.signers["validator"]._key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key.write_bytes(pem)
    key.chmod(0o600)
    pin_root(home, world.trust)
    before = (home / "trust.json").read_bytes()
    spare = generate_key(tmp_path / "keys", "builder")
    following = record(
        world.store, world.signers["admin"], world.trust, with_key(world.trust, "builder", spare.public)
    )
    envelope = next(iter(world.store.read("trust", types=["trust.rotated"]))).body["envelope"]
    for interrupted in (False, True, False):
        if interrupted:
            (home / "trust.json").write_bytes(before)
        desk = Desk(home)
        assert desk.succeed(envelope).digest == following.digest
        events = desk.store.head()[0]
        desk.close()
        assert (home / "trust.json").read_bytes() == following.to_bytes()
    assert events == 2
