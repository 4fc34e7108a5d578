"""Asks the independent validator to review a candidate graph, in its own program with its own key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import CheckFailed, Fault, OperationFailed
from resources.validator.client import PASSED_ON

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT = 300.0


def request_review(
    validator_home: Path,
    pack_folder: Path,
    reference: str,
    corpus: str | None = None,
    *,
    timeout: float = TIMEOUT,
) -> dict[str, Any]:
    """The signed receipt (a DSSE envelope) of a passed review; ``timeout`` in seconds.

    Raises ``CheckFailed`` (``review.refused``) with what the validator said, and ``OperationFailed``
    (``review.no_answer``) where it said nothing of use.
    """
    command = [sys.executable, "-P", "-m", "fabric_dagster.validators", "review"]
    command += [
        "--home",
        str(validator_home.resolve()),
        "--pack",
        str(pack_folder.resolve()),
        "--graph",
        reference,
    ]
    command += ["--corpus", corpus] if corpus is not None else []
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
            env=environment | {"PYTHONIOENCODING": "utf-8"},
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise _no_answer(f"it did not answer within {timeout:g} seconds") from None
    if done.returncode != 0:
        lines = [line.removeprefix("validator: ") for line in done.stderr.splitlines() if line.strip()]
        if not any(line.endswith("]") for line in lines):
            raise _no_answer(lines[-1] if lines else f"it ended with code {done.returncode}")
        raise CheckFailed.of([Fault("review.refused", line, "the validator") for line in lines])
    try:
        envelope = json.loads(done.stdout)
    except ValueError:
        raise _no_answer("what it said is no JSON") from None
    if not isinstance(envelope, dict):
        raise _no_answer("what it said is no envelope")
    return envelope


def _no_answer(why: str) -> OperationFailed:
    return OperationFailed(
        "review.no_answer",
        f"the validator's program gave no review: {why}",
        mend="run `fabric doctor`",
    )
