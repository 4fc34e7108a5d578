"""Cancellation: asked for by a signed event, followed at the next safe point, leaving nothing half."""

import pytest
from fakes.hands import Killed
from fakes.world import outcome, signers
from governed import STEPS, kinds

from fabric_dagster.errors import NeedsPerson, Refused, UsageFault
from fabric_dagster.supervisor.cancelling import follow, request_cancel, wanted
from fabric_dagster.supervisor.reconciliation import reconcile
from fabric_dagster.supervisor.stops import engage


def ask(world, run, who="operator"):
    """A person asks for the run's end."""
    return request_cancel(world.services, run, signers()[who], "not needed")


def project(world):
    """What lies in the project."""
    return {p.name: p.read_bytes() for p in (world.folder / "project").rglob("*") if p.is_file()}


@pytest.mark.parametrize("who", ["validator", "builder", "approver", "commissioner"])
def test_who_may(world, who):
    """Whoever may not cancel is refused, and nothing is recorded."""
    run = world.open()
    with pytest.raises(Refused) as found:
        ask(world, run, who)
    assert ("authority.denied", ["run.opened"]) == (found.value.code, kinds(world.services.reload(run)))


def test_asked_once(world):
    """Asking twice is asking once."""
    run = world.open()
    for who in ("operator", "admin"):
        ask(world, run, who)
    assert ["run.opened", "cancel.requested"] == kinds(world.services.reload(run))


@pytest.mark.parametrize("step", STEPS)
def test_next_step_ends_it(world, step):
    """Asked for before a step, that step does nothing but end the run; the project is as before."""
    run = world.open()
    if step != STEPS[0]:
        world.go(run, STEPS[STEPS.index(step) - 1])
    effects = list(world.effects)
    ask(world, run)
    with pytest.raises(Refused) as found:
        world.do(run, step)
    record = world.services.reload(run)
    assert ("run.ended", "cancelled") == (found.value.code, record.state)
    assert ["cancelled by operator: not needed"] == record.unresolved
    assert (effects, {}) == (world.effects, project(world))
    unity = record.task("unity_1")
    assert unity is None or unity.state == "compensated"
    assert {} == world.journals
    assert "run.ended" == outcome(lambda: world.do(run, step))


@pytest.mark.parametrize(
    ("point", "state"), [("stage", "abandoned"), ("staged", "abandoned"), ("half", "compensated")]
)
def test_in_the_middle(world, point, state):
    """While a provider stages, the attempt is given up; a begun commit ends, then it is taken back."""
    run = world.open()
    world.go(run, "icon_handoff")
    world.plan = {point: lambda: ask(world, run)}
    outcome(lambda: world.do(run, "unity_1"))
    outcome(lambda: world.do(run, "unity_1 checks"))
    record = world.services.reload(run)
    assert ("cancelled", state, {}) == (record.state, record.task("unity_1").state, project(world))


def test_unknown_completion_first(world):
    """A commit whose end is unknown is looked at before the run may end; then it ends and is taken back."""
    run = world.open()
    world.go(run, "icon_handoff")
    world.plan = {"committed": Killed()}
    assert "killed" == outcome(lambda: world.do(run, "unity_1"))
    ask(world, run)
    record = world.services.reload(run)
    with pytest.raises(NeedsPerson) as found:
        follow(world.services, record)
    assert "run.reconciliation_required" == found.value.code
    reconcile(world.services, run, signers()["validator"])
    record = world.services.reload(run)
    assert ("running", "succeeded") == (record.state, record.task("unity_1").state)
    follow(world.services, record)
    assert ("cancelled", {}) == (record.state, project(world))


def test_undo_refused(world):
    """What others changed since cannot be taken back; once somebody looked, it stays, and the run ends."""
    run = world.open()
    world.go(run, "unity_1")
    target = next((world.folder / "project").rglob("icon.png"))
    target.write_bytes(b"mine")
    ask(world, run)
    assert "run.reconciliation_required" == outcome(lambda: world.do(run, "unity_1 checks"))
    account = {"standing": "after", "note": "it may stay"}
    reconcile(world.services, run, signers()["validator"], account)
    follow(world.services, record := world.services.reload(run))
    assert ("cancelled", b"mine") == (record.state, project(world)["icon.png"])
    assert "unity_1" in record.events[-1].body["stays"]


def test_stopped_effects_hold_the_undo(world):
    """Taking back is an effect: while those are stopped, the run waits with its request."""
    run = world.open()
    world.go(run, "unity_1")
    ask(world, run)
    engage(world.store, world.services.trust, signers()["admin"], "effects", "smoke")
    assert "authority.stopped" == outcome(lambda: follow(world.services, world.services.reload(run)))
    record = world.services.reload(run)
    assert ("running", True) == (record.state, wanted(world.services, record) is not None)


def test_ended_runs(world):
    """What has ended is not cancelled."""
    run = world.open()
    world.go(run)
    with pytest.raises(UsageFault) as found:
        ask(world, run)
    assert found.value.code == "run.over"


def test_unlawful_request(world):
    """A request that somebody without that right signed into the log is no request."""
    from fabric_dagster.supervisor.services import Step

    run = world.open()
    record = world.services.reload(run)
    world.services.append_all(record, Step("cancel.requested", {"why": "x"}), signer=signers()["builder"])
    assert wanted(world.services, record) is None
    assert "completed" == world.go(run).state
