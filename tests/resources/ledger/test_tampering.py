"""Whoever writes into the database file without a key is seen, whatever they write."""

import json
import shutil
import sqlite3

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.digests import canonical, digest_bytes
from fabric_dagster.errors import CheckFailed, FabricError
from fabric_dagster.spine.events import message
from fabric_dagster.spine.ports import NewEvent
from resources.keys import signer_of

COLUMNS = "position, stream, version, type, idempotency_key, digest, payload, signature"


@pytest.fixture
def raw(filled, tmp_path):  # noqa: ARG001 - the log must be there first
    """The database as an attacker has it: a connection, the triggers gone."""
    connection = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
    for name in ("events_no_update", "events_no_delete"):
        connection.execute(f"DROP TRIGGER {name}")
    yield connection
    connection.close()


def edit_body(raw):
    """Change a value inside an event's signed bytes, and the digest with it."""
    (payload,) = raw.execute("SELECT payload FROM events WHERE position = 4").fetchone()
    changed = payload.replace(b'"number":3', b'"number":9')
    raw.execute(
        "UPDATE events SET payload = ?, digest = ? WHERE position = 4", (changed, digest_bytes(changed))
    )


def move_column(raw):
    """Let an index column say something else than the signed bytes."""
    raw.execute("UPDATE events SET stream = 'run:9', version = 1 WHERE position = 4")


def rename_type(raw):
    """Hide an event from queries by type."""
    raw.execute("UPDATE events SET type = 'task.hidden' WHERE position = 4")


def free_key(raw):
    """Free an idempotency key, so that its act could be done again."""
    raw.execute("UPDATE events SET idempotency_key = NULL WHERE position = 4")


def delete_row(raw):
    """Remove an event from the middle."""
    raw.execute("DELETE FROM events WHERE position = 4")


def swap_rows(raw):
    """Exchange two events."""
    for old, new in ((4, 100), (5, 4), (100, 5)):
        raw.execute("UPDATE events SET position = ? WHERE position = ?", (new, old))


def move_to_another_workspace(raw):
    """Take an event out of this log and into another."""
    raw.execute("UPDATE events SET workspace = 'other' WHERE position = 4")


def rechain_without_key(raw):
    """Rewrite an event and every later link, with a key of the attacker's own."""
    attacker = signer_of("runtime", Ed25519PrivateKey.generate())
    previous = None
    for position, payload in raw.execute("SELECT position, payload FROM events ORDER BY position").fetchall():
        if position < 4:
            previous = digest_bytes(payload)
            continue
        document = json.loads(payload)
        document |= {"previous": previous, "body": {"number": 99}, "keyid": attacker.keyid}
        changed = canonical(document)
        previous = digest_bytes(changed)
        raw.execute(
            "UPDATE events SET payload = ?, digest = ?, signature = ? WHERE position = ?",
            (changed, previous, attacker.sign(message(changed)), position),
        )


def swap_signatures(raw):
    """Two valid signatures, on each other's events."""
    rows = dict(raw.execute("SELECT position, signature FROM events WHERE position IN (4, 6)").fetchall())
    raw.execute("UPDATE events SET signature = ? WHERE position = 4", (rows[6],))
    raw.execute("UPDATE events SET signature = ? WHERE position = 6", (rows[4],))


def wrong_types(raw):
    """Text where bytes were, and no bytes at all."""
    raw.execute("UPDATE events SET payload = CAST(payload AS TEXT) WHERE position = 4")
    raw.execute("UPDATE events SET signature = X'' WHERE position = 6")


MATRIX = [
    edit_body,
    move_column,
    rename_type,
    free_key,
    delete_row,
    swap_rows,
    move_to_another_workspace,
    rechain_without_key,
    swap_signatures,
    wrong_types,
]


@pytest.mark.parametrize("tamper", MATRIX)
def test_verify_finds_it(filled, raw, tamper):
    """The log was sound, and is not any more; the fault names the place."""
    assert filled.verify().sound
    tamper(raw)
    report = filled.verify()
    assert not report.sound
    assert any(fault.startswith(("event 4", "event 5")) for fault in report.faults)


