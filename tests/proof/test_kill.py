"""``kill -9`` anywhere in a run loses nothing and repeats nothing.

Every case restores the same home, runs ``fabric run`` in a process that dies at its seam, looks at every file
that may change, then runs again, through ``fabric reconcile`` where exit 4 says so, until the run has ended.
"""

import os
import random
import time
from pathlib import Path

import dagster as dg
import disturbed
import governed
import grounds
import pytest
from filelock import FileLock

from fabric_dagster.supervisor.projection import load_run
from resources.home import Home

pytestmark = pytest.mark.proof

#: how many processes the full set of seams is dealt to; a sample takes one seam of each.
SHARDS = 4
SAMPLED = {("good", 0), ("good", 1), ("failing", 0), ("returning", 0)}
WAITS = 4
#: what `fabric run` ends with, by what was planted.
ENDS = {plant: int(plant in disturbed.FOR_GOOD) for plant in disturbed.PLANTS}


class World:
    """One home at one path, and how an undisturbed run of each plant ends there."""

    def __init__(self, place):
        self.place, self.home = place, place / "home"
        self.ticket = governed.write_ticket(place / "tickets")
        self.output = place / "output.txt"
        self.references = {}

    def command(self, *words, **kwargs):
        """The exit code of ``fabric WORDS`` on the home."""
        return disturbed.run([*words, "--home", self.home], self.output, **kwargs)

    def run(self, **kwargs):
        """The exit code of ``fabric run``."""
        return self.command(*self.run_words, **kwargs)

    @property
    def run_words(self):
        """The command under test."""
        return ("run", governed.GRAPH, "--ticket", self.ticket)

    def restore(self):
        """The home as the demo's commission left it."""
        governed.restore(self.place)
        self.output.write_text("", encoding="utf-8")

    def reference(self, plant):
        """How an undisturbed run ends, and the seams that it passes; made once."""
        if plant not in self.references:
            self.restore()
            log = self.place / f"seams-{plant}.txt"
            begun = time.monotonic()
            code = self.run(plant=plant, log=str(log))
            assert ENDS[plant] == code, self.said()
            self.references[plant] = {
                "seams": log.read_text(encoding="utf-8").splitlines(),
                "files": self.files(),
                "seconds": time.monotonic() - begun,
            }
        return self.references[plant]

    def said(self):
        """What the commands printed."""
        return self.output.read_text(encoding="utf-8", errors="replace")[-3000:]

    def files(self):
        """``{path: digest}`` of everything that a run may write, and of the source."""
        return grounds.files(self.home)

    def record(self):
        """The run as the spine has it, if it was opened; the spine is verified."""
        store = Home(self.home).open_ledger()
        try:
            report = store.verify()
            assert report.sound, report.faults
            opened = list(store.read(types=["run.opened"]))
            assert len(opened) <= 1
            return load_run(store, opened[0].body["run"]) if opened else None
        finally:
            store.close()

    def look(self, before, after, partial=frozenset()):
        """No file is half-written: each is as it was or as it will be, and the source is untouched."""
        grounds.look(self.files(), before, after, partial=partial)

    def finish(self, plant, reconcile=None):
        """Run until the run has ended; the exit codes on the way."""
        codes = []
        for _ in range(8):
            codes.append(self.run(plant=plant))
            if codes[-1] == WAITS:
                record = self.record()
                if reconcile is not None:
                    reconcile(record)
                codes.append(self.command("reconcile", record.run[7:19], "--as", "validator"))
                assert codes[-1] == 0, self.said()
            elif (record := self.record()).state in {"completed", "failed"}:
                return codes
        pytest.fail(f"the run does not end: {codes}\n{self.said()}")
        return codes

    def prove(self, plant, after):
        """Everything that must hold when a disturbed run has ended."""
        record = self.record()
        assert ("failed" if plant in disturbed.FOR_GOOD else "completed") == record.state
        assert after == self.files()
        assert governed.leftovers(self.home) == []
        states = [(task.task.partition, task.state) for task in record.tasks]
        if plant not in disturbed.FOR_GOOD:
            for side in ("photoshop_1", "unity_1"):
                assert states.count((side, "succeeded")) == 1, states
        begun, dismissed = grounds.once(record)
        if plant not in disturbed.FOR_GOOD:
            repeated = disturbed.REPEATED.get(plant, 0) * sum(record.recoveries.values())
            assert begun == 2 + repeated + dismissed
        for lock in self.home.rglob("*.lock"):
            with FileLock(lock, timeout=0):
                pass
        with dg.DagsterInstance.from_config(str(self.home / "dagster")) as instance:
            open_runs = [item.run_id for item in instance.get_runs() if not item.is_finished]
        assert open_runs == []
        self.no_process_left()

    def no_process_left(self):
        """The validator's program ended with the process that started it (looked at where /proc is)."""
        mine = str(self.home / "validator").encode()
        for _ in range(100):
            alive = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mine in _read(path)]
            if not alive:
                return
            time.sleep(0.1)
        pytest.fail(f"programs are left: {alive}")


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.fixture(scope="module")
def world(place):
    """The home and its references."""
    governed.end_validator(place / "home")  # the one of this very process
    return World(place)


