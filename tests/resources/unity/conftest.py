"""Fixtures of the Unity tests: the sample project, plans, the corpus of real projects where there is one."""

import itertools
import os
import shutil
from pathlib import Path

import pytest

from resources.unity import sample
from resources.unity.provider import HeadlessUnity

REPOSITORY = Path(__file__).parents[3]


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
