"""A ledger of its own for each test."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.spine.ports import NewEvent
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore


def fixed_signer(identity):
    """A signer whose key is the same in every process of a test."""
    return signer_of(identity, Ed25519PrivateKey.from_private_bytes(identity.encode().ljust(32, b".")))


@pytest.fixture
def runtime():
    """The runtime's signer."""
    return fixed_signer("runtime")


@pytest.fixture
def trust(runtime):
    """A trust root of runtime and operator."""
    return TrustRoot.of({"runtime": runtime.public, "operator": fixed_signer("operator").public})


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    """An empty database, of each kind."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return f"sqlite:///{(tmp_path / 'ledger.sqlite').as_posix()}"


@pytest.fixture
def anchor(tmp_path):
    """The signed head's file, outside the database."""
    return tmp_path / "anchors/checkpoint.default.main.json"


@pytest.fixture
def stores():
    """Every store that a test opens; all are closed at the end."""
    opened = []
    yield opened
    for store in opened:
        store.close()


@pytest.fixture
def open_store(url, anchor, trust, stores):
    """Opens stores on the test's one database."""

    def open_one(workspace="default", branch="main", root=trust, **options):
        options = {"anchors": (anchor.parent,)} | options
        stores.append(SqlEventStore(url, workspace, root, branch, **options))
        return stores[-1]

    return open_one


@pytest.fixture
def open_sqlite(trust, stores):
    """Opens stores in SQLite files, each in a folder of its own."""

    def open_one(folder, **options):
        stores.append(
            SqlEventStore(f"sqlite:///{(folder / 'ledger.sqlite').as_posix()}", "default", trust, **options)
        )
        return stores[-1]

    return open_one


@pytest.fixture
def store(open_store):
    """An empty store."""
    return open_store()


@pytest.fixture
def filled(store, runtime):
    """A store of ten events on two streams, one append each."""
    for number in range(10):
        event = NewEvent(f"run:{number % 2}", "task.issued", {"number": number}, f"key-{number}")
        store.append([event], signer=runtime)
    return store
