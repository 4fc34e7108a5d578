"""The package in a project and out again: byte for byte, killed anywhere, never over another's change."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabric_dagster.errors import Conflict, NeedsPerson, OperationFailed
from resources.unity.live.deployment import Deployments
from resources.unity.live.manifest_edit import with_dependency
from resources.unity.live.package import NAME, SOURCE, laid_out, tree_digest
from resources.unity.manifest import tree_manifest
from resources.unity.project import open_project

MANIFEST = "Packages/manifest.json"
LOCK = "Packages/packages-lock.json"
#: runs a deployment in a process of its own that dies, without a word, at the Nth step
DIES = """
import os, sys
from pathlib import Path
from resources.unity.live.deployment import Deployments
from resources.unity.project import open_project
steps = []
def hook(step):
    steps.append(step)
    if len(steps) == int(sys.argv[3]):
        os.kill(os.getpid(), 9)
root = Path(sys.argv[1])
lock = root / "Packages/packages-lock.json"
with Deployments(open_project(root), Path(sys.argv[2]), hook=hook).deployed():
    if sys.argv[4] == "editor":
        ours = '"dependencies": {"com.forge.fabric-toolsmith": {"version": "file:x"},'
        lock.write_text(lock.read_text().replace('"dependencies": {', ours))
print(len(steps))
"""


def deployments(project, state):
    """The deployments into a project."""
    return Deployments(open_project(project), state, patience=1)


def restore(made):
    """Take back everything."""
    with made.alone():
        return made.restore_all()


def editor_resolves(project):
    """What an editor does to the lock file once it sees the package."""
    path = project / LOCK
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"dependencies": {}}
    document["dependencies"] = {NAME: {"version": "file:x", "source": "local"}, **document["dependencies"]}
    path.write_text(json.dumps(document, indent=4), encoding="utf-8")


@pytest.mark.parametrize("with_lock", [True, False])
def test_both_files_are_as_they_were(project, state, with_lock):
    """On success, also where the editor rewrote the lock, or made one."""
    if not with_lock:
        (project / LOCK).unlink()
    before = tree_manifest(project)
    with deployments(project, state).deployed() as made:
        assert f'"{NAME}": "file:{laid_out(state)[0].as_posix()}"' in (project / MANIFEST).read_text("utf-8")
        assert tree_digest(SOURCE) == made.package
        editor_resolves(project)
    assert before == tree_manifest(project)
    assert () == deployments(project, state).pending()


def test_a_failure_restores_too(project, state):
    """The error goes on, the files are back."""
    before = tree_manifest(project)
    with pytest.raises(RuntimeError, match="the work failed"), deployments(project, state).deployed():
        raise RuntimeError("the work failed")
    assert before == tree_manifest(project)


@pytest.mark.parametrize("path", [MANIFEST, LOCK])
def test_a_concurrent_change_is_kept_and_asks_for_a_person(project, state, path):
    """Not written over; the snapshot stays as evidence; settled once our package is taken out by hand."""
    original = (project / path).read_bytes()
    made = deployments(project, state)

    def meddle():
        with made.deployed():
            editor_resolves(project)
            text = (project / path).read_text("utf-8")
            (project / path).write_text(text.replace("com.unity.ugui", "com.unity.other"), "utf-8")

    with pytest.raises(NeedsPerson) as caught:
        meddle()
    assert ("unity.restoration_required", 4) == (caught.value.code, caught.value.exit_code)
    assert "com.unity.other" in (project / path).read_text("utf-8")
    (pending,) = made.pending()
    assert "restoration_required" == pending.state
    kept = made.folder / pending.id / "before" / path.rsplit("/", 1)[-1]
    assert original == kept.read_bytes()
    with pytest.raises(NeedsPerson), made.deployed():
        pytest.fail("lent before that was settled")
    document = json.loads((project / path).read_text("utf-8"))
    del document["dependencies"][NAME]
    theirs = json.dumps(document).encode()
    (project / path).write_bytes(theirs)
    assert (pending.id,) == restore(made)
    assert theirs == (project / path).read_bytes()


def dies_at(project, state, number, who):
    """A process that dies at a step; how many steps there were, where it did not."""
    done = subprocess.run(
        [sys.executable, "-c", DIES, str(project), str(state), str(number), who],
        capture_output=True, text=True, check=False, cwd=SOURCE.parents[3],
    )  # fmt: skip
    return int(done.stdout) if done.returncode == 0 else None


@pytest.mark.parametrize("number", [3, 9, 13, 20])
def test_killed_within_the_deployment_the_project_is_the_old_one_after_recovery(project, state, number):
    """A sample of the steps; ``make proof`` has them all."""
    before = tree_manifest(project)
    dies_at(project, state, number, "editor")
    restore(deployments(project, state))
    assert before == tree_manifest(project)


@pytest.mark.proof
@pytest.mark.parametrize("who", ["nobody", "editor"])
def test_killed_at_every_step(project, state, tmp_path, who):
    """The old state after recovery, byte for byte, and nothing of ours left in the project."""
    before = tree_manifest(project)
    steps = dies_at(project, state, 0, who)
    assert steps is not None
    assert steps > 25
    for number in range(1, steps + 1):
        place = tmp_path / f"state-{number}"
        assert dies_at(project, place, number, who) is None
        made = deployments(project, place)
        restore(made)
        assert before == tree_manifest(project), number
        assert () == made.pending()
        assert [] == list(project.rglob(".fabric-*"))


def test_one_deployment_at_a_time(project, state):
    """A second is refused while the first holds."""
    other = deployments(project, state)
    with deployments(project, state).deployed(), pytest.raises(Conflict) as caught, other.deployed():
        pytest.fail("lent twice")
    assert "unity.deployment_busy" == caught.value.code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{\n  "dependencies": {\n    "a": "1"\n    "b": "2"\n  }\n}\n', "unity.manifest_damaged"),
        ('{"dependencies": {"a": "1", "a": "2"}}', "unity.manifest_damaged"),
        ('{"scopedRegistries": []}', "unity.manifest_damaged"),
        ("<<<<<<< HEAD\n{}\n", "unity.manifest_damaged"),
        ('{"dependencies": {"com.forge.fabric-toolsmith": "file:/theirs"}}', "unity.package_present"),
    ],
)
def test_a_manifest_that_is_not_ours_to_edit(project, state, text, code):
    """One typed error, nothing changed."""
    (project / MANIFEST).write_text(text, "utf-8")
    with pytest.raises(OperationFailed) as caught, deployments(project, state).deployed():
        pass
    assert code == caught.value.code
    assert text == (project / MANIFEST).read_text("utf-8")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{\n  "dependencies": {\n    "a": "1"\n  }\n}\n', b'{\n  "dependencies": {\n    @,\n    "a": "1"\n  }\n}\n'),  # noqa: E501 - one line a manifest
        (b'{"dependencies":{"a":"1"}}', b'{"dependencies":{@,"a":"1"}}'),
        (
            b'\xef\xbb\xbf{\r\n\t"dependencies": {\r\n\t\t"a": "1"\r\n\t}\r\n}',
            b'\xef\xbb\xbf{\r\n\t"dependencies": {\r\n\t\t@,\r\n\t\t"a": "1"\r\n\t}\r\n}',
        ),
        (
            b'{"x": {"dependencies": {"b": 1}}, "dependencies": {}}',
            b'{"x": {"dependencies": {"b": 1}}, "dependencies": {\n    @\n  }}',
        ),
        (
            b'{"x": "\\"dependencies\\": {", "dependencies": {"a": "1"}}',
            b'{"x": "\\"dependencies\\": {", "dependencies": {@,"a": "1"}}',
        ),
    ],
)  # fmt: skip
def test_the_manifest_is_spliced(before, after):
    """Its own indentation, line ends and BOM; a nested or quoted key of the same name is none."""
    assert after.replace(b"@", b'"n": "v"') == with_dependency(before, "n", "v")


@given(
    st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=5),
    st.sampled_from([None, 2, 4, "\t"]),
    st.booleans(),
)
def test_any_manifest_gains_one_dependency_and_nothing_else(dependencies, indent, ascii_only):
    """Parsed, the result differs by that alone; as bytes, it is the original with one insertion."""
    dependencies.pop("n", None)
    before = json.dumps(
        {"dependencies": dependencies, "testables": ["x"]}, indent=indent, ensure_ascii=ascii_only
    )
    made = with_dependency(before.encode(), "n", "file:/p").decode()
    assert {"dependencies": {"n": "file:/p", **dependencies}, "testables": ["x"]} == json.loads(made)
    if dependencies:
        cut = made.index('"n": "file:/p",')
        assert (
            made[:cut] + made[cut + len('"n": "file:/p",') :].lstrip() == before[:cut] + before[cut:].lstrip()
        )


def test_a_changed_copy_of_the_package_is_refused(state, project):
    """The exact digest, or nothing."""
    place, _ = laid_out(state)
    (place / "Editor/Session.cs").write_text("// changed", "utf-8")
    with pytest.raises(OperationFailed) as caught, deployments(project, state).deployed():
        pass
    assert "unity.package_damaged" == caught.value.code
    with pytest.raises(OperationFailed):
        laid_out(state, "sha256:" + "0" * 64)
