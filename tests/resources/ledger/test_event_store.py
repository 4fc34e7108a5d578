"""The event store's contract: positions, versions, keys, isolation, refusals."""

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.errors import (
    CheckFailed,
    Conflict,
    InvalidDocument,
    OperationFailed,
    Refused,
    UsageFault,
)
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.spine.subscription import subscribe
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore


def noted(stream, number=0, key=None):
    """A small event."""
    return NewEvent(stream, "test.noted", {"number": number}, key)


def test_positions_are_contiguous_and_versions_count_per_stream(store, runtime):
    """Single and batch appends share one count of positions; each stream has its own versions."""
    store.append([noted("a"), noted("b"), noted("a")], signer=runtime)
    store.append([noted("b")], signer=runtime)
    found = [(event.position, event.stream, event.version) for event in store.read()]
    assert found == [(1, "a", 1), (2, "b", 1), (3, "a", 2), (4, "b", 2)]


def test_each_event_holds_its_predecessors_digest(filled):
    """The head's digest stands for the whole log."""
    events = list(filled.read())
    assert [event.previous for event in events] == ["", *(event.digest for event in events[:-1])]
    assert filled.head() == (10, events[-1].digest)


def test_an_empty_log_has_no_head(store):
    """Position 0 and no digest; sound, since nothing is wrong."""
    assert store.head() == (0, "")
    assert list(store.read()) == []
    report = store.verify()
    assert (report.sound, report.events, report.head) == (True, 0, "")


def test_an_empty_append_is_refused(store, runtime):
    """Appending nothing is somebody's mistake."""
    with pytest.raises(InvalidDocument) as caught:
        store.append([], signer=runtime)
    assert caught.value.code == "spine.empty"


def test_a_used_key_returns_the_event_that_used_it(store, runtime):
    """The same act twice is one event, also within a batch and among new ones."""
    (first,) = store.append([noted("a", 1, "k")], signer=runtime)
    again = store.append([noted("a", 1, "k"), noted("a", 2, "m"), noted("a", 2, "m")], signer=runtime)
    assert again[0] == first
    assert again[1] == again[2]
    assert store.head()[0] == 2
    assert store.by_key("k") == first
    assert store.by_key("unused") is None


@pytest.mark.parametrize(
    "other", [noted("a", 9, "k"), noted("b", 1, "k"), NewEvent("a", "test.other", {"number": 1}, "k")]
)
def test_a_used_key_for_another_act_is_refused(store, runtime, other):
    """Another body, stream or type under a used key: nothing of the batch is appended."""
    store.append([noted("a", 1, "k")], signer=runtime)
    with pytest.raises(Conflict) as caught:
        store.append([noted("c"), other], signer=runtime)
    assert caught.value.code == "spine.key_reused"
    assert store.head()[0] == 1


def test_a_stale_expected_version_is_refused_and_appends_nothing(store, runtime):
    """Expected versions are compared inside the lock; 0 means that the stream does not exist."""
    store.append([noted("a")], signer=runtime, expected={"a": 0})
    with pytest.raises(Conflict) as caught:
        store.append([noted("b"), noted("a")], signer=runtime, expected={"a": 0})
    assert caught.value.code == "spine.conflict"
    assert store.head()[0] == 1
    store.append([noted("b")], signer=runtime, expected={"a": 1, "b": 0})


def test_a_retried_append_with_an_expected_version_is_the_earlier_one(store, runtime):
    """After a lost acknowledgement the same call answers with what it did."""
    first = store.append([noted("a", 1, "k")], signer=runtime, expected={"a": 0})
    assert store.append([noted("a", 1, "k")], signer=runtime, expected={"a": 0}) == first


def test_a_signer_that_is_not_pinned_is_refused(store):
    """Only identities of the trust root append, each with its own key."""
    for identity in ("runtime", "nobody"):
        stranger = signer_of(identity, Ed25519PrivateKey.generate())
        with pytest.raises(Refused) as caught:
            store.append([noted("a")], signer=stranger)
        assert caught.value.code == "spine.unknown_signer"
    assert store.head()[0] == 0


