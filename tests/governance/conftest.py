"""A world of identities for each test; the world itself is in ``governance_world.py``."""

import pytest
from governance_world import World


@pytest.fixture
def world(tmp_path):
    """An empty ledger and all identities."""
    made = World(tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def commissioned(world):
    """A world whose graph may execute."""
    world.commission(world.certify())
    return world
