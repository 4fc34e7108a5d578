"""The commands around a real editor, and what a home without one refuses."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from pathlib import Path

import pytest

from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.cli.main import main
from fabric_dagster.errors import CheckFailed, InvalidDocument, NeedsPerson, Refused
from fabric_dagster.graphs.compile import compile_graph
from fabric_dagster.graphs.seal import seal_graph
from fabric_dagster.graphs.served import require_served
from fabric_dagster.graphs.source import parse_graph
from resources.home import Home
from resources.setup import initialise
from resources.supervision.assembly import Hall
from resources.supervision.scoping import _differences, scope_now
from resources.unity.live.batch import SERVES
from resources.unity.live.deployment import Deployments
from resources.unity.live.package import NAME
from resources.unity.live.provider import LiveUnity
from resources.unity.live.qualify import open_qualification
from resources.unity.live.session import unity_ledger
from resources.unity.manifest import tree_manifest
from resources.unity.project import open_project
from resources.unity.provider import HeadlessUnity

FAKE = Path(__file__).parent / "fake_editor.py"
CHECKOUT = Path(__file__).resolve().parents[3]
GRAPH = CHECKOUT / "packs/offers/graphs/create_offer_icon_and_integrate.yaml"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home that is initialised."""
    made = Home(tmp_path_factory.mktemp("cli").resolve() / "home")
    initialise(made)
    return made


@pytest.fixture
def executable(tmp_path):
    """The fake editor as one executable file."""

    def make(behave):
        path = tmp_path / f"unity-{behave}"
        path.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "--behave={behave}" "$@"\n', encoding="utf-8"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


def run(capsys, home, *words):
    """The exit code of a command and its JSON."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["unity", *map(str, words), "--home", str(home.path), "--json"])
    told = capsys.readouterr()
    return int(ended.value.code or 0), json.loads(told.out) if told.out else {"error": told.err}


def test_qualify_signs_what_came_of_every_case(home, project, executable, capsys, tmp_path):
    """On a copy: the project is as before; a record that another signed is none."""
    before = tree_manifest(project)
    out = tmp_path / "record.json"
    code, told = run(capsys, home, "qualify", project, "--editor", executable("no_tests"), "--out", out)
    assert (0, True) == (code, told["passed"])
    assert {"passed"} == {case["verdict"] for case in told["record"]["cases"]}
    assert before == tree_manifest(project)
    envelope = json.loads(out.read_bytes())
    assert "batch" == open_qualification(envelope, home.trust_root()).route
    envelope["signatures"][0]["sig"] = envelope["signatures"][0]["sig"][:-8] + "AAAAAAA="
    with pytest.raises((CheckFailed, Refused)):
        open_qualification(envelope, home.trust_root())


@pytest.mark.proof
def test_qualify_tells_a_failure(home, project, executable, capsys, tmp_path):
    """An editor that fails: exit 1, and the record says which case."""
    out = tmp_path / "record.json"
    code, told = run(capsys, home, "qualify", project, "--editor", executable("no_player"), "--out", out)
    assert 1 == code
    verdicts = {case["case"]: case["verdict"] for case in told["record"]["cases"]}
    assert ("failed", "passed") == (verdicts["builds"], verdicts["imports"])


def test_status_and_restore(home, project, capsys):
    """What was cut off is told with exit 4, taken back by one command, and then nothing is left."""
    before = tree_manifest(project)
    deployments = Deployments(open_project(project), home.unity)
    with deployments.alone():
        deployments._deploy(None)  # a process that died here
    code, told = run(capsys, home, "status", project)
    assert (4, ["deployed"]) == (code, [item["state"] for item in told["deployments"]])
    code, told = run(capsys, home, "restore", project)
    assert (0, 1) == (code, len(told["restored"]))
    assert before == tree_manifest(project)
    assert 0 == run(capsys, home, "status", project)[0]


def test_restoration_required_is_exit_4(home, project, capsys):
    """While somebody else's change stands with our package in it."""
    deployments = Deployments(open_project(project), home.unity)
    with deployments.alone():
        deployments._deploy(None)
    manifest = project / "Packages/manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace("com.unity.ugui", "com.theirs"), "utf-8")
    assert 4 == run(capsys, home, "restore", project)[0]
    assert "com.theirs" in manifest.read_text("utf-8")
    document = json.loads(manifest.read_text("utf-8"))
    del document["dependencies"][NAME]
    manifest.write_text(json.dumps(document), "utf-8")
    assert 0 == run(capsys, home, "restore", project)[0]


