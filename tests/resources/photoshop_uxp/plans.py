"""Plans over the sample template that several tests bind."""

from __future__ import annotations

from fabric_dagster.contracts.physical_plan import PhysicalPlan
from fabric_dagster.digests import digest_file

OPEN = ("photoshop.open_duplicate@1", {"source": "inputs/template.psd", "copy": "icon.psd"})
REPLACE = (
    "photoshop.replace_smart_object@1",
    {"layer": {"path": "Art/Art"}, "contents": "inputs/art.png", "scope": "layer"},
)
HIDE = ("photoshop.set_visibility@1", {"layer": {"id": 9}, "visible": False})
TEXT = ("photoshop.set_text@1", {"layer": {"id": 11}, "text": "DEAL"})
EXPORT = ("photoshop.export_png@1", {"preset": {"width": 64, "height": 64}, "out": "icon.png"})
ALL = (OPEN, REPLACE, EXPORT)


def bound(stage, provider, steps=ALL) -> PhysicalPlan:
    """A bound plan of ``steps`` over everything in the stage."""
    body = {
        "schema": PhysicalPlan.SCHEMA,
        "application": "photoshop",
        "operations": [{"capability": name, "args": args} for name, args in steps],
        "inputs": [
            {"path": f"inputs/{path.name}", "digest": digest_file(path)}
            for path in sorted((stage / "inputs").iterdir())
        ],
    }
    allocations = provider.allocate(PhysicalPlan.model_validate(body))
    return PhysicalPlan.model_validate({**body, "allocations": allocations})
