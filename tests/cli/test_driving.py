"""One driver, many runs: one instance, one job, and Dagster told of a template once."""

import os
import sys
from pathlib import Path

import governed
import pytest

from assets.names import template_key
from fabric_dagster.cli.driving import Driver, show_progress
from fabric_dagster.errors import OperationFailed
from sensors.inbox import take


@pytest.mark.slow
def test_a_driver_drives_many_runs_on_one_instance(hall, tmp_path):
    """Two tickets complete, each linked to its one Dagster run; each template was observed once."""
    with Driver(hall) as driver:
        runs = [
            driver.drive(take(hall, governed.write_ticket(tmp_path / key, key, title=key)))
            for key in ("OFFER-1", "OFFER-2")
        ]
        seen = [
            len(driver.instance.fetch_observations(template_key("offers", name), limit=5).records)
            for name in hall.workflow(governed.GRAPH).pack.pack.templates
        ]
        dagster_runs = driver.instance.get_runs()
    assert ["completed", "completed"] == [run.state for run in runs]
    assert [1, 1] == [len(run.dagster_runs) for run in runs]
    assert {run.run_id for run in dagster_runs} == {name for run in runs for name in run.dagster_runs}
    assert [1, 1] == seen


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_progress_is_seen_while_dagster_holds_standard_error(hall, monkeypatch):
    """A step's standard error is turned into a file; the person at the terminal still sees what happens."""
    seen, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream, Path(os.devnull).open("w") as captured:
        monkeypatch.setattr(sys, "stderr", stream)
        show_progress(hall)
        os.dup2(captured.fileno(), stream.fileno())
        hall.tell("run.completed", {})
    assert "completed" in os.read(seen, 100).decode()
    os.close(seen)


@pytest.mark.parametrize("damage", ["settings", "database", "folder"])
def test_a_damaged_dagster_home_is_one_error(hall, tmp_path, damage):
    """Whatever of it is broken: no traceback, and the mend says what to do."""
    place = hall.home.dagster
    if damage == "settings":
        (place / "dagster.yaml").write_text("{a: [", encoding="utf-8")
    elif damage == "database":
        for name in ("runs.db", "index.db"):
            (place / "history").mkdir(exist_ok=True)
            (place / "history" / name).write_bytes(b"no database" * 100)
            (place / "history" / "runs").mkdir(exist_ok=True)
            (place / "history" / "runs" / name).write_bytes(b"no database" * 100)
    else:
        place.rename(place.with_name("away"))
    taken = take(hall, governed.write_ticket(tmp_path / "OFFER-1", "OFFER-1", title="x"))
    with pytest.raises(OperationFailed) as caught, Driver(hall) as driver:
        driver.drive(taken)
    assert ("dagster.unavailable", str(place)) == (caught.value.code, caught.value.faults[0].where)
