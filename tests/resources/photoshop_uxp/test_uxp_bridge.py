"""Pairing, the loopback server, the session and the ledger: strangers learn nothing and command nobody."""

from __future__ import annotations

import json
import os
import stat
import time

import pytest
from fake_photoshop import FakePhotoshop, node_missing
from hypothesis import given
from hypothesis import strategies as st
from plans import HIDE, OPEN, bound
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.server import serve

from fabric_dagster.errors import CheckFailed, InvalidDocument, OperationFailed, Refused, UsageFault
from resources.photoshop.uxp import methods, pairing
from resources.photoshop.uxp.bridge import Bridge
from resources.photoshop.uxp.ledger import photoshop_ledger
from resources.photoshop.uxp.messages import PLUGIN_FAILURES, decode
from resources.photoshop.uxp.schema import schema_digest
from resources.requests import MOVES

NOW = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def own(tmp_path):
    """A bridge of the test's own, its folder and its token."""
    folder = tmp_path / "own"
    token = pairing.pair(folder, NOW)
    with Bridge(folder, port=0, seconds=5) as bridge:
        yield bridge, folder, token


def dial(bridge, **more):
    """A socket to the bridge, as the plugin opens it."""
    return connect(f"ws://127.0.0.1:{bridge.port}{more.pop('path', '/fabric')}", compression=None, **more)


def prove(socket, token, schema=None):
    """Answer the challenge; the frame that follows."""
    challenge = json.loads(socket.recv(timeout=5))["params"]
    nonce = "ab" * 32
    words = pairing.words_of(challenge["schema"], challenge["nonce"], nonce)
    params = {
        "schema": schema or challenge["schema"], "nonce": nonce, "proof": pairing.proof_of(token, words),
        "plugin": "1.0.0", "application": "Photoshop", "version": "25.0",
    }  # fmt: skip
    socket.send(json.dumps({"jsonrpc": "2.0", "method": "session.proof", "params": params}))
    return json.loads(socket.recv(timeout=5))


def test_the_token_is_stored_nowhere(own):
    """What is stored recognises the plugin and cannot speak for it; it is its owner's alone."""
    _, folder, token = own
    text = (folder / pairing.FILE).read_text(encoding="utf-8")
    assert token not in text
    if os.name != "nt":
        assert 0o600 == stat.S_IMODE((folder / pairing.FILE).stat().st_mode)
        assert 0o700 == stat.S_IMODE(folder.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="modes mean nothing on Windows")
def test_a_pairing_that_others_can_read_is_refused(own):
    """As with keys."""
    _, folder, _ = own
    (folder / pairing.FILE).chmod(0o644)
    with pytest.raises(Refused):
        pairing.load(folder)


def test_a_damaged_or_absent_pairing_is_told(tmp_path, own):
    """Both with the command that mends them."""
    with pytest.raises(UsageFault):
        pairing.load(tmp_path / "none")
    (own[1] / pairing.FILE).write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidDocument):
        pairing.load(own[1])


def test_both_sides_prove_themselves(own):
    """The plugin's proof opens a session; the answer is one that only the paired side can make."""
    bridge, folder, token = own
    with dial(bridge) as socket:
        opened = prove(socket, token)
        assert "session.open" == opened["method"]
        assert "Photoshop" == bridge.wait(5).application
        assert pairing.load(folder).server_key not in json.dumps(opened)


@pytest.mark.parametrize("schema", [None, "sha256:" + "0" * 64])
def test_a_stranger_is_turned_away(own, schema):
    """A wrong token, and a plugin of another version, get no session."""
    bridge, _, token = own
    with dial(bridge) as socket, pytest.raises(ConnectionClosed) as caught:
        prove(socket, token if schema else "00" * 32, schema)
    assert (4426 if schema else 4401) == caught.value.rcvd.code
    with pytest.raises(OperationFailed, match="no paired plugin"):
        bridge.wait(0)


@pytest.mark.parametrize(
    "more",
    [
        {"origin": "http://127.0.0.1"},
        {"origin": "https://example.org"},
        {"path": "/"},
        {"additional_headers": {"Host": "example.org"}},
    ],
    ids=["page here", "page elsewhere", "path", "host"],
)
def test_a_web_page_gets_no_socket(own, more):
    """Origin, path and Host are checked before anything is said."""
    with pytest.raises(InvalidStatus) as caught:
        dial(own[0], **more)
    assert caught.value.response.status_code in {403, 404}


