"""Asks the validator's reviewing program: a process of its own, with its own key and environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import (
    CheckFailed,
    FabricError,
    Fault,
    NeedsPerson,
    OperationFailed,
    Refused,
    UsageFault,
)
from resources.validator.client import PASSED_ON, roots

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT = 300.0
PREFIX = "validator: "
BY_EXIT_CODE: dict[int, type[FabricError]] = {1: CheckFailed, 2: UsageFault, 3: Refused, 4: NeedsPerson}


def ask(validator_home: Path, *words: str, timeout: float = TIMEOUT) -> dict[str, Any]:
    """What the program answers to a subcommand in ``validator_home``; ``timeout`` in seconds.

    Raises what the program raised, with its codes, and ``OperationFailed`` (``review.no_answer``) where it
    said nothing of use.
    """
    command = [sys.executable, "-P", "-m", "resources.reviewer", words[0]]
    command += ["--home", str(validator_home.resolve()), *words[1:]]
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
            env=environment | {"PYTHONPATH": roots(), "PYTHONIOENCODING": "utf-8"},
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise _no_answer(f"it did not answer within {timeout:g} seconds") from None
    if done.returncode != 0:
        raise _said(done.returncode, done.stderr)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise _no_answer("what it said is no JSON") from None
    if not isinstance(answer, dict):
        raise _no_answer("what it said is no object")
    return answer


def request_review(
    validator_home: Path,
    pack_folder: Path,
    reference: str,
    corpus: str | None = None,
    *,
    timeout: float = TIMEOUT,
) -> dict[str, Any]:
    """The signed receipt (a DSSE envelope) of a passed review; raises as ``ask`` does."""
    words = ["review", "--sign", "--pack", str(pack_folder.resolve()), "--graph", reference]
    words += ["--corpus", corpus] if corpus is not None else []
    return ask(validator_home, *words, timeout=timeout)


def _said(code: int, stderr: str) -> FabricError:
    """The program's own faults, with their codes; its exit code tells their kind."""
    faults = []
    for line in stderr.splitlines():
        try:
            if line.startswith(PREFIX):
                faults.append(Fault(**json.loads(line.removeprefix(PREFIX))))
        except (ValueError, TypeError):
            continue
    if not faults:
        lines = [line for line in stderr.splitlines() if line.strip()]
        return _no_answer(lines[-1] if lines else f"it ended with code {code}")
    return BY_EXIT_CODE.get(code, OperationFailed).of(faults)


def _no_answer(why: str) -> OperationFailed:
    return OperationFailed(
        "review.no_answer",
        f"the validator's program gave no review: {why}",
        mend="run `fabric doctor`",
    )
