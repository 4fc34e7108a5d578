"""Many processes at once, and processes that die: nothing acknowledged is lost, nothing happens twice."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from fabric_dagster.spine.ports import NewEvent

WRITER = """
import sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.spine.ports import NewEvent
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore

def fixed(identity):
    return signer_of(identity, Ed25519PrivateKey.from_private_bytes(identity.encode().ljust(32, b".")))

runtime = fixed("runtime")
trust = TrustRoot.of({"runtime": runtime.public, "operator": fixed("operator").public})
url, anchors, name, count, shared = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
print("ready", flush=True)
sys.stdin.readline()
store = SqlEventStore(url, "default", trust, anchors=(anchors,))
for number in range(count):
    # With one key for all, every writer wants the same act and exactly one does it.
    body = {"number": number} if shared else {"by": name, "number": number}
    key = f"shared.{number}" if shared else f"{name}.{number}"
    (stored,) = store.append([NewEvent("shared", "test.noted", body, key)], signer=runtime)
    print(number, stored.position, flush=True)
"""


@pytest.fixture
def start(url, anchor):
    """Starts writer processes that wait for a line before they open the database and write."""
    running = []

    def start_one(name, count, *, shared=False):
        words = [url, str(anchor.parent), name, str(count), "shared" if shared else ""]
        running.append(
            subprocess.Popen(
                [sys.executable, "-c", WRITER, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        return running[-1]

    yield start_one
    for process in running:
        process.kill()
        process.communicate()


def go(process):
    """Let a waiting writer begin."""
    process.stdin.write("go\n")
    process.stdin.flush()


def acknowledged(process):
    """Event number → position, of everything that the writer was told; a torn last line is no word."""
    out, _ = process.communicate(timeout=120)
    return dict(map(int, line.split()) for line in out.splitlines(keepends=True) if line.endswith("\n"))


@pytest.mark.slow
def test_sixteen_processes_write_one_contiguous_log(start, open_store):
    """They open the new database at once too; every acknowledged event is there, positions have no gap."""
    writers, each = 16, 12
    running = [start(f"w{number}", each) for number in range(writers)]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:
        go(process)
    told = {}
    for number, process in enumerate(running):
        told |= {(f"w{number}", event): position for event, position in acknowledged(process).items()}
        assert process.returncode == 0
    store = open_store()
    stored = {(event.body["by"], event.body["number"]): event.position for event in store.read()}
    assert stored == told
    assert sorted(stored.values()) == list(range(1, writers * each + 1))
    assert store.verify(jobs=1).sound


@pytest.mark.slow
def test_racers_with_one_key_do_one_act(start, open_store):
    """Four processes want the same acts: each is done once, and all are told of that one."""
    running = [start(f"w{number}", 10, shared=True) for number in range(4)]
    for process in running:
        process.stdout.readline()
    for process in running:
        go(process)
    told = [acknowledged(process) for process in running]
    assert [told[0]] * 4 == told
    store = open_store()
    assert store.head()[0] == 10
    assert store.verify(jobs=1).sound


@pytest.mark.slow
def test_no_reader_ever_skips_an_event(start, open_store, runtime):
    """Whoever goes on from the last position while others write sees every position, in order."""
    store = open_store()
    store.append([NewEvent("home", "test.noted", {})], signer=runtime)
    running = [start(f"w{number}", 30) for number in range(2)]
    for process in running:
        process.stdout.readline()
    for process in running:
        go(process)
    seen, limit = [], time.monotonic() + 120
    while len(seen) < 61 and time.monotonic() < limit:
        seen += [event.position for event in store.read(after=seen[-1] if seen else 0)]
    assert seen == list(range(1, 62))


def kill_often(start, open_store, times, draw):
    """Kill a writer at random moments, then let the same acts happen again."""
    for attempt in range(times):
        process = start("w", 100_000)
        process.stdout.readline()
        go(process)
        # The first acknowledgement says that it is writing.
        first = process.stdout.readline()
        time.sleep(draw.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        told = acknowledged(process) | dict([map(int, first.split())])
        store = open_store()
        stored = {event.body["number"]: event.position for event in store.read()}
        assert told.items() <= stored.items(), attempt
        assert sorted(stored.values()) == list(range(1, len(stored) + 1))
        assert store.verify(jobs=1).sound
        store.close()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is a POSIX signal")
def test_a_killed_writer_loses_nothing_it_was_told(start, open_store):
    """Each act stands once, none that was acknowledged is lost."""
    kill_often(start, open_store, 3, random.Random(20261130))  # noqa: S311 - moments, not secrets


@pytest.mark.proof
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is a POSIX signal")
def test_a_writer_killed_again_and_again_loses_nothing(start, open_store, request):
    """The same, many times, at other moments every time."""
    times = 3 if request.config.getoption("--proof-sample") else 40
    kill_often(start, open_store, times, random.Random())  # noqa: S311 - moments, not secrets
