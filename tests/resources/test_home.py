"""Where everything is, and homes that cannot be."""

import os
import shutil
from pathlib import Path

import pytest

from fabric_dagster.errors import InvalidDocument, UsageFault
from resources.home import CHECKOUT, Home
from resources.setup import CONFIG

posix = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")


def write_config(folder, text=""):
    """A home with a configuration and nothing else."""
    folder.mkdir(exist_ok=True)
    (folder / "home.yaml").write_text(CONFIG.format(id="0" * 32) + text, encoding="utf-8")
    return Home(folder)


def test_a_home_is_found_by_word_by_environment_or_in_the_checkout(tmp_path, monkeypatch):
    """In this order."""
    monkeypatch.setenv("FABRIC_HOME", str(tmp_path / "b"))
    assert Home.find(tmp_path / "a").path == tmp_path / "a"
    assert Home.find().path == tmp_path / "b"
    monkeypatch.delenv("FABRIC_HOME")
    assert Home.find().path == CHECKOUT / ".fabric"


def test_a_relative_home_is_under_the_working_folder(tmp_path, monkeypatch):
    """And stays there when the process moves on."""
    monkeypatch.chdir(tmp_path)
    home = Home.find(Path("here"))
    monkeypatch.chdir("/")
    assert home.path == tmp_path / "here"


def test_looking_makes_nothing(tmp_path):
    """A home that is not there is an error with a mend, and still not there."""
    with pytest.raises(UsageFault) as caught:
        Home.find(tmp_path / "none").require()
    assert caught.value.code == "home.missing"
    assert list(tmp_path.iterdir()) == []


def test_parts_lie_where_the_configuration_says(tmp_path):
    """Relative to the home, or absolute; packs default to the checkout's."""
    home = write_config(tmp_path / "home")
    assert home.project == tmp_path / "home" / "project"
    assert home.inputs == (tmp_path / "home" / "inputs",)
    assert home.packs == (CHECKOUT / "packs",)
    text = CONFIG.format(id="0" * 32).replace("project: project", f"project: {tmp_path / 'game'}")
    (tmp_path / "home" / "home.yaml").write_text(text.replace("packs: []", "packs: [mine]"), encoding="utf-8")
    home = Home(tmp_path / "home")
    assert home.project == tmp_path / "game"
    assert home.packs == (tmp_path / "home" / "mine",)


def test_the_validators_key_has_a_place_of_its_own(tmp_path):
    """Never below the folder of the other keys."""
    home = Home(tmp_path)
    assert home.keys not in {home.validator, *home.validator.parents}


def test_every_fault_of_the_configuration_is_named_with_its_line(tmp_path):
    """Unknown keys, bad values: all at once."""
    home = write_config(tmp_path / "home", "colour: red\n")
    text = (tmp_path / "home" / "home.yaml").read_text(encoding="utf-8")
    (tmp_path / "home" / "home.yaml").write_text(
        text.replace("workspace: default", "workspace: A/B"), "utf-8"
    )
    with pytest.raises(InvalidDocument) as caught:
        _ = home.config
    assert {fault.code for fault in caught.value.faults} == {"document.unknown_key", "document.bad_value"}
    assert all("home.yaml:" in fault.where for fault in caught.value.faults)


def test_a_copied_home_has_another_identity(tmp_path):
    """So that a demo's commission does not hold in it."""
    first = write_config(tmp_path / "one")
    shutil.copytree(first.path, tmp_path / "two")
    assert Home(tmp_path / "two").id != first.id
    assert Home(tmp_path / "one").id == first.id


@pytest.mark.parametrize("below", ["", "inside"])
def test_a_file_is_no_home(tmp_path, below):
    """Neither the home itself nor anything on the way may be a file."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageFault) as caught:
        Home(tmp_path / "file" / below)
    assert caught.value.code == "home.unusable"


def test_a_name_that_no_folder_can_have_is_no_home(tmp_path):
    """Too long for the file system."""
    with pytest.raises(UsageFault) as caught:
        Home(tmp_path / ("n" * 5000)).require()
    assert caught.value.code in {"home.unusable", "home.missing"}


@posix
@pytest.mark.parametrize("below", ["", "inside"])
def test_a_link_is_no_home(tmp_path, below):
    """Keys and effects must lie where they seem to lie."""
    (tmp_path / "real" / "inside").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(UsageFault) as caught:
        Home(tmp_path / "link" / below)
    assert caught.value.code == "home.unusable"
