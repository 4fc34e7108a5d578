"""Whoever writes into the database without a key is seen, whatever they write; every kind has its code."""

import random
import shutil

import attacks
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import CheckFailed, FabricError
from fabric_dagster.spine.checkpoints import Checkpoint, sign_checkpoint
from fabric_dagster.spine.ports import NewEvent
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore


@pytest.fixture
def raw(filled, url):  # noqa: ARG001 - the log must be there first
    """An attacker on the filled log."""
    attacker = attacks.Attacker(url)
    yield attacker
    attacker.engine.dispose()


MATRIX = {
    attacks.edit_body: "spine.signature",
    attacks.edit_bytes_alone: "spine.signature",
    attacks.no_event: "spine.bytes",
    attacks.move_column: "spine.column",
    attacks.rename_type: "spine.column",
    attacks.free_key: "spine.column",
    attacks.delete_row: "spine.gap",
    attacks.swap_rows: "spine.column",
    attacks.move_to_another_workspace: "spine.gap",
    attacks.rechain_without_key: "spine.signature",
    attacks.resign_with_a_stolen_key: "spine.chain",
    attacks.swap_signatures: "spine.signature",
    attacks.empty_bytes: "spine.bytes",
}


@pytest.mark.parametrize(("tamper", "code"), MATRIX.items())
def test_verify_finds_it(filled, raw, tamper, code):
    """The log was sound, and is not any more; the first fault names the place and its kind."""
    assert filled.verify().sound
    tamper(raw)
    report = filled.verify()
    assert not report.sound
    assert report.faults[0].code == code
    assert report.faults[0].where in {"event 4", "event 5"}


@pytest.mark.parametrize(("tamper", "code"), MATRIX.items())
def test_reading_the_whole_log_stops_at_it(filled, raw, tamper, code):
    """A reader of the log gets an error, never a changed event."""
    honest = {event.position: event for event in filled.read()}
    tamper(raw)
    read = []
    with pytest.raises(CheckFailed) as caught:
        read.extend(filled.read())
    assert caught.value.code == code
    # Whoever has the key can write; what is read before the next link is what it signed.
    assert tamper is attacks.resign_with_a_stolen_key or all(
        honest[event.position] == event for event in read
    )


def test_text_where_bytes_were_is_no_event(tmp_path, open_sqlite, runtime):
    """SQLite keeps what it is given."""
    store = open_sqlite(tmp_path)
    store.append([NewEvent("home", "test.noted", {})], signer=runtime)
    attacker = attacks.Attacker(f"sqlite:///{(tmp_path / 'ledger.sqlite').as_posix()}")
    attacker("UPDATE events SET payload = CAST(payload AS TEXT)")
    attacker.engine.dispose()
    assert {fault.code for fault in store.verify().faults} == {"spine.bytes"}


def test_a_cut_tail_is_seen_and_not_extended(filled, raw, runtime):
    """The chain alone would call it sound; the checkpoint outside says how long it was."""
    raw("DELETE FROM events WHERE position > 7")
    report = filled.verify()
    assert {fault.code for fault in report.faults} == {"spine.cut"}
    with pytest.raises(CheckFailed) as caught:
        filled.append([NewEvent("run:0", "task.issued", {})], signer=runtime)
    assert caught.value.code == "spine.cut"


def test_a_cut_log_is_not_read_by_whoever_opens_it(filled, raw, open_store):
    """The first read asks the anchors."""
    raw("DELETE FROM events WHERE position > 7")
    for read in (lambda s: list(s.read()), lambda s: s.head(), lambda s: s.by_key("key-1")):
        with pytest.raises(CheckFailed) as caught:
            read(open_store())
        assert caught.value.code == "spine.cut"
    assert filled.verify().events == 7


def test_a_regrown_tail_is_seen(filled, raw, runtime, tmp_path, anchor, open_store):
    """Cut, then extended to the old length by somebody with a valid key and time to hide the anchors."""
    places = [path for path in (anchor, tmp_path / anchor.name) if path.exists()]
    kept = {path: path.read_bytes() for path in places}
    raw("DELETE FROM events WHERE position > 7")
    for path in places:
        path.unlink()
    for number in range(4):
        filled.append([NewEvent("run:0", "task.issued", {"forged": number})], signer=runtime)
    for path, data in kept.items():
        path.write_bytes(data)
    report = open_store().verify()
    assert {fault.code for fault in report.faults} == {"spine.replaced"}
    with pytest.raises(CheckFailed) as caught:
        open_store().head()
    assert caught.value.code == "spine.replaced"