def test_resolve_is_signed_and_sends_nothing(home, project, capsys):
    """An operator's decision ends an uncertain request."""
    ledger = unity_ledger(home.unity)
    identity = "sha256:" + "ab" * 32
    ledger.record(identity, "session", "session.import", "")
    ledger.move(identity, "lose", {"why": "the editor ended"})
    assert 4 == run(capsys, home, "status", project)[0]
    with pytest.raises(NeedsPerson):
        ledger.require_settled()
    words = ("resolve", "abab", "--decision", "did_not_happen", "--evidence", "the console shows no import")
    assert 0 == run(capsys, home, *words)[0]
    ledger.require_settled()
    assert "did_not_happen" == ledger.resolution(identity, home.trust_root())["decision"]


def test_which_editor(home, project, capsys):
    """Neither is the call's fault; --running without one is, too; an unreviewed skill is refused."""
    assert 2 == run(capsys, home, "qualify", project)[0]
    assert 2 == run(capsys, home, "qualify", project, "--running")[0]
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["unity", "try-skill", str(project), "script_create", "{}", "--json"])
    assert 1 == ended.value.code
    assert "unity_skills.not_reviewed" in capsys.readouterr().err


def compiling_graph():
    """The pack's graph with a compilation after its last edit, compiled."""
    words = (
        "- id: compile",
        "  capability: unity.compile@1",
        "  description: Compile.",
        "  needs: [set_title]",
    )
    node = "".join(f"  {line}\n" for line in words)
    text = GRAPH.read_text(encoding="utf-8")
    text = text.replace("  - id: verdict\n", f"{node}  - id: verdict\n", 1)
    head, _, tail = text.partition("  - id: verdict\n")
    text = f"{head}  - id: verdict\n{tail.replace('needs: [set_title]', 'needs: [compile]', 1)}"
    text = text.replace("effects:\n", "effects:\n  - unity.editor.run\n", 1)
    known = capabilities()
    return compile_graph(seal_graph(parse_graph(text.encode(), "graph.yaml"), known), known)


def test_a_graph_that_needs_an_editor_does_not_compile_for_the_headless_provider(project, state, batch):
    """Nor for a live one without an editor; for one with it, it does."""
    compiled = compiling_graph()
    others = frozenset(name for name in capabilities() if name not in SERVES)
    with pytest.raises(InvalidDocument) as caught:
        require_served(compiled, others)
    assert [("graph.not_served", "compile")] == [(fault.code, fault.where) for fault in caught.value.faults]
    assert "unity.compile@1" not in HeadlessUnity(project).serves | LiveUnity(project, state=state).serves
    require_served(compiled, others | LiveUnity(project, state=state, batch=batch()).serves)


def test_it_is_not_commissioned_either(home, tmp_path, executable):
    """A home on embedded defaults refuses the commission; one with an editor does not."""
    from dataclasses import replace
    from datetime import UTC, datetime, timedelta

    compiled = compiling_graph()
    until = datetime.now(UTC) + timedelta(days=1)

    def codes(place):
        hall = Hall(place)
        (workflow, *_) = hall.workflows.values()
        wanted = replace(workflow, compiled=compiled)
        return [
            fault.code
            for fault in _differences(hall, wanted, scope_now(hall, wanted, ("Assets/**",), until=until))
        ]

    assert ["graph.not_served"] == codes(home)
    other = tmp_path / "home"
    shutil.copytree(home.path, other)
    config = other / "home.yaml"
    config.write_text(
        config.read_text("utf-8") + f"unity: live\nunity_editor: {executable('none')}\n", "utf-8"
    )
    assert [] == codes(Home(other.resolve()))