def test_workspaces_and_branches_never_see_each_other(open_store, runtime):
    """Same streams and keys in three logs of one database: three logs."""
    stores = [open_store("one"), open_store("two"), open_store("one", "trial")]
    for number, store in enumerate(stores):
        store.append([noted("a", number, "k"), noted("a", number)], signer=runtime)
    for number, store in enumerate(stores):
        assert [event.body["number"] for event in store.read()] == [number, number]
        assert store.by_key("k").body["number"] == number
        assert store.head()[0] == 2
        assert store.verify().events == 2
        assert store.verify().sound


@pytest.mark.parametrize(
    ("workspace", "branch"), [("", "main"), ("a/b", "main"), ("default", "../x"), ("A", "main")]
)
def test_names_that_could_be_paths_are_refused(open_store, workspace, branch):
    """They name a checkpoint file too."""
    with pytest.raises(UsageFault) as caught:
        open_store(workspace, branch)
    assert caught.value.code == "spine.bad_name"


@pytest.mark.parametrize("url", ["postgresql://x/y", "sqlite://", "sqlite:///:memory:", "nonsense"])
def test_a_database_that_cannot_keep_it_is_refused(trust, url):
    """A SQLite file or PostgreSQL through psycopg 3, never memory."""
    with pytest.raises(UsageFault) as caught:
        SqlEventStore(url, "default", trust)
    assert caught.value.code == "spine.bad_url"


@pytest.mark.parametrize(
    "name", ["with space", "what?x=1", "50%20", "a#b", "ünïcode", "a@b:c" if os.name != "nt" else "a@b"]
)
def test_a_folder_may_have_any_name(tmp_path, open_sqlite, runtime, name):
    """The ledger lies exactly where the path says."""
    (tmp_path / name).mkdir()
    store = open_sqlite(tmp_path / name)
    store.append([noted("a")], signer=runtime)
    assert {"ledger.sqlite", "checkpoint.default.main.json"} <= {p.name for p in (tmp_path / name).iterdir()}
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert store.verify().sound


def test_reading_selects_by_stream_type_position_and_limit(filled, runtime):
    """All filters together, in order."""
    filled.append([NewEvent("run:0", "run.closed", {})], signer=runtime)
    assert [e.position for e in filled.read("run:0")] == [1, 3, 5, 7, 9, 11]
    assert [e.position for e in filled.read(types=["run.closed"])] == [11]
    assert [e.position for e in filled.read("run:1", after=4, limit=2)] == [6, 8]
    assert [e.position for e in filled.read(types=["run.closed", "task.issued"])] == list(range(1, 12))
    assert [e.position for e in filled.read(types=["run.closed", "task.issued"], after=8, limit=2)] == [9, 10]
    assert [e.position for e in filled.read("run:0", types=["run.closed", "x.y"])] == [11]
    assert list(filled.read(types=[])) == []
    assert list(filled.read(limit=0)) == []


def test_a_long_log_is_read_in_pages_without_loss(store, runtime):
    """More events than a page, whole and limited."""
    store.append([noted("a", number) for number in range(1201)], signer=runtime)
    assert [e.position for e in store.read()] == list(range(1, 1202))
    assert [e.position for e in store.read(limit=1001)] == list(range(1, 1002))


def test_verify_since_proves_only_what_is_later(filled):
    """It begins with what stands at that position."""
    report = filled.verify(since=4)
    assert (report.sound, report.events) == (True, 6)
    assert not filled.verify(since=99).sound


@given(
    batches=st.lists(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.none() | st.sampled_from("xyz")), min_size=1, max_size=4
        ),
        max_size=8,
    )
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_sequence_of_appends_is_one_sound_chain(batches, tmp_path_factory, open_sqlite, runtime):
    """Whatever is appended, with or without keys: contiguous, counted, keys once, sound."""
    store = open_sqlite(tmp_path_factory.mktemp("log"))
    used = {}
    count = 0
    for batch in batches:
        events = [noted(stream if key is None else "k", 0, key) for stream, key in batch]
        stored = store.append(events, signer=runtime)
        for (_, key), event in zip(batch, stored, strict=True):
            if key is None or key not in used:
                count += 1
                assert event.position == count
            if key is not None:
                assert used.setdefault(key, event.position) == event.position
    assert store.head()[0] == count
    assert store.verify().sound


