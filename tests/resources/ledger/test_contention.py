"""Many processes at once, and processes that die: nothing acknowledged is lost, nothing happens twice."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

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
url, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = SqlEventStore(url, "default", trust)
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    event = NewEvent("shared", "test.noted", {"by": name, "number": number}, f"{name}.{number}")
    (stored,) = store.append([event], signer=runtime)
    print(number, stored.position, flush=True)
"""


def url_of(folder):
    """The test's database."""
    return f"sqlite:///{(folder / 'ledger.sqlite').as_posix()}"


def start(folder, name, count):
    """A writer process that waits for a line before it writes."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, url_of(folder), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_eight_processes_write_one_contiguous_log(tmp_path, open_store):
    """They open the new database at once too; every acknowledged event is there, positions have no gap."""
    writers, each = 8, 25
    running = [start(tmp_path, f"w{number}", each) for number in range(writers)]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    acknowledged = {}
    for number, process in enumerate(running):
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        for line in out.splitlines():
            event, position = line.split()
            acknowledged[f"w{number}", int(event)] = int(position)
    store = open_store()
    stored = {(event.body["by"], event.body["number"]): event.position for event in store.read()}
    assert stored == acknowledged
    assert sorted(stored.values()) == list(range(1, writers * each + 1))
    assert store.verify().sound


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is a POSIX signal")
def test_a_killed_writer_loses_nothing_it_was_told(tmp_path, open_store):
    """Ten times: killed at a random moment, then the same acts again; each stands once, none is lost."""
    draw = random.Random(20261130)  # noqa: S311 - moments, not secrets
    for attempt in range(10):
        process = start(tmp_path, "w", 100_000)
        process.stdout.readline()
        process.stdin.write("go\n")
        process.stdin.flush()
        time.sleep(draw.uniform(0.02, 0.25))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate(timeout=30)
        acknowledged = dict(map(int, line.split()) for line in out.splitlines() if line.count(" ") == 1)
        store = open_store()
        stored = {event.body["number"]: event.position for event in store.read()}
        assert acknowledged.items() <= stored.items(), attempt
        assert sorted(stored.values()) == list(range(1, len(stored) + 1))
        assert store.verify().sound
        store.close()