def test_an_emptied_log_is_seen(filled, raw, runtime):
    """Nothing left is the longest cut."""
    raw("DELETE FROM events")
    assert not filled.verify().sound
    with pytest.raises(CheckFailed):
        filled.append([NewEvent("run:0", "task.issued", {})], signer=runtime)


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "spine.checkpoint"),
        (b"{}", "spine.checkpoint"),
        (b"\x00" * 100, "spine.checkpoint"),
        (None, "spine.unanchored"),
    ],
)
def test_a_damaged_or_missing_checkpoint_is_a_fault(anchor, open_store, data, code):
    """Without a checkpoint a cut tail could not be seen, so its absence in any place is a doubt."""
    anchor.unlink()
    if data is not None:
        anchor.write_bytes(data)
    assert [fault.code for fault in open_store().verify().faults] == [code]


@pytest.mark.usefixtures("filled")
def test_a_forged_checkpoint_is_a_fault(anchor, open_store, runtime):
    """An older head, written by somebody without a trusted key."""
    stranger = signer_of("runtime", Ed25519PrivateKey.generate())
    anchor.write_bytes(sign_checkpoint(Checkpoint("default", "main", 3, "sha256:" + "0" * 64), stranger))
    store = open_store()
    assert [fault.code for fault in store.verify().faults] == ["spine.checkpoint"]
    with pytest.raises(CheckFailed):
        store.append([NewEvent("run:0", "task.issued", {})], signer=runtime)


def test_a_new_database_never_stands_in_for_one_that_is_gone(tmp_path, trust, runtime, stores):
    """With its whole folder deleted, checkpoint and all: the second place knows."""
    folder, second = tmp_path / "ledger", tmp_path / "anchors"
    url = f"sqlite:///{(folder / 'ledger.sqlite').as_posix()}"
    folder.mkdir()
    store = SqlEventStore(url, "default", trust, anchors=(second,))
    store.append([NewEvent("home", "test.noted", {})], signer=runtime)
    store.close()
    shutil.rmtree(folder)
    folder.mkdir()
    with pytest.raises(CheckFailed) as caught:
        SqlEventStore(url, "default", trust, anchors=(second,))
    assert caught.value.code == "spine.lost"
    assert list(folder.iterdir()) == []
    # Somebody makes an empty one all the same, without telling the anchors.
    SqlEventStore(url, "default", trust).close()
    swapped = SqlEventStore(url, "default", trust, anchors=(second,))
    stores.append(swapped)
    assert {fault.code for fault in swapped.verify().faults} == {"spine.cut"}
    with pytest.raises(CheckFailed):
        list(swapped.read())


def test_looking_makes_no_database(tmp_path, trust):
    """Whoever only reads is told that there is none."""
    with pytest.raises(CheckFailed) as caught:
        SqlEventStore(f"sqlite:///{(tmp_path / 'x.sqlite').as_posix()}", "default", trust, create=False)
    assert caught.value.code == "spine.missing"
    assert list(tmp_path.iterdir()) == []


def test_an_anchor_elsewhere_is_written_and_asked(open_store, runtime, trust, url):
    """Any URL of fsspec; it is put off for a moment, and written when the store is closed."""
    place = f"memory://anchors-{digest_bytes(url.encode())[7:19]}"
    store = open_store(anchors=(place,))
    for number in range(5):
        store.append([NewEvent("home", "test.noted", {"n": number})], signer=runtime)
    store.close()
    again = open_store(anchors=(place,))
    (far,) = [known for where, known in again.anchors.newest(far=True) if where.startswith("memory")]
    assert far.position == 5
    assert again.verify().sound
    attacker = attacks.Attacker(url)
    attacker("DELETE FROM events WHERE position > 2")
    attacker.engine.dispose()
    assert "spine.cut" in {fault.code for fault in again.verify().faults}
    assert trust is again.trust


