"""Tasks hold what bounds them; nothing that a specialist plans, makes or takes time for gets beyond that."""

import json
import time
from dataclasses import replace

import pytest
from fakes.hands import FakeHands
from fakes.world import outcome, workflow
from governed import kinds

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.effects import EFFECTS, RISKS, risk_of
from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.contracts.physical_plan import Operation
from fabric_dagster.contracts.skill_graph import RecoveryEdge
from fabric_dagster.contracts.specialist import Budget
from fabric_dagster.errors import OperationFailed, Refused
from fabric_dagster.supervisor import failures, tasks, watch
from fabric_dagster.supervisor.failures import reopen

LOOK = "photoshop.look@1"


def issued(world, side="photoshop_1"):
    """A completed run's task of ``side``."""
    return world.go(world.open()).task(side).task


def budgeted(world, **limits):
    """The same services with another budget."""
    world.services = replace(world.services, budget=Budget(**limits))


def test_values_are_derived(world):
    """Each value of a task comes from the partition, the commission, the effects, the graph's edges."""
    budgeted(world, seconds=77)
    photoshop, unity = issued(world), issued(world, "unity_1")
    compiled = workflow().compiled
    for task in (photoshop, unity):
        part = compiled.partition(task.partition)
        assert (part.objective, part.criteria, part.effects) == (
            task.objective, task.completion_criteria, task.effects,
        )  # fmt: skip
        assert set(part.capabilities) <= set(task.capabilities)
        assert (77, 1) == (task.budget.seconds, task.attempt)
        assert sum(edge.attempts for edge in compiled.recovery if edge.at in part.nodes) == task.retry_limit
    assert ("low", ("icon.png", "icon.psd")) == (photoshop.risk, photoshop.scope)
    assert ("high", world.commission.scope.writes) == (unity.risk, unity.scope)
    assert len(photoshop.inputs) == 2


def test_risk():
    """The gravest effect decides; what has no effect is low; what is unknown is high."""
    assert set(RISKS) <= set(EFFECTS)
    assert ["low", "medium", "high", "high"] == [
        risk_of(found)
        for found in ((), ("artifact.seal", "unity.meta.write"), tuple(EFFECTS), ("moon.landing",))
    ]


@pytest.mark.parametrize("served", [True, False])
def test_plan_beyond_its_task(world, monkeypatch, served):
    """A capability that the task does not allow, or that nobody serves: refused before anything is staged."""
    if served:
        monkeypatch.setattr(tasks, "allowed", lambda part, _provider: part.capabilities[1:])
    else:
        world.serves["photoshop"] = frozenset()
    run = world.open()
    world.go(run, "asset_decision")
    world.plan = {"stage": AssertionError("staged")}
    with pytest.raises(Refused) as found:
        world.do(run, "photoshop_1")
    assert "authority.out_of_task" == found.value.code
    assert "task.issued" not in kinds(world.services.reload(run))
    assert "authority.out_of_task" in {e.body.get("code") for e in world.store.events}


class Looks(Arguments):
    """No argument."""


@pytest.fixture
def looking(world, monkeypatch):
    """A provider that plans locally, as ``world.local`` says; ``LOOK`` reads and has no effect."""
    known = {**capabilities(), LOOK: Capability(LOOK, "photoshop", "Look.", Looks)}
    monkeypatch.setattr(tasks, "capabilities", lambda: known)
    monkeypatch.setattr("fakes.hands.capability", known.__getitem__)
    world.serves["photoshop"] |= {LOOK}
    world.local = lambda operations: operations
    monkeypatch.setattr(
        FakeHands,
        "local_plan",
        lambda self, plan: (
            self.world.local(plan.operations) if self.application == "photoshop" else plan.operations
        ),
        raising=False,
    )
    return world


def test_local_plan(looking):
    """A specialist may look between its steps: its own plan is executed, kept, and named by the result."""
    look = Operation(capability=LOOK)
    looking.local = lambda operations: [part for item in operations for part in (look, item)]
    record = looking.go(looking.open())
    result = record.task("photoshop_1").result
    local = json.loads(looking.services.artifacts.get(result.local_plan))
    bound = json.loads(looking.services.artifacts.get(record.task("photoshop_1").task.plan))
    assert bound["operations"] == [o for o in local["operations"] if o["capability"] != LOOK]
    assert len(bound["operations"]) == local["operations"].count(look.body())
    assert LOOK in record.task("photoshop_1").task.capabilities


@pytest.mark.parametrize(
    "change",
    [
        lambda operations: operations[:-1],
        lambda operations: operations[::-1],
        lambda operations: (*operations, operations[-1]),
        lambda operations: (*operations[:-1], operations[-1].model_copy(update={"args": {}})),
        lambda operations: (*operations, Operation(capability="unity.set_property@1")),
        lambda operations: (*operations, *[Operation(capability=LOOK)] * 64),
    ],
    ids=["left out", "reordered", "twice", "changed", "of another application", "over its budget"],
)
def test_local_plan_beyond_its_task(looking, change):
    """What acts stays as it was bound, once, in order; what is inserted stays within the task."""
    looking.local = change
    run = looking.open()
    looking.go(run, "asset_decision")
    with pytest.raises(Refused) as found:
        looking.do(run, "photoshop_1")
    assert "authority.out_of_task" == found.value.code
    assert "task.issued" not in kinds(looking.services.reload(run))


