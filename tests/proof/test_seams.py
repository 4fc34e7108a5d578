"""``kill -9`` at the seams of the seven steps, twenty times each, with SQLite and with PostgreSQL.

Every case restores a home that stands just before a sealed partition, lets a process of its own walk on
until it is killed at a seam or up to 50 ms after it, looks at every file, and walks on until the run has
ended. What was acknowledged is still there, no commit was called for twice, and the bytes are those of an
undisturbed run.
"""

import os
import random
import re

import disturbed
import governed
import grounds
import pytest
import walks
from walks import Walk

pytestmark = pytest.mark.proof

REPETITIONS = 20
#: the steps' seams of a partition, at the least; fewer were looked for in the wrong place.
LEAST = 16
SAMPLED = {"unity", "across applications", "cancelled"}
#: the longest time between a seam and the kill, in seconds.
JITTER = 0.05
SIDES = ("photoshop_1", "unity_1")
#: between these the seven steps are; all else that is passed within a partition is a seam of its own (below).
SEVEN = re.compile(
    r"(before|after) (step (photoshop|unity)_1|Hall\.authorize|\w+\.(allocate|stage|commit|observe)"
    r"|append (task\.issued|commit\.begun|task\.result)) #"
)
INCOMING = re.compile(r"artifacts/\w+/\w+/incoming/\w+\.tmp")
#: what else a run can meet: name → what is kept to begin from, and the way.
WAYS = {
    "photoshop": ("photoshop_1", Walk()),
    "unity": ("unity_1", Walk()),
    "recovering": ("photoshop_1", Walk("recovering")),
    "across applications": ("unity_1", Walk("crossing")),
    "compensated and made anew": ("unity_1_checks", Walk("returning")),
    "verdict on the whole run": ("verdict", Walk()),
    "failed verdict on the whole run": ("verdict", Walk("unwhole", "failed")),
    "approved": ("icon_handoff_visual", Walk()),
    "retaken": ("icon_handoff_visual", Walk(end="stopped", approves=False)),
    "cancelled": ("verdict", Walk(end="cancelled", cancels="verdict")),
    "cancelled before the game": ("unity_1", Walk(end="cancelled", cancels="unity_1")),
    "reconciled: nothing written": ("unknown_0", Walk()),
    "reconciled: partly written": ("unknown_1", Walk()),
    "reconciled: written, not marked": ("unknown_2", Walk()),
    "reconciled: all done": ("unknown_3", Walk()),
}
#: where the game's partition dies so that somebody must look: nothing written, partly, all but unmarked, all.
UNKNOWN = ("after append commit.begun", "file replace", "file mark", "before append task.result")


