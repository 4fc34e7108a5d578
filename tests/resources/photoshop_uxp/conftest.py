"""A bridge, a fake Photoshop that is paired with it, and both providers."""

from __future__ import annotations

import time

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fake_photoshop import FakePhotoshop, node_missing

from fabric_dagster.governance.trust import TrustRoot
from resources.keys import signer_of
from resources.photoshop.client import Worker
from resources.photoshop.png import encode_png
from resources.photoshop.provider import HeadlessPhotoshop
from resources.photoshop.sample import build_template
from resources.photoshop.sample_art import daily_deal, starter_pack
from resources.photoshop.uxp import pairing
from resources.photoshop.uxp.bridge import Bridge
from resources.photoshop.uxp.ledger import photoshop_ledger
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


@pytest.fixture(scope="session")
def paired(tmp_path_factory):
    """The folder of the connection, and the token that is shown once."""
    folder = tmp_path_factory.mktemp("uxp") / "uxp"
    return folder, pairing.pair(folder, NOW)


@pytest.fixture(scope="session")
def photoshop(paired):
    """One bridge and one fake Photoshop with a paired plugin; shared, since both start slowly."""
    if why := node_missing():
        pytest.skip(why)
    with Bridge(paired[0], port=0) as bridge:
        made = FakePhotoshop(bridge.port)
        made.do("pair", token=paired[1])
        bridge.wait(20)
        yield bridge, made
        made.close()


@pytest.fixture
def bridge(photoshop, tmp_path):
    """The shared bridge with a ledger of the test's own, connected."""
    made = photoshop[0]
    made.ledger = photoshop_ledger(tmp_path / "ledger")
    made.strays, made._seconds = 0, None
    made.wait(20)
    return made


@pytest.fixture
def host(bridge, photoshop):
    """The shared fake Photoshop, well-behaved and without documents at the start and at the end."""
    made = photoshop[1]
    assert [] == made.state()["documents"]
    yield made
    made.do("behave")
    bridge.wait(20)
    deadline = time.monotonic() + 10
    while made.state()["documents"] and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.fixture
def live(tmp_path, bridge, host, worker):
    """The live provider over the fake."""
    assert host
    return UxpPhotoshop(tmp_path / "live" / "run", tmp_path / "live-journals", bridge, worker=worker)


@pytest.fixture
def headless(tmp_path, worker):
    """The headless provider."""
    return HeadlessPhotoshop(tmp_path / "headless" / "run", tmp_path / "journals", worker=worker)


@pytest.fixture
def stage(tmp_path, template, art):
    """A stage with its inputs laid out."""
    folder = tmp_path / "stage"
    (folder / "inputs").mkdir(parents=True)
    (folder / "inputs" / "template.psd").write_bytes(template)
    (folder / "inputs" / "art.png").write_bytes(art)
    return folder


@pytest.fixture(scope="session")
def people():
    """Keys of an operator and a builder, and the trust root that pins them."""
    signers = {name: signer_of(name, Ed25519PrivateKey.generate()) for name in ("operator", "builder")}
    return signers, TrustRoot.of({name: signer.public for name, signer in signers.items()})
