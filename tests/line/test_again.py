"""A ticket that is done, run again: by a person's word, and by a backfill after a new commission."""

import json

import pytest
from governed import GRAPH, go, kinds, opened
from psd_tools import PSDImage

from fabric_dagster.cli.main import main
from fabric_dagster.governance.commissioning import commission
from fabric_dagster.supervisor.opening import runs_of
from resources.supervision.demonstration import make_executable


def runs(floor):
    """The ticket's runs, oldest first."""
    return runs_of(floor.hall.services, "OFFER-101")


def recommissioned(floor):
    """The same graph under another commission."""
    services, workflow = floor.hall.services, floor.hall.workflow(GRAPH)
    later = floor.hall.authorize(workflow).model_copy(update={"expires": "2099-01-01T00:00:00+00:00"})
    commission(services.store, floor.hall.home.signer("commissioner"), later, services.trust)


def saved_over(template):
    """Save a template anew: other bytes, the same picture."""
    before = template.read_bytes()
    PSDImage.open(template).save(template)
    assert before != template.read_bytes()


def test_a_backfill_under_the_same_commission_repeats_nothing(floor, ticket):
    """Materialized again by hand, what is done is verified and reported, and no effect is made."""
    run = opened(floor.hall, ticket)
    go(floor.hall, run)
    events = kinds(runs(floor)[0])
    assert floor.materialize("OFFER-101").success
    (record,) = runs(floor)
    assert events == [kind for kind in kinds(record) if kind != "dagster.linked"]


def test_a_backfill_after_a_changed_template(floor, ticket, failures):
    """A changed template is refused until it is commissioned anew; then the backfill exports again."""
    run = opened(floor.hall, ticket)
    go(floor.hall, run)
    saved_over(floor.hall.home.templates / "offer_icon.psd")
    result = floor.materialize("OFFER-101")
    assert not result.success
    assert {3} == {code for _step, _code, code in failures(result)}
    assert 1 == len(runs(floor))
    make_executable(floor.hall, floor.hall.workflow(GRAPH), lambda _line: None)
    assert floor.materialize("OFFER-101").success
    old, new = runs(floor)
    assert ("completed", "completed", 1, 2) == (
        old.state,
        new.state,
        old.body["ordinal"],
        new.body["ordinal"],
    )
    assert 2 == kinds(new).count("commit.begun")
    assert old.decision["templates"] != new.decision["templates"]
    assert new.run == floor.instance.get_run_by_id(new.dagster_runs[-1]).tags["fabric/run"]


def test_a_backfill_under_another_commission_is_another_run(floor, ticket):
    """What was done under the old commission stays as it was; the rerun is accepted anew, once."""
    go(floor.hall, opened(floor.hall, ticket))
    recommissioned(floor)
    assert opened(floor.hall, ticket) == runs(floor)[0].run
    for _ in range(2):
        assert floor.materialize("OFFER-101").success
    assert ["completed", "completed"] == [item.state for item in runs(floor)]


def test_run_again(hall, ticket, capsys):
    """``fabric run --again`` makes another run of a ticket that is done; without it nothing is repeated."""
    words = ["run", GRAPH, "--ticket", str(ticket), "--home", str(hall.home.path), "--json"]
    seen = []
    for extra in ([], [], ["--again"], []):
        with pytest.raises(SystemExit) as end:
            main([*words, *extra])
        assert not end.value.code
        seen.append(json.loads(capsys.readouterr().out)["run"])
    assert {"completed"} == {run["state"] for run in seen}
    digests = [run["run"] for run in seen]
    assert (digests[0] == digests[1], digests[2] == digests[3], digests[1] == digests[2]) == (
        True,
        True,
        False,
    )
