"""The pinned Unity-Skills: bound, or refused; a candidate that grants nothing."""

from __future__ import annotations

import subprocess

import pytest
from fake_skills import FakeSkills

from fabric_dagster.documents import check, load_yaml
from fabric_dagster.errors import CheckFailed, InvalidDocument
from resources.unity.live.unity_skills import adapter
from resources.unity.live.unity_skills import record as records
from resources.unity.live.unity_skills.adapter import try_operation
from resources.unity.live.unity_skills.record import RECORD, UnitySkillsRecord, git_tree, record
from resources.unity.manifest import tree_manifest
from resources.unity.project import open_project

ICON = "Assets/Art/Offers/placeholder.png"
MOVE = ("asset_move", {"sourcePath": ICON, "destinationPath": "Assets/Art/moved.png"})
SETTINGS = ("texture_set_settings", {"assetPath": ICON, "textureType": "Sprite", "maxSize": 512})
INFO = ("asset_get_info", {"assetPath": ICON})


@pytest.fixture
def skills(project, tmp_path, monkeypatch):
    """A server for the project; the package embedded there counts as the reviewed revision."""
    package = project / "Packages/com.besty.unity-skills"
    (package / "Editor").mkdir(parents=True)
    (package / "package.json").write_bytes(b'{"name": "com.besty.unity-skills"}\n')
    (package / "Editor/Skills.cs").write_bytes(b"// the reviewed bytes\n")
    known = record().model_copy(update={"tree": git_tree(package)})
    monkeypatch.setattr(adapter, "record", lambda: known)
    made = FakeSkills(project, tmp_path / "registry.json")
    yield made
    made.close()


def tried(skills, step, **more):
    """Try an operation."""
    name, args = step
    return try_operation(open_project(skills.project), skills.registry, name, {**args, **more})


def test_everything_is_bound_and_nothing_is_granted(skills):
    """Plan and rollback from the reply where it has them, else composed; the project is as before."""
    before = tree_manifest(skills.project)
    move, settings, info = (tried(skills, step) for step in (MOVE, SETTINGS, INFO))
    assert ("reply", "reply") == (move.plan.source, move.rollback.source)
    assert ("composed", "disk") == (settings.plan.source, settings.rollback.source)
    assert ("composed", "none_needed") == (info.plan.source, info.rollback.source)
    assert ((), True, "dryRun") == (move.grants, move.inert, move.mode)
    assert ("unity.move_asset@1", None) == (move.capability, info.capability)
    assert "req_0000002A" == move.audit.request
    assert move.audit.last.endswith("mode_changed")
    assert before == tree_manifest(skills.project)
    assert {"/health?live=1"} == {path for path in skills.asked if not path.endswith("?mode=dryRun")}


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        ("bypass", "unity_skills.mode"),
        ("bypass_later", "unity_skills.mode"),
        ("newer", "unity_skills.other_revision"),
        ("other_instance", "unity_skills.other_instance"),
        ("executes", "unity_skills.executed"),
        ("success", "unity_skills.executed"),
        ("writes", "unity_skills.wrote"),
        ("refuses", "unity_skills.refused"),
        ("no_request_id", "unity_skills.unbound"),
        ("other_agent", "unity_skills.unbound"),
        ("other_risk", "unity_skills.other_operation"),
        ("invalid", "unity_skills.invalid"),
    ],
)
def test_what_cannot_be_bound_is_refused(skills, behaviour, code):
    """Each with its own code."""
    skills.behave.add(behaviour)
    with pytest.raises(CheckFailed) as caught:
        tried(skills, MOVE)
    assert code == caught.value.code


def test_a_rollback_that_the_server_cannot_promise_comes_from_the_disk(skills):
    """Its workflow history is damaged: then the bytes on the disk, or nothing."""
    skills.behave.add("recovery")
    assert "disk" == tried(skills, MOVE).rollback.source
    (skills.project / f"{ICON}.meta").unlink()
    with pytest.raises(CheckFailed) as caught:
        tried(skills, MOVE)
    assert "unity_skills.unbound" == caught.value.code