def test_who_says_nothing_or_nonsense_is_closed(own):
    """The first frame must be a proof."""
    with dial(own[0]) as socket:
        socket.recv(timeout=5)
        socket.send('{"jsonrpc": "2.0", "method": "accepted", "params": {"id": "x"}}')
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=5)


def test_a_second_proof_replaces_the_first(own):
    """One session; the older socket ends."""
    bridge, _, token = own
    with dial(bridge) as first, dial(bridge) as second:
        prove(first, token)
        prove(second, token)
        with pytest.raises(ConnectionClosed) as caught:
            first.recv(timeout=5)
        assert 4409 == caught.value.rcvd.code
        assert "Photoshop" == bridge.wait(5).application


def test_one_process_serves_a_home(own):
    """A second bridge on the same home is refused, also on another port."""
    with pytest.raises(OperationFailed, match="another process"):
        Bridge(own[1], port=0).open()


def test_what_a_dead_process_left_becomes_uncertain(tmp_path):
    """Sent or acknowledged, and no end: nobody knows."""
    pairing.pair(tmp_path / "home", NOW)
    ledger = photoshop_ledger(tmp_path / "home")
    for number, moves in enumerate(((), ("acknowledge",), ("complete",))):
        identity = "sha256:" + f"{number}" * 64
        ledger.record(identity, "s", methods.FINISH, "p")
        for move in moves:
            ledger.move(identity, move)
    with Bridge(tmp_path / "home", port=0) as bridge:
        assert ["sha256:" + "0" * 64, "sha256:" + "1" * 64] == [i.identity for i in bridge.ledger.uncertain()]


def test_an_identity_is_recorded_once(tmp_path):
    """Also after it ended."""
    ledger = photoshop_ledger(tmp_path / "home")
    ledger.record("sha256:" + "a" * 64, "s", methods.FINISH, "p")
    ledger.move("sha256:" + "a" * 64, "complete")
    with pytest.raises(OperationFailed):
        ledger.record("sha256:" + "a" * 64, "s", methods.FINISH, "p")
    with pytest.raises(CheckFailed):
        ledger.move("sha256:" + "a" * 64, "complete")


def test_nothing_leads_back_from_an_end():
    """The table: ended states have no move, uncertainty ends by a decision alone."""
    assert set() == {state for state, _ in MOVES} & {"completed", "failed", "resolved"}
    assert {("uncertain", "resolve")} == {key for key in MOVES if key[0] == "uncertain"}
    assert "sent" not in MOVES.values()


KEYS = st.sampled_from(["jsonrpc", "id", "result", "error", "method", "params"])
LEAVES = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner))


@given(st.text() | st.binary() | VALUES.map(json.dumps))
def test_any_frame_is_read_or_refused(frame):
    """No frame raises anything but the one typed refusal."""
    try:
        decode(frame)
    except CheckFailed as fault:
        assert "uxp.bad_frame" == fault.code  # noqa: PT017 - both outcomes are right


def test_what_the_plugin_may_answer_is_registered():
    """Every failure code of the plugin is one that recovery edges can name."""
    from fabric_dagster.capabilities.registry import failure_codes

    assert set() == set(PLUGIN_FAILURES) - set(failure_codes())


def frames_of(host) -> list[dict]:
    """Frames that the plugin sent since the last look."""
    return [json.loads(line[4:]) for line in host.state()["log"] if line.startswith("out {")]


def replies(host, text: str) -> list[dict]:
    """What the plugin answers to a frame that reaches its socket."""
    host.state()
    host.do("receive", text=text)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if found := frames_of(host):
            return found
        time.sleep(0.02)
    return []


