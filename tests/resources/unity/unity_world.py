"""Plans for the sample project, as the Unity tests write them."""

import json

from fabric_dagster.contracts.physical_plan import PhysicalPlan

STARTER = "Assets/Data/Offers/starter_pack.asset"
ICON = "Assets/Art/Offers/Icons/starter_pack.png"


def operation(capability, node=None, **args):
    """One operation of a plan."""
    return {"capability": capability, "args": args} | ({"node": node} if node else {})


def import_icon(destination=ICON, profile="ui_sprite_512", source="inputs/icon.png"):
    """The operation that imports the icon."""
    return operation(
        "unity.import_texture@1", "import_icon", source=source, destination=destination, profile=profile
    )


def set_value(path, value, asset=STARTER, document="11400000", node=None):
    """The operation that sets a property."""
    return operation("unity.set_property@1", node, asset=asset, document=document, path=path, value=value)


WIRE = set_value("icon", {"$ref": "import_icon.sprite"}, node="wire_icon")


def document(*operations):
    """A plan as JSON."""
    return {"schema": "fabric.physical-plan.v1", "application": "unity", "operations": list(operations)}


def plan_of(*operations):
    """A plan."""
    return PhysicalPlan.model_validate(document(*operations))


def bound(unity, *operations):
    """A plan with its random choices drawn."""
    plan = plan_of(*operations)
    return plan.model_copy(update={"allocations": unity.allocate(plan)})


def write_plan(folder, *operations):
    """A plan file."""
    path = folder / "plan.json"
    path.write_text(json.dumps(document(*operations)), encoding="utf-8")
    return path
