"""A bridge, a fake Photoshop that is paired with it, and both providers."""

from __future__ import annotations

import pytest
from fake_photoshop import FakePhotoshop, node_missing

from resources.photoshop.client import Worker
from resources.photoshop.png import encode_png
from resources.photoshop.provider import HeadlessPhotoshop
from resources.photoshop.sample import build_template
from resources.photoshop.sample_art import daily_deal, starter_pack
from resources.photoshop.uxp import pairing
from resources.photoshop.uxp.bridge import Bridge
from resources.photoshop.uxp.provider import UxpPhotoshop

NOW = "2026-01-01T00:00:00+00:00"


@pytest.fixture(scope="session")
def template() -> bytes:
    """The square sample template."""
    return build_template("offer_icon.psd")


@pytest.fixture(scope="session")
def art() -> bytes:
    """A ticket's art, as a PNG."""
    return encode_png(starter_pack())


@pytest.fixture(scope="session")
def other_art() -> bytes:
    """Another ticket's art."""
    return encode_png(daily_deal())


@pytest.fixture(scope="session")
def worker():
    """One warm worker for all tests."""
    made = Worker()
    yield made
    made.close()


@pytest.fixture
def paired(tmp_path):
    """The folder of the connection, and the token that is shown once."""
    folder = tmp_path / "uxp"
    return folder, pairing.pair(folder, NOW)


@pytest.fixture
def bridge(paired):
    """An open bridge on a port of its own."""
    with Bridge(paired[0], port=0) as made:
        yield made


@pytest.fixture
def host(bridge, paired):
    """A fake Photoshop whose plugin is paired and connected."""
    if why := node_missing():
        pytest.skip(why)
    made = FakePhotoshop(bridge.port)
    made.do("pair", token=paired[1])
    bridge.wait(20)
    yield made
    made.close()


@pytest.fixture
def live(tmp_path, bridge, host, worker):
    """The live provider over the fake."""
    assert host
    return UxpPhotoshop(tmp_path / "live" / "run", tmp_path / "live-journals", bridge, worker=worker)


@pytest.fixture
def headless(tmp_path, worker):
    """The headless provider."""
    return HeadlessPhotoshop(tmp_path / "headless" / "run", tmp_path / "journals", worker=worker)