def slow(world, seconds):
    """The next staging asks its watch for so long."""

    def dawdle():
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            watch.check()
            time.sleep(0.01)

    world.plan = {"staged": dawdle}


@pytest.mark.parametrize("asks", [True, False])
def test_over_its_time(world, monkeypatch, asks):
    """Fails closed with a typed partial result, whether the specialist asks its watch or comes back late."""
    budgeted(world, seconds=1)
    run = world.open()
    world.go(run, "icon_handoff")
    if asks:
        slow(world, 30)
    else:
        monkeypatch.setattr("fabric_dagster.supervisor.watch.time.monotonic", iter(range(10**6)).__next__)
    started, effects = time.perf_counter(), len(world.effects)
    with pytest.raises(OperationFailed) as found:
        world.do(run, "unity_1")
    record = world.services.reload(run)
    task = record.task("unity_1")
    assert ("unity.budget_exceeded", "failed") == (found.value.code, record.state)
    assert ("failed", "partial", "stop") == (task.state, task.result.status, task.result.recommended)
    assert "unity.budget_exceeded" == task.result.failure["code"]
    assert [False] == [item.holds for item in task.result.observations if item.subject == "budget"]
    assert (effects, ()) == (len(world.effects), task.result.changes)
    assert [] == [path for path in (world.folder / "stages").rglob("*") if path.is_file()]
    assert time.perf_counter() - started < 10


def test_over_its_bytes(world):
    """What is made counts, whatever of it would be committed."""
    run = world.open()
    world.go(run, "asset_decision")
    budgeted(world, bytes=8)
    assert "photoshop.budget_exceeded" == outcome(lambda: world.do(run, "photoshop_1"))
    assert ("partial", []) == (world.services.reload(run).task("photoshop_1").result.status, world.effects)


def test_over_its_budget_and_interrupted(world, monkeypatch):
    """What was still to follow from a partial result follows when the run is looked at again."""

    def dies(services, run, _tasks, before, _after):
        services.append_all(run, *before)
        raise KeyboardInterrupt

    run = world.open()
    world.go(run, "asset_decision")
    budgeted(world, bytes=8)
    with monkeypatch.context() as patch:
        patch.setattr(failures, "take_back_all", dies)
        with pytest.raises(KeyboardInterrupt):
            world.do(run, "photoshop_1")
    assert "running" == world.services.reload(run).state
    assert "photoshop.budget_exceeded" == outcome(lambda: world.do(run, "photoshop_1"))
    assert "failed" == world.services.reload(run).state


def test_recovery_edge_may_name_the_budget(world, monkeypatch):
    """A registered edge follows an exceeded budget as often as it says; the next attempt may do better."""
    edge = RecoveryEdge(on="unity.budget_exceeded", at="import_icon", resume="import_icon", attempts=1)
    flow = workflow()
    edged = replace(flow, compiled=replace(flow.compiled, recovery=(edge,)))
    monkeypatch.setattr("fakes.world.workflow", lambda: edged)
    run = world.open()
    world.go(run, "icon_handoff")
    budgeted(world, seconds=1)
    slow(world, 30)
    assert "unity.budget_exceeded" == outcome(lambda: world.do(run, "unity_1"))
    record = world.services.reload(run)
    assert ("running", "recover", 1) == (
        record.state,
        record.tasks[-1].result.recommended,
        record.tasks[-1].task.retry_limit,
    )
    assert "completed" == world.go(run).state


def test_mended_budget(world):
    """After the budget was raised, a person's own command runs the failed run again."""
    budgeted(world, bytes=8)
    run = world.open()
    world.go(run, "asset_decision")
    outcome(lambda: world.do(run, "photoshop_1"))
    budgeted(world)
    reopen(world.services, workflow(), world.services.reload(run), "operator")
    assert "completed" == world.go(run).state


def test_out_of_scope(world):
    """A specialist that writes where its task does not let it is refused, with nothing committed."""
    run = world.open()
    world.go(run, "icon_handoff")
    world.place, effects = "ProjectSettings", len(world.effects)
    assert "authority.out_of_scope" == outcome(lambda: world.do(run, "unity_1"))
    assert effects == len(world.effects)


def test_watch_outside_of_a_task():
    """Without a task there is no watch: a tool of its own is bounded by its own limits."""
    watch.check()
    assert 5.0 == watch.patience(5.0)
    with watch.watching(watch.Watch(2.0, "x.y")) as clock:
        assert watch.TICK == watch.patience(5.0)
        assert 0.1 == watch.patience(0.1)
        assert 0.0 < clock.left() <= 2.0
    assert 5.0 == watch.patience(5.0)
