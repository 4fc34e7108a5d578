"""What another than the runtime writes into a run's stream is believed by nobody, whatever it claims."""

import contextlib

import pytest
from governed import GRAPH, do, go, opened, write_ticket

from fabric_dagster.cli.finding import all_runs, find_run
from fabric_dagster.errors import CheckFailed
from fabric_dagster.governance.roles import SIGNED_BY
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.machine import RUN
from fabric_dagster.supervisor.opening import reconciling, runs_of
from fabric_dagster.supervisor.projection import load_run, stream_of
from resources.unity.provider import HeadlessUnity


@pytest.mark.parametrize("identity", ["operator", "builder", "approver", "admin"])
def test_a_completion_by_somebody_else_completes_nothing(hall, ticket, identity):
    """Signed by a pinned key, in its place in the chain, and refused: the run stands where it is."""
    run = opened(hall, ticket)
    go(hall, run, "asset_decision")
    event = NewEvent(stream_of(run), "run.completed", {"verdicts": [], "unresolved": []})
    hall.services.store.append([event], signer=hall.home.signer(identity))
    with pytest.raises(CheckFailed) as caught:
        do(hall, run, "photoshop_1")
    assert "supervisor.unlawful_event" == caught.value.code
    assert identity in caught.value.faults[0].what


def test_every_event_of_the_runs_table_has_its_action():
    """An event that nobody may sign would be believed from nobody."""
    made_here = {"approval.given_in_part"}  # a step of the table, not an event
    assert set() == {event for _, event in RUN} - SIGNED_BY.keys() - made_here


@pytest.mark.parametrize("kind", sorted({event for _, event in RUN} - {"run.opened"} | {"dagster.linked"}))
@pytest.mark.parametrize("body", [{}, {"run": 3, "task": [], "reset": 5}])
def test_a_body_without_its_types_shape_is_a_broken_history(hall, ticket, kind, body):
    """Any pinned key can sign any body: it never comes to more than a typed refusal."""
    run = opened(hall, ticket)
    event = NewEvent(stream_of(run), kind, body)
    hall.services.store.append([event], signer=hall.home.signer("runtime"))
    found = None
    with contextlib.suppress(CheckFailed):
        found = load_run(hall.services.store, run)
    assert found is None or found.state in {
        "opened",
        "running",
        "failed",
        "superseded",
        "stopped",
        "completed",
    }


@pytest.mark.parametrize("body", [{}, {"run": "zzz"}, {"run": "sha256:" + "0" * 64}])
def test_a_run_that_somebody_else_opened_hides_no_other(hall, ticket, body):
    """`fabric runs` tells every sound run, and what is wrong with the other."""
    run = opened(hall, ticket)
    for stream in ("run:zzz", "elsewhere"):
        event = NewEvent(stream, "run.opened", body)
        hall.services.store.append([event], signer=hall.home.signer("operator"))
    unsound = []
    assert [run] == [item.run for item in all_runs(hall, unsound)]
    assert ["supervisor.unlawful_event"] == [item.code for item in unsound]


def test_an_ending_by_somebody_else_is_shown_by_nobody(hall, ticket):
    """What only the runtime does is read from no other key, by `fabric show` neither."""
    run = opened(hall, ticket)
    event = NewEvent(stream_of(run), "run.superseded", {"by": "x", "unresolved": []})
    hall.services.store.append([event], signer=hall.home.signer("builder"))
    with pytest.raises(CheckFailed) as caught:
        find_run(hall, run)
    assert "supervisor.unlawful_event" == caught.value.code


@pytest.mark.parametrize(
    ("identity", "kind", "body"),
    [
        ("builder", "ticket.accepted", {"reference": GRAPH, "digest": "x", "ordinal": 7}),
        ("builder", "run.linked", {"run": "x"}),
        ("operator", "run.linked", {}),
        ("operator", "ticket.accepted", {}),
    ],
)
def test_what_others_write_of_a_ticket_starts_no_second_run(hall, ticket, identity, kind, body):
    """The same content is the same run, whatever stands between."""
    run = opened(hall, ticket)
    key = hall.services.reload(run).key
    hall.services.store.append([NewEvent(f"ticket:{key}", kind, body)], signer=hall.home.signer(identity))
    assert run == opened(hall, ticket)


def test_a_forged_ending_does_not_hide_an_unknown_completion(hall, ticket, tmp_path, monkeypatch):
    """What stands before the forged event counts: a newer run of the ticket still waits for a look."""
    run = opened(hall, ticket)
    go(hall, run, "icon_handoff")
    monkeypatch.setattr(HeadlessUnity, "commit", _die)
    with pytest.raises(KeyboardInterrupt):
        do(hall, run, "unity_1")
    event = NewEvent(stream_of(run), "reconciliation.observed", {"task": "x", "decision": "dismissed"})
    hall.services.store.append([event], signer=hall.home.signer("runtime"))
    event = NewEvent(stream_of(run), "run.completed", {"verdicts": [], "unresolved": []})
    hall.services.store.append([event], signer=hall.home.signer("builder"))
    newer = opened(hall, write_ticket(tmp_path / "newer", title="Another title"))
    record = hall.services.reload(newer)
    assert [run, newer] == [item.run for item in runs_of(hall.services, record.key)]
    assert run == reconciling(hall.services, record).run


def _die(*_args):
    raise KeyboardInterrupt
