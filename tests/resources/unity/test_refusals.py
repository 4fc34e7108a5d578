"""What a project, a machine or another program may do against a plan: one clear error, nothing changed."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from asset_texts import put
from unity_world import STARTER, import_icon, operation, set_value, write_plan

from fabric_dagster.errors import Conflict, FabricError
from resources.unity.apply import apply_plan
from resources.unity.manifest import tree_manifest
from resources.unity.provider import HeadlessUnity

HEAD = b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n--- !u!114 &11400000\nMonoBehaviour:\n  m_Name: x\n"
LAUGHS = b"  a: &a [x, x]\n" + b"".join(
    b"  %c: &%c [*%c, *%c, *%c]\n" % (n, n, n - 1, n - 1, n - 1) for n in range(ord("b"), ord("z"))
)
HOSTILE = {
    "billion_laughs": HEAD + LAUGHS,
    "nul": HEAD + b"  displayName: a\0b\n",
    "conflict_markers": HEAD + b"<<<<<<< HEAD\n  displayName: a\n=======\n  displayName: b\n>>>>>>> theirs\n",
    "deep_flow": HEAD + b"  d: " + b"[" * 100_000 + b"\n",
    "deep_block": HEAD + b"".join(b" " * (2 + n) + b"k:\n" for n in range(2000)),
    "foreign_tag": HEAD + b"  displayName: !!python/object/apply:os.system [x]\n",
    "merge_key": HEAD + b"  <<: *a\n  displayName: a\n",
    "lfs_pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 5\n",
    "not_utf8": HEAD + b"  displayName: \xff\xfe\n",
    "empty": b"",
}
TITLE = set_value("displayName", "Starter Pack")


def refused(project, tmp_path, *operations):
    """The one fault of a plan that changes nothing; no journal is left."""
    before = tree_manifest(project)
    with pytest.raises(FabricError) as caught:
        apply_plan(project, write_plan(tmp_path, *operations))
    assert tree_manifest(project) == before
    assert HeadlessUnity(project).transactions.journaled() == ()
    (fault,) = caught.value.faults
    assert len(str(fault)) < 1000
    return fault


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_one_clear_error(project, tmp_path, kind):
    """Named, with the line or byte where it is known."""
    (project / STARTER).write_bytes(HOSTILE[kind])
    fault = refused(project, tmp_path, TITLE)
    assert fault.code in {"unity.asset_not_text", "unity.document_missing"}
    assert fault.where.startswith(STARTER)


def test_a_line_of_a_hundred_megabytes_is_one_clear_error(project, tmp_path):
    """Found before the file is parsed."""
    (project / STARTER).write_bytes(HEAD + b"  displayName: a\n  big: " + b"x" * (100 << 20) + b"\n")
    assert refused(project, tmp_path, TITLE).code == "unity.asset_not_text"


def test_other_hostile_files_of_the_project_do_not_stand_in_the_way(project, tmp_path):
    """They are looked at for evidence and left alone."""
    for name, data in HOSTILE.items():
        put(project, f"Assets/Hostile/{name}.asset", "", os.urandom(16).hex())
        (project / f"Assets/Hostile/{name}.asset").write_bytes(data)
    done = apply_plan(project, write_plan(tmp_path, TITLE))
    assert [change.path for change in done.staged.changes] == [STARTER]


def test_a_read_only_file_is_refused(project, tmp_path):
    """Whoever locked it, an asset server perhaps, meant it."""
    (project / STARTER).chmod(0o444)
    fault = refused(project, tmp_path, TITLE)
    assert (fault.code, fault.where) == ("transaction.read_only", STARTER)
    (project / STARTER).chmod(0o644)


def test_a_full_disk_is_told_and_nothing_is_left(project, tmp_path, monkeypatch):
    """At whichever flush it is met."""
    real = os.fsync
    for limit in range(0, 12, 2):
        count = iter(range(100))

        def full(handle, count=count, limit=limit):
            if next(count) >= limit:
                raise OSError(28, os.strerror(28))
            real(handle)

        before = tree_manifest(project)
        shutil.copyfile(project / "Assets/Art/Offers/placeholder.png", tmp_path / "icon.png")
        monkeypatch.setattr(os, "fsync", full)
        codes = []
        try:
            apply_plan(project, write_plan(tmp_path, import_icon(source="icon.png"), TITLE))
        except FabricError as error:
            codes.append(error.code)
        assert codes in ([], ["transaction.disk"], ["transaction.rollback_incomplete"])
        monkeypatch.setattr(os, "fsync", real)
        for name in HeadlessUnity(project).transactions.interrupted():
            HeadlessUnity(project).recover(name)
        found = tree_manifest(project)
        if found != before:
            undo = [journal.transaction for journal in HeadlessUnity(project).transactions.journaled()]
            HeadlessUnity(project).undo(undo[-1])
        assert tree_manifest(project) == before
        for journal in HeadlessUnity(project).transactions.journaled():
            HeadlessUnity(project).forget(journal.transaction)


@pytest.mark.skipif(os.name == "nt", reason="file size limits are POSIX")
def test_a_disk_that_refuses_is_one_line_on_the_command_line(project, tmp_path):
    """A real refusal of the system: no file may grow beyond 600 bytes."""
    plan = write_plan(tmp_path, set_value("displayName", "x" * 2000))
    before = tree_manifest(project)
    code = (
        "import resource; from fabric_dagster.cli.main import main, build; build();"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600));"
        f"main(['unity', 'apply', {str(project)!r}, {str(plan)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (1, 1, False)
    assert tree_manifest(project) == before


@pytest.mark.parametrize(
    "path", ["Assets/" + "a" * 250 + ".asset", "Assets/" + "/".join(["folder"] * 40) + ".asset"]
)
def test_a_path_of_260_characters_is_refused(project, tmp_path, path):
    """Longer than what editor and file systems of every colleague take."""
    fault = refused(project, tmp_path, set_value("m_Name", "x", asset=path))
    assert "240" in fault.what


def test_a_windows_project_too_deep_for_the_path_is_refused(project, monkeypatch):
    """The whole path counts there."""
    from resources.unity.operations import workspace

    monkeypatch.setattr(workspace, "LONGEST_PATH", len(str(project)) + 40)
    monkeypatch.setattr(workspace.os, "name", "nt")
    try:
        why = workspace._too_long(project, STARTER), workspace._too_long(project, "Assets/x")
    finally:
        monkeypatch.undo()
    assert [reason is None for reason in why] == [False, True]


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
@pytest.mark.parametrize("name", ["Library", "Packages", "Assets/Data", "Assets/Data/Offers"])
def test_a_linked_folder_is_never_written_through(project, tmp_path, name):
    """The editor's cache, a whole root, a folder of assets."""
    target = project / name
    if target.exists():
        shutil.move(target, tmp_path / "elsewhere")
    else:
        (tmp_path / "elsewhere").mkdir()
    target.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    plan = write_plan(tmp_path, TITLE)
    before = tree_manifest(tmp_path / "elsewhere"), tree_manifest(project)
    with pytest.raises(FabricError, match=r"path\.symlink"):
        apply_plan(project, plan)
    assert (tree_manifest(tmp_path / "elsewhere"), tree_manifest(project)) == before


