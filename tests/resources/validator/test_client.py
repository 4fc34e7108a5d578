"""The way to the validator's program: warm, alone, restarted once, never believed without an answer."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fabric_dagster.contracts.evidence import BlindEvidence
from fabric_dagster.errors import OperationFailed, Refused
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.supervisor.watch import Watch, watching
from fabric_dagster.validators.keys import load_key
from fabric_dagster.validators.verdicts import open_verdict
from resources.validator import client as clients
from resources.validator.client import ValidatorClient

STUB = """
import json, sys, time
print(json.dumps({"ready": {"identity": "validator", "keyid": "sha256:" + "0" * 64}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    {answer}
"""


def pid_of(client: ValidatorClient) -> int:
    """The running program's process."""
    return client._program().program._process.pid


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Replaces the program by a script; write its behaviour into the returned file."""
    script = tmp_path / "stub.py"
    real = subprocess.Popen

    def popen(_command: list[str], **options: object) -> subprocess.Popen[str]:
        return real([sys.executable, str(script)], **options)

    monkeypatch.setattr(clients.subprocess, "Popen", popen)
    return script


def test_a_verdict_comes_back_signed(
    client: ValidatorClient, home: Path, evidence: BlindEvidence, tmp_path: Path
) -> None:
    """The envelope opens with the key in the validator's home, on the evidence that was asked about."""
    client.start()

    envelope = client.judge(evidence, tmp_path / "out")

    trust = TrustRoot.of({"validator": load_key(home).public})
    assert not open_verdict(envelope, trust, evidence).passed
    assert load_key(home).keyid == client.keyid()


def test_the_program_is_shared_and_warm(
    client: ValidatorClient, home: Path, evidence: BlindEvidence, tmp_path: Path
) -> None:
    """Clients of one home, from any thread, ask one program, one after the other."""
    answers: list[dict[str, object]] = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(ValidatorClient(home).judge(evidence, tmp_path / "out"))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    first = pid_of(client)
    client.judge(evidence, tmp_path / "out")

    assert (4, first) == (len(answers), pid_of(client))
    assert all(answer == answers[0] for answer in answers)


def test_a_dead_program_is_started_again(
    client: ValidatorClient, evidence: BlindEvidence, tmp_path: Path
) -> None:
    """The caller notices nothing but the time."""
    client.judge(evidence, tmp_path / "out")
    program = client._program().program._process
    program.kill()
    program.wait()

    assert client.judge(evidence, tmp_path / "out")["signatures"]


def test_a_program_that_cannot_start_is_a_typed_failure(tmp_path: Path, evidence: BlindEvidence) -> None:
    """Without a key there is no verdict; the error says what the program said."""
    client = ValidatorClient(tmp_path / "nobody")
    client.start()

    with pytest.raises(OperationFailed, match=r"has no key here.*\[validator\.unavailable\]"):
        client.judge(evidence, tmp_path / "out")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("sys.exit(3)", "ended with code 3"),
        ("print('nonsense', flush=True)", "no JSON"),
        ("print('[]', flush=True)", "no object"),
        ("print(json.dumps({'id': -1, 'envelope': {}}), flush=True)", "another question"),
    ],
)
def test_a_misbehaving_program_is_a_typed_failure(
    stub: Path, client: ValidatorClient, evidence: BlindEvidence, tmp_path: Path, answer: str, why: str
) -> None:
    """Asked twice at most; no answer of another shape is taken for a verdict."""
    stub.write_text(STUB.replace("{answer}", answer), encoding="utf-8")

    with pytest.raises(OperationFailed, match=rf"{why}.*\[validator\.unavailable\]"):
        client.judge(evidence, tmp_path / "out")


def test_a_hung_program_is_ended_in_time(
    stub: Path, client: ValidatorClient, evidence: BlindEvidence, tmp_path: Path
) -> None:
    """The time limit holds for the whole question, and the program does not stay behind."""
    stub.write_text(STUB.replace("{answer}", "time.sleep(60)"), encoding="utf-8")
    started = time.monotonic()

    with pytest.raises(OperationFailed, match=r"in time.*\[validator\.unavailable\]"):
        client.judge(evidence, tmp_path / "out", timeout=1.5)

    assert time.monotonic() - started < 10
    assert client._program().program is None


def test_a_watch_ends_the_question(
    stub: Path, client: ValidatorClient, evidence: BlindEvidence, tmp_path: Path
) -> None:
    """What is no longer wanted is not waited for: its reason is told, no program stays behind."""
    stub.write_text(STUB.replace("{answer}", "time.sleep(60)"), encoding="utf-8")
    started = time.monotonic()

    def unwanted() -> None:
        raise Refused("authority.stopped", "smoke")

    with pytest.raises(Refused), watching(Watch(60, "x.y", unwanted)):
        client.judge(evidence, tmp_path / "out")

    assert time.monotonic() - started < 10
    assert client._program().program is None


def test_the_programs_own_fault_keeps_its_code(
    stub: Path, client: ValidatorClient, evidence: BlindEvidence, tmp_path: Path
) -> None:
    """What the program refused is not called unavailable."""
    fault = "{'code': 'validator.files', 'what': 'no space left'}"
    answer = f"print(json.dumps({{'id': request['id'], 'fault': [{fault}]}}), flush=True)"
    stub.write_text(STUB.replace("{answer}", answer), encoding="utf-8")

    with pytest.raises(OperationFailed, match=r"no space left.*\[validator\.files\]"):
        client.judge(evidence, tmp_path / "out")


def test_a_spent_program_makes_room(
    stub: Path, client: ValidatorClient, evidence: BlindEvidence, tmp_path: Path
) -> None:
    """Its answer counts, and the next question goes to a fresh one."""
    answer = "print(json.dumps({'id': request['id'], 'envelope': {'spent': 1}, 'spent': True}), flush=True)"
    stub.write_text(STUB.replace("{answer}", answer), encoding="utf-8")

    assert {"spent": 1} == client.judge(evidence, tmp_path / "out")
    assert client._program().program is None


def test_no_secret_of_this_process_reaches_the_program(
    stub: Path,
    client: ValidatorClient,
    evidence: BlindEvidence,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its environment is what Python needs to start."""
    monkeypatch.setenv("JIRA_TOKEN", "secret")
    monkeypatch.setenv("FABRIC_HOME", str(tmp_path))
    answer = "import os; print(json.dumps({'id': request['id'], 'envelope': dict(os.environ)}), flush=True)"
    stub.write_text(STUB.replace("{answer}", answer), encoding="utf-8")

    seen = client.judge(evidence, tmp_path / "out")

    assert {"JIRA_TOKEN", "FABRIC_HOME"}.isdisjoint(seen)
    assert "PATH" in seen


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on Windows")
def test_the_program_ends_with_the_process(home: Path) -> None:
    """However that ends: a killed process leaves no program behind."""
    text = (
        "import sys, time; from pathlib import Path; from resources.validator.client import ValidatorClient\n"
        "client = ValidatorClient(Path(sys.argv[1])); client.keyid()\n"
        "print(client._program().program._process.pid, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", text, str(home)], stdout=subprocess.PIPE, text=True
    ) as parent:
        program = int(parent.stdout.readline())
        parent.kill()
        parent.wait()

    for _ in range(100):
        try:
            os.kill(program, 0)
        except ProcessLookupError:
            break
        # Nobody may be there to reap it: a zombie is as good as gone.
        status = Path(f"/proc/{program}/stat")
        if status.exists() and status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("the program outlives its parent")
