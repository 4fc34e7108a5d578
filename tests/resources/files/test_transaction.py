"""A file transaction: all or nothing, wherever it is killed."""

import errno
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fabric_dagster.errors import Conflict, NeedsPerson, OperationFailed
from fabric_dagster.supervisor.ports import FileChange
from resources.files.transaction import FileTransactions

OLD = {"Assets/a.txt": b"old a", "Assets/b.txt": b"old b", "Assets/gone.txt": b"to delete"}
NEW = {"Assets/a.txt": b"new a\n", "Assets/b.txt": b"new b\n", "Assets/New/Deep/c.bin": b"\x00new c"}


def digest(data):
    """The port's digest of bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


CHANGES = (
    *(FileChange(p, digest(OLD[p]) if p in OLD else None, digest(NEW[p])) for p in NEW),
    FileChange("Assets/gone.txt", digest(OLD["Assets/gone.txt"]), None),
)


def write(folder, files):
    """Write files under a folder."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def tree(folder):
    """Every file under a folder with its bytes."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def folders(folder):
    """Every folder under a folder."""
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_dir()}


@pytest.fixture
def place(tmp_path):
    """A root with old files and a stage with new ones."""
    write(tmp_path / "root", OLD)
    write(tmp_path / "stage", NEW)
    return tmp_path


def transactions(place, **extra):
    """The transactions of the root."""
    return FileTransactions(place / "root", place / "journals", **extra)


def steps(place):
    """The names of all steps of one commit of CHANGES, in order."""
    seen = []
    copy = place / "rehearsal"
    shutil.copytree(place / "root", copy)
    FileTransactions(copy, place / "rehearsal-journals", hook=seen.append).commit(
        "t", place / "stage", CHANGES
    )
    return seen


def test_commit_writes_every_file_and_undo_brings_every_byte_back(place):
    """Commit, undo and undo again: the tree is new, then old, then still old."""
    work = transactions(place)
    assert work.standing(CHANGES) == "before"
    work.commit("t1", place / "stage", CHANGES)
    assert tree(place / "root") == NEW
    assert work.standing(CHANGES) == "after"
    work.undo("t1")
    work.undo("t1")
    assert tree(place / "root") == OLD
    assert folders(place / "root") == {"Assets"}
    work.forget("t1")
    assert work.journaled() == ()


def test_forget_keeps_the_new_files_and_ends_undo(place):
    """After forget the files stay and undo is refused."""
    work = transactions(place)
    work.commit("t1", place / "stage", CHANGES)
    work.forget("t1")
    with pytest.raises(Conflict, match=r"transaction\.unknown"):
        work.undo("t1")
    assert tree(place / "root") == NEW


def test_changed_underneath_is_refused_with_every_file_named(place):
    """Two files that changed since planning give two faults; nothing is written."""
    write(place / "root", {"Assets/a.txt": b"theirs", "Assets/New/Deep/c.bin": b"theirs"})
    before = tree(place / "root")
    with pytest.raises(Conflict) as caught:
        transactions(place).commit("t1", place / "stage", CHANGES)
    assert {f.where for f in caught.value.faults} == {"Assets/a.txt", "Assets/New/Deep/c.bin"}
    assert tree(place / "root") == before


def test_a_file_that_changes_during_the_commit_rolls_the_others_back(place):
    """Between verification and replacement somebody writes: their bytes stay, ours go."""

    def meddle(step):
        if step == "verify:1":
            (place / "root" / "Assets/b.txt").write_bytes(b"theirs")

    with pytest.raises(Conflict, match=r"transaction\.changed_underneath"):
        transactions(place, hook=meddle).commit("t1", place / "stage", CHANGES)
    assert tree(place / "root") == {**OLD, "Assets/b.txt": b"theirs"}
    assert folders(place / "root") == {"Assets"}


def test_undo_refuses_where_the_bytes_are_no_longer_ours(place):
    """One foreign file: nothing at all is undone."""
    work = transactions(place)
    work.commit("t1", place / "stage", CHANGES)
    (place / "root" / "Assets/b.txt").write_bytes(b"theirs")
    with pytest.raises(Conflict, match=r"Assets/b\.txt"):
        work.undo("t1")
    assert tree(place / "root") == {**NEW, "Assets/b.txt": b"theirs"}
    assert work.standing(CHANGES) == "foreign"


def test_undo_keeps_a_new_folder_that_somebody_uses(place):
    """A folder that we made stays when it holds somebody else's file."""
    work = transactions(place)
    work.commit("t1", place / "stage", CHANGES)
    (place / "root" / "Assets/New/theirs.txt").write_bytes(b"theirs")
    work.undo("t1")
    assert tree(place / "root") == {**OLD, "Assets/New/theirs.txt": b"theirs"}