def test_what_a_killed_writer_left_is_replaced_by_the_next(tmp_path, open_sqlite, runtime):
    """A head is written under one temporary name, under a lock: leftovers do not pile up."""
    store = open_sqlite(tmp_path)
    left = tmp_path / ".checkpoint.default.main.json.tmp"
    left.write_bytes(b"half")
    store.append([NewEvent("home", "test.noted", {})], signer=runtime)
    assert not left.exists()
    assert store.verify().sound


@pytest.mark.slow
def test_two_processes_prove_one_log(tmp_path, open_sqlite, runtime, monkeypatch):
    """What they find is what one finds, wherever their stretches meet."""
    monkeypatch.setattr("resources.ledger.verify.WORTH_A_PROCESS", 20)
    store = open_sqlite(tmp_path)
    store.append([NewEvent(f"run:{n % 7}", "test.noted", {"n": n}) for n in range(100)], signer=runtime)
    report = store.verify(jobs=2)
    assert (report.sound, report.events, report.head) == (True, 100, store.head()[1])
    attacker = attacks.Attacker(store._url)
    for position in (50, 51, 80):
        attacker.put(position, attacker.payload(position).replace(b'"n":', b'"n":1'))
    attacker.engine.dispose()
    faults = store.verify(jobs=2).faults
    unsigned = [fault.where for fault in faults if fault.code == "spine.signature"]
    assert unsigned == ["event 50", "event 51", "event 80"]
    assert faults == store.verify(jobs=1).faults


def test_a_changed_head_is_not_extended(filled, raw, runtime):
    """An append looks at the bytes it chains to."""
    raw("UPDATE events SET payload = :p WHERE position = 10", p=raw.payload(10) + b" ")
    with pytest.raises(CheckFailed) as caught:
        filled.append([NewEvent("run:0", "task.issued", {})], signer=runtime)
    assert caught.value.code == "spine.column"


def test_a_stream_with_a_missing_event_cannot_be_read_whole(filled, raw):
    """A reader of one stream sees that a version is missing."""
    raw("DELETE FROM events WHERE position = 5")
    with pytest.raises(CheckFailed, match="before it is missing"):
        list(filled.read("run:0"))


@pytest.fixture
def honest(tmp_path, open_sqlite, runtime):
    """A closed SQLite log of ten events: its events, and the folder with its file."""
    folder = tmp_path / "honest"
    folder.mkdir()
    store = open_sqlite(folder)
    for number in range(10):
        event = NewEvent(f"run:{number % 2}", "task.issued", {"number": number}, f"key-{number}")
        store.append([event], signer=runtime)
    events = list(store.read())
    store.close()  # the last connection to close moves the log into the file itself
    return events, folder


def flipped(honest, folder, open_sqlite, at, mask):
    """Change one byte: the same events are read, or an error; and what verifies is what was written."""
    events, source = honest
    for name in ("ledger.sqlite", "checkpoint.default.main.json"):
        shutil.copyfile(source / name, folder / name)
    data = bytearray((folder / "ledger.sqlite").read_bytes())
    data[at % len(data)] ^= mask
    (folder / "ledger.sqlite").write_bytes(data)
    try:
        store = open_sqlite(folder)
        sound = store.verify().sound
        read = list(store.read())
    except FabricError:
        return
    assert read == events[: len(read)]
    assert not sound or read == events


@given(at=st.integers(0, 1 << 20), mask=st.integers(1, 255))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_byte_in_the_file_never_passes_for_an_event(
    honest, tmp_path_factory, open_sqlite, at, mask
):
    """Any byte of the database."""
    flipped(honest, tmp_path_factory.mktemp("flip"), open_sqlite, at, mask)


@pytest.mark.proof
def test_no_bit_of_the_file_passes_for_an_event(honest, tmp_path, trust, request):
    """Thousands of bits, drawn evenly over the whole file (all are more than a day's work)."""
    draw = random.Random(20261130)  # noqa: S311 - places, not secrets
    folder = tmp_path / "flip"
    opened = []

    def open_one(where):
        opened.append(SqlEventStore(f"sqlite:///{(where / 'ledger.sqlite').as_posix()}", "default", trust))
        return opened[-1]

    for _ in range(100 if request.config.getoption("--proof-sample") else 4000):
        folder.mkdir()
        flipped(honest, folder, open_one, draw.randrange(1 << 20), 1 << draw.randrange(8))
        while opened:
            opened.pop().close()
        shutil.rmtree(folder)
