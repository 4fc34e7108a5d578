"""A run is what its signed events say, and nothing reaches them that the tables do not allow now."""

import pytest
from governed import do, go, kinds, opened

from fabric_dagster.errors import CheckFailed, Conflict, Refused, UsageFault
from fabric_dagster.supervisor.projection import fold, load_run, stream_of
from fabric_dagster.supervisor.services import Step


def test_step_by_step_equals_at_once(hall, ticket):
    """A record that moved on with every append is the one that the whole stream projects."""
    run = opened(hall, ticket)
    record = hall.services.reload(run)
    for step in ("asset_decision", "photoshop_1", "photoshop_1 checks"):
        do(hall, run, step)
    for event in hall.services.store.read(stream_of(run), after=record.events[-1].position):
        hall.services.append_all(record, Step("dagster.linked", {"dagster_run": "x"}, "dagster:x"))
        assert event.position <= record.events[-1].position
    whole = load_run(hall.services.store, run)
    assert whole.document() == record.document()
    assert whole == record


def test_every_prefix_projects(hall, ticket):
    """Cut anywhere, a history projects to a state of the table, ending as the whole one."""
    record = go(hall, opened(hall, ticket))
    states = [fold(record.events[:n]).state for n in range(1, len(record.events) + 1)]
    assert ("opened", "completed") == (states[0], states[-1])
    assert set(states) == {"opened", "running", "completed"}
    assert fold([]) is None


def test_impossible_event_is_not_appended(hall, ticket):
    """What no table lists is refused before it is signed: the stream does not change."""
    record = hall.services.reload(opened(hall, ticket))
    before = hall.services.store.head()
    with pytest.raises(CheckFailed) as found:
        hall.services.append(record, "handoff.sealed", {"handoff": {}})
    assert ("supervisor.impossible_history", before) == (found.value.code, hall.services.store.head())


def test_stale_record_reads_first(hall, ticket):
    """An append on a record that others have moved past reads their events, then decides again."""
    run = opened(hall, ticket)
    stale, fresh = hall.services.reload(run), hall.services.reload(run)
    hall.services.append(fresh, "run.superseded", {"by": run, "unresolved": []})
    with pytest.raises(Refused) as found:
        hall.services.append(stale, "run.failed", {"unresolved": [], "code": "x", "exit_code": 1})
    assert ("run.ended", "superseded") == (found.value.code, stale.state)
    assert ["run.opened", "run.superseded"] == kinds(hall.services.reload(run))


def test_all_or_none(hall, ticket):
    """Of several events, where one is impossible none is appended."""
    record = hall.services.reload(opened(hall, ticket))
    before = hall.services.store.head()
    failed = Step("run.failed", {"unresolved": [], "code": "x", "exit_code": 1})
    with pytest.raises((CheckFailed, Refused)):
        hall.services.append_all(record, failed, failed)
    assert (before, "opened") == (hall.services.store.head(), record.state)


def test_key_is_used_once(hall, ticket):
    """The same key with the same body appends once; with another body it is a conflict."""
    record = hall.services.reload(opened(hall, ticket))
    for _ in range(2):
        hall.services.append(record, "dagster.linked", {"dagster_run": "a"}, "dagster:a")
    assert ["a"] == hall.services.reload(record).dagster_runs
    with pytest.raises(Conflict) as found:
        hall.services.append(record, "dagster.linked", {"dagster_run": "b"}, "dagster:a")
    assert found.value.code == "spine.key_reused"


def test_unknown_run(hall):
    """A run that nobody opened is a fault of the call."""
    with pytest.raises(UsageFault) as found:
        hall.services.reload("sha256:" + "1" * 64)
    assert found.value.code == "run.unknown"