KILLER = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fabric_dagster.supervisor.ports import FileChange
from resources.files.transaction import FileTransactions
place, verb, deadly = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
changes = tuple(FileChange(*(x or None for x in line.split("|"))) for line in sys.argv[5:])
count = 0
def hook(step):
    global count
    if count == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    count += 1
work = FileTransactions(place / "root", place / "journals", hook=hook)
if verb == "commit":
    work.commit("t1", place / "stage", changes)
else:
    work.undo("t1")
print(count)
"""


def run_killed(place, verb, deadly):
    """Run ``verb`` in a process that kills itself at step ``deadly``; its exit code."""
    lines = [f"{c.path}|{c.before or ''}|{c.after or ''}" for c in CHANGES]
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", KILLER, str(root), str(place), verb, str(deadly), *lines]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
@pytest.mark.slow
def test_killed_at_every_step_of_a_commit_the_tree_is_old_or_new_after_recovery(place):
    """Killed (-9) at each step: recovery gives exactly the old or the new tree, twice the same."""
    count = len(steps(place))
    assert count >= 16
    pristine = place / "pristine"
    shutil.copytree(place / "root", pristine)
    outcomes = set()
    for deadly in range(count + 1):
        shutil.rmtree(place / "root")
        shutil.copytree(pristine, place / "root")
        shutil.rmtree(place / "journals", ignore_errors=True)
        done = run_killed(place, "commit", deadly)
        assert done.returncode == (-signal.SIGKILL if deadly < count else 0), done.stderr
        work = transactions(place)
        first = work.recover("t1")
        assert work.recover("t1") == first
        assert first in {"before", "after"}
        assert tree(place / "root") == (OLD if first == "before" else NEW)
        assert folders(place / "root") == (
            {"Assets"} if first == "before" else {"Assets", "Assets/New", "Assets/New/Deep"}
        )
        assert work.interrupted() == ()
        outcomes.add(first)
        if first == "before":
            work.commit("t1", place / "stage", CHANGES)
            assert tree(place / "root") == NEW
    assert outcomes == {"before", "after"}


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
@pytest.mark.slow
def test_killed_at_every_step_of_an_undo_recovery_finishes_or_keeps_it(place):
    """Killed (-9) while undoing: after recovery the tree is whole, old or new."""
    pristine = place / "pristine"
    shutil.copytree(place / "root", pristine)
    for deadly in range(20):
        shutil.rmtree(place / "root")
        shutil.copytree(pristine, place / "root")
        shutil.rmtree(place / "journals", ignore_errors=True)
        work = transactions(place)
        work.commit("t1", place / "stage", CHANGES)
        done = run_killed(place, "undo", deadly)
        standing = work.recover("t1")
        assert tree(place / "root") == (OLD if standing == "before" else NEW)
        assert work.interrupted() == ()
        if done.returncode == 0:
            break
    assert done.returncode == 0
    assert deadly >= len(CHANGES)


def test_a_disk_that_fills_at_any_step_changes_nothing(place):
    """ENOSPC at each step up to the mark: old bytes, no temporary file, no journal left."""
    for step in steps(place)[:-1]:

        def full(name, step=step):
            if name == step:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        work = transactions(place, hook=full)
        with pytest.raises(OperationFailed, match=r"No space left.*transaction\.disk"):
            work.commit("t1", place / "stage", CHANGES)
        assert tree(place / "root") == OLD, step
        assert folders(place / "root") == {"Assets"}
        assert work.journaled() == ()


def test_a_rollback_that_fails_too_needs_a_person_and_recovers_later(place):
    """The disk refuses the rollback as well: exit 4, journal kept, recover brings the old bytes."""

    def broken(name):
        if name == "replace:1" or name.startswith("restore"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(NeedsPerson, match=r"transaction\.rollback_incomplete"):
        transactions(place, hook=broken).commit("t1", place / "stage", CHANGES)
    work = transactions(place)
    assert work.interrupted() == ("t1",)
    assert work.standing(CHANGES) == "partial"
    with pytest.raises(Conflict, match=r"transaction\.interrupted"):
        work.commit("t2", place / "stage", CHANGES)
    with pytest.raises(Conflict, match=r"transaction\.interrupted"):
        work.forget("t1")
    assert work.recover("t1") == "before"
    assert tree(place / "root") == OLD


def test_recovery_touches_nothing_where_somebody_else_wrote_since(place):
    """An interrupted transaction with one foreign file: Conflict, all bytes as found, journal kept."""

    def broken(name):
        if name == "replace:2" or name.startswith("restore"):
            raise OSError(errno.EIO, "broken")

    with pytest.raises(NeedsPerson):
        transactions(place, hook=broken).commit("t1", place / "stage", CHANGES)
    (place / "root/Assets/a.txt").write_bytes(b"theirs")
    before = tree(place / "root")
    work = transactions(place)
    with pytest.raises(Conflict, match=r"transaction\.foreign_bytes"):
        work.recover("t1")
    assert tree(place / "root") == before
    assert work.interrupted() == ("t1",)


def test_a_second_writer_is_refused_while_the_first_works(place):
    """Two writers at once: the second gets one clear error, the first completes."""
    refused = []

    def second(step):
        if step == "write:0":
            with pytest.raises(Conflict) as caught:
                transactions(place).commit("t2", place / "stage", CHANGES)
            refused.append(caught.value.code)

    transactions(place, hook=second).commit("t1", place / "stage", CHANGES)
    assert refused == ["transaction.locked"]
    assert tree(place / "root") == NEW


def test_committing_the_same_transaction_twice_is_refused(place):
    """An effect is not repeated."""
    work = transactions(place)
    work.commit("t1", place / "stage", CHANGES)
    with pytest.raises(Conflict, match=r"transaction\.repeated"):
        work.commit("t1", place / "stage", CHANGES)


def test_staged_bytes_that_differ_from_the_plan_are_refused(place):
    """The stage is verified by digest before anything is written."""
    (place / "stage/Assets/a.txt").write_bytes(b"tampered")
    with pytest.raises(Conflict, match=r"transaction\.stage_damaged"):
        transactions(place).commit("t1", place / "stage", CHANGES)
    assert tree(place / "root") == OLD


def test_a_read_only_file_is_refused(place):
    """A file that is not checked out stays as it is."""
    (place / "root/Assets/a.txt").chmod(0o444)
    with pytest.raises(Conflict, match=r"transaction\.read_only"):
        transactions(place).commit("t1", place / "stage", CHANGES)
    assert tree(place / "root") == OLD


def test_an_existing_file_keeps_its_permission_bits(place):
    """Replacing a file keeps its mode, undoing too."""
    if os.name == "nt":
        pytest.skip("permission bits are POSIX")
    (place / "root/Assets/a.txt").chmod(0o640)
    work = transactions(place)
    work.commit("t1", place / "stage", CHANGES)
    assert (place / "root/Assets/a.txt").stat().st_mode & 0o777 == 0o640
    work.undo("t1")
    assert (place / "root/Assets/a.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "path",
    [
        "../out.txt", "/etc/x", "Assets/../x", "Assets//x", "", "C:/x", "Assets\\x", "Assets/con.txt",
        "Assets/x.", "Assets/\x00", "Assets/a\nb", "Assets/" + "x" * 256,
    ],
)  # fmt: skip
def test_paths_that_leave_the_root_or_that_a_platform_cannot_hold_are_refused(place, path):
    """Each bad path is refused before anything is written."""
    change = FileChange(path, None, digest(b"x"))
    with pytest.raises(OperationFailed, match=r"path\.unsafe"):
        transactions(place).commit("t1", place / "stage", (change,))
    assert tree(place / "root") == OLD


def test_a_symlink_on_the_path_is_refused(place):
    """A linked folder and a linked file are never followed."""
    outside = place / "outside"
    outside.mkdir()
    try:
        (place / "root/Assets/New").symlink_to(outside, target_is_directory=True)
    except OSError:
        pytest.skip("this system does not allow symlinks here")
    with pytest.raises(OperationFailed, match=r"path\.symlink"):
        transactions(place).commit("t1", place / "stage", CHANGES)
    assert list(outside.iterdir()) == []
    assert tree(place / "root") == OLD


@pytest.mark.parametrize("path", ["assets/x.txt", "Assets/A.TXT", "Assets/GONE.txt"])
def test_a_name_that_differs_only_by_case_is_refused(place, path):
    """On another disk it would be the same file."""
    write(place / "stage", {path: b"x"})
    with pytest.raises(OperationFailed, match=r"path\.case_clash"):
        transactions(place).commit("t1", place / "stage", (FileChange(path, None, digest(b"x")),))
    assert tree(place / "root") == OLD


def test_a_guard_refuses_before_anything_is_written(place):
    """What the caller forbids (an open editor) is forbidden under the lock."""

    def closed():
        raise Conflict("unity.editor_open", "an editor has the project open")

    with pytest.raises(Conflict, match=r"unity\.editor_open"):
        transactions(place, guard=closed).commit("t1", place / "stage", CHANGES)
    assert tree(place / "root") == OLD


def test_a_damaged_journal_is_reported_and_not_guessed(place):
    """A journal that cannot be parsed stops every writer with its path."""
    work = transactions(place)
    work.commit("t1", place / "stage", CHANGES)
    journal = next((place / "journals").glob("*/journal.json"))
    journal.write_bytes(b"{")
    with pytest.raises(Exception, match=r"transaction\.journal_damaged"):
        work.recover("t1")
    assert tree(place / "root") == NEW
