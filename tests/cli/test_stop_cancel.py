"""``fabric stop`` and ``fabric cancel``: who may, what is recorded, what people and programs read."""

import json

import pytest
from governed import GRAPH, go, opened, tree

from fabric_dagster.cli.diagnosis import diagnose
from fabric_dagster.cli.main import main


@pytest.fixture
def fabric(hall, capsys):
    """Run the program on the home: (exit code, standard output, standard error)."""

    def run(*words):
        with pytest.raises(SystemExit) as end:
            main([*map(str, words), "--home", str(hall.home.path)])
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return run


def test_stop_and_release(fabric, hall, ticket):
    """Engaged, shown wherever people look, met by `fabric run` with exit 3, released; then it runs."""
    assert (0, "Nothing is stopped.\n", "") == fabric("stop", "status")
    code, out, _ = fabric("stop", "effects", "--reason", "smoke in the hall", "--json")
    (stop,) = json.loads(out)["stops"]
    assert (0, "effects", "admin", "smoke in the hall") == (code, stop["kind"], stop["by"], stop["reason"])
    assert "effects STOPPED by admin: smoke in the hall" in fabric("runs")[1]
    assert [("warn", "effects is stopped by admin: smoke in the hall")] == [
        (item.state, item.what) for item in diagnose(hall.home) if item.name == "stops"
    ]
    before = tree(hall.home.project)
    code, _, err = fabric("run", GRAPH, "--ticket", ticket)
    assert (3, before) == (code, tree(hall.home.project))
    assert "smoke in the hall" in err
    assert "[authority.stopped]" in err
    assert "Traceback" not in err
    assert (0, ["effects"]) == (0, json.loads(fabric("stop", "off", "--json")[1])["released"])
    assert 0 == fabric("run", GRAPH, "--ticket", ticket)[0]


@pytest.mark.parametrize("words", [("stop", "effects"), ("stop", "core"), ("stop", "off")])
def test_stop_is_the_admins(fabric, hall, words):
    """Anybody else is refused with exit 3, and the refusal is an event."""
    code, _, err = fabric(*words, "--as", "operator")
    assert (3, 1) == (code, err.count("\n"))
    (event,) = hall.services.store.read(types=["authority.refused"])
    assert ("operator", "authority.denied") == (event.body["actor"], event.body["code"])
    assert [] == list(hall.services.store.read("stop"))


def test_environment_stops_core(fabric, monkeypatch):
    """``FABRIC_CORE=off`` is shown, with nobody's name; `stop off` does not end it."""
    monkeypatch.setenv("FABRIC_CORE", "off")
    assert "core     STOPPED by the environment: FABRIC_CORE=off\n" == fabric("stop", "status")[1]
    assert "STOPPED" in fabric("stop", "off")[1]


def test_cancel(fabric, hall, ticket):
    """What the run wrote is taken back and the run ends; a person's command runs the ticket anew."""
    before = tree(hall.home.project)
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    code, out, err = fabric("cancel", run[7:19], "--note", "wrong art", "--json")
    document = json.loads(out)
    assert (0, "", "cancelled") == (code, err, document["run"]["state"])
    assert ["cancelled by operator: wrong art"] == document["run"]["unresolved"]
    assert before == tree(hall.home.project)
    code, _, err = fabric("cancel", run[7:19])
    assert (2, True) == (code, "[run.over]" in err)
    assert 0 == fabric("run", GRAPH, "--ticket", ticket)[0]
    assert ["cancelled", "completed"] == [item["state"] for item in json.loads(fabric("runs", "--json")[1])]


def test_cancel_is_refused(fabric, hall, ticket):
    """Whoever may not cancel is refused with exit 3; the run is as it was, and the refusal is an event."""
    run = opened(hall, ticket)
    assert 3 == fabric("cancel", run[7:19], "--as", "approver")[0]
    assert "opened" == hall.services.reload(run).state
    (event,) = hall.services.store.read(types=["authority.refused"])
    assert ("run.cancel", "approver", run) == (event.body["action"], event.body["actor"], event.body["run"])
