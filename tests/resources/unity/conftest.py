"""Fixtures of the Unity tests: the sample project, plans, the corpus of real projects where there is one."""

import itertools
import json
import os
import shutil
from pathlib import Path

import pytest

from fabric_dagster.contracts.physical_plan import PhysicalPlan
from resources.unity import sample
from resources.unity.provider import HeadlessUnity

REPOSITORY = Path(__file__).parents[3]
STARTER = "Assets/Data/Offers/starter_pack.asset"
ICON = "Assets/Art/Offers/Icons/starter_pack.png"


@pytest.fixture(scope="session")
def corpus():
    """The folder of real Unity projects."""
    folder = Path(os.environ.get("FABRIC_CORPUS", REPOSITORY.parent / "shared" / "corpus")) / "unity"
    if not (folder / "index.json").is_file():
        pytest.skip("the corpus of real projects is not here: set FABRIC_CORPUS to its folder")
    return folder


@pytest.fixture
def project(tmp_path):
    """The sample project, freshly built."""
    sample.build(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def unity(project):
    """The provider on the sample project; its random ids come from a fixed sequence."""
    numbers = itertools.count(1)
    return HeadlessUnity(
        project, draw=lambda: f"{next(numbers) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"
    )


@pytest.fixture
def picture(project):
    """A PNG that is in the project already."""
    return project / "Assets/Art/Offers/placeholder.png"


@pytest.fixture
def stage(tmp_path, picture):
    """A stage with one input, ``inputs/icon.png``."""
    folder = tmp_path / "stage"
    (folder / "inputs").mkdir(parents=True)
    shutil.copyfile(picture, folder / "inputs/icon.png")
    return folder


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
