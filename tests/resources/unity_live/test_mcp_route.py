"""The MCP route: a closed table of calls to a server on this machine, against one that misbehaves."""

from __future__ import annotations

import contextlib
import fcntl
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from live_plans import IMPORT, bound

from fabric_dagster.errors import NeedsPerson, OperationFailed, UsageFault
from resources.unity.live.cases import CASES, Bench
from resources.unity.live.mcp_route import TOOLS, McpSession
from resources.unity.live.provider import LiveUnity
from resources.unity.live.session import unity_ledger
from resources.unity.manifest import tree_manifest
from resources.unity.project import open_project

ICON = "Assets/Art/Offers/Icons/new.png"
FAKE = Path(__file__).parent / "fake_mcp.py"


class Server:
    """The fake on a port of its own, which it may leave for another."""

    def __init__(self, project, folder):
        self.project, self.folder, self.process = project, folder, None
        folder.mkdir()
        self.move()

    def move(self):
        """Start (again), elsewhere."""
        self.end()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = [sys.executable, str(FAKE), str(self.port), str(self.project), str(self.folder)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.1)

    def end(self):
        """End it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def address(self):
        """Where it is now."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def calls(self):
        """The tools that were called, in order, each with its arguments."""
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


@pytest.fixture
def server(project, tmp_path):
    """A server; the project is locked as by an open editor."""
    (project / "Temp").mkdir()
    with (project / "Temp/UnityLockfile").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = Server(project, tmp_path / "fake")
        yield made
        made.end()


@pytest.fixture
def routed(server, project, state):
    """A live provider over the server."""
    return LiveUnity(project, state=state, mcp=server.address, patience=1, request_seconds=10)


def commit(unity, stage, transaction="t-1"):
    """Stage and commit an import; what is observed then."""
    plan = bound(unity, IMPORT)
    staged = unity.stage(plan, stage)
    unity.commit(stage, staged, transaction)
    return unity.observe(plan, staged)


def test_a_commit_goes_through_fixed_calls_alone(server, routed, project, stage, state):
    """Open scenes, one refresh, one look; the manifest is not touched, the server may move in between."""
    manifest = (project / "Packages/manifest.json").read_bytes()
    session = McpSession(open_project(project), server.address, unity_ledger(state), seconds=10)
    session.call("session.hold", {"paths": []})
    server.move()
    seen = commit(routed, stage)
    assert [] == [f"{o.subject}: {o.expected} != {o.found}" for o in seen if not o.holds]
    assert f"{ICON}, in the editor: guid" in {item.subject for item in seen}
    assert manifest == (project / "Packages/manifest.json").read_bytes()
    tools = [item["tool"] for item in server.calls() if item["tool"] != "set_active_instance"]
    assert ["manage_scene", "manage_scene", "refresh_unity", "manage_asset"] == tools
    (refresh,) = [item for item in server.calls() if item["tool"] == "refresh_unity"]
    assert ("force", "assets", "none", False) == tuple(
        refresh[key] for key in ("mode", "scope", "compile", "wait_for_ready")
    )
    assert ["completed"] == [item.state for item in unity_ledger(state).all()]


@pytest.mark.parametrize("how", ["drops", pytest.param("refuses", marks=pytest.mark.proof)])
def test_a_mutation_without_a_good_end_is_uncertain_and_sent_once(server, routed, stage, state, how):
    """The connection that drops, and the reply that says no after it may have begun."""
    (server.folder / how).write_text("", "utf-8")
    with pytest.raises(NeedsPerson) as caught:
        commit(routed, stage)
    assert "unity.uncertain" == caught.value.code
    assert ["uncertain"] == [item.state for item in unity_ledger(state).all()]
    assert 1 == [item["tool"] for item in server.calls()].count("refresh_unity")
    with pytest.raises(NeedsPerson):
        commit(routed, stage, "t-2")
    assert 1 == [item["tool"] for item in server.calls()].count("refresh_unity")


@pytest.mark.parametrize(
    ("how", "code"),
    [
        pytest.param("another_project", "unity.no_session", marks=pytest.mark.proof),
        ("scene", "unity.scene_open"),
    ],
)
def test_refused_before_a_byte_is_written(server, routed, project, stage, how, code):
    """Another project's editor, and a scene that is open."""
    (server.folder / how).write_text(ICON, "utf-8")
    before = tree_manifest(project)
    with pytest.raises(OperationFailed) as caught:
        commit(routed, stage)
    assert code == caught.value.code
    assert before == tree_manifest(project)


@pytest.mark.parametrize("how", [pytest.param("postprocessor", marks=pytest.mark.proof), "lies"])
def test_a_success_that_is_none_does_not_hold(server, routed, stage, how):
    """The files are read again, and the editor's own answer is compared with them."""
    (server.folder / how).write_text("", "utf-8")
    assert [item.subject for item in commit(routed, stage) if not item.holds]


def test_nothing_else_can_be_called(project, state):
    """A method that is not in the table, and an address that is not here; nobody is asked."""
    session = McpSession(open_project(project), lambda: "http://example.com/mcp", unity_ledger(state))
    with pytest.raises(OperationFailed) as caught:
        session.call("execute_code", {"code": "x"})
    assert "capability_unavailable" == caught.value.code
    with pytest.raises(UsageFault) as refused:
        session.call("session.hold", {"paths": []})
    assert "unity.not_loopback" == refused.value.code
    names = {tool.name for tool in TOOLS.values()}
    assert {"manage_scene", "refresh_unity", "manage_asset"} == names


def test_a_server_that_is_not_there(project, state):
    """A plain failure: nothing was sent."""
    session = McpSession(
        open_project(project), lambda: "http://127.0.0.1:9/mcp", unity_ledger(state), seconds=5
    )
    with pytest.raises(OperationFailed) as caught:
        session.call("session.import", {"paths": []})
    assert "unity.no_session" == caught.value.code
    assert () == unity_ledger(state).all()


@pytest.mark.proof
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in {"imports", "moves"}], ids=lambda case: case.name
)
def test_the_conformance_cases(routed, case, tmp_path):
    """The same cases as every other route of the port."""
    observations = list(case.run(Bench(routed, tmp_path / "bench")))
    assert observations
    assert [] == [f"{o.subject}: {o.expected} != {o.found}" for o in observations if not o.holds]
