"""Runs a ``fabric`` command, or a walk, in a process of its own that is ended at a chosen seam.

Nothing of this is in the product: seams are put around its methods here. A seam is named by what is about to
happen (``before append task.issued``) or has just happened; the n-th passing of it is meant. The end may come
a while after the seam, wherever the process is then.
"""

import contextlib
import functools
import itertools
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

import resources.photoshop.provider
import resources.unity.provider
import resources.validator.client
import sensors.intake  # noqa: F401 - loaded once, before the processes are forked
from fabric_dagster.cli.main import main
from fabric_dagster.errors import OperationFailed
from fabric_dagster.intelligence import packs
from fabric_dagster.supervisor import judging, workflows
from resources.artifacts.store import FolderArtifactStore
from resources.files.transaction import FileTransactions
from resources.ledger.store import SqlEventStore
from resources.photoshop.provider import HeadlessPhotoshop
from resources.supervision.assembly import Hall
from resources.unity.provider import HeadlessUnity
from resources.validator.client import ValidatorClient

METHODS = {
    HeadlessPhotoshop: ("allocate", "stage", "commit", "observe", "recover", "forget"),
    HeadlessUnity: ("allocate", "stage", "commit", "observe", "undo", "recover", "forget"),
    FolderArtifactStore: ("put_file",),
    ValidatorClient: ("judge",),
    Hall: ("authorize",),
}
CONTEXT = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
#: what modules were looked for in besides, before the tests.
GIVEN = os.environ.get("PROOF_PYTHONPATH", os.environ.get("PYTHONPATH", ""))
if os.name != "nt":
    CONTEXT.set_forkserver_preload(["walks"])


class Seams:
    """Counts the seams that are passed, notes them, and ends the process at the chosen one or a while later.

    ``told`` collects, for the time after the end, what was acknowledged and which commits were called for.
    """

    def __init__(self, seam=None, log=None, after=0.0, told=None):
        self.seam, self.log, self.after, self.told = seam, log, after, told
        self.counts = {}
        self.ending = None

    def __call__(self, name):
        """Pass the seam ``name``."""
        self.counts[name] = self.counts.get(name, 0) + 1
        if self.log is not None:
            _add(self.log, f"{name} #{self.counts[name]}")
        if self.seam == f"{name} #{self.counts[name]}":
            if not self.after:
                _end()
            self.ending = threading.Thread(target=self._end_later, daemon=True)
            self.ending.start()

    def _end_later(self):
        time.sleep(self.after)
        _end()

    def wait(self):
        """The work is done: let the end come that is on its way."""
        if self.ending is not None:
            self.ending.join()

    def tell(self, line):
        """Note something that must hold whatever happens."""
        if self.told is not None:
            _add(self.told, line)


def _end():
    os.kill(os.getpid(), signal.SIGKILL)


def _add(path, line):
    with path.open("a", encoding="utf-8") as writer:
        writer.write(f"{line}\n")


def put_in(seams, patch):
    """Put the seams around events, providers, artifacts, the validator, authority and every file step."""
    plain = SqlEventStore.append

    @functools.wraps(plain)
    def append(self, events, **kwargs):
        name = "append " + "+".join(item.type for item in events)
        seams(f"before {name}")
        stored = plain(self, events, **kwargs)
        for event in stored:
            seams.tell(f"event {event.position} {event.digest}")
        seams(f"after {name}")
        return stored

    patch.setattr(SqlEventStore, "append", append)
    for owner, names in METHODS.items():
        for name in names:
            patch.setattr(owner, name, _wrapped(seams, getattr(owner, name), f"{owner.__name__}.{name}"))
    made = FileTransactions.__init__

    @functools.wraps(made)
    def init(self, root, journals, **kwargs):
        made(self, root, journals, **{**kwargs, "hook": lambda step: seams(f"file {step.partition(':')[0]}")})

    patch.setattr(FileTransactions, "__init__", init)


def _wrapped(seams, method, name):
    @functools.wraps(method)
    def wrapped(self, *args, **kwargs):
        seams(f"before {name}")
        if name.endswith(".commit"):
            seams.tell(f"commit {args[2]}")
        result = method(self, *args, **kwargs)
        seams(f"after {name}")
        return result

    return wrapped


class FixedChoices:
    """Stands in for ``uuid`` in the providers: the same random choices in every process."""

    def __init__(self, salt):
        self.numbers = (random.Random(f"{salt} {n}") for n in itertools.count())  # noqa: S311 - fixed on purpose

    def uuid4(self):
        """The next of the fixed choices."""
        return uuid.UUID(int=next(self.numbers).getrandbits(128), version=4)


def fix_choices(salt, patch):
    """Let the providers draw the same numbers as every process with this ``salt``."""
    for module in (resources.unity.provider, resources.photoshop.provider):
        patch.setattr(module, "uuid", FixedChoices(salt))