class Yard:
    """One ground, what is kept of it, and how each way ends there when nobody disturbs it."""

    def __init__(self, ground):
        self.ground = ground
        self.output, self.told = ground.place / "output.txt", ground.place / "told.txt"
        self.references = {}
        self._kept = {"commissioned"}
        ground.keep("commissioned")
        #: what is there when everything was taken back.
        self.first = ground.files()

    def base(self, name):
        """Make sure that ``name`` is kept: the home just before a step, or dead in the middle of one."""
        if name in self._kept:
            return
        word, _, number = name.partition("unknown_")
        if number:
            self.base("unity_1")
            seams = self.seams("unity")
            seam = [item for item in seams if item.startswith(UNKNOWN[int(number)])][-1]
            self.restore("unity_1")
            assert self.killed(Walk(), seam) == -9, self.said()
        else:
            self.restore("commissioned")
            hall = self.ground.hall()
            step = word.removesuffix("_visual").replace("_checks", " checks")
            if name.endswith("_visual"):
                governed.ask_for_approval(hall)
            with pytest.MonkeyPatch.context() as patch:
                disturbed.fix_choices(walks.SALT, patch)
                run = governed.opened(hall, self.ground.ticket)
                governed.go(hall, run, governed.STEPS[governed.STEPS.index(step) - 1])
        self.ground.keep(name)
        self._kept.add(name)

    def restore(self, name):
        """The home as it was kept, nothing told yet."""
        self.ground.restore(name)
        for path in (self.output, self.told):
            path.write_text("", encoding="utf-8")

    def killed(self, way, seam=None, **noted):
        """The exit code of a process that walks ``way`` and dies at ``seam``."""
        self.ground.close()
        words = (self.ground.home, self.ground.ticket, way, self.output, seam)
        process = disturbed.begin(walks.killed, *words, told=self.told, **noted)
        process.join(120)
        return process.exitcode

    def said(self):
        """What the processes printed."""
        return self.output.read_text(encoding="utf-8", errors="replace")[-3000:]

    def reference(self, name):
        """How an undisturbed walk of this way ends, and what it passes; made once."""
        if name not in self.references:
            base, way = WAYS[name]
            self.base(base)
            self.restore(base)
            before, log = self.ground.files(), self.ground.place / "seams.txt"
            log.write_text("", encoding="utf-8")
            assert self.killed(way, log=log) == 0, self.said()
            record, _ = self.ground.record()
            assert way.end == record.state
            seams = log.read_text(encoding="utf-8").splitlines()
            self.references[name] = (seams, before, self.ground.files())
        return self.references[name]

    def seams(self, name):
        """The seams of a way: those of its own partition, where it is one."""
        seams = self.reference(name)[0]
        if name in {"photoshop", "unity"}:
            first = seams.index(f"before step {name}_1 #1")
            seams = seams[first : seams.index(f"after step {name}_1 #1") + 1]
        return seams

    def disturb(self, name, seam, after):
        """Kill at ``seam`` or ``after`` seconds later, look, walk to the end, prove."""
        print(f"{name}: {seam}, {after:.3f} s later")  # noqa: T201 - shown where it fails
        base, way = WAYS[name]
        _, before, end = self.reference(name)
        good = end if way.end == "completed" else self.reference("unity")[2]
        self.restore(base)
        code = self.killed(way, seam, after=after)
        assert code == -9, f"{code} {self.said()}"
        grounds.look(self.ground.files(), before, end, good, self.first)
        acknowledged = self.told.read_text(encoding="utf-8").split("\n")
        with pytest.MonkeyPatch.context() as patch:
            disturbed.fix_choices(walks.SALT, patch)
            if way.plant in disturbed.FOR_GOOD:
                disturbed.PLANTS[way.plant](patch)
            disturbed.put_in(disturbed.Seams(told=self.told), patch)
            walks.walk(self.ground.hall(), self.ground.ticket, way)
        self.prove(way, end, acknowledged)

    def prove(self, way, end, acknowledged):
        """Everything that must hold when a disturbed run has ended."""
        record, digests = self.ground.record()
        assert way.end == record.state
        assert end == self.ground.files()
        # A put that was cut off leaves its temporary file, removed an hour later: nobody else's is mistaken.
        left = [path for path in governed.leftovers(self.ground.home) if not INCOMING.match(path)]
        assert [] == left
        for line in acknowledged:
            word, _, rest = line.partition(" ")
            if word == "event":
                position, _, digest = rest.partition(" ")
                assert digests.get(int(position)) == digest, "an acknowledged event is lost"
        told = self.told.read_text(encoding="utf-8").split("\n")
        commits = [line for line in told if line.startswith("commit ")]
        assert sorted(set(commits)) == sorted(commits), "a commit was called for twice"
        begun, dismissed = grounds.once(record)
        states = [(task.task.partition, task.state) for task in record.tasks]
        if way.end == "completed":
            assert all(states.count((side, "succeeded")) == 1 for side in SIDES), states
            repeated = disturbed.REPEATED.get(way.plant, 0) * sum(record.recoveries.values())
            assert begun == len(SIDES) + repeated + dismissed


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def yard(request, tmp_path_factory):
    """A yard on each database."""
    server = request.getfixturevalue("postgres_server") if request.param == "postgresql" else None
    ground = grounds.Ground(tmp_path_factory.mktemp("ground"), server)
    yield Yard(ground)
    ground.end()


@pytest.fixture
def draw(request):
    """A random generator; its seed is shown where a test fails."""
    seed = os.environ.get("FABRIC_PROOF_SEED") or os.urandom(4).hex()
    request.node.add_report_section("call", "seed", f"FABRIC_PROOF_SEED={seed}")
    return random.Random(f"{seed} {request.node.name}")  # noqa: S311 - to be drawn again from the seed


def delay(draw, number):
    """How long after the seam: the first time at once, then anything up to ``JITTER``."""
    return draw.uniform(0, JITTER) if number else 0.0


@pytest.mark.parametrize("number", range(REPETITIONS))
@pytest.mark.parametrize("application", ["photoshop", "unity"])
def test_killed_around_the_seven_steps(yard, application, number, draw, pytestconfig):
    """Between any two of the seven steps, of either application, again and again."""
    if pytestconfig.getoption("proof_sample") and number > 1:
        pytest.skip("two of twenty in a sample")
    seams = [seam for seam in yard.seams(application) if SEVEN.match(seam)]
    assert len(seams) >= LEAST, seams
    if pytestconfig.getoption("proof_sample"):
        seams = draw.sample(seams, 1)
    for seam in seams:
        yard.disturb(application, seam, delay(draw, number))


@pytest.mark.parametrize("name", WAYS)
def test_killed_on_the_way(yard, name, draw, pytestconfig):
    """At every other seam: within a commit, a recovery, a verdict, a wait, a cancellation, a look."""
    if pytestconfig.getoption("proof_sample") and name not in SAMPLED:
        pytest.skip("not in a sample")
    seams = yard.seams(name)
    if name in {"photoshop", "unity"}:
        seams = [seam for seam in seams if not SEVEN.match(seam)]
    if pytestconfig.getoption("proof_sample"):
        seams = draw.sample(seams, 1)
    for seam in seams:
        yard.disturb(name, seam, delay(draw, draw.randrange(2)))
