"""Finished worlds, each made once a session, and copies of them to harm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from faults import base_worlds
from validator_world import World


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], World]:
    """The whole world of a name, not to be changed."""
    made: dict[str, World] = {}

    def get(name: str = "good") -> World:
        if name not in made:
            made[name] = base_worlds()[name](tmp_path_factory.mktemp(name) / "world")
        return made[name]

    return get


@pytest.fixture
def world(whole: Callable[[str], World], tmp_path: Path) -> World:
    """A good world of one's own."""
    return whole("good").copy(tmp_path / "world")
