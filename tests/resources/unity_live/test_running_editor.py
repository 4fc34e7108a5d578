"""A commit into a project that an editor has open: the package, compiled, over stubs that misbehave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from live_plans import IMPORT, bound

from fabric_dagster.errors import NeedsPerson, OperationFailed
from resources.unity.live.deployment import Deployments
from resources.unity.live.package import SOURCE, tree_digest
from resources.unity.live.provider import LiveUnity
from resources.unity.live.session import EditorSession, unity_ledger
from resources.unity.manifest import tree_manifest
from resources.unity.project import open_project

ICON = "Assets/Art/Offers/Icons/new.png"
SET = (
    "unity.set_property@1",
    {
        "asset": "Assets/Data/Offers/starter_pack.asset",
        "document": "11400000",
        "path": "displayName",
        "value": "X",
    },
)


def commit(unity, stage, *steps):
    """Stage and commit; what is observed then."""
    plan = bound(unity, *steps)
    staged = unity.stage(plan, stage)
    unity.commit(stage, staged, "t-1")
    return unity.observe(plan, staged)


def states(state):
    """How every recorded request stands, by method."""
    return {item.method: item.state for item in unity_ledger(state).all()}


@pytest.mark.usefixtures("editor")
def test_it_is_held_written_imported_looked_at_and_let_go(live, project, stage, state):
    """The files are the plan's, the editor agrees, the manifest is as it was, the mailbox is gone."""
    manifest = (project / "Packages/manifest.json").read_bytes()
    seen = commit(live, stage, IMPORT)
    assert [] == [f"{o.subject}: {o.expected} != {o.found}" for o in seen if not o.holds]
    assert {f"{ICON}, in the editor: guid", f"{ICON}, in the editor: textureType"} <= {
        o.subject for o in seen
    }
    assert manifest == (project / "Packages/manifest.json").read_bytes()
    assert not (project / "Library/Fabric/toolsmith").exists()
    assert {"session.import": "completed"} == states(state)
    live.undo("t-1")
    assert not (project / ICON).exists()
    assert {"completed"} == {item.state for item in unity_ledger(state).all()}


@pytest.mark.usefixtures("editor")
def test_properties_are_shown_by_the_editor_as_they_were_set(live, stage):
    """A text and a reference: both as the plan has them, in the editor's own words."""
    wire = ("unity.set_property@1", {**SET[1], "path": "icon", "value": {"$ref": "step_0.sprite"}})
    seen = commit(live, stage, IMPORT, SET, wire)
    assert [] == [f"{o.subject}: {o.expected} != {o.found}" for o in seen if not o.holds]
    shown = [item.found for item in seen if item.subject.endswith("in the editor: value")]
    assert ["X", True] == [shown[0], shown[1].endswith(":21300000")]


def test_a_domain_reload_sends_nothing_twice(editor, live, stage, state):
    """The editor reloads after the import; every request was taken once, and ended."""
    editor.behave("reloads")
    seen = commit(live, stage, IMPORT)
    assert all(item.holds for item in seen)
    assert ["completed"] == [item.state for item in unity_ledger(state).all()]


def test_a_scene_that_is_open_is_never_written(editor, live, project, stage):
    """Refused before a byte is written, and the manifest is back."""
    asset = "Assets/Data/Offers/starter_pack.asset"
    editor.behave("scene", asset)
    before = tree_manifest(project)
    with pytest.raises(OperationFailed) as caught:
        commit(live, stage, IMPORT, ("unity.set_bundle_name@1", {"asset": asset, "bundle": "shop"}))
    assert "unity.scene_open" == caught.value.code
    assert before == tree_manifest(project)


def test_an_editor_in_play_mode_is_left_alone(editor, live, project, stage):
    """Refused, nothing written."""
    editor.behave("playing")
    before = tree_manifest(project)
    with pytest.raises(OperationFailed) as caught:
        commit(live, stage, IMPORT)
    assert "unity.editor_busy" == caught.value.code
    assert before == tree_manifest(project)


def test_an_editor_that_rewrites_what_was_written_does_not_hold(editor, live, stage):
    """The files are read again after the import: a postprocessor's change is seen."""
    editor.behave("postprocessor")
    broken = [item for item in commit(live, stage, IMPORT) if not item.holds]
    assert f"{ICON}.meta" in {item.subject for item in broken}


@pytest.mark.parametrize("lie", ["lies", pytest.param("unimported", marks=pytest.mark.proof)])
def test_an_editor_that_sees_something_else_does_not_hold(editor, live, stage, lie):
    """Success of the import is not believed: the editor's own look at the asset contradicts it."""
    editor.behave(lie)
    broken = [item.subject for item in commit(live, stage, IMPORT) if not item.holds]
    assert broken
    assert all("in the editor" in subject for subject in broken)