@pytest.mark.parametrize("tamper", MATRIX)
def test_reading_the_whole_log_stops_at_it(filled, raw, tamper):
    """A reader of the log gets an error, never a changed event."""
    honest = {event.position: event for event in filled.read()}
    tamper(raw)
    read = []
    with pytest.raises(CheckFailed) as caught:
        read.extend(filled.read())
    assert caught.value.code == "spine.broken"
    assert all(honest[event.position] == event for event in read)


def test_a_cut_tail_is_seen_and_not_extended(filled, raw, runtime):
    """The chain alone would call it sound; the checkpoint outside says how long it was."""
    raw.execute("DELETE FROM events WHERE position > 7")
    report = filled.verify()
    assert report.faults == ("the log ends at event 7, its checkpoint at 10: it was cut",)
    with pytest.raises(CheckFailed) as caught:
        filled.append([NewEvent("run:0", "task.issued", {})], signer=runtime)
    assert caught.value.code == "spine.cut"


def test_a_regrown_tail_is_seen(filled, raw, runtime, tmp_path, open_store):
    """Cut, then extended to the old length by somebody with a valid key but an older checkpoint's folder."""
    checkpoint = tmp_path / "checkpoint.default.main.json"
    kept = checkpoint.read_bytes()
    raw.execute("DELETE FROM events WHERE position > 7")
    checkpoint.unlink()
    for number in range(4):
        filled.append([NewEvent("run:0", "task.issued", {"forged": number})], signer=runtime)
    checkpoint.write_bytes(kept)
    report = open_store().verify()
    assert report.faults == ("event 10: it is not the event that was checkpointed",)


def test_an_emptied_log_is_seen(filled, raw, runtime):
    """Nothing left is the longest cut."""
    raw.execute("DELETE FROM events")
    assert not filled.verify().sound
    with pytest.raises(CheckFailed):
        filled.append([NewEvent("run:0", "task.issued", {})], signer=runtime)


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("data", [b"", b"{}", b"\x00" * 100, None])
def test_a_damaged_or_missing_checkpoint_is_a_fault(tmp_path, open_store, data):
    """Without a checkpoint a cut tail could not be seen, so its absence is a doubt."""
    checkpoint = tmp_path / "checkpoint.default.main.json"
    checkpoint.unlink()
    if data is not None:
        checkpoint.write_bytes(data)
    assert len(open_store().verify().faults) == 1


def test_a_changed_head_is_not_extended(filled, raw, runtime):
    """An append looks at the bytes it chains to."""
    raw.execute("UPDATE events SET payload = payload || ' ' WHERE position = 10")
    with pytest.raises(CheckFailed) as caught:
        filled.append([NewEvent("run:0", "task.issued", {})], signer=runtime)
    assert caught.value.code == "spine.broken"


def test_a_stream_with_a_missing_event_cannot_be_read_whole(filled, raw):
    """A reader of one stream sees that a version is missing."""
    raw.execute("DELETE FROM events WHERE position = 5")
    with pytest.raises(CheckFailed, match="before it is missing"):
        list(filled.read("run:0"))


@given(at=st.integers(0, 1 << 20), mask=st.integers(1, 255))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_byte_in_the_file_never_passes_for_an_event(
    filled, tmp_path, tmp_path_factory, open_store, at, mask
):
    """Any byte of the database: the same events, or an error; verify agrees with reading."""
    honest = list(filled.read())
    filled.close()  # the last connection to close moves the log into the file itself
    folder = tmp_path_factory.mktemp("flip")
    for name in ("ledger.sqlite", "checkpoint.default.main.json"):
        shutil.copyfile(tmp_path / name, folder / name)
    data = bytearray((folder / "ledger.sqlite").read_bytes())
    data[at % len(data)] ^= mask
    (folder / "ledger.sqlite").write_bytes(data)
    try:
        store = open_store(folder=folder)
        sound = store.verify().sound
        read = list(store.read())
    except FabricError:
        return
    assert read == honest[: len(read)]
    assert not sound or read == honest
