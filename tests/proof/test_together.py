"""Several processes at once on one home, and what the machine does to one of them."""

import os
import shutil
import signal
import subprocess
import time

import disturbed
import governed
import pytest

from fabric_dagster.supervisor.projection import load_run
from resources.home import Home

pytestmark = pytest.mark.slow


@pytest.fixture
def home(place):
    """The restored home, nothing opened in this process."""
    governed.restore(place)
    return place / "home"


def words(home, ticket):
    """``fabric run`` for ``ticket``."""
    return ("run", governed.GRAPH, "--ticket", ticket, "--home", home)


def records(home):
    """Every run of the home; the spine is verified."""
    store = Home(home).open_ledger()
    try:
        assert store.verify().sound
        return [load_run(store, event.body["run"]) for event in store.read(types=["run.opened"])]
    finally:
        store.close()


def together(tmp_path, *calls):
    """The exit codes of commands that were started at once."""
    started = [disturbed.start(call, tmp_path / f"out{n}") for n, call in enumerate(calls)]
    for process in started:
        process.join(240)
    return [process.exitcode for process in started], [
        (tmp_path / f"out{n}").read_text(encoding="utf-8") for n in range(len(calls))
    ]


def test_same_ticket_twice(home, tmp_path):
    """Two processes on one ticket: one waits for the other, and each effect is made once."""
    ticket = governed.write_ticket(tmp_path / "tickets")
    codes, said = together(tmp_path, words(home, ticket), words(home, ticket))
    assert [0, 0] == codes, said
    (record,) = records(home)
    assert ("completed", 2) == (record.state, governed.kinds(record).count("commit.begun"))
    assert [] == governed.leftovers(home)


def test_two_tickets_of_one_project(home, tmp_path):
    """Two tickets at once on one project: neither is failed by what the other writes."""
    first = governed.write_ticket(tmp_path / "tickets", "OFFER-1", offer_id="starter_pack")
    second = governed.write_ticket(tmp_path / "tickets", "OFFER-2", offer_id="mega_bundle", title="Mega")
    codes, said = together(tmp_path, words(home, first), words(home, second))
    assert [0, 0] == codes, said
    assert ["completed", "completed"] == [record.state for record in records(home)]


def test_interrupted_from_the_keyboard(home, tmp_path):
    """Ctrl-C ends a run with 130, unless it was at its end; run again, it is complete."""
    ticket = governed.write_ticket(tmp_path / "tickets")
    process = disturbed.start(words(home, ticket), tmp_path / "out")
    until = time.monotonic() + 120
    while not list((home / "stages").iterdir()) and process.exitcode is None and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    process.join(120)
    text = (tmp_path / "out").read_text(encoding="utf-8")
    assert process.exitcode in {0, 130}, text
    assert "Traceback" not in text
    codes = []
    for _ in range(3):
        codes.append(disturbed.run(words(home, ticket), tmp_path / "out"))
        if codes[-1] == 4:
            (record,) = records(home)
            disturbed.run(("reconcile", record.run[7:19], "--home", home), tmp_path / "out")
    assert 0 == codes[-1], (tmp_path / "out").read_text(encoding="utf-8")
    assert [] == governed.leftovers(home)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting a small disk needs root"
)
@pytest.mark.parametrize("full", ["stages", "project/Assets/Art/Offers", "artifacts", "transactions"])
def test_full_disk(home, tmp_path, full):
    """On a disk that is really full every failure is typed, and with space the run is completed."""
    ticket = governed.write_ticket(tmp_path / "tickets")
    folder = home / full
    kept = tmp_path / "kept"
    shutil.copytree(folder, kept)
    size = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    blocks = 4 * sum(1 for path in kept.rglob("*")) + size // 1024 + 12
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={blocks}k", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted: {mounted.stderr.decode().strip()}")
    try:
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        (folder / "filler.bin").write_bytes(b"\0" * 4096)
        before = governed.tree(home / "project")
        code = disturbed.run(words(home, ticket), tmp_path / "out")
        text = (tmp_path / "out").read_text(encoding="utf-8")
        assert code == 1, text
        assert "Traceback" not in text
        assert ".disk]" in text or "os.28]" in text, text
        assert before == governed.tree(home / "project")
        subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
        (folder / "filler.bin").unlink()
        assert 0 == disturbed.run(words(home, ticket), tmp_path / "out"), text
        assert ["completed"] == [record.state for record in records(home)]
    finally:
        subprocess.run(["umount", str(folder)], check=True)
