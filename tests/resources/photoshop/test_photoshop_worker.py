"""The worker: warm, bounded, and never the end of the run that asks it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from photoshop_builders import ROOT

from fabric_dagster.errors import FabricError, InvalidDocument, OperationFailed, Refused
from fabric_dagster.supervisor.watch import Watch, watching
from resources.photoshop.client import Pool, Worker
from resources.photoshop.psd.limits import Limits


@pytest.fixture
def own_worker():
    """A worker that a test may break."""
    made = Worker()
    made.call("ping", {})
    yield made
    made.close()


def long_work(folder) -> list[dict]:
    """Steps that take seconds."""
    opened = {"source": str(folder / "icon.psd"), "copy": "a.psd"}
    exports = [{"preset": "double", "out": f"{number}.png"} for number in range(50)]
    return [
        {"capability": "photoshop.open_duplicate@1", "args": opened},
        *({"capability": "photoshop.export_png@1", "args": args} for args in exports),
    ]


def test_a_worker_is_started_once(worker, files):
    """Requests are answered by one process."""
    worker.call("inspect", {"path": str(files / "icon.psd")})
    first = worker.pid
    worker.call("inspect", {"path": str(files / "icon.psd")})
    assert first == worker.pid


def test_errors_cross_the_pipe_as_they_are(worker, files):
    """Class, code, place and mend are kept."""
    (files / "cut.psd").write_bytes((files / "icon.psd").read_bytes()[:3000])
    with pytest.raises(InvalidDocument) as caught:
        worker.call("inspect", {"path": str(files / "cut.psd")})
    (fault,) = caught.value.faults
    assert ("psd.truncated", True) == (fault.code, bool(fault.mend))
    with pytest.raises(OperationFailed) as caught:
        worker.call("inspect", {"path": str(files / "none.psd")})
    assert caught.value.code == "photoshop.file_unavailable"


def test_a_killed_worker_is_a_typed_failure_and_the_next_one_works(own_worker, files):
    """Killed while it works: the request fails by name, then a new worker answers."""
    pid = own_worker.pid
    killer = threading.Timer(0.05, os.kill, (pid, signal.SIGTERM))
    steps = long_work(files)
    killer.start()
    with pytest.raises(OperationFailed) as caught:
        own_worker.call("execute", {"steps": steps, "folder": str(files), "allocations": {}})
    assert caught.value.code == "photoshop.worker_died"
    assert own_worker.call("ping", {})["pixels"] > 0
    assert pid != own_worker.pid
    assert not (files / "0.png").exists()


def test_a_request_that_takes_too_long_is_given_up(own_worker, files):
    """Past its time the worker is killed and the failure says so."""
    started = time.monotonic()
    steps = long_work(files)
    with pytest.raises(OperationFailed) as caught:
        own_worker.call(
            "execute",
            {"steps": steps, "folder": str(files), "allocations": {}},
            limits=Limits(seconds=0.5),
        )
    assert caught.value.code == "photoshop.time_limit"
    assert time.monotonic() - started < 10
    assert own_worker.pid is None


def test_a_watch_ends_a_request(own_worker, files):
    """Over its task's budget, or no longer wanted: the worker is killed at once, and the next one works."""
    pid, steps = own_worker.pid, long_work(files)

    def unwanted():
        raise Refused("authority.stopped", "smoke")

    for clock, code in ((Watch(0.3, "photoshop.budget_exceeded"), 0), (Watch(60, "x.y", unwanted), 1)):
        started = time.monotonic()
        with pytest.raises(FabricError) as caught, watching(clock):
            own_worker.call("execute", {"steps": steps, "folder": str(files), "allocations": {}})
        assert ("photoshop.budget_exceeded", "authority.stopped")[code] == caught.value.code
        assert time.monotonic() - started < 10
        assert own_worker.pid is None
        assert own_worker.call("ping", {})
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="address space is bounded on Linux")
def test_a_request_that_needs_too_much_memory_is_refused(own_worker, files):
    """Past its memory the request fails by name and the worker lives."""
    pid = own_worker.pid
    with pytest.raises(OperationFailed) as caught:
        own_worker.call(
            "render",
            {"path": str(files / "icon.psd"), "out": str(files / "o.png"), "layer": None, "preset": "double"},
            limits=Limits(memory=8 << 20),
        )
    assert caught.value.code == "photoshop.memory_limit"
    assert pid == own_worker.pid
    assert own_worker.call("ping", {})


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_worker_dies_with_its_parent(tmp_path):
    """When the asking process is killed, the worker ends by itself."""
    program = (
        "import sys, time\n"
        "from resources.photoshop.client import Worker\n"
        "w = Worker(); w.call('ping', {}); print(w.pid, flush=True); time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=ROOT)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        if not alive(pid):
            break
        time.sleep(0.05)
    assert not alive(pid)
    assert not list(tmp_path.iterdir())


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:  # noqa: PTH123 - a kernel file
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_pixel_limits_hold_in_the_worker(worker, files):
    """A document larger than allowed is refused before it is decoded."""
    with pytest.raises(InvalidDocument) as caught:
        worker.call("inspect", {"path": str(files / "icon.psd")}, limits=Limits(pixels=1000))
    assert caught.value.code == "psd.too_many_pixels"


@pytest.mark.parametrize("seed", range(24))
def test_damaged_documents_end_in_data_or_a_typed_fault(worker, files, seed):
    """Random damage of the sample: inspect and render answer or fail by name; the worker lives on."""
    chance = random.Random(seed)  # noqa: S311 - damage, not secrets
    data = bytearray((files / "icon.psd").read_bytes())
    for _ in range(chance.choice([1, 4, 32])):
        spot = int(len(data) * chance.random() ** 3)
        data[spot : spot + 4] = chance.choice(
            [b"\xff\xff\xff\xff", bytes(4), b"\x7f\xff\xff\xff", b"\0\0\0\1"]
        )
    (files / "hit.psd").write_bytes(data)
    pid = worker.pid
    for method, extra in (
        ("inspect", {}),
        ("render", {"out": str(files / "o.png"), "layer": None, "preset": "canvas"}),
    ):
        codes = []
        try:
            worker.call(method, {"path": str(files / "hit.psd"), **extra}, limits=Limits(seconds=20))
        except FabricError as error:
            codes = [fault.code for fault in error.faults]
        assert all(code.startswith(("psd.", "photoshop.")) for code in codes)
        assert "photoshop.worker_died" not in codes
    assert pid is None or pid == worker.pid


def test_a_pool_works_on_documents_side_by_side(files):
    """Results come in order; a broken file fails alone; one thing at a time needs one process."""
    (files / "cut.psd").write_bytes((files / "icon.psd").read_bytes()[:3000])
    pool = Pool(2)
    try:
        pool.call("ping", {})
        pool.call("ping", {})
        alone = len(pool.pids)
        named = ["icon.psd", "cut.psd", "icon.psd"]
        found = pool.each([("inspect", {"path": str(files / name)}) for name in named])
        assert (1, 2) == (alone, len(pool.pids))
        assert ["PSD", InvalidDocument, "PSD"] == [
            type(each) if isinstance(each, FabricError) else each["format"] for each in found
        ]
    finally:
        pool.close()