@pytest.mark.parametrize("how", ["dies", "throws"])
def test_unknown_completion_stops_everything_until_it_is_resolved(editor, live, project, stage, state, how):
    """An editor that dies in the import: uncertain, the manifest is back, nothing is sent afterwards."""
    manifest = (project / "Packages/manifest.json").read_bytes()
    editor.behave(how)
    threading.Timer(2, editor.process.wait).start()
    with pytest.raises(NeedsPerson) as caught:
        commit(live, stage, IMPORT)
    assert "unity.uncertain" == caught.value.code
    assert {"session.import": "uncertain"} == states(state)
    assert manifest == (project / "Packages/manifest.json").read_bytes()
    with pytest.raises(NeedsPerson):
        live.commit(stage, live.stage(bound(live, SET), stage), "t-2")


@pytest.mark.usefixtures("editor")
def test_a_session_of_another_package_does_nothing(project, state):
    """The digest that the editor computes over what it loaded is not the one that was lent."""
    made = Deployments(open_project(project), state)
    with made.deployed() as deployment:
        other = deployment.model_copy(update={"package": "sha256:" + "0" * 64})
        session = EditorSession(open_project(project), other, unity_ledger(state))
        with pytest.raises(OperationFailed) as caught:
            session.open(10)
        session.close()
    assert "unity.package_differs" == caught.value.code


def test_a_request_that_nobody_takes_is_withdrawn(project, state):
    """Then it is known not to have happened: a plain failure, nothing uncertain."""
    opened = open_project(project)
    with Deployments(opened, state).deployed() as deployment:
        session = EditorSession(opened, deployment, unity_ledger(state), seconds=0.3)
        with pytest.raises(OperationFailed) as caught:
            session.open(0.3)
        assert "unity.no_session" == caught.value.code
        with pytest.raises(OperationFailed) as caught:
            session.call("session.import", {"paths": []})
        assert "unity.not_taken" == caught.value.code
        session.close()
    assert {"session.import": "failed"} == states(state)


@pytest.mark.usefixtures("editor")
def test_the_editor_takes_a_request_once_and_none_of_another_session(project, state):
    """A file that was taken before, one with other bytes than its name, a method that is not in the table."""
    opened = open_project(project)
    root = project / "Library/Fabric/toolsmith"
    with Deployments(opened, state).deployed() as deployment:
        session = EditorSession(opened, deployment, unity_ledger(state), seconds=5)
        session.open(15)
        with pytest.raises(OperationFailed) as caught:
            session.call("UnityEditor.AssetDatabase.DeleteAsset", {"asset": "Assets"})
        assert "capability_unavailable" == caught.value.code
        (taken,) = (root / "taken").iterdir()
        answered = (root / "replies" / taken.name).read_bytes()
        (root / "requests" / taken.name).write_bytes(taken.read_bytes())
        forged = root / "requests" / f"{'a' * 64}.json"
        forged.write_text(
            json.dumps({"schema": "fabric.toolsmith-request.v1", "method": "session.hold"}), "utf-8"
        )
        deadline = time.monotonic() + 5
        while not (root / "replies" / forged.name).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "unity.request_refused" == json.loads((root / "replies" / forged.name).read_bytes())["code"]
        assert answered == (root / "replies" / taken.name).read_bytes()
        assert (root / "requests" / taken.name).exists()
        session.close()


@pytest.mark.usefixtures("editor")
def test_both_sides_compute_one_digest_of_the_package(project, state):
    """The C# over its own tree, the Python over the checkout's."""
    opened = open_project(project)
    with Deployments(opened, state).deployed() as deployment:
        session = EditorSession(opened, deployment, unity_ledger(state))
        assert tree_digest(SOURCE) == session.open(15).package
        session.close()


DIES = """
import os, sys
from pathlib import Path
from live_plans import IMPORT, bound
from resources.unity.live.provider import LiveUnity
hello = Path(sys.argv[1]) / "Library/Fabric/toolsmith/hello.json"
def hook(step):
    if step == sys.argv[4] and hello.exists():
        os.kill(os.getpid(), 9)
live = LiveUnity(Path(sys.argv[1]), state=Path(sys.argv[2]), session_patience=15, hook=hook)
stage = Path(sys.argv[3])
live.commit(stage, live.stage(bound(live, IMPORT), stage), "t-1")
"""


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("journal", marks=pytest.mark.proof),
        "replace:1",
        pytest.param("done", marks=pytest.mark.proof),
    ],
)
def test_killed_while_the_editor_is_held(editor, project, state, stage, step):
    """Our files and the manifest are the old or the new state after recovery, byte for byte."""
    before = tree_manifest(project)
    done = subprocess.run(
        [sys.executable, "-c", DIES, str(project), str(state), str(stage), step],
        check=False, cwd=SOURCE.parents[3], env={**os.environ, "PYTHONPATH": f".:{Path(__file__).parent}"},
    )  # fmt: skip
    assert -9 == done.returncode
    editor.close()
    live = LiveUnity(project, state=state, patience=1)
    standing = live.recover("t-1")
    after = tree_manifest(project)
    assert {"journal": "before", "replace:1": "before", "done": "after"}[step] == standing
    for path in ("Packages/manifest.json", "Packages/packages-lock.json"):
        assert before[path] == after[path]
    assert (before == after) is (standing == "before")
