"""A run that is interrupted, terminated or killed: typed, resumable, and no worker left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from governed import GRAPH, go, kinds, leftovers

from fabric_dagster.supervisor.projection import load_run

#: `fabric run` with a specialist or a validator that takes its time, and says so in a file.
SLOW = """
import sys, time
from pathlib import Path
from fabric_dagster.cli.main import main
from resources.photoshop.client import shared
from resources.photoshop.provider import HeadlessPhotoshop
from resources.unity.provider import HeadlessUnity
from resources.validator import client

point, marker, *words = sys.argv[1:]
place, name = {
    "stage": (HeadlessPhotoshop, "stage"),
    "commit": (HeadlessUnity, "commit"),
}[point]
plain = getattr(place, name)

def slow(self, *given):
    found = plain(self, *given)
    programs = [p._process.pid for p in [s.program for s in client._shared.values()] if p is not None]
    Path(marker).write_text(" ".join(map(str, [*shared().pids, *programs])))
    time.sleep(SECONDS)
    return found

setattr(place, name, slow)
main(words)
"""


def started(hall, ticket, tmp_path, point, seconds):
    """The program in the middle of ``point``; the process and the ids of its workers."""
    marker = tmp_path / "there"
    words = ["run", GRAPH, "--ticket", str(ticket), "--home", str(hall.home.path)]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW.replace("SECONDS", str(seconds)), point, str(marker), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 90
    while not (marker.exists() and marker.read_text().strip()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    return process, [int(word) for word in marker.read_text().split() if word != "None"]


def gone(pid, within=10.0):
    """Whether no process has this id, soon."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if _is_zombie(pid):
            return True
        time.sleep(0.05)
    return False


def _is_zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def the_run(hall):
    """The home's one run."""
    (event,) = hall.services.store.read(types=["run.opened"])
    return load_run(hall.services.store, event.body["run"])


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.proof), signal.SIGKILL]
)
def test_interrupted_while_staging(hall, ticket, tmp_path, number):
    """130 and one line, or killed: nothing was committed, no worker stays, the run can go on."""
    process, workers = started(hall, ticket, tmp_path, "stage", 120)
    assert len(workers) >= 2
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    if number == signal.SIGKILL:
        assert -signal.SIGKILL == process.returncode
    else:
        assert (130, "fabric: interrupted") == (process.returncode, err.strip().splitlines()[-1])
        assert "Traceback" not in err
    assert [True] * len(workers) == [gone(pid) for pid in workers]
    record = the_run(hall)
    assert ("running", "issued") == (record.state, record.task("photoshop_1").state)
    assert "completed" == go(hall, record.run).state
    assert [] == leftovers(hall.home.path)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.proof), signal.SIGTERM])
def test_interrupted_in_a_commit(hall, ticket, tmp_path, number):
    """The commit ends and has its result; then 130."""
    process, workers = started(hall, ticket, tmp_path, "commit", 3)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert 130 == process.returncode
    assert [True] * len(workers) == [gone(pid) for pid in workers]
    record = the_run(hall)
    assert ("running", "succeeded") == (record.state, record.task("unity_1").state)
    assert 1 == kinds(record)[-3:].count("task.result")
    assert "completed" == go(hall, record.run).state
