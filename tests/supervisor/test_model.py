"""The supervisor under every order of calls, kills and faults that hypothesis thinks of.

The doubles in ``fakes`` are the oracle: ``World.effect`` is called at the moment of each commit and fails the
test unless everything that must allow it does. Here stand the calls, and what holds between them.
"""

import shutil
import tempfile
from pathlib import Path
from typing import get_args

import pytest
from fakes.hands import Killed
from fakes.world import PLACE, World, outcome, signers, workflow
from governed import STEPS
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fabric_dagster.contracts.supervisor_run import RunState
from fabric_dagster.errors import Conflict, OperationFailed
from fabric_dagster.supervisor.approvals import ask, decide, waiting
from fabric_dagster.supervisor.cancelling import follow, request_cancel
from fabric_dagster.supervisor.failures import reopen
from fabric_dagster.supervisor.machine import ENDED
from fabric_dagster.supervisor.projection import advance, fold, stream_of
from fabric_dagster.supervisor.reconciliation import reconcile
from fabric_dagster.supervisor.stops import engage, release

TITLES = ("One", "Two", "Three", "Four")
#: where a process may die or a provider fail.
POINTS = ("stage", "staged", "commit", "half", "committed", "observe", "judge", "undo", "undone")
MEANWHILE = ("stage", "staged", "half", "observe", "judge")
ACTS = ("stop", "cancel", "revoke")
FAULTS = {
    "killed": Killed,
    "worker": lambda: OperationFailed("photoshop.worker_died", "planted"),
    "failed": lambda: OperationFailed("unity.asset_missing", "planted"),
    "conflict": lambda: Conflict("transaction.changed_underneath", "planted"),
}


class Supervisor(RuleBasedStateMachine):
    """Calls in any order; each ends done, in a typed error, or killed."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="fabric-model-"))
        self.runs, self.live, self.seen = [], {}, 0

    def teardown(self):
        """Leave nothing."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @initialize(
        approval=st.sampled_from(["none", "visual"]), far=st.integers(min_value=0, max_value=len(STEPS))
    )
    def begin(self, approval, far):
        """A home with its policy, and a run that has come so far."""
        self.world = World(self.folder / "world", approval)
        self.services = self.world.services
        self.open("One")
        self.go(far)

    def call(self, function, *given, **named):
        """A call of the supervisor. A process that was killed leaves no lock, as the system sees to that."""
        found = outcome(lambda: function(*given, **named))
        assert not self.world.locks
        return found

    # -- the calls

    @rule(title=st.sampled_from(TITLES))
    def open(self, title):
        """A ticket, or a newer revision of it, comes in."""

        def opened():
            run = self.world.open(title)
            if run not in self.runs:
                self.runs.append(run)

        self.call(opened)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), step=st.sampled_from(STEPS))
    def step(self, data, step):
        """Any step of any run, in order or not."""
        self.call(self.world.do, data.draw(st.sampled_from(self.runs)), step)

    @precondition(lambda self: self.runs)
    @rule(far=st.integers(min_value=2, max_value=len(STEPS)))
    def go(self, far):
        """The newest run goes on as the line would take it, with a person who approves."""
        for step in STEPS[:far]:
            if self.call(self.world.do, self.runs[-1], step) == "approval.missing":
                self.decide(given=True)
                self.call(self.world.do, self.runs[-1], step)

    @precondition(lambda self: self.runs)
    @rule(title=st.sampled_from(TITLES))
    def mended(self, title):
        """Everything is in order again, and the run goes to its end; an ended one is followed by another."""
        self.release()
        self.govern(certified=True, commissioned=True)
        self.misbehave(verdicts=True, holds=True, place=PLACE)
        self.world.plan = {}
        self.open(title)
        self.go(len(STEPS))

    @precondition(lambda self: self.runs)
    @rule(far=st.integers(min_value=3, max_value=len(STEPS)), data=st.data())
    def go_wrong(self, far, data):
        """Something happens on the way: a death, a fault, or somebody else's act."""
        if data.draw(st.booleans()):
            self.plant(data.draw(st.sampled_from(POINTS)), data.draw(st.sampled_from(sorted(FAULTS))))
        else:
            self.meanwhile(data.draw(st.sampled_from(MEANWHILE)), data.draw(st.sampled_from(ACTS)))
        self.go(far)

    @precondition(lambda self: self.runs)
    @rule(given=st.booleans())
    def decide(self, given):
        """A person decides on the picture that waits."""
        run = self.runs[-1]
        self.call(ask, self.services, workflow(), run)
        if waiting(self.services.reload(run)):
            self.call(decide, self.services, run, signers()["approver"], given=given, note="seen")

    @precondition(lambda self: self.runs)
    @rule(
        data=st.data(),
        who=st.sampled_from(["operator", "admin", "runtime", "approver"]),
        follows=st.booleans(),
    )
    def cancel(self, data, who, follows):
        """Somebody asks for a run's end; only some may."""
        run = data.draw(st.sampled_from(self.runs))
        found = self.call(request_cancel, self.services, run, signers()[who], "planted")
        assert (found == "authority.denied") == (who == "approver")
        if follows:
            self.call(follow, self.services, self.services.reload(run))

    @rule(kind=st.sampled_from(["core", "effects"]), who=st.sampled_from(["admin", "operator"]))
    def stop(self, kind, who):
        """A stop, by somebody who may and by somebody who may not."""
        found = self.call(engage, self.services.store, self.services.trust, signers()[who], kind, "planted")
        assert (found == "authority.denied") == (who != "admin")

    @rule()
    def release(self):
        """Everything goes again."""
        self.call(release, self.services.store, self.services.trust, signers()["admin"], "planted")

    @rule(certified=st.booleans(), commissioned=st.booleans())
    def govern(self, certified, commissioned):
        """Certificate and commission come and go."""
        self.world.certified, self.world.commissioned = certified, commissioned

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), standing=st.sampled_from([None, "before", "after"]))
    def reconcile(self, data, standing):
        """A validator looks at what is unknown."""
        account = None if standing is None else {"standing": standing, "note": "seen"}
        unknown = [run for run in self.runs if self.live[stream_of(run)].state == "reconciliation_required"]
        run = data.draw(st.sampled_from(unknown or self.runs))
        self.call(reconcile, self.services, run, signers()["validator"], account)

    @precondition(lambda self: self.runs)
    @rule()
    def reopen(self):
        """A person runs a failed run again."""
        self.call(reopen, self.services, workflow(), self.services.reload(self.runs[-1]), "operator")

    # -- what goes wrong

    @rule(point=st.sampled_from(POINTS), fault=st.sampled_from(sorted(FAULTS)))
    def plant(self, point, fault):
        """The next time that somebody comes by there."""
        self.world.plan = {point: FAULTS[fault]()}

    @precondition(lambda self: self.runs)
    @rule(point=st.sampled_from(MEANWHILE), what=st.sampled_from(ACTS))
    def meanwhile(self, point, what):
        """Somebody else acts while a provider works."""
        run = self.runs[-1]
        acts = {
            "stop": lambda: engage(
                self.services.store, self.services.trust, signers()["admin"], "effects", "planted"
            ),
            "cancel": lambda: outcome(
                lambda: request_cancel(self.services, run, signers()["operator"], "planted")
            ),
            "revoke": lambda: setattr(self.world, "commissioned", False),
        }
        self.world.plan = {point: acts[what]}

    @rule(verdicts=st.booleans(), holds=st.booleans(), place=st.sampled_from([PLACE, "ProjectSettings"]))
    def misbehave(self, verdicts, holds, place):
        """The checks, the postconditions, and where the specialist writes."""
        self.world.verdicts, self.world.holds, self.world.place = verdicts, holds, place

    @precondition(lambda self: self.runs)
    @rule()
    def foreign(self):
        """Somebody writes into the project himself."""
        target = self.folder / "world/project/Assets/Art/icon.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"mine")

    # -- what holds

    @invariant()
    def projections_agree(self):
        """Folding a stream anew equals moving on event by event, in a state that the contract names."""
        for event in self.services.store.read(after=self.seen):
            self.seen = event.position
            if not event.stream.startswith("run:"):
                continue
            if event.stream in self.live:
                advance(self.live[event.stream], event)
            else:
                self.live[event.stream] = fold([event])
        for stream, record in self.live.items():
            assert fold(self.services.store.read(stream)) == record
            assert record.state in get_args(RunState)

    @invariant()
    def what_ended_is_whole(self):
        """An ended run has nothing in flight; one that was cancelled left nothing in the project."""
        for record in self.live.values():
            if record.state in ENDED:
                assert not [t for t in record.tasks if t.state in {"committing", "reconciliation_required"}]
            if record.state == "completed":
                assert {"photoshop_1", "unity_1"} <= {v.side for v in record.verdicts if v.passed}
            if record.state == "cancelled":
                asked = next(e for e in record.events if e.type == "cancel.requested")
                assert asked.actor != "approver"
                assert not [
                    t
                    for t in record.tasks
                    if t.state in {"issued", "succeeded"} and t.task.partition == "unity_1" and not t.kept
                ]

    @invariant()
    def nothing_lingers(self):
        """Streams of runs are those that were opened, each once."""
        assert set(self.live) <= {stream_of(run) for run in self.runs}


