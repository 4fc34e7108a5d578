"""Templates, art and a worker that the tests of this room share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from photoshop_builders import CORPUS, corpus_entries

from resources.photoshop.client import Worker
from resources.photoshop.png import encode_png
from resources.photoshop.sample import build_template
from resources.photoshop.sample_art import daily_deal, starter_pack


@pytest.fixture(scope="session")
def template() -> bytes:
    """The square sample template."""
    return build_template("offer_icon.psd")


@pytest.fixture(scope="session")
def wide_template() -> bytes:
    """The wide sample template, whose art is seen in perspective."""
    return build_template("offer_icon_wide.psd")


@pytest.fixture(scope="session")
def art() -> bytes:
    """A ticket's art, as a PNG."""
    return encode_png(starter_pack())


@pytest.fixture(scope="session")
def other_art() -> bytes:
    """Another ticket's art."""
    return encode_png(daily_deal())


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """One warm worker for all tests."""
    made = Worker()
    yield made
    made.close()


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real PSDs, or a skip."""
    if not corpus_entries():
        pytest.skip("no PSD corpus here: set FABRIC_CORPUS to the folder that holds psd/index.json")
    return CORPUS


@pytest.fixture
def files(tmp_path: Path, template: bytes, art: bytes) -> Path:
    """A folder with ``icon.psd`` and ``art.png``."""
    (tmp_path / "icon.psd").write_bytes(template)
    (tmp_path / "art.png").write_bytes(art)
    return tmp_path
