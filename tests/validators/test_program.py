"""The validator's own program: what it answers, what it refuses, when it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from validator_world import World

from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.validators.keys import load_key, make_key
from fabric_dagster.validators.verdicts import open_verdict


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A validator's home with a key."""
    make_key(tmp_path / "home")
    return tmp_path / "home"


def start(home: Path) -> subprocess.Popen[str]:
    """The program, serving."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "fabric_dagster.validators", "serve", "--home", str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )


def asked(program: subprocess.Popen[str], line: str) -> dict[str, object]:
    """The answer to one line."""
    program.stdin.write(line + "\n")
    program.stdin.flush()
    return json.loads(program.stdout.readline())


def test_it_says_that_it_is_warm_and_answers_lines(home: Path, world: World, tmp_path: Path) -> None:
    """The first line names the key; a verdict comes back signed with it; nonsense is answered as such."""
    with start(home) as program:
        ready = json.loads(program.stdout.readline())["ready"]
        assert load_key(home).keyid == ready["keyid"]

        assert {"id": 7, "pong": True} == asked(program, '{"id": 7, "ping": true}')
        assert asked(program, "nonsense")["fault"][0]["code"] == "validator.bad_request"
        assert asked(program, "[1]")["fault"][0]["code"] == "validator.bad_request"
        faults = asked(program, '{"id": 8, "judge": {"schema": "other"}, "out": "x"}')["fault"]
        assert {"document.missing_key", "document.bad_value"} == {fault["code"] for fault in faults}

        evidence = world.evidence("unity_1")
        request = {"id": 9, "judge": evidence.body(), "out": str(tmp_path / "out")}
        answer = asked(program, json.dumps(request))
        trust = TrustRoot.of({"validator": load_key(home).public})
        assert open_verdict(answer["envelope"], trust, evidence).passed
        program.stdin.close()
        assert program.wait(20) == 0


def test_it_ends_with_its_parent_even_amidst_a_check(home: Path, world: World, tmp_path: Path) -> None:
    """The end of its input ends it at once, whatever it is doing."""
    with start(home) as program:
        program.stdout.readline()
        request = {"id": 1, "judge": world.evidence("photoshop_1").body(), "out": str(tmp_path / "out")}
        program.stdin.write(json.dumps(request) + "\n")
        program.stdin.flush()
        program.stdin.close()
        started = time.monotonic()
        program.wait(20)
        assert time.monotonic() - started < 5


def test_it_does_not_start_without_a_key_of_its_own(tmp_path: Path) -> None:
    """One line on standard error, exit code 2, nothing on standard output."""
    done = subprocess.run(
        [sys.executable, "-m", "fabric_dagster.validators", "serve", "--home", str(tmp_path)],
        capture_output=True,
        text=True,
        input="",
        check=False,
        encoding="utf-8",
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert "[validator.no_key]" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_an_exposed_key_is_refused(home: Path) -> None:
    """A key that others can read signs nothing: exit code 3."""
    (home / "keys" / "validator.key").chmod(0o644)

    done = subprocess.run(
        [sys.executable, "-m", "fabric_dagster.validators", "serve", "--home", str(home)],
        capture_output=True,
        text=True,
        input="",
        check=False,
        encoding="utf-8",
    )

    assert done.returncode == 3
    assert "[validator.key_exposed]" in done.stderr


def test_a_key_is_made_once(home: Path) -> None:
    """A second one is refused and the first one stays."""
    before = load_key(home).keyid

    done = subprocess.run(
        [sys.executable, "-m", "fabric_dagster.validators", "keygen", "--home", str(home)],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "[validator.key_exists]" in done.stderr
    assert before == load_key(home).keyid


@pytest.mark.parametrize(("harm", "code"), [(False, 0), (True, 1)])
def test_one_evidence_file_is_judged(home: Path, world: World, tmp_path: Path, harm: bool, code: int) -> None:
    """``judge`` prints the envelope alone and says by its exit code whether the blocking checks passed."""
    if harm:
        world.asset.write_bytes(world.asset.read_bytes().replace(b"Starter Pack", b"Startr Pack"))
    evidence = world.evidence("unity_1")
    (tmp_path / "evidence.json").write_text(json.dumps(evidence.body()), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "fabric_dagster.validators", "judge", "--home", str(home),
         str(tmp_path / "evidence.json"), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )  # fmt: skip

    assert done.returncode == code, done.stderr
    trust = TrustRoot.of({"validator": load_key(home).public})
    assert (code == 0) == open_verdict(json.loads(done.stdout), trust, evidence).passed
