"""``fabric unity`` as a person or a script calls it."""

import json
import os
import subprocess
import sys

import pytest
from unity_world import ICON, STARTER, WIRE, import_icon, operation, set_value, write_plan

from resources.unity.apply import KEPT_JOURNALS
from resources.unity.manifest import tree_manifest
from resources.unity.provider import HeadlessUnity

CALL = "import sys; from fabric_dagster.cli.main import main; main(sys.argv[1:])"


def fabric(*words, cwd=None):
    """Run the program; (exit code, stdout, stderr)."""
    done = subprocess.run(
        [sys.executable, "-c", CALL, "unity", *map(str, words)],
        check=False, capture_output=True, text=True, encoding="utf-8", cwd=cwd,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def plan(tmp_path, picture):
    """A plan that imports a picture beside it and wires it."""
    (tmp_path / "icon.png").write_bytes(picture.read_bytes())
    return write_plan(tmp_path, import_icon(source="icon.png"), WIRE)


def test_inspect_prints_a_table_and_one_json_document(project):
    """The same figures in both."""
    code, text, _ = fabric("inspect", project)
    assert code == 0
    assert "Unity 2022.3.62f3" in text
    code, text, _ = fabric("inspect", project, "--json")
    assert (code, json.loads(text)["assets"]) == (0, 15)


def test_a_dry_run_prints_the_diff_and_writes_nothing(project, plan):
    """Not even a journal folder."""
    before = sorted(p for p in project.rglob("*"))
    code, text, _ = fabric("apply", project, plan, "--dry-run")
    assert code == 0
    assert "+++ b/Assets/Art/Offers/Icons/starter_pack.png.meta" in text
    assert "-  icon: {fileID: 21300000" in text
    assert sorted(p for p in project.rglob("*")) == before


def test_apply_commits_once_and_an_undo_plan_takes_it_back(project, plan, tmp_path):
    """The printed transaction is what undo names."""
    before = tree_manifest(project)
    code, text, _ = fabric("apply", project, plan, "--json")
    document = json.loads(text)
    assert code == 0
    assert {change["path"] for change in document["changes"]} >= {ICON, STARTER}
    assert all(item["holds"] for item in document["observations"])
    code, text, _ = fabric("apply", project, plan)
    assert (code, "Nothing to change" in text) == (0, True)
    undo = write_plan(tmp_path, operation("unity.undo_transaction@1", transaction=document["transaction"]))
    code, text, _ = fabric("apply", project, undo)
    assert (code, "Undid" in text) == (0, True)
    assert tree_manifest(project) == before


def test_a_source_may_lie_in_the_current_folder(project, tmp_path, picture):
    """After the plan's own folder."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here/icon.png").write_bytes(picture.read_bytes())
    plan = write_plan(tmp_path, import_icon(source="icon.png"))
    assert fabric("apply", project, plan, cwd=tmp_path / "here")[0] == 0
    assert fabric("apply", project, plan)[0] == 1


@pytest.mark.parametrize(
    ("operations", "code", "said"),
    [
        ([import_icon(source="absent.png")], 1, "unity.source_missing"),
        ([set_value("nope", 1), set_value("price", "dear")], 1, "unity.path_missing"),
        ([operation("unity.nothing@1")], 1, "plan.unknown_capability"),
        ([operation("unity.undo_transaction@1", transaction="t"), set_value("price", 1)], 1, "plan.mixed"),
        ([operation("unity.undo_transaction@1", transaction="never")], 1, "transaction.unknown"),
    ],
)
def test_a_bad_plan_is_one_line_a_fault_and_changes_nothing(project, tmp_path, operations, code, said):
    """Exit 1, the code in brackets, no traceback."""
    before = tree_manifest(project)
    found, text, error = fabric("apply", project, write_plan(tmp_path, *operations))
    assert (found, text) == (code, "")
    assert f"[{said}]" in error
    assert tree_manifest(project) == before


def test_the_calls_own_words_are_exit_2(project, tmp_path):
    """No project, no plan."""
    assert fabric("inspect", tmp_path / "absent")[0] == 2
    assert fabric("apply", project, tmp_path / "absent.json")[0] == 2
    code, _, error = fabric("inspect", tmp_path / "project" / "Assets")
    assert (code, "unity.no_project" in error) == (1, True)


def test_recover_brings_an_interrupted_transaction_back(project, stage, unity):
    """After a crash apply refuses and names the mend; recover does it."""
    from unity_world import bound

    def crash(step):
        if step == "replace:1" or step.startswith("restore"):
            raise OSError(5, "broken")

    before = tree_manifest(project)
    broken = HeadlessUnity(project, hook=crash)
    whole = bound(unity, import_icon(), WIRE)
    with pytest.raises(Exception, match="rollback_incomplete"):
        broken.commit(stage, unity.stage(whole, stage), "t1")
    assert tree_manifest(project) != before
    plan = write_plan(stage, set_value("itemCount", 9))
    code, _, error = fabric("apply", project, plan)
    assert (code, "transaction.interrupted" in error) == (1, True)
    code, text, _ = fabric("recover", project, "--json")
    assert (code, json.loads(text)) == (0, {"recovered": [{"transaction": "t1", "standing": "before"}]})
    assert tree_manifest(project) == before
    assert fabric("recover", project)[1] == "Nothing was interrupted.\n"


def test_only_the_last_journals_of_the_command_are_kept(project, tmp_path, unity, stage):
    """Another caller's journal stays."""
    from unity_world import bound

    from resources.unity.apply import apply_plan

    unity.commit(stage, unity.stage(bound(unity, set_value("displayName", "Run")), stage), "run-1")
    for count in range(KEPT_JOURNALS + 3):
        apply_plan(project, write_plan(tmp_path, set_value("itemCount", 100 + count)))
    names = [journal.transaction for journal in unity.transactions.journaled()]
    assert "run-1" in names
    assert len(names) == KEPT_JOURNALS + 1


def test_every_edit_case_of_real_projects_comes_out_by_plan(corpus, tmp_path):
    """A plan a case: the stated bytes, then undone byte for byte."""
    import hashlib
    import shutil

    from resources.unity.apply import apply_plan

    for listing in sorted(corpus.glob("*/edit_cases.json")):
        copy = tmp_path / listing.parent.name
        shutil.copytree(listing.parent, copy, copy_function=shutil.copyfile)
        before = tree_manifest(copy)
        for case in json.loads(listing.read_text(encoding="utf-8")):
            edit = set_value(case["path"], case["value"], asset=case["file"], document=case["doc_fileID"])
            done = apply_plan(copy, write_plan(tmp_path, edit))
            digest = hashlib.sha256((copy / case["file"]).read_bytes()).hexdigest()
            assert digest == case["after_sha256"], case
            undo = operation("unity.undo_transaction@1", transaction=done.transaction)
            apply_plan(copy, write_plan(tmp_path, undo))
        assert tree_manifest(copy) == before


def test_a_source_that_is_no_picture_is_named_as_the_plan_does(project, tmp_path):
    """Not by the private copy that was looked at."""
    (tmp_path / "icon.png").write_bytes(b"no picture")
    plan = write_plan(tmp_path, import_icon(source="icon.png"))
    code, _, err = fabric("apply", project, plan)
    assert (1, 1) == (code, err.count("\n"))
    assert f"{plan}: operations[0].args.source: " in err
    assert "(found 'icon.png')" in err


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "value: input should be a valid boolean or a valid integer or a valid string or an object"),
        ({"fileID": "1", "guid": "zz"}, "value.guid: string should match pattern"),
        ({"$ref": "x"}, "value.$ref: string should match pattern"),
        ({}, "value.fileID: this key is missing"),
    ],
)
def test_a_value_of_no_kind_is_one_line(project, tmp_path, value, said):
    """Told is what is wrong with what it is nearest to, not that it is nothing else."""
    plan = write_plan(tmp_path, set_value("icon", value))
    code, _, err = fabric("apply", project, plan)
    assert (1, 1) == (code, err.count("\n"))
    assert said in err


def test_a_dry_run_undoes_nothing_that_is_not_there(project, tmp_path):
    """It refuses what the real run would refuse."""
    plan = write_plan(tmp_path, operation("unity.undo_transaction@1", transaction="nothing"))
    for words in ((), ("--dry-run",)):
        code, _, err = fabric("apply", project, plan, *words)
        assert (1, True) == (code, "[transaction.unknown]" in err)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX pipes")
def test_a_pipe_in_the_project_is_never_read(project, tmp_path):
    """Reading one would wait for ever: inspect leaves it out, an edit of it is refused."""
    (project / STARTER).unlink()
    for path in (STARTER, "Assets/pipe.asset", "Assets/pipe.asset.meta"):
        os.mkfifo(project / path)
    assert fabric("inspect", project)[0] == 0
    plan = write_plan(tmp_path, set_value("price", "5"))
    code, _, err = fabric("apply", project, plan)
    assert (1, True) == (code, f"fabric: {STARTER}: a pipe, a socket or a device stands there" in err)
