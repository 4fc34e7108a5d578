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


@pytest.fixture
def open_store(tmp_path, trust):
    """Opens stores on the test's one database; all are closed at the end."""
    opened = []

    def open_one(workspace="default", branch="main", folder=tmp_path, root=trust):
        store = SqlEventStore(f"sqlite:///{(folder / 'ledger.sqlite').as_posix()}", workspace, root, branch)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


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
