"""The live provider over the built plugin in a fake Photoshop."""

from __future__ import annotations

import pytest

from fabric_dagster.contracts.physical_plan import PhysicalPlan
from fabric_dagster.digests import digest_file


@pytest.fixture
def stage(tmp_path, template, art):
    """A stage with its inputs laid out."""
    folder = tmp_path / "stage"
    (folder / "inputs").mkdir(parents=True)
    (folder / "inputs" / "template.psd").write_bytes(template)
    (folder / "inputs" / "art.png").write_bytes(art)
    return folder


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


def test_first(stage, live, host):
    plan = bound(stage, live)
    try:
        staged = live.stage(plan, stage)
        for o in staged.observations: print(o)
    finally:
        for l in host.state()["log"]: print(l[:300])
    live.commit(stage, staged, "t")
    assert [] == [o for o in live.observe(plan, staged) if not o.holds]
