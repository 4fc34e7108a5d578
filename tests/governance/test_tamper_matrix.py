"""Every way in which somebody could tamper, in one table: each is refused, with its code."""

from datetime import timedelta

import attacks
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from governance_world import NOW, digest, rotated

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import FabricError
from fabric_dagster.governance.certification import certify
from fabric_dagster.spine.checkpoints import Checkpoint, sign_checkpoint
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.ports import FileChange
from resources.artifacts.store import FolderArtifactStore
from resources.files.transaction import FileTransactions
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore


def on_rows(act):
    """Tamper with the database past the program, then verify the log."""

    def tampered(world, _folder):
        for number in range(10):
            event = NewEvent(f"run:{number % 2}", "task.issued", {"number": number}, f"key-{number}")
            world.store.append([event], signer=world.signers["runtime"])
        assert world.store.verify().sound
        attacker = attacks.Attacker(world.url)
        act(attacker)
        attacker.engine.dispose()
        return world.store.verify().faults[0].code

    return tampered


def cut_tail(raw):
    """Remove the newest events; what is left is a sound chain."""
    raw("DELETE FROM events WHERE position > 7")


def forge_checkpoint(world, folder):
    """A head by a key that is not pinned."""
    world.store.append([NewEvent("home", "test.noted", {})], signer=world.signers["runtime"])
    stranger = signer_of("runtime", Ed25519PrivateKey.generate())
    head = Checkpoint("default", "main", 1, digest("head"))
    (folder / "checkpoint.default.main.json").write_bytes(sign_checkpoint(head, stranger))
    again = SqlEventStore(world.url, "default", world.trust, anchors=(folder,))
    try:
        return again.verify().faults[0].code
    finally:
        again.close()


def swap_artifact(_world, folder):
    """Other bytes under a digest's name."""
    store = FolderArtifactStore(folder / "artifacts")
    name = store.put_bytes(b"the picture that was approved")
    path = store.path(name)
    path.chmod(0o600)
    path.write_bytes(b"another picture of such a size")
    return refused(store.get, name)


def roll_back_what_is_not_ours(_world, folder):
    """Take a commit back over bytes that somebody wrote since."""
    root, stage = folder / "project", folder / "stage"
    for place, data in ((root, b"before"), (stage, b"after")):
        place.mkdir()
        (place / "icon.txt").write_bytes(data)
    work = FileTransactions(root, folder / "journals")
    work.commit("t", stage, (FileChange("icon.txt", digest_bytes(b"before"), digest_bytes(b"after")),))
    (root / "icon.txt").write_bytes(b"theirs")
    code = refused(work.undo, "t")
    assert (root / "icon.txt").read_bytes() == b"theirs"
    return code


def roll_back_the_trust_root(world, _folder):
    """A program that still has the trust root from before a rotation signs on."""
    before = SqlEventStore(world.url, "default", world.trust)
    rotated(world, "operator")
    try:
        event = NewEvent("test", "test.noted", {})
        return refused(before.append, [event], signer=world.signers["builder"])
    finally:
        before.close()


def revoked_key(world, _folder):
    """Sign with a key that was revoked."""
    stolen = world.signers["operator"]
    rotated(world, "operator", "revoked")
    return refused(world.store.append, [NewEvent("test", "test.noted", {})], signer=stolen)


def revoked_certifier(world, _folder):
    """Execute on what a revoked key had certified."""
    world.commission(world.certify())
    rotated(world, "certifier", "revoked")
    return refused(world.authorize)


def replay_receipt(world, _folder):
    """The same receipt a second time."""
    receipt = world.receipt(world.qualify())
    certify(world.store, world.signers["certifier"], receipt, world.trust)
    return refused(certify, world.store, world.signers["certifier"], receipt, world.trust)


def receipt_for_another(world, _folder):
    """A receipt that was given for another graph."""
    receipt = world.receipt(world.qualify())
    args = (world.store, world.signers["certifier"], receipt, world.trust)
    return refused(certify, *args, graph=digest("another"))


def expired_commission(world, _folder):
    """Execute after the commission's end."""
    world.commission(world.certify())
    return refused(world.authorize, now=NOW + timedelta(days=365))


def refused(act, *args, **kwargs):
    """The code with which ``act`` is refused."""
    with pytest.raises(FabricError) as caught:
        act(*args, **kwargs)
    return caught.value.code


MATRIX = {
    "body edit": (on_rows(attacks.edit_body), "spine.signature"),
    "column move": (on_rows(attacks.move_column), "spine.column"),
    "row delete": (on_rows(attacks.delete_row), "spine.gap"),
    "swap": (on_rows(attacks.swap_rows), "spine.column"),
    "keyless re-chain": (on_rows(attacks.rechain_without_key), "spine.signature"),
    "stolen key, one event": (on_rows(attacks.resign_with_a_stolen_key), "spine.chain"),
    "tail truncation": (on_rows(cut_tail), "spine.cut"),
    "forged checkpoint": (forge_checkpoint, "spine.checkpoint"),
    "swapped artifact bytes": (swap_artifact, "artifact.corrupt"),
    "refused rollback of files": (roll_back_what_is_not_ours, "transaction.foreign_bytes"),
    "refused rollback of the trust root": (roll_back_the_trust_root, "trust.outdated"),
    "replayed receipt": (replay_receipt, "authority.receipt_consumed"),
    "receipt for another digest": (receipt_for_another, "authority.receipt_other_graph"),
    "expired commission": (expired_commission, "authority.expired"),
    "revoked key signs": (revoked_key, "authority.key_revoked"),
    "revoked key had signed": (revoked_certifier, "authority.key_revoked"),
}


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("name", MATRIX)
def test_it_is_refused_by_its_code(request, world, tmp_path, database, name):
    """The same on both databases."""
    if database == "postgresql":
        world.url = request.getfixturevalue("postgres_url")
    world.store.close()
    world.store = SqlEventStore(world.url, "default", world.trust, anchors=(tmp_path,))
    act, code = MATRIX[name]
    assert code == act(world, tmp_path)
