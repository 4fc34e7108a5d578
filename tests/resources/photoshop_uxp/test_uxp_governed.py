"""A whole governed run whose Photoshop side is the plugin, from the ticket to the verdict."""

from __future__ import annotations

import pytest
from governed import GRAPH, do, end_validator, go, kinds, leftovers, opened, write_ticket

from fabric_dagster.errors import NeedsPerson
from resources.home import Home
from resources.photoshop.uxp import shared
from resources.photoshop.uxp.ledger import photoshop_ledger
from resources.setup import initialise
from resources.supervision.assembly import Hall
from resources.supervision.demonstration import make_executable

pytestmark = pytest.mark.proof


@pytest.fixture
def hall(tmp_path, bridge, host, monkeypatch):
    """A home whose Photoshop is the fake one, qualified, certified and commissioned for it."""
    assert host
    home = Home(tmp_path.resolve() / "home")
    initialise(home)
    text = home.config_file.read_text(encoding="utf-8")
    home.config_file.write_text(text.rstrip("\n") + "\nphotoshop: uxp\n", encoding="utf-8")
    bridge.ledger = photoshop_ledger(home.path / shared.FOLDER)
    monkeypatch.setattr(shared, "shared_bridge", lambda _folder: bridge)
    made = Hall(Home(home.path))
    make_executable(made, made.workflow(GRAPH), lambda _line: None)
    yield made
    end_validator(home.path)


def test_a_ticket_is_completed(hall, tmp_path):
    """The validator, which knows nothing of the provider, finds the pictures and the project right."""
    run = opened(hall, write_ticket(tmp_path / "tickets"))
    record = go(hall, run)
    assert "completed" == record.state
    assert "photoshop/uxp" == record.task("photoshop_1").task.specialist
    commission = hall.authorize(hall.workflow(GRAPH))
    assert "uxp/1.0.0" == commission.providers["photoshop"]
    assert [] == leftovers(hall.home.path)
    assert {"completed"} == {item.state for item in hall.services and photoshop_ledger(
        hall.home.path / shared.FOLDER).all()}  # fmt: skip


def test_a_dropped_socket_stops_the_run(hall, tmp_path, host):
    """The run ends at the exact blocker, which needs a person; nothing is delivered."""
    run = opened(hall, write_ticket(tmp_path / "tickets"))
    go(hall, run, "asset_decision")
    host.misbehave("drop_in_save")
    with pytest.raises(NeedsPerson) as caught:
        do(hall, run, "photoshop_1")
    assert 4 == caught.value.exit_code
    record = hall.services.reload(run)
    assert ("failed", "run.failed") == (record.state, kinds(record)[-1])
    assert 4 == record.events[-1].body["exit_code"]
    assert "photoshop.uncertain" == record.events[-1].body["code"]
    assert "commit.begun" not in kinds(record)
    assert 1 == len(photoshop_ledger(hall.home.path / shared.FOLDER).uncertain())
