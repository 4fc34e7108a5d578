"""The project's own pack, and copies of it to spoil."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fabric_dagster.cli.main import main
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.intelligence import load_pack

OFFERS = Path(__file__).parents[2] / "packs" / "offers"


class Copy:
    """A copy of the pack in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(OFFERS, folder, ignore=shutil.ignore_patterns("__pycache__"))

    def edit(self, old, new, path="pack.yaml", count=1):
        """Replace ``old``, which must be there, in one of the pack's files."""
        text = (self.folder / path).read_text(encoding="utf-8")
        assert old in text
        (self.folder / path).write_text(text.replace(old, new, count), encoding="utf-8", newline="\n")

    def line(self, words, path="pack.yaml"):
        """``PACK/FILE:LINE`` of the first line that holds ``words``."""
        lines = (self.folder / path).read_text(encoding="utf-8").splitlines()
        number = next(n for n, line in enumerate(lines, 1) if words in line)
        return f"offers/{path}:{number}"

    def faults(self):
        """What loading it comes to: every fault, none for a pack that holds together."""
        try:
            load_pack(self.folder)
        except InvalidDocument as error:
            return list(error.faults)
        return []

    def codes(self):
        """The codes, sorted."""
        return sorted(fault.code for fault in self.faults())


@pytest.fixture
def copy(tmp_path):
    """A good pack, to be spoiled."""
    return Copy(tmp_path / "offers")


@pytest.fixture(scope="session")
def offers():
    """The pack as it comes."""
    return load_pack(OFFERS)


@pytest.fixture
def fabric(monkeypatch, tmp_path, capsys):
    """Runs the program where there is no home; answers exit code, standard output, standard error."""
    monkeypatch.setenv("FABRIC_HOME", str(tmp_path / "no-home"))

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run
