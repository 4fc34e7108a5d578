"""The headless provider: stage, commit, observe, undo; and the crash in between."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from unity_world import ICON, STARTER, WIRE, bound, import_icon, operation, plan_of, set_value

from fabric_dagster.errors import Conflict, FabricError, InvalidDocument
from fabric_dagster.supervisor.ports import Provider
from resources.unity.manifest import tree_manifest
from resources.unity.provider import HeadlessUnity

TITLE = set_value("displayName", "Starter Pack", node="set_title")
WHOLE = (import_icon(), WIRE, TITLE)


def test_it_is_a_provider_of_its_capabilities(unity):
    """The port's attributes, and what it serves without looking at any folder."""
    provider: Provider = unity
    assert (provider.application, provider.name) == ("unity", "headless")
    assert (
        HeadlessUnity(Path("nowhere")).serves
        == unity.serves
        >= {"unity.import_texture@1", "unity.set_property@1"}
    )


def test_a_folder_that_is_no_project_is_refused(tmp_path):
    """On first use, with what is missing."""
    with pytest.raises(InvalidDocument, match=r"no Assets folder.*unity\.no_project"):
        HeadlessUnity(tmp_path).allocate(plan_of(import_icon()))


def test_staging_leaves_the_project_as_it_is_and_the_commit_makes_exactly_the_staged_changes(
    unity, stage, project
):
    """The manifest differs by the changes and nothing else; undo brings it back."""
    before = tree_manifest(project)
    plan = bound(unity, *WHOLE)
    result = unity.stage(plan, stage)
    assert tree_manifest(project) == before
    unity.commit(stage, result, "t1")
    after = tree_manifest(project)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed == {change.path for change in result.changes}
    assert all(after[change.path] == change.after for change in result.changes)
    assert unity.standing("t1", result.changes) == "after"
    unity.undo("t1")
    assert tree_manifest(project) == before
    assert unity.standing("t1", result.changes) == "before"
    unity.forget("t1")


def test_observing_reads_the_project_again(unity, stage, project):
    """All holds after the commit; each later meddling shows."""
    plan = bound(unity, *WHOLE)
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    assert all(item.holds for item in unity.observe(plan, result))
    meta = project / f"{ICON}.meta"
    meta.write_bytes(meta.read_bytes().replace(b"maxTextureSize: 512", b"maxTextureSize: 64"))
    (project / STARTER).write_bytes((project / STARTER).read_bytes().replace(b"Starter Pack", b"Else"))
    (project / "Assets/twin.png.meta").write_bytes(meta.read_bytes())
    broken = {item.subject for item in unity.observe(plan, result) if not item.holds}
    assert broken == {
        f"{ICON}.meta",
        STARTER,
        f"{ICON}.meta: profile",
        f"{ICON}.meta: guid",
        f"{STARTER}:11400000:displayName",
    }


def test_the_last_of_several_edits_of_one_property_is_the_one_observed(unity, stage):
    """A plan may set a property twice."""
    plan = bound(unity, set_value("itemCount", 1), set_value("itemCount", 2))
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    assert all(item.holds for item in unity.observe(plan, result))


def test_a_project_that_changed_after_staging_is_a_conflict(unity, stage, project):
    """Nothing of the plan is written."""
    plan = bound(unity, *WHOLE)
    result = unity.stage(plan, stage)
    (project / STARTER).write_bytes((project / STARTER).read_bytes() + b"\n")
    before = tree_manifest(project)
    with pytest.raises(Conflict, match=r"transaction\.changed_underneath"):
        unity.commit(stage, result, "t1")
    assert tree_manifest(project) == before


def test_a_plan_that_changes_nothing_is_a_transaction_too(unity, stage, project):
    """It commits, observes and undoes like any other."""
    before = tree_manifest(project)
    plan = bound(unity, set_value("offerId", "starter_pack"))
    result = unity.stage(plan, stage)
    assert (result.changes, result.diff) == ((), "")
    unity.commit(stage, result, "t1")
    assert all(item.holds for item in unity.observe(plan, result))
    assert unity.standing("t1", result.changes) == "after"
    unity.undo("t1")
    assert tree_manifest(project) == before


