"""Peers that cannot live in this environment (their pins clash with ours) get one of their own for a run."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MINUTES = 10 * 60


@contextlib.contextmanager
def environment(*requirements: str) -> Iterator[Path | None]:
    """A Python with ``requirements``, gone afterwards; ``None`` where they cannot be had."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        done = subprocess.run(install, capture_output=True, check=False, timeout=MINUTES)
        yield python if done.returncode == 0 else None


def ask(python: Path, script: str, *words: str) -> Any:
    """What ``script`` prints as JSON when that Python runs it."""
    done = subprocess.run(
        [python, "-c", script, *words], stdout=subprocess.PIPE, stderr=sys.stderr, check=True, timeout=MINUTES
    )
    return json.loads(done.stdout)
