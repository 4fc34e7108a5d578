"""What another than the runtime writes into a run's stream is believed by nobody, whatever it claims."""

import pytest
from governed import do, go, opened

from fabric_dagster.errors import CheckFailed
from fabric_dagster.governance.roles import SIGNED_BY
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.machine import RUN
from fabric_dagster.supervisor.projection import stream_of


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