def test_callers_with_their_own_journals_share_one_lock(unity, stage, project, tmp_path):
    """The lock lies with the project."""
    plan = bound(unity, TITLE)
    result = unity.stage(plan, stage)
    refused = []

    def meanwhile(step):
        if step == "write:0":
            with pytest.raises(Conflict) as caught:
                unity.commit(stage, result, "t2")
            refused.append(caught.value.code)

    HeadlessUnity(project, tmp_path / "journals", patience=0, hook=meanwhile).commit(stage, result, "t1")
    assert refused == ["transaction.locked"]


HOLDER = """
import fcntl, sys, time
stream = open(sys.argv[1], "w")
fcntl.lockf(stream, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name == "nt", reason="record locks are POSIX")
def test_an_open_editor_is_not_written_under(unity, stage, project):
    """A held ``Temp/UnityLockfile`` refuses; one that a crash left does not."""
    plan = bound(unity, TITLE)
    result = unity.stage(plan, stage)
    (project / "Temp").mkdir()
    lock = project / "Temp/UnityLockfile"
    lock.touch()
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        try:
            with pytest.raises(Conflict, match=r"unity\.editor_open"):
                unity.commit(stage, result, "t1")
        finally:
            holder.kill()
    unity.commit(stage, result, "t1")


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from unity_world import *
from resources.unity.provider import HeadlessUnity
project, stage, deadly = Path(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5])
count = 0
def hook(step):
    global count
    if count == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    count += 1
unity = HeadlessUnity(project, hook=hook)
plan = bound(unity, import_icon(), WIRE)
unity.commit(stage, unity.stage(plan, stage), "t1")
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
@pytest.mark.slow
@pytest.mark.parametrize("deadly", range(0, 26, 3))
def test_a_killed_commit_recovers_to_the_old_or_the_new_project(unity, stage, project, deadly):
    """Kill -9 in the middle: after recovery no file is half-way, and the plan can run."""
    before = tree_manifest(project)
    arguments = [
        str(Path(__file__).parents[3]),
        str(Path(__file__).parent),
        str(project),
        str(stage),
        str(deadly),
    ]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False, capture_output=True)
    standing = unity.recover("t1")
    assert standing == unity.recover("t1")
    if standing == "before":
        assert tree_manifest(project) == before
        plan = bound(unity, import_icon(), WIRE)
        unity.commit(stage, unity.stage(plan, stage), "t1")
    assert done.returncode in {0, -signal.SIGKILL}
    assert len(tree_manifest(project)) == len(before) + 3
    assert not list(project.rglob("*.tmp"))


@pytest.mark.parametrize(
    ("operations", "codes"),
    [
        ([operation("unity.launch_missiles@1")], ["capability.not_served"]),
        ([operation("photoshop.export_png@1", preset="x", out="y.png")], ["capability.not_served"]),
        ([set_value("icon", {"$ref": "nobody.sprite"})], ["plan.unresolved"]),
        ([WIRE, import_icon()], ["plan.unresolved"]),
        ([import_icon("Assets/x.bmp"), set_value("x", 1, document="no")], ["plan.argument", "plan.argument"]),
        ([operation("unity.import_texture@1", source="a.png")], ["plan.argument"]),
        (
            [operation("unity.import_texture@1", source="a.png", destination="Assets/a.png", extra=1)],
            ["plan.argument"],
        ),
    ],
)
def test_all_faults_of_a_plan_are_found_before_anything_is_executed(unity, stage, operations, codes):
    """Unknown capability, missing output, wrong argument: each is named."""
    with pytest.raises(InvalidDocument) as caught:
        unity.stage(plan_of(*operations), stage)
    assert [fault.code for fault in caught.value.faults] == codes


def test_an_undo_stands_alone(unity, stage):
    """It is no operation of a plan that writes."""
    with pytest.raises(FabricError, match=r"unity\.undo_alone"):
        unity.stage(plan_of(operation("unity.undo_transaction@1", transaction="t1")), stage)


def test_a_source_outside_the_stage_is_refused(unity, stage):
    """A plan's paths stay within its stage."""
    for source in ("../secret.png", "/etc/passwd"):
        with pytest.raises(FabricError, match=r"path\.unsafe"):
            unity.stage(bound(unity, import_icon(source=source)), stage)