def test_threads_share_a_store(store, runtime):
    """Eight threads on one store object: contiguous, nothing lost."""

    def write(name):
        for number in range(10):
            store.append([noted(name, number, f"{name}.{number}")], signer=runtime)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, "abcdefgh"))
    assert [event.position for event in store.read()] == list(range(1, 81))
    assert store.verify().sound


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on Windows")
def test_a_forked_process_opens_its_own_connection(store, runtime):
    """The parent's connection is neither used nor closed by its child."""
    store.append([noted("a")], signer=runtime)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            store.append([noted("a")], signer=runtime)
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.append([noted("a")], signer=runtime)
    assert store.head()[0] == 3
    assert store.verify().sound


WITH_A_GAP = """
INSERT INTO events
SELECT workspace, branch, 99, 'a', 99, 'a.b', NULL, 'd', payload, signature FROM events WHERE position = 1
"""


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE events SET type = 'x'", "append-only"),
        ("DELETE FROM events", "append-only"),
        (WITH_A_GAP, "contiguous"),
    ],
)
def test_the_database_itself_refuses(filled, statement, words):
    """Our own mistakes meet a wall in the database: no change, no gap."""
    with pytest.raises(OperationFailed, match=words), filled._database.write("x") as connection:
        connection.exec_driver_sql(statement)
    assert filled.verify().sound


def test_a_file_that_is_no_database_is_named_as_damaged(tmp_path, open_sqlite):
    """No driver's traceback: one error that says where."""
    (tmp_path / "ledger.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(CheckFailed) as caught:
        open_sqlite(tmp_path)
    assert caught.value.code == "spine.broken"


def test_an_event_of_a_run_says_of_which(store, runtime):
    """It follows from the stream, and stands in the signed bytes."""
    stored = store.append([noted("run:sha256:ab"), noted("home")], signer=runtime)
    assert [event.run for event in stored] == ["sha256:ab", None]
    assert [event.run for event in store.read()] == ["sha256:ab", None]


def test_streams_are_found_by_their_beginning(store, runtime):
    """By index, in the order of their bytes, of this log alone."""
    names = ["run:sha256:ab", "run:sha256:aa", "run:sha256:b~", "ticket:A-1", "run:sha256:a.", "ticket:A-10"]
    store.append([noted(name) for name in names], signer=runtime)
    assert store.streams("run:sha256:a") == ["run:sha256:a.", "run:sha256:aa", "run:sha256:ab"]
    assert store.streams("ticket:A-1") == ["ticket:A-1", "ticket:A-10"]
    assert store.streams("") == sorted(names)
    assert store.streams("x") == []


def test_a_subscriber_gets_every_event_once_and_in_order(open_store, runtime):
    """It goes on from a position, waits for what is new, and filters."""
    store, pauses = open_store(), []
    store.append([noted("a", number) for number in range(3)], signer=runtime)

    def pause(seconds):
        pauses.append(seconds)
        open_store().append([noted("a"), NewEvent("b", "test.other", {})], signer=runtime)

    listening = subscribe(store, after=1, types=["test.noted"], pause=pause)
    assert [event.position for event in islice(listening, 5)] == [2, 3, 4, 6, 8]
    assert pauses == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    "bad",
    [
        "postgresql+psycopg://fabric:s3cret@host/db",
        "postgresql+psycopg://fabric@host/db?password=s3cret",
    ],
)
def test_a_password_in_the_url_is_refused_and_not_repeated(trust, bad):
    """It would end in files and logs: the environment or pgpass have it."""
    with pytest.raises(UsageFault) as caught:
        SqlEventStore(bad, "default", trust)
    assert caught.value.code == "spine.password_in_url"
    assert "s3cret" not in str(caught.value)


def test_a_server_that_does_not_answer_is_one_error(trust, monkeypatch):
    """With what to look for, and without the password."""
    monkeypatch.setenv("FABRIC_LEDGER_PASSWORD", "s3cret")
    with pytest.raises(OperationFailed) as caught:
        SqlEventStore("postgresql+psycopg://fabric@/db?host=/nowhere", "default", trust)
    assert caught.value.code == "spine.unavailable"
    assert "s3cret" not in str(caught.value)
