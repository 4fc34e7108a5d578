"""Garbage collection: what anything refers to stays, what may still be referred to stays, the rest goes."""

import json
import os
import subprocess
import sys
import time

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.digests import digest_bytes, dsse_sign
from fabric_dagster.errors import CheckFailed, OperationFailed
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.spine.ports import NewEvent
from resources.artifacts.collect import CHUNK, collect
from resources.artifacts.place import open_store
from resources.artifacts.store import FolderArtifactStore
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore

RUNTIME = signer_of("runtime", Ed25519PrivateKey.from_private_bytes(b"r" * 32))
TRUST = TrustRoot.of({"runtime": RUNTIME.public})


@pytest.fixture
def open_log(tmp_path):
    """Opens the branches of one ledger."""
    opened = []

    def open_one(branch="main"):
        url = f"sqlite:///{(tmp_path / 'ledger.sqlite').as_posix()}"
        opened.append(SqlEventStore(url, "default", TRUST, branch))
        return opened[-1]

    yield open_one
    for log in opened:
        log.close()


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path):
    """A store of each kind."""
    name = digest_bytes(str(tmp_path).encode())[7:19]
    url = f"memory://collect-{name}" if request.param == "memory" else None
    return open_store(tmp_path / "artifacts", url, "default", "main")


def mention(log, *digests):
    """An event that refers to artifacts."""
    log.append([NewEvent("home", "test.noted", {"about": list(digests)})], signer=RUNTIME)


def soon():
    """A time before which everything was put."""
    return time.time() + 60


def test_what_nothing_refers_to_goes(store, open_log, monkeypatch):
    """And what an event of any branch names stays, with what its bytes name, and so on."""
    log, trial = open_log(), open_log("trial")
    monkeypatch.setattr("resources.artifacts.collect.MAX_DOCUMENT", CHUNK // 2)
    leaf = store.put_bytes(b"x" * (CHUNK - 20) + b"picture")
    middle = store.put_bytes(b" " * (CHUNK - 40) + f'{{"file": "{leaf}"}}'.encode())
    root = store.put_bytes(f'{{"evidence": ["{middle}"]}}'.encode())
    other, lost = store.put_bytes(b"of another branch"), store.put_bytes(b"nobody's")
    mention(log, root)
    mention(trial, other)
    looked = collect(store, [log, trial], soon(), dry_run=True)
    assert (looked.kept, looked.removed, store.has(lost)) == (4, [lost], True)
    done = collect(store, [log, trial], soon())
    assert (done.kept, done.young, done.removed, done.bytes) == (4, 0, [lost], 8)
    assert sorted(store.digests()) == sorted([leaf, middle, root, other])


def test_what_an_envelope_names_stays(store, open_log):
    """The payload of a signed envelope is in base64; what it names is kept, too."""
    log = open_log()
    picture, other = store.put_bytes(b"picture"), store.put_bytes(b"other")
    inner = dsse_sign("x", json.dumps({"picture": picture, "more": "." * 50}).encode(), "k", RUNTIME.sign)
    outer = dsse_sign("x", json.dumps({"inner": inner}).encode(), "k", RUNTIME.sign)
    verdict = store.put_bytes(json.dumps(outer).encode())
    log.append([NewEvent("home", "test.noted", {"envelope": inner | {"about": other}})], signer=RUNTIME)
    mention(log, verdict)
    assert collect(store, [log], soon()).removed == []
    assert store.has(picture)


def test_what_is_young_stays(store, open_log):
    """The event that will name it may not be written yet."""
    log = open_log()
    mention(log)
    store.put_bytes(b"just put")
    done = collect(store, [log], time.time() - 3600)
    assert (done.young, done.removed) == (1, [])


def test_a_broken_log_or_artifact_stops_it(tmp_path, open_log):
    """Nothing is removed: what was referred to cannot be known."""
    store, log = FolderArtifactStore(tmp_path / "artifacts"), open_log()
    kept, lost = store.put_bytes(b"kept"), store.put_bytes(b"lost")
    mention(log, kept)
    path = store.path(kept)
    path.chmod(0o644)
    path.write_bytes(b"Kept")
    with pytest.raises(CheckFailed) as caught:
        collect(store, [log], soon())
    assert caught.value.code == "artifact.corrupt"
    (tmp_path / "checkpoint.default.main.json").unlink()
    with pytest.raises(CheckFailed) as caught:
        collect(store, [log], soon())
    assert caught.value.code == "artifact.unproven"
    assert store.has(lost)


def test_something_foreign_in_the_store_stops_it(tmp_path, open_log):
    """Whoever put it there meant something."""
    store, log = FolderArtifactStore(tmp_path / "artifacts"), open_log()
    store.put_bytes(b"lost")
    (store.root / "sha256/notes.txt").write_bytes(b"x")
    mention(log)
    with pytest.raises(OperationFailed) as caught:
        collect(store, [log], soon())
    assert caught.value.code == "artifact.foreign"


@given(
    links=st.lists(st.sets(st.integers(0, 11), max_size=3), min_size=12, max_size=12),
    roots=st.sets(st.integers(0, 11)),
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_exactly_the_reachable_stays(links, roots, tmp_path_factory):
    """Any graph of references (each artifact can only name older ones)."""
    folder = tmp_path_factory.mktemp("gc")
    store = FolderArtifactStore(folder / "artifacts")
    log = SqlEventStore(f"sqlite:///{(folder / 'ledger.sqlite').as_posix()}", "default", TRUST)
    names = []
    for number, targets in enumerate(links):
        named = [names[target] for target in targets if target < number]
        names.append(store.put_bytes(f"{number} {named}".encode()))
    mention(log, *[names[root] for root in roots])
    reached, waiting = set(), set(roots)
    while waiting:
        number = waiting.pop()
        reached.add(number)
        waiting |= {target for target in links[number] if target < number} - reached
    collect(store, [log], soon())
    log.close()
    assert set(store.digests()) == {names[number] for number in reached}


PUTTER = """
import contextlib, os, sys
from pathlib import Path
from resources.artifacts.store import FolderArtifactStore
store = FolderArtifactStore(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(1500):
    data = b"%d" % (number % 20)
    name = "sha256:" + __import__("hashlib").sha256(data).hexdigest()
    with contextlib.suppress(FileNotFoundError):
        os.utime(store._name(name), (1, 1))
    store.put_bytes(data)
    if not store.has(name):
        print("LOST", number, flush=True)
"""


@pytest.mark.slow
def test_putting_while_collecting_loses_nothing(tmp_path, open_log):
    """What a put has answered for is there afterwards, though nothing refers to it and its bytes were old."""
    store, log = FolderArtifactStore(tmp_path / "artifacts"), open_log()
    mention(log)
    putter = subprocess.Popen(
        [sys.executable, "-c", PUTTER, str(store.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert putter.stdout.readline() == "ready\n"
    putter.stdin.write("go\n")
    putter.stdin.flush()
    removed = 0
    while putter.poll() is None:
        removed += len(collect(store, [log], time.time() - 3600).removed)
    assert putter.communicate()[0] == ""
    assert removed > 0


def test_old_bytes_that_are_put_again_are_not_removed(tmp_path):
    """The time is renewed under the lock that removing takes."""
    store = FolderArtifactStore(tmp_path / "artifacts")
    name = store.put_bytes(b"data")
    os.utime(store.path(name), (1, 1))
    store.put_bytes(b"data")
    assert not store.discard(name, time.time() - 60)
    os.utime(store.path(name), (1, 1))
    assert store.discard(name, time.time() - 60)
    assert not store.has(name)
