"""A project, a running editor (the package under mono, over stubs) and a batch editor, without Unity."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from resources.photoshop.png import encode_png
from resources.photoshop.sample_art import starter_pack
from resources.unity import sample
from resources.unity.live.batch import BatchEditor
from resources.unity.live.editor import Limits
from resources.unity.live.package import SOURCE
from resources.unity.live.provider import LiveUnity

HERE = Path(__file__).parent
STUBS = HERE / "stubs"
FLAGS = ("-nologo", "-warnaserror", "-warn:4", "-nowarn:0649,0169,0067")
FAKE_EDITOR = HERE / "fake_editor.py"


@pytest.fixture(scope="session")
def host(tmp_path_factory):
    """The package compiled with the stubs into one program; skips where there is no C# compiler."""
    mcs, mono = shutil.which("mcs"), shutil.which("mono")
    if mcs is None or mono is None:
        pytest.skip("no C# compiler here (mcs and mono): the package is compiled and run where they are")
    program = tmp_path_factory.mktemp("host") / "host.exe"
    sources = [*STUBS.glob("*.cs"), *SOURCE.rglob("*.cs")]
    done = subprocess.run(
        [mcs, *FLAGS, f"-out:{program}", *map(str, sources)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "" == done.stdout + done.stderr
    return [mono, str(program)]


@pytest.fixture
def project(tmp_path):
    """The sample project, with a lock file as an editor writes it."""
    root = tmp_path / "project"
    sample.build(root)
    (root / "Packages/packages-lock.json").write_bytes(
        b'{\n  "dependencies": {\n    "com.unity.ugui": {\n      "version": "1.0.0"\n    }\n  }\n}\n'
    )
    return root


@pytest.fixture
def state(tmp_path):
    """Fabric's own folder."""
    return tmp_path / "state"


@pytest.fixture
def stage(tmp_path):
    """A stage with an icon in it."""
    place = tmp_path / "stage"
    (place / "inputs").mkdir(parents=True)
    (place / "inputs/icon.png").write_bytes(encode_png(starter_pack()))
    return place


@pytest.fixture
def batch(tmp_path):
    """Makes a batch editor that behaves as it is told."""

    def make(*behaviour, still=20.0, whole=60.0):
        words = ",".join(behaviour)
        return BatchEditor(
            (sys.executable, str(FAKE_EDITOR), f"--behave={words}"),
            Limits(whole, still),
            tmp_path / "library",
        )

    return make


@pytest.fixture
def editor(host, project, tmp_path):
    """A running editor that has ``project`` open: ``editor.behave("dies")`` and so on."""
    with RunningEditor(host, project, tmp_path / "fake") as running:
        yield running


@pytest.fixture
def running_editor():
    """The running editor's class, for a project of the test's own."""
    return RunningEditor


class RunningEditor:
    """The package under mono; the lock that an editor holds is held by this process."""

    def __init__(self, host, project, folder):
        self.host, self.project, self.folder = host, project, folder
        self.process = self.lock = None

    def __enter__(self):
        """Start it once the package is there to be loaded, as a domain reload would."""
        import fcntl

        self.folder.mkdir()
        (self.project / "Temp").mkdir(exist_ok=True)
        self.lock = (self.project / "Temp/UnityLockfile").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.process = subprocess.Popen(
            [*self.host, str(self.project), str(SOURCE), str(self.folder)], stdin=subprocess.DEVNULL
        )
        return self

    def behave(self, what, text=""):
        """Begin to misbehave so."""
        (self.folder / what).write_text(text, encoding="utf-8")

    def __exit__(self, *_fault):
        self.close()

    def close(self):
        """End it, once."""
        self.behave("stop")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)
        self.process.kill()
        self.process.wait()
        self.lock.close()


@pytest.fixture
def live(project, state, batch):
    """The live provider with a batch editor that works."""
    return LiveUnity(project, state=state, batch=batch(), patience=1, session_patience=15, request_seconds=5)


@pytest.fixture(autouse=True)
def _posix():
    if os.name == "nt":
        pytest.skip("the fakes hold POSIX locks")