def test_the_plugin_takes_each_request_once(stage, live, host):
    """A replayed frame, an old number, another session's and a malformed one are answered, never done."""
    live.stage(bound(stage, live, (OPEN, HIDE)), stage)
    sent = [line[3:] for line in host.state()["log"] if line.startswith("in {")]
    text = next(line for line in sent if methods.VISIBILITY in line)
    frame = json.loads(text)
    session = frame["params"]["session"]
    params = frame["params"]
    ahead = {**frame, "id": f"{session}-9999"}
    other = {**frame, "id": f"{'0' * 32}-9999", "params": {**params, "session": "0" * 32}}
    for case in (text, json.dumps(ahead), json.dumps(other), "[]", "null", "{]", json.dumps({"id": 7})):
        (answer,) = replies(host, case)
        assert "photoshop.request_refused" == answer["error"]["data"]["code"]
        assert answer["error"]["data"]["rolled_back"]
    host.do("drop")
    deadline = time.monotonic() + 10
    while not live._bridge._link and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        *(
            (name, {})
            for name in ("eval", "batchPlay", "executeAsModal", "__proto__", "constructor", "toString")
        ),
        (methods.VISIBILITY, {"layer": {"id": 1}, "visible": True, "script": "alert(1)"}),
        (methods.VISIBILITY, {"layer": {"id": 1, "_obj": "delete"}, "visible": True}),
        (methods.VISIBILITY, {"layer": {"id": 1}, "visible": True, "constructor": 1}),
        (methods.HOST, {"anything": 1}),
        (methods.BEGIN, {"partition": "0" * 32, "folder": "/", "sources": {"a": 1}}),
    ],
)
def test_no_other_method_or_argument_is_reachable(method, arguments, host, bridge):
    """The plugin's own table is closed, whatever reaches its socket."""
    session = bridge._link.session
    test_no_other_method_or_argument_is_reachable.number = number = (
        getattr(test_no_other_method_or_argument_is_reachable, "number", 5000) + 1
    )
    params = {"session": session, "identity": "sha256:" + f"{number:064x}", "arguments": arguments}
    frame = {"jsonrpc": "2.0", "id": f"{session}-{number}", "method": method, "params": params}
    bridge._link.number = number
    (answer,) = replies(host, json.dumps(frame))
    assert "photoshop.request_refused" == answer["error"]["data"]["code"]


@pytest.mark.parametrize("path", ["../out.psd", "a/../../out.psd", "C:/out.psd", "/out.psd", "a\\b.psd"])
def test_the_plugin_writes_under_its_folder_alone(path, host, bridge, tmp_path):
    """A path that climbs or is absolute is refused by the plugin too, were our own check not there."""
    assert host
    partition = "ab" * 16
    begin = {"partition": partition, "folder": tmp_path.as_posix(), "sources": {}}
    bridge.call(methods.BEGIN, begin)
    with pytest.raises(OperationFailed) as caught:
        bridge.call(methods.OPEN, {"source": "inputs/template.psd", "copy": path})
    assert "photoshop.request_refused" == caught.value.code
    bridge.call(methods.ABANDON, {"partition": partition})


def test_the_plugin_obeys_nobody_who_has_not_proven_himself(tmp_path):
    """A stranger on the port gets a proof that tells nothing, and no answer to anything else."""
    if why := node_missing():
        pytest.skip(why)
    said: list[str] = []

    def stranger(socket) -> None:
        challenge = {"protocol": methods.PROTOCOL, "schema": schema_digest(), "nonce": "00" * 32}
        socket.send(json.dumps({"jsonrpc": "2.0", "method": "session.challenge", "params": challenge}))
        said.append(socket.recv(timeout=5))
        session = "0" * 32
        opening = {"session": session, "signature": "00" * 32}
        socket.send(json.dumps({"jsonrpc": "2.0", "method": "session.open", "params": opening}))
        try:
            said.append(socket.recv(timeout=5))
        except ConnectionClosed as fault:
            said.append(f"closed {fault.rcvd.code}")

    token = pairing.pair(tmp_path / "home", NOW)
    with serve(stranger, "127.0.0.1", 0, compression=None) as server:
        import threading

        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = FakePhotoshop(server.socket.getsockname()[1])
        try:
            host.do("pair", token=token)
            deadline = time.monotonic() + 10
            while len(said) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert "closed 4400" == said[1]
            assert token not in said[0]
            assert not host.state()["said"].startswith("Connected")
        finally:
            host.close()