def test_a_server_that_moves_is_found_again(skills):
    """A reload in the request, another port, the same instance: asked again, since nothing is executed."""
    skills.behave.add("moves")
    assert "asset_move" == tried(skills, MOVE).operation


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("script_create", {"assetPath": ICON}),
        ("editor_execute_menu", {"menuPath": "File/Save"}),
        ("asset_delete", {"assetPath": ICON}),
        ("../skills/batch", {}),
    ],
)
def test_an_operation_that_was_not_reviewed_is_never_asked(skills, name, args):
    """Refused before any request."""
    with pytest.raises(CheckFailed) as caught:
        tried(skills, (name, args))
    assert "unity_skills.not_reviewed" == caught.value.code
    assert [] == skills.asked


@pytest.mark.parametrize(
    "more",
    [
        {"textureType": 'System.IO.File.Delete("x");'},
        {"code": "x"},
        {"assetPath": "Assets/../../x"},
        {"assetPath": "/etc/passwd"},
        {"maxSize": "512"},
        {"readable": 1},
    ],
)
def test_an_argument_that_was_not_reviewed_is_never_sent(skills, more):
    """No code, no other key, no path that climbs, no value of another kind."""
    with pytest.raises(CheckFailed) as caught:
        tried(skills, SETTINGS, **more)
    assert "unity_skills.argument" == caught.value.code
    assert [] == skills.asked


def test_another_package_on_the_disk_is_refused(skills):
    """One byte of it, and a package that is not embedded."""
    (skills.project / "Packages/com.besty.unity-skills/Editor/Skills.cs").write_bytes(b"// other bytes\n")
    with pytest.raises(CheckFailed) as caught:
        tried(skills, MOVE)
    assert "unity_skills.other_revision" == caught.value.code
    assert [] == skills.asked


@pytest.mark.parametrize("changes", [{"last_active": 1}, {"pid": 2**22 + 1}, {"port": 80}])
def test_a_stale_registration_is_none(skills, changes):
    """Too old, a dead process, a port that no such server has."""
    skills.register(**changes)
    with pytest.raises(CheckFailed) as caught:
        tried(skills, MOVE)
    assert "unity_skills.no_instance" == caught.value.code


def test_without_an_audit_file_nothing_is_bound(skills):
    """It is part of the identity."""
    skills.audit.unlink()
    with pytest.raises(CheckFailed) as caught:
        tried(skills, MOVE)
    assert "unity_skills.unbound" == caught.value.code


def test_the_record_is_inert():
    """Pinned by revision, serving nothing, not executable; a record that says otherwise is none."""
    found = record()
    assert "d8a5d487b5ad25886a389dd305da35b0a9a1ecb5" == found.revision
    assert ((), False) == (found.serves, found.executable)
    assert {"dry_run"} == {item.decision for item in found.surfaces if "mode=dryRun" in item.name}
    text = RECORD.read_text(encoding="utf-8")
    for old, new in (
        ("executable: false", "executable: true"),
        ("serves: []", "serves: [unity.move_asset@1]"),
    ):
        with pytest.raises(InvalidDocument):
            check(UnitySkillsRecord, load_yaml(text.replace(old, new), "record.yaml"))


def test_the_tree_id_is_gits(tmp_path):
    """Of folders, nested and empty, with names that sort otherwise as folders than as files."""
    for name in ("a/b.txt", "a.txt", "a0", "z/empty-less/x"):
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / name).write_bytes(name.encode())
    (tmp_path / "t/nothing").mkdir()
    for words in (["init", "-q"], ["add", "t"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    done = subprocess.run(
        ["git", "write-tree", "--prefix=t/"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == git_tree(tmp_path / "t")
    assert records.EMPTY_TREE == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
