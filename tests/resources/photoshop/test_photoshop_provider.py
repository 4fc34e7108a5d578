"""The headless provider: staged, committed as one transaction, observed, undone."""

from __future__ import annotations

import shutil

import pytest
from comp_builders import with_comps
from effect_builders import stroke, with_effects
from photoshop_builders import wide_gamut
from text_builders import FONT_NAME, small_font, with_text, with_words

from fabric_dagster.capabilities.registry import failure_codes
from fabric_dagster.contracts.physical_plan import PhysicalPlan
from fabric_dagster.digests import canonical, digest_file
from fabric_dagster.errors import Conflict, OperationFailed
from resources.photoshop.provider import HeadlessPhotoshop


@pytest.fixture
def stage(tmp_path, template, art):
    """A stage with its inputs laid out."""
    folder = tmp_path / "stage"
    (folder / "inputs").mkdir(parents=True)
    (folder / "inputs" / "template.psd").write_bytes(template)
    (folder / "inputs" / "art.png").write_bytes(art)
    return folder


@pytest.fixture
def provider(tmp_path, worker):
    """A provider that delivers into a folder which does not exist yet."""
    return HeadlessPhotoshop(tmp_path / "deliveries" / "run", tmp_path / "journals", worker=worker)


def bound(stage, provider, **changes) -> PhysicalPlan:
    """A bound plan of the three operations."""
    operations = [
        {"capability": "photoshop.open_duplicate@1", "node": "open_template",
         "args": {"source": "inputs/template.psd", "copy": "icon.psd"}},
        {"capability": "photoshop.replace_smart_object@1", "node": "place_art",
         "args": {"layer": {"path": "Art/Art"}, "contents": "inputs/art.png", "scope": "layer"}},
        {"capability": "photoshop.export_png@1", "node": "export_icon",
         "args": {"preset": {"width": 256, "height": 256}, "out": "icon.png"}},
    ]  # fmt: skip
    names = ("inputs/template.psd", "inputs/art.png")
    body = {
        "schema": PhysicalPlan.SCHEMA,
        "application": "photoshop",
        "operations": operations,
        "inputs": [{"path": name, "digest": digest_file(stage / name)} for name in names],
        **changes,
    }
    plan = PhysicalPlan.model_validate(body)
    return PhysicalPlan.model_validate({**body, "allocations": provider.allocate(plan)})


def test_a_plan_is_staged_committed_observed_and_undone(stage, provider):
    """Nothing outside the stage changes before commit; everything observed holds; undo takes it back."""
    plan = bound(stage, provider)
    staged = provider.stage(plan, stage)
    assert not provider.root.exists()
    assert provider.standing("t", staged.changes) == "before"
    assert ["icon.psd", "icon.png"] == [change.path for change in staged.changes]
    assert [("open_template", "document"), ("place_art", "document"), ("export_icon", "png")] == [
        (item.node, item.name) for item in staged.produced
    ]
    for item in staged.produced:
        canonical(dict(item.facts))
        assert item.facts["digest"] == digest_file(item.path)
    provider.commit(stage, staged, "t")
    assert provider.standing("t", staged.changes) == "after"
    seen = (*staged.observations, *provider.observe(plan, staged))
    assert [] == [item for item in seen if not item.holds]
    assert {"icon.png: picture", "icon.psd: document", "inputs/template.psd: source"} < {
        s.subject for s in seen
    }
    provider.undo("t")
    assert provider.standing("t", staged.changes) == "before"
    provider.forget("t")


def test_what_is_observed_is_what_is_there(stage, provider):
    """A file damaged after the commit is found, not believed."""
    plan = bound(stage, provider)
    staged = provider.stage(plan, stage)
    provider.commit(stage, staged, "t")
    (provider.root / "icon.png").write_bytes(b"\x89PNG")
    (provider.root / "icon.psd").write_bytes(b"8BPS")
    broken = {item.subject for item in provider.observe(plan, staged) if not item.holds}
    assert {"icon.png: digest", "icon.psd: digest", "icon.png: picture", "icon.psd: document"} == broken
    with pytest.raises(Conflict):
        provider.undo("t")


def test_one_bound_plan_makes_the_same_bytes_each_time(stage, provider, tmp_path):
    """Random choices are drawn once, into the plan."""
    plan = bound(stage, provider)
    first = provider.stage(plan, stage).changes
    again = tmp_path / "again"
    shutil.copytree(stage / "inputs", again / "inputs")
    assert first == provider.stage(plan, again).changes


