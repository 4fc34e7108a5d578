"""A governed world in memory, for what needs no file of an application."""

import pytest
from fakes.world import World


@pytest.fixture
def world(tmp_path):
    """Everything outside of the supervisor, certified and commissioned, without visual approval."""
    return World(tmp_path / "world")
