"""A real daemon on a real home: a ticket comes in, Unity refuses the picture, and the sensor recovers it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest
from governed import end_validator, kinds, write_ticket

from fabric_dagster.supervisor.opening import runs_of
from resources.home import CHECKOUT

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(os.name == "nt", reason="ends the daemon and its children as one process group"),
]

#: seconds within which a ticket is taken, fails, is recovered and completes; measured: about 80.
LIMIT = 240


@pytest.fixture
def daemon(hall, tmp_path):
    """A daemon with the planted code location; everything that it started ends with the test."""
    workspace = tmp_path / "workspace.yaml"
    location = {
        "relative_path": str(Path(__file__).parent / "planted_location.py"),
        "location_name": "fabric",
        "working_directory": str(CHECKOUT),
    }
    workspace.write_text(json.dumps({"load_from": [{"python_file": location}]}), encoding="utf-8")
    environment = os.environ | {
        "DAGSTER_HOME": str(hall.home.dagster),
        "FABRIC_HOME": str(hall.home.path),
        "FABRIC_TEST_REFUSED": str(tmp_path / "refused"),
        "PYTHONWARNINGS": "ignore",
    }
    program = Path(sys.executable).parent / "dagster-daemon"
    log = (tmp_path / "daemon.log").open("wb")
    process = subprocess.Popen(
        [str(program), "run", "-w", str(workspace)],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    yield tmp_path / "daemon.log"
    for ending in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, ending)
        except ProcessLookupError:
            break
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            continue
    log.close()
    end_validator(hall.home.path)


def test_recovered_by_the_daemon(hall, daemon, tmp_path):
    """Two Dagster runs, linked both ways to one supervisor run; the second is of exactly what was reset."""
    written = write_ticket(tmp_path / "tickets")
    shutil.copytree(written.parent / "OFFER-101", hall.home.inbox / "OFFER-101")
    shutil.copyfile(written, hall.home.inbox / "OFFER-101.json")
    until = time.monotonic() + LIMIT
    record = None
    while time.monotonic() < until and (record is None or record.state in {"opened", "running"}):
        time.sleep(1)
        record = next(iter(runs_of(hall.services, "OFFER-101")), None)
    said = daemon.read_text(encoding="utf-8", errors="replace")[-4000:]
    assert record is not None, said
    assert ("completed", 1) == (record.state, kinds(record).count("recovery.followed")), said
    first, second = record.dagster_runs
    with dg.DagsterInstance.from_config(str(hall.home.dagster)) as instance:
        runs = {
            item.run_id: item for item in instance.get_runs(dg.RunsFilter(tags={"fabric/run": record.run}))
        }
        while not all(item.is_finished for item in runs.values()) and time.monotonic() < until:
            time.sleep(1)
            runs = {name: instance.get_run_by_id(name) for name in runs}
    assert {first, second} == set(runs)
    assert ("FAILURE", "SUCCESS") == (runs[first].status.value, runs[second].status.value)
    reset = {key.path[-1] for key in runs[second].asset_selection}
    assert {"ticket_brief", "asset_decision"} & reset == set()
    assert {"open_template", "icon_handoff", "import_icon", "verdict"} <= reset
    assert runs[second].tags["dagster/sensor_name"] == "recovery"
    begun = [event.body["task"] for event in record.events if event.type == "commit.begun"]
    assert 3 == len(begun)