def test_failures_have_registered_codes(stage, provider):
    """A refused operation, a damaged template and an unbound plan: declared codes, nothing produced."""
    declared = failure_codes()
    plan = bound(stage, provider)
    operations = [operation.body() for operation in plan.operations]
    operations[1]["args"]["layer"] = {"path": "No/Such"}
    cases = [(bound(stage, provider, operations=operations), None)]
    cases.append((PhysicalPlan.model_validate({**plan.body(), "allocations": {}}), None))
    twins = [operation.body() for operation in plan.operations]
    cases.append((bound(stage, provider, operations=[*twins, twins[2]]), None))
    cases.append((plan, b"8BPS\0\1"))
    for case, damage in cases:
        if damage:
            (stage / "inputs" / "template.psd").write_bytes(damage)
        with pytest.raises(OperationFailed) as caught:
            provider.stage(case, stage)
        assert caught.value.code in declared
    assert not list((stage / "delivery").glob("*.p*"))


def test_every_code_that_is_raised_is_declared():
    """Codes in this room's sources are in the taxonomy, or belong to the command line alone."""
    import re

    from photoshop_builders import ROOT

    own = {
        "photoshop.no_file", "photoshop.no_folder", "photoshop.out_is_folder", "photoshop.out_is_source",
        "photoshop.role_shared", "photoshop.bad_roles", "photoshop.out_is_no_file",
    }  # fmt: skip
    raised = set()
    for path in (ROOT / "resources" / "photoshop").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        raised |= set(re.findall(r'"((?:photoshop|psd)\.[a-z_]+)"', text))
        raised |= {f"photoshop.{name}" for name in re.findall(r'refuse\(\s*"([a-z_]+)"', text)}
    assert set() == raised - own - set(failure_codes())


def test_every_operation_runs_in_a_stage(stage, tmp_path, worker, template):
    """One plan of them all: files found in the stage, fonts in their folder, facts fit for a digest."""
    fonts = tmp_path / "fonts"
    fonts.mkdir()
    (fonts / "block.ttf").write_bytes(small_font())
    source = with_text(with_effects(template, 10, {b"FrFX": stroke()}), 11, font=FONT_NAME)
    source = with_comps(source, [(5, "Only", 1)], {7: [(5, {b"enab": False}), (0, {b"enab": True})]})
    (stage / "inputs" / "template.psd").write_bytes(source)
    (stage / "inputs" / "wide.icc").write_bytes(wide_gamut())
    layer = {"id": 10}
    steps = [
        ("open_duplicate", {"source": "inputs/template.psd", "copy": "icon.psd"}),
        ("checkpoint", {"name": "start"}),
        ("restore", {"name": "start"}),
        ("apply_layer_comp", {"comp": "Only"}),
        ("set_text", {"layer": {"id": 11}, "text": "DAB"}),
        ("set_effect", {"layer": layer, "effect": "stroke", "size": 3}),
        ("fill_layer", {"layer": layer, "color": "#112233"}),
        ("move_layer", {"layer": layer, "dx": 1}),
        ("align_layer", {"layer": layer, "horizontal": "center"}),
        ("resize_layer", {"layer": layer, "percent": 90}),
        ("replace_mask", {"layer": layer, "mask": "inputs/art.png"}),
        ("edit_mask", {"layer": layer, "action": "invert"}),
        ("assign_profile", {"file": "inputs/wide.icc"}),
        ("set_visibility", {"layer": {"id": 1}, "visible": False}),
        ("export_png", {"preset": {"depth": 16}, "out": "icon.png", "layer": {"id": 11}}),
    ]
    operations = [
        {"capability": f"photoshop.{name}@1", "node": f"n{number}", "args": args}
        for number, (name, args) in enumerate(steps)
    ]
    provider = HeadlessPhotoshop(
        tmp_path / "deliveries" / "run", tmp_path / "journals", worker=worker, fonts=(fonts,)
    )
    plan = bound(stage, provider, operations=operations)
    staged = provider.stage(plan, stage)
    for item in staged.produced:
        canonical(dict(item.facts))
    by_node = {item.node: item.facts for item in staged.produced}
    assert "block.ttf" == by_node["n4"]["font"]["file"]
    assert any("redrawn headlessly" in warning for warning in staged.warnings)
    provider.commit(stage, staged, "all")
    seen = (*staged.observations, *provider.observe(plan, staged))
    assert [] == [item for item in seen if not item.holds]
    assert {"icon.psd: text of 11": "DAB", "icon.psd: visible of 1": "False"}.items() <= {
        item.subject: item.found for item in seen
    }.items()
    other = with_words((provider.root / "icon.psd").read_bytes(), 11, "BAD")
    (provider.root / "icon.psd").write_bytes(other)
    broken = [item.subject for item in provider.observe(plan, staged) if not item.holds]
    assert ["icon.psd: digest", "icon.psd: text of 11"] == broken
