"""A result answers its task: by name, with evidence, and with one recommendation of the table."""

import pytest
from fakes.world import signers
from governed import kinds

from fabric_dagster.contracts.specialist import TRANSITIONS, ObservationRecord
from fabric_dagster.errors import CheckFailed
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.projection import load_run, stream_of
from fabric_dagster.supervisor.results import require_result

BROKEN = ObservationRecord(subject="x", expected="1", found="2", holds=False)
FAILURE = {"code": "unity.asset_missing", "what": "gone"}
OTHER = "sha256:" + "7" * 64
FAILED = {"status": "failed", "recommended": "stop", "failure": FAILURE, "changes": (), "artifacts": ()}

BAD = {
    "another task": {"task": OTHER},
    "another specialist": {"specialist": "unity/other"},
    "prose alone": {"observations": (), "warnings": ("all went well",)},
    "an observation that does not hold": {"observations": (BROKEN,)},
    "a transition of another status": {"recommended": "stop"},
    "a failure that succeeded": {"failure": FAILURE},
    "a failure without its code": FAILED | {"failure": None},
    "a failure with changes": {"status": "failed", "recommended": "stop", "failure": FAILURE},
    "a failure that advances": FAILED | {"recommended": "advance"},
    "a partial result without evidence": FAILED | {"status": "partial", "observations": ()},
}


@pytest.fixture
def answered(world):
    """A task of a run with its true result."""
    found = world.go(world.open(), "unity_1").task("unity_1")
    require_result(found.task, found.result)
    return found


@pytest.mark.parametrize("name", BAD)
def test_bad_result(answered, name):
    """Whatever is off is refused with one code."""
    with pytest.raises(CheckFailed) as found:
        require_result(answered.task, answered.result.model_copy(update=BAD[name]))
    assert "supervisor.bad_result" == found.value.code


def test_out_of_scope(answered):
    """A result that claims a change outside of the task's scope is none."""
    change = answered.result.changes[0].model_copy(update={"path": "ProjectSettings/x"})
    with pytest.raises(CheckFailed) as found:
        require_result(answered.task, answered.result.model_copy(update={"changes": (change,)}))
    assert "ProjectSettings/x" == found.value.faults[0].value


def test_everything_at_once(answered):
    """All reasons are given together."""
    update = BAD["another task"] | BAD["another specialist"] | BAD["prose alone"]
    with pytest.raises(CheckFailed) as found:
        require_result(answered.task, answered.result.model_copy(update=update))
    assert 3 == len(found.value.faults)


@pytest.mark.parametrize("confidence", [None, "0.01", "1", "very"])
def test_confidence_is_no_gate(answered, confidence):
    """It is recorded as it is said, and nothing depends on it."""
    require_result(answered.task, answered.result.model_copy(update={"confidence": confidence}))


def test_table_names_every_transition(answered):
    """Each status has its transitions; a result recommends exactly one of them."""
    assert {"succeeded", "failed", "partial"} == set(TRANSITIONS)
    assert isinstance(answered.result.recommended, str)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("kind", ["task.result", "commit.begun"])
def test_refused_when_recorded_and_when_read(world, name, kind):
    """A bad result is not appended; and where it was written past the supervisor, the run is not believed."""
    whole = world.go(world.open(), "unity_1")
    run, true = whole.run, whole.task("unity_1")
    cut = next(event for event in whole.events if event.type == kind and event.body["task"] == true.digest)
    world.store.events = world.store.events[: cut.position - 1]
    bad = true.result.model_copy(update=BAD[name]).body()
    body = {**cut.body, ("result" if kind == "task.result" else "intended"): bad}
    before = world.store.head()
    with pytest.raises(CheckFailed) as found:
        world.services.append(world.services.reload(run), kind, body)
    assert ("supervisor.bad_result", before) == (found.value.code, world.store.head())
    world.store.append([NewEvent(stream_of(run), kind, body)], signer=signers()["runtime"])
    with pytest.raises(CheckFailed) as found:
        load_run(world.store, run)
    assert "supervisor.bad_result" == found.value.code


def test_task_out_of_its_turn(world):
    """A task of another run, or with another attempt's number, is no history of this run."""
    record = world.go(world.open(), "photoshop_1")
    issued = next(event for event in record.events if event.type == "task.issued")
    for change in ({"parent_run": OTHER}, {"attempt": 3}):
        body = {**issued.body, "task": {**issued.body["task"], **change}}
        with pytest.raises(CheckFailed) as found:
            world.services.append(world.services.reload(record.run), "task.issued", body)
        assert "supervisor.impossible_history" == found.value.code
    assert 1 == kinds(world.services.reload(record.run)).count("task.issued")


def test_observed_at_reconciliation(world):
    """A result that a validator found at the target retains what he found, beside the stage's evidence."""
    from fakes.hands import Killed
    from fakes.world import outcome

    from fabric_dagster.supervisor.reconciliation import reconcile

    run = world.open()
    world.go(run, "icon_handoff")
    world.plan = {"committed": Killed()}
    outcome(lambda: world.do(run, "unity_1"))
    reconcile(world.services, run, signers()["validator"])
    seen = world.services.reload(run).task("unity_1").result.observations
    assert ("what validator found at the target", "after") == (seen[-1].subject, seen[-1].found)
    assert len(seen) > 1