class ManyCalls(Supervisor):
    """The same, for longer."""


QUICK = settings(
    max_examples=50, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
Supervisor.TestCase.settings = QUICK
ManyCalls.TestCase.settings = settings(QUICK, max_examples=600, stateful_step_count=40)
TestSupervisor = Supervisor.TestCase
TestManyCalls = pytest.mark.proof(ManyCalls.TestCase)


def _nothing(*_given, **_named):
    """A rule of the supervisor that was taken out."""


@pytest.mark.parametrize(
    ("rule_", "said"),
    [
        ("execution.refuse_stopped", "effects are stopped"),
        ("execution.refuse_cancelled", "a cancelled run commits"),
        ("staging._within_scope", "out of scope"),
        ("controls.require_approval", "nobody approved"),
    ],
)
def test_the_oracle_sees_a_missing_rule(tmp_path, monkeypatch, rule_, said):
    """Without a rule, the doubles themselves fail the run at the effect that should not have been reached."""
    world = World(tmp_path / "world", "visual" if "approval" in rule_ else "none")
    monkeypatch.setattr(f"fabric_dagster.supervisor.{rule_}", _nothing)
    monkeypatch.setattr("fabric_dagster.supervisor.results.within", lambda *_: True)
    run = world.open()
    world.go(run, "icon_handoff")
    world.place = "ProjectSettings" if "scope" in rule_ else PLACE
    if "stopped" in rule_:
        engage(world.store, world.services.trust, signers()["admin"], "effects", "planted")
        monkeypatch.setattr("fabric_dagster.supervisor.services.refuse_stopped", _nothing)
    if "cancelled" in rule_:
        request_cancel(world.services, run, signers()["operator"], "planted")
        monkeypatch.setattr("fabric_dagster.supervisor.execution.wanted", _nothing)
    with pytest.raises(AssertionError, match=said):
        world.do(run, "unity_1")