def test_two_names_that_differ_by_case_alone_are_refused(project, tmp_path):
    """On a colleague's disk they are one file."""
    new = operation("unity.create_asset@1", asset="Assets/Data/Offers/Starter_Pack.asset", like=STARTER)
    assert refused(project, tmp_path, new).code == "unity.case_clash"
    moved = operation("unity.move_asset@1", asset=STARTER, to="Assets/data/starter_pack.asset")
    assert refused(project, tmp_path, moved).code == "unity.case_clash"


HOLDER = """
import fcntl, sys, time
stream = open(sys.argv[1], "a+")
fcntl.lockf(stream, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name == "nt", reason="record locks are POSIX")
@pytest.mark.parametrize(
    "name", ["Temp/UnityLockfile", "Library/ArtifactDB-lock", "Library/SourceAssetDB-lock"]
)
def test_a_lock_that_an_editor_holds_refuses_and_one_left_over_does_not(project, tmp_path, name):
    """Of its session and of its asset database."""
    lock = project / name
    lock.parent.mkdir(exist_ok=True)
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        try:
            fault = refused(project, tmp_path, TITLE)
        finally:
            holder.kill()
    assert (fault.code, fault.where) == ("unity.editor_open", name)
    assert apply_plan(project, write_plan(tmp_path, TITLE)).transaction


@pytest.mark.skipif(sys.platform != "linux", reason="the process' name is read from /proc")
def test_an_editor_is_known_by_its_process(project, tmp_path):
    """A running Unity refuses; a dead one, or a number that another program has now, does not."""
    unity = tmp_path / "Unity"
    shutil.copyfile("/bin/sleep", unity)
    unity.chmod(0o755)
    instance = project / "Library/EditorInstance.json"
    instance.parent.mkdir()
    with subprocess.Popen([unity, "60"]) as editor:
        instance.write_text(
            json.dumps({"process_id": editor.pid, "version": "2022.3.62f3"}), encoding="utf-8"
        )
        try:
            fault = refused(project, tmp_path, TITLE)
        finally:
            editor.kill()
    assert (fault.code, fault.where) == ("unity.editor_open", "Library/EditorInstance.json")
    for left in (editor.pid, os.getpid(), True, -1, 2**40, "7"):
        instance.write_text(json.dumps({"process_id": left}), encoding="utf-8")
        HeadlessUnity(project).project.refuse_open_editor()
    instance.write_bytes(b"\0not json")
    assert apply_plan(project, write_plan(tmp_path, TITLE)).transaction


def test_a_second_writer_is_refused_while_the_first_writes(project, tmp_path, stage, unity):
    """One error; afterwards it may."""
    from unity_world import bound

    plan = bound(unity, TITLE)
    result = unity.stage(plan, stage)
    found = []

    def meanwhile(step):
        if step == "replace:0":
            with pytest.raises(Conflict) as caught:
                apply_plan(project, write_plan(tmp_path, set_value("price", "2")))
            found.append(caught.value.code)

    HeadlessUnity(project, hook=meanwhile).commit(stage, result, "t1")
    assert found == ["transaction.locked"]
    assert apply_plan(project, write_plan(tmp_path, set_value("price", "2"))).transaction