def fail_verdict(patch):
    """Make the integration's verdict fail: the title may not change."""
    plain = packs.load_pack

    def load_pack(folder):
        pack = plain(folder)
        pack.pack.checks["project_diff@1"] = {"properties": ["icon"]}
        return pack

    patch.setattr(packs, "load_pack", load_pack)
    patch.setattr(workflows, "load_pack", load_pack)


def kill_worker_once(patch):
    """Let Photoshop's worker die once, and be found dead."""
    plain, deaths = HeadlessPhotoshop.stage, iter([True])

    def stage(self, plan, folder):
        if next(deaths, False):
            raise OperationFailed("photoshop.worker_died", "the worker process ended")
        return plain(self, plan, folder)

    patch.setattr(HeadlessPhotoshop, "stage", stage)


def refuse_picture_once(patch):
    """Let Unity refuse the picture's size once: Photoshop makes it anew."""
    plain, refusals = HeadlessUnity.stage, iter([True])

    def stage(self, plan, folder):
        if next(refusals, False):
            raise OperationFailed("unity.dimensions", "the picture is 3 by 3 pixels")
        return plain(self, plan, folder)

    patch.setattr(HeadlessUnity, "stage", stage)


def misjudge_once(patch):
    """Let the game's check fail once: the import is taken back, and everything is made and judged anew."""
    plain, times = judging.side_evidence, iter([True])

    def side_evidence(*args):
        evidence = plain(*args)
        if not evidence.side.startswith("unity") or not next(times, False):
            return evidence
        wrong = {"icon": "icon", "texts": {"displayName": "offer_id"}}
        checks = [
            item.model_copy(update={"params": wrong}) if item.id == "goal_met@1" else item
            for item in evidence.checks
        ]
        return evidence.model_copy(update={"checks": tuple(checks)})

    patch.setattr(judging, "side_evidence", side_evidence)


def fail_whole_run(patch):
    """Make the verdict on the whole run fail: its handoff comes from a source that is none of the run's."""
    plain = judging.run_evidence

    def run_evidence(*args):
        evidence = plain(*args)
        handoffs = {
            node: item.model_copy(update={"lineage": {"art": "sha256:" + "3" * 64}})
            for node, item in evidence.handoffs.items()
        }
        return evidence.model_copy(update={"handoffs": handoffs})

    patch.setattr(judging, "run_evidence", run_evidence)


PLANTS = {
    "good": lambda _patch: None,
    "failing": fail_verdict,
    "unwhole": fail_whole_run,
    "recovering": kill_worker_once,
    "crossing": refuse_picture_once,
    "returning": misjudge_once,
}
#: what fails for good, and what is planted once: a process that goes on is without it.
FOR_GOOD = frozenset({"failing", "unwhole"})
ONCE = frozenset({"recovering", "crossing", "returning"})
#: commits that a followed edge repeats.
REPEATED = {"recovering": 0, "crossing": 1, "returning": 2}


def fabric(arguments, output, seam=None, log=None, plant="good"):
    """What the process does: the command, with its output in the file ``output``."""
    with Path(output).open("a", encoding="utf-8") as writer:
        os.dup2(writer.fileno(), 1)
        os.dup2(writer.fileno(), 2)
    patch = pytest.MonkeyPatch()
    PLANTS[plant](patch)
    put_in(Seams(seam, log and Path(log)), patch)
    fix_choices(" ".join(Path(word).stem for word in arguments[:4]), patch)
    code = 0
    try:
        main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    sys.stdout.flush()
    sys.stderr.flush()
    ValidatorClient(home_of(arguments) / "validator").close()
    os._exit(code)


def home_of(arguments):
    """The home that a command was given."""
    return Path(arguments[arguments.index("--home") + 1])


def start(arguments, output, **kwargs):
    """Start a process that runs ``fabric arguments``."""
    return begin(fabric, [str(item) for item in arguments], str(output), **kwargs)


def begin(target, *args, **kwargs):
    """Start a process that calls ``target``; it is forked from one that has everything loaded."""
    with _found_by_the_server():
        process = CONTEXT.Process(target=_as_given, args=(target, args, kwargs))
        process.start()
    return process


def _as_given(target, args, kwargs):
    os.environ.pop("PYTHONPATH", None)
    os.environ.update({"PYTHONPATH": GIVEN} if GIVEN else {})
    target(*args, **kwargs)


@contextlib.contextmanager
def _found_by_the_server():
    """The process that others are forked from is not told pytest's path, and would load nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        patch.setenv("PROOF_PYTHONPATH", GIVEN)
        yield


def run(arguments, output, **kwargs):
    """Run ``fabric arguments`` to its end; the exit code, negative for a signal."""
    process = start(arguments, output, **kwargs)
    process.join(120)
    return process.exitcode
