"""``fabric photoshop pair|status|resolve|qualify``, and the signed record of a qualification."""

from __future__ import annotations

import json

import pytest
from fake_photoshop import FakePhotoshop, node_missing

from fabric_dagster.cli.main import main
from fabric_dagster.errors import CheckFailed, Refused
from resources.home import Home
from resources.photoshop.uxp import cases, methods, pairing, qualify
from resources.photoshop.uxp.ledger import photoshop_ledger
from resources.photoshop.uxp.schema import schema_digest
from resources.photoshop.uxp.shared import FOLDER
from resources.setup import initialise


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home that is initialised."""
    made = Home(tmp_path_factory.mktemp("cli").resolve() / "home")
    initialise(made)
    return made


def run(capsys, *words: str) -> tuple[int, dict]:
    """The exit code of a command and its JSON."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["photoshop", *words, "--json"])
    told = capsys.readouterr()
    return int(ended.value.code or 0), json.loads(told.out) if told.out else {"error": told.err}


@pytest.fixture(autouse=True)
def free_port(monkeypatch):
    """Bridges of the command line listen on a port that nobody has."""
    from resources.photoshop.uxp import bridge

    plain = bridge.Bridge.__init__
    monkeypatch.setattr(
        bridge.Bridge, "__init__", lambda self, folder, port=0: plain(self, folder, port=port)
    )


def test_pair_shows_the_token_once(home, capsys):
    """A second time only where the first pairing is ended on purpose."""
    code, told = run(capsys, "status", "--wait", "0", "--home", str(home.path))
    assert 2 == code
    assert "fabric photoshop pair" in told["error"]
    code, first = run(capsys, "pair", "--home", str(home.path))
    assert 0 == code
    assert 64 == len(first["token"])
    assert first["plugin"].endswith("manifest.json")
    code, told = run(capsys, "pair", "--home", str(home.path))
    assert (2, True) == (code, "uxp.paired" in told["error"])
    code, second = run(capsys, "pair", "--again", "--home", str(home.path))
    assert first["token"] != second["token"]
    code, told = run(capsys, "status", "--wait", "0", "--home", str(home.path))
    assert (1, False, []) == (code, told["connected"], told["uncertain"])


def test_an_operator_resolves(home, capsys):
    """A request that nobody knows about ends by a signed decision."""
    ledger = photoshop_ledger(home.path / FOLDER)
    identity = "sha256:" + "c" * 64
    ledger.record(identity, "s", methods.FINISH, "p")
    ledger.move(identity, "lose", {"why": "a test"})
    words = [
        "resolve",
        "cccc",
        "--decision",
        "happened",
        "--evidence",
        "the copy is there",
        "--home",
        str(home.path),
    ]
    code, told = run(capsys, *words, "--as", "builder")
    assert (3, True) == (code, "authority.denied" in told["error"])
    code, told = run(capsys, *words)
    assert (0, "resolved", "operator") == (code, told["state"], told["by"])
    decided = ledger.resolution(identity, home.trust_root())
    assert ("happened", "the copy is there") == (decided["decision"], decided["evidence"])


def test_a_qualification_is_signed_and_tells_every_case(photoshop, paired, home, tmp_path, monkeypatch):
    """Every case is in the record; the builder's signature covers it; a changed record is refused."""
    assert paired
    bridge, host = photoshop
    bridge.ledger = photoshop_ledger(tmp_path / "ledger")
    bridge.wait(20)
    monkeypatch.setattr(qualify, "CASES", cases.CASES[:2])
    host.misbehave("lie_export")
    trust, builder = home.trust_root(), home.signer("builder")
    record, envelope = qualify.qualify(bridge, builder, trust)
    assert [("delivers", "failed"), ("contents", "passed")] == [(c.case, c.verdict) for c in record.cases]
    assert "photoshop.result_differs" in record.cases[0].fault
    assert not record.passed
    assert schema_digest() == record.protocol
    assert record == qualify.open_qualification(envelope, trust)
    with pytest.raises(Refused):
        qualify.qualify(bridge, home.signer("operator"), trust)
    forged = qualify.dsse_sign(qualify.PAYLOAD_TYPE, b"{}", "x", home.signer("operator").sign)
    for bad in (forged, {**envelope, "payload": envelope["payload"][::-1]}):
        with pytest.raises(CheckFailed):
            qualify.open_qualification(bad, trust)


def test_status_tells_of_a_connected_photoshop(home, capsys, monkeypatch):
    """Host, documents and what is uncertain, with exit code 0."""
    if why := node_missing():
        pytest.skip(why)
    from resources.photoshop.uxp import bridge

    token = pairing.pair(home.path / FOLDER, "2026-01-01T00:00:00+00:00")
    hosts = []
    plain = bridge.Bridge.open

    def opened(self) -> None:
        plain(self)
        hosts.append(FakePhotoshop(self.port))
        hosts[0].do("pair", token=token)

    monkeypatch.setattr(bridge.Bridge, "open", opened)
    code, told = run(capsys, "status", "--wait", "20", "--home", str(home.path))
    hosts[0].close()
    assert (0, True, "Photoshop") == (code, told["connected"], told["host"]["application"])
    assert [] == told["documents"]


def test_a_home_may_name_the_live_provider(home):
    """`photoshop: uxp` in home.yaml; the commission then names the provider by that name."""
    from resources.supervision.assembly import NO_RUN, Hall

    text = home.config_file.read_text(encoding="utf-8")
    home.config_file.write_text(text.rstrip("\n") + "\nphotoshop: uxp\n", encoding="utf-8")
    try:
        provider = Hall(Home(home.path)).provider("photoshop", NO_RUN, "none")
        assert ("uxp", "1.0.0") == (provider.name, provider.version)
    finally:
        home.config_file.write_text(text, encoding="utf-8")
