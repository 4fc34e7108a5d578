"""Batch mode: what an editor wrote decides; an exit code, a log and a lying report do not."""

from __future__ import annotations

import json
import time
import zipfile

import pytest
from live_plans import BUILD, COMPILE, IMPORT, TESTS, bound

from fabric_dagster.contracts.physical_plan import PhysicalPlan
from fabric_dagster.errors import InvalidDocument, OperationFailed
from resources.unity.live.batch import SERVES
from resources.unity.live.provider import LiveUnity
from resources.unity.manifest import tree_manifest
from resources.unity.provider import HeadlessUnity


def provider(project, state, editor):
    """A live provider over ``editor``."""
    return LiveUnity(project, state=state, batch=editor, patience=1)


def test_all_three_pass_and_change_nothing(live, project, stage):
    """Outputs are what the files say; the project is as it was; the staged import was in the copy."""
    before = tree_manifest(project)
    staged = live.stage(bound(live, IMPORT, COMPILE, TESTS, BUILD), stage)
    values = {f"{item.node}.{item.name}": item for item in staged.produced}
    assert {"step_1.report", "step_2.report", "step_3.report", "step_3.player"} <= set(values)
    assert (2, 2) == (values["step_2.report"].value["total"], values["step_2.report"].value["passed"])
    with zipfile.ZipFile(values["step_3.player"].path) as packed:
        assert ["player", "player_Data/data"] == sorted(packed.namelist())
    assert before == tree_manifest(project)
    assert all(item.holds for item in staged.observations)


@pytest.mark.parametrize(
    ("step", "behaviour", "code"),
    [
        (TESTS, "quits", "unity.no_report"),
        (TESTS, "no_tests", "unity.no_tests"),
        (TESTS, "tests_fail", "unity.tests_failed"),
        (TESTS, "setup_fails", "unity.tests_failed"),
        (TESTS, "lying_counts", "unity.report_damaged"),
        (TESTS, "no_xml", "unity.report_damaged"),
        (TESTS, "bomb", "unity.report_damaged"),
        (TESTS, "compile_error", "unity.compile_failed"),
        (COMPILE, "compile_error", "unity.compile_failed"),
        (COMPILE, "quits", "unity.no_report"),
        (COMPILE, "foreign_report", "unity.report_damaged"),
        (COMPILE, "licence_exit", "unity.licence"),
        (BUILD, "errors_but_succeeded", "unity.build_failed"),
        (BUILD, "no_player", "unity.build_failed"),
        (BUILD, "quits", "unity.no_report"),
    ],
)
def test_what_was_reported_as_success_is_a_typed_failure(project, state, stage, batch, step, behaviour, code):
    """Each lie and each silence has a code that its capability declares; nothing changed."""
    before = tree_manifest(project)
    unity = provider(project, state, batch(behaviour))
    with pytest.raises(OperationFailed) as caught:
        unity.stage(bound(unity, step), stage)
    assert code == caught.value.code
    assert before == tree_manifest(project)


@pytest.mark.parametrize(
    ("behaviour", "code"), [("licence", "unity.licence"), ("modal", "unity.modal"), ("hang", "unity.hang")]
)
def test_an_editor_that_stands_still_is_ended(project, state, stage, batch, behaviour, code):
    """By its log that grows no more, within the limit, and told apart by the log's end."""
    unity = provider(project, state, batch(behaviour, still=1.0))
    began = time.monotonic()
    with pytest.raises(OperationFailed) as caught:
        unity.stage(bound(unity, COMPILE), stage)
    assert code == caught.value.code
    assert time.monotonic() - began < 10


def test_a_postprocessor_that_overrides_the_profile_is_found_before_the_commit(project, state, stage, batch):
    """The editor wrote the plan's own file otherwise: that is drift, and nothing was committed."""
    unity = provider(project, state, batch("drift"))
    with pytest.raises(OperationFailed) as caught:
        unity.stage(bound(unity, IMPORT, COMPILE), stage)
    assert "unity.import_drift" == caught.value.code
    assert ["Assets/Art/Offers/Icons/new.png.meta"] == [fault.where for fault in caught.value.faults]


def test_what_the_editor_writes_besides_is_told(project, state, stage, batch):
    """As a warning with the path: it is no part of the plan."""
    unity = provider(project, state, batch("other_writes"))
    staged = unity.stage(bound(unity, COMPILE), stage)
    assert any("ProjectSettings/New.asset" in line for line in staged.warnings)


def test_the_editors_cache_is_kept_between_runs(live, stage, tmp_path):
    """``Library`` of the copy, never the project's own."""
    live.stage(bound(live, COMPILE), stage)
    assert "kept" == (tmp_path / "library/cache").read_text(encoding="utf-8")


def test_a_file_edit_after_a_compilation_is_refused(live, stage):
    """It would go uncompiled."""
    with pytest.raises(InvalidDocument) as caught:
        live.stage(bound(live, COMPILE, IMPORT), stage)
    assert "unity.order" == caught.value.code


def test_an_editor_that_is_not_there(project, state, stage, tmp_path):
    """One clear error."""
    from resources.unity.live.batch import BatchEditor

    unity = provider(project, state, BatchEditor((str(tmp_path / "nowhere"),)))
    with pytest.raises(OperationFailed) as caught:
        unity.stage(bound(unity, COMPILE), stage)
    assert "unity.editor_missing" == caught.value.code


def test_only_a_provider_with_an_editor_serves_them(project, state, batch):
    """The headless one does not, and a live one without an executable neither."""
    assert frozenset() == HeadlessUnity(project).serves & SERVES
    assert frozenset() == LiveUnity(project, state=state).serves & SERVES
    assert SERVES == LiveUnity(project, state=state, batch=batch()).serves & SERVES
    plan = PhysicalPlan.model_validate(
        {
            "schema": PhysicalPlan.SCHEMA,
            "application": "unity",
            "operations": [{"capability": COMPILE[0], "args": {}}],
        }
    )
    with pytest.raises(InvalidDocument) as caught:
        HeadlessUnity(project).check(plan)
    assert "capability.not_served" == caught.value.code


def test_a_relative_package_is_found_from_the_copy(project, state, stage, batch):
    """The copy's manifest names it by where it is; the project's own is not touched."""
    manifest = project / "Packages/manifest.json"
    manifest.write_text(
        '{\n  "dependencies": {\n    "com.game.kit": "file:../../kit"\n  }\n}\n', encoding="utf-8"
    )
    unity = provider(project, state, batch())
    unity.stage(bound(unity, COMPILE), stage)
    made = json.loads((stage / "editor/project/Packages/manifest.json").read_text(encoding="utf-8"))
    assert f"file:{(project.parent / 'kit').resolve().as_posix()}" == made["dependencies"]["com.game.kit"]
    assert "../../kit" in manifest.read_text(encoding="utf-8")