@pytest.fixture
def draw(request):
    """A random generator; its seed is shown where a test fails."""
    seed = os.environ.get("FABRIC_PROOF_SEED") or os.urandom(4).hex()
    request.node.add_report_section("call", "seed", f"FABRIC_PROOF_SEED={seed}")
    return random.Random(f"{seed} {request.node.name}")  # noqa: S311 - to be drawn again from the seed


def disturb(world, plant, seam, before):
    """Die at ``seam``, look, run to the end, prove."""
    reference = world.reference(plant)
    world.reference("good")
    world.restore()
    code = world.run(plant=plant, seam=seam)
    assert code == -9, f"{seam}: {code} {world.said()}"
    # What is taken back in the end was written as a good run writes it.
    world.look(before, world.reference("good")["files"])
    codes = world.finish("good" if plant in disturbed.ONCE else plant)
    assert ENDS[plant] == codes[-1], f"{seam}: {codes} {world.said()}"
    world.prove(plant, reference["files"])
    return codes


@pytest.fixture
def before(world):
    """What every file was before any run."""
    world.restore()
    return world.files()


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("plant", disturbed.PLANTS)
def test_killed_at_a_seam(world, before, plant, shard, draw, pytestconfig, record_property):
    """Killed between any two things that a run does, it ends as if it had never been killed."""
    if pytestconfig.getoption("proof_sample") and (plant, shard) not in SAMPLED:
        pytest.skip("not in a sample")
    seams = world.reference(plant)["seams"]
    if plant != "good":
        plain = set(world.reference("good")["seams"])
        seams = [seam for seam in seams if seam not in plain]
    mine = seams[shard::SHARDS]
    if pytestconfig.getoption("proof_sample"):
        mine = draw.sample(mine, 1)
    for seam in mine:
        codes = disturb(world, plant, seam, before)
        record_property(f"{plant}: {seam}", codes)


@pytest.mark.parametrize("number", range(10))
def test_killed_at_a_random_time(world, before, number, draw, pytestconfig, record_property):
    """Killed at any moment, watched all the while: no file is ever seen half-written."""
    if pytestconfig.getoption("proof_sample") and number:
        pytest.skip("one of ten in a sample")
    reference = world.reference("good")
    world.restore()
    process = disturbed.start([*world.run_words, "--home", world.home], world.output)
    end = time.monotonic() + draw.uniform(0, reference["seconds"])
    while time.monotonic() < end and process.exitcode is None:
        world.look(before, reference["files"], frozenset({None}))
        time.sleep(0.01)
    process.kill()
    process.join()
    world.look(before, reference["files"])
    codes = world.finish("good")
    assert 0 == codes[-1], world.said()
    world.prove("good", reference["files"])
    record_property("killed after seconds", codes)


#: where a run dies so that somebody must look: nothing written, partly, all but unmarked, all.
UNKNOWN = ("after append commit.begun #2", "file replace #4", "file mark #2", "before append task.result #2")


@pytest.mark.parametrize("seam", UNKNOWN)
def test_killed_while_reconciling(world, before, seam, draw, pytestconfig, record_property):
    """Killed while somebody looks at an unknown completion, the next look comes to the same."""
    reference = world.reference("good")
    log = world.place / "seams-reconcile.txt"

    def die_unknown():
        world.restore()
        assert world.run(seam=seam) == -9
        record = world.record()
        return ("reconcile", record.run[7:19], "--as", "validator")

    if pytestconfig.getoption("proof_sample") and seam != "file replace #4":
        pytest.skip("not in a sample")
    words = die_unknown()
    log.unlink(missing_ok=True)
    assert 0 == world.command(*words, log=str(log)), world.said()
    seams = log.read_text(encoding="utf-8").splitlines()
    if pytestconfig.getoption("proof_sample"):
        seams = draw.sample(seams, 1)
    for second in seams:
        words = die_unknown()
        assert world.command(*words, seam=second) == -9
        world.look(before, reference["files"])
        codes = world.finish("good")
        assert 0 == codes[-1], f"{seam}, {second}: {codes} {world.said()}"
        world.prove("good", reference["files"])
        record_property(f"{seam}, then {second}", codes)
