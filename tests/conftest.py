"""Fixtures that several rooms share: a home that is executable, restored before every test."""

import shutil

import governed
import pytest


def pytest_addoption(parser):
    """``--proof-sample`` makes ``-m proof`` run a small random sample of its cases."""
    parser.addoption("--proof-sample", action="store_true", help="run a random sample of the proofs")


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A home made by the project's own init and demonstration, and a snapshot of it beside.

    A commission holds for one path alone, so every test gets its home at this same path.
    """
    root = tmp_path_factory.mktemp("governed")
    governed.make_home(root / "home")
    shutil.copytree(root / "home", root / "snapshot", symlinks=True)
    yield root
    governed.end_validator(root / "home")


@pytest.fixture
def hall(place):
    """The opened home, as ``fabric init`` and the demo commission leave it: no ticket, no run."""
    opened = governed.restore(place)
    yield opened
    opened.services.store.close()


@pytest.fixture
def ticket(tmp_path):
    """A ticket file of the offer ``starter_pack``, its picture beside it."""
    return governed.write_ticket(tmp_path / "tickets")
