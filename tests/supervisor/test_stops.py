"""The emergency stops: signed by an admin, durable, met at every safe point, ended by nobody else."""

import pytest
from fakes.world import outcome, signers
from governed import STEPS, kinds
from hypothesis import given
from hypothesis import strategies as st

from fabric_dagster.errors import Refused
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.stops import engage, engaged, release


def stop(world, kind="effects", who="admin"):
    """Engage a stop."""
    engage(world.store, world.services.trust, signers()[who], kind, "smoke")


def go_again(world):
    """Release what is stopped."""
    return release(world.store, world.services.trust, signers()["admin"], "aired")


@pytest.mark.parametrize("who", sorted(set(signers()) - {"admin"}))
def test_admin_only(world, who):
    """Nobody else stops or releases anything."""
    for act in (
        lambda: stop(world, who=who),
        lambda: release(world.store, world.services.trust, signers()[who], ""),
    ):
        with pytest.raises(Refused) as found:
            act()
        assert found.value.code == "authority.denied"
    assert [] == world.store.events


def test_projection(world):
    """Kinds stand apart; twice is once; releasing releases all; the events are the admin's."""
    trust = world.services.trust
    stop(world)
    stop(world)
    stop(world, "core")
    assert {"core", "effects"} == set(engaged(world.store, trust, {}))
    assert ("admin", "smoke") == (engaged(world.store, trust, {})["effects"].by, "smoke")
    assert ("core", "effects") == go_again(world)
    assert {} == engaged(world.store, trust, {})
    assert ["stop.engaged"] * 2 + ["stop.released"] * 2 == [event.type for event in world.store.events]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["stop.engaged", "stop.released"]),
            st.sampled_from(["core", "effects", "?"]),
            st.sampled_from(sorted(signers())),
        ),
        max_size=12,
    )
)
def test_only_lawful_events_count(steps):
    """Whatever is on the stream: what an admin signed counts, in order, and nothing else."""
    from fakes.spine import MemoryEventStore
    from fakes.world import trust_root

    store, expected = MemoryEventStore(trust_root()), set()
    for kind, what, who in steps:
        store.append([NewEvent("stop", kind, {"kind": what, "reason": "x"})], signer=signers()[who])
        if who == "admin" and what != "?":
            (expected.add if kind == "stop.engaged" else expected.discard)(what)
    assert expected == set(engaged(store, trust_root(), {}))


@pytest.mark.parametrize("word", ["off", "OFF"])
def test_environment(world, monkeypatch, word):
    """``FABRIC_CORE=off`` stops core without any event, and no release ends it."""
    monkeypatch.setenv("FABRIC_CORE", word)
    assert {"core"} == set(engaged(world.store, world.services.trust))
    assert () == go_again(world)
    assert {"core"} == set(engaged(world.store, world.services.trust))
    monkeypatch.setenv("FABRIC_CORE", "on")
    assert {} == engaged(world.store, world.services.trust)


@pytest.mark.parametrize("step", STEPS)
def test_effects_stop_at_every_step(world, step):
    """Stopped before a step, it is refused, recorded, and done once the stop is released."""
    run = world.open()
    if step != STEPS[0]:
        world.go(run, STEPS[STEPS.index(step) - 1])
    before = kinds(world.services.reload(run))
    stop(world)
    with pytest.raises(Refused) as found:
        world.do(run, step)
    assert ("authority.stopped", 3) == (found.value.code, found.value.exit_code)
    assert before == kinds(world.services.reload(run))
    refused = [event.body for event in world.store.events if event.type == "authority.refused"]
    assert [("run.execute", "authority.stopped", run)] == [
        (r["action"], r["code"], r["run"]) for r in refused
    ]
    go_again(world)
    assert "completed" == world.go(run).state


def test_core_stop_leaves_runs_alone(world):
    """Advice is stopped; governed runs go their way."""
    stop(world, "core")
    assert "completed" == world.go(world.open()).state


@pytest.mark.parametrize(("point", "commits"), [("stage", 0), ("staged", 0), ("half", 1), ("observe", 1)])
def test_stopped_in_the_middle(world, point, commits):
    """Before the commit nothing is written and the attempt is abandoned; a begun commit is ended whole."""
    run = world.open()
    world.go(run, "icon_handoff")
    done = len(world.effects)
    world.plan = {point: lambda: stop(world)}
    found = outcome(lambda: world.do(run, "unity_1"))
    record = world.services.reload(run)
    assert ("done" if commits else "authority.stopped") == found
    assert commits == len(world.effects) - done
    assert ("succeeded" if commits else "abandoned") == record.task("unity_1").state
    assert "authority.stopped" == outcome(lambda: world.do(run, "unity_1"))
    assert "running" == record.state
    go_again(world)
    assert ("completed", done + 1) == (world.go(run).state, len(world.effects))


def test_a_completed_run_is_looked_at(world):
    """Nothing is left to stop in a completed run."""
    run = world.open()
    world.go(run)
    stop(world)
    assert "completed" == world.go(run).state
