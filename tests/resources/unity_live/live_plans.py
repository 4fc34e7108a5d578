"""Plans for the sample project, bound."""

from __future__ import annotations

from fabric_dagster.contracts.physical_plan import PhysicalPlan
from resources.unity.live.package import SOURCE

#: the package's C#
SOURCES = sorted(SOURCE.rglob("*.cs"))

COMPILE = ("unity.compile@1", {})
TESTS = ("unity.run_tests@1", {"platform": "EditMode"})
BUILD = ("unity.build_player@1", {"target": "StandaloneLinux64"})
IMPORT = (
    "unity.import_texture@1",
    {
        "source": "inputs/icon.png",
        "destination": "Assets/Art/Offers/Icons/new.png",
        "profile": "ui_sprite_512",
    },
)


def bound(unity, *steps):
    """A bound plan of (capability, arguments)."""
    body = {
        "schema": PhysicalPlan.SCHEMA,
        "application": "unity",
        "operations": [
            {"capability": name, "args": args, "node": f"step_{number}"}
            for number, (name, args) in enumerate(steps)
        ],
    }
    plan = PhysicalPlan.model_validate(body)
    return plan.model_copy(update={"allocations": unity.allocate(plan)})
