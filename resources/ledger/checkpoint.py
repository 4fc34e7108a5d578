"""The checkpoint file of one log: written after each commit, never backwards.

Written without flushing to the device: after a power cut it may be older than the log (which is flushed),
and then covers a little less; it is never newer, since it is written after the commit.
"""

from __future__ import annotations

import os
import secrets
import time
from typing import TYPE_CHECKING

from filelock import BaseFileLock, FileLock

from fabric_dagster.spine.checkpoints import MAX_BYTES, Checkpoint, open_checkpoint, sign_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

    from fabric_dagster.spine.events import Trust
    from fabric_dagster.spine.ports import Signer

LOCK_SECONDS = 30
REPLACE_TRIES, REPLACE_PAUSE = 50, 0.01


class CheckpointFile:
    """The signed head of the log (``workspace``, ``branch``) at ``path``."""

    def __init__(self, path: Path, trust: Trust, workspace: str, branch: str) -> None:
        self.path = path
        self._trust = trust
        self._log = (workspace, branch)
        self._owner = -1
        self._seen: tuple[tuple[int, int, int], Checkpoint] | None = None

    def read(self) -> Checkpoint | None:
        """The checkpoint, verified; ``None`` where there is no file; ``CheckFailed`` for a bad one."""
        try:
            found = os.stat(self.path)  # noqa: PTH116 - twice a single append's way: this is the quick one
            if self._seen is not None and self._seen[0] == _identity(found):
                return self._seen[1]
            with self.path.open("rb") as reader:
                found = os.fstat(reader.fileno())
                data = reader.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        checkpoint = open_checkpoint(data, self._trust, *self._log)
        self._seen = (_identity(found), checkpoint)
        return checkpoint

    def _locked(self) -> BaseFileLock:
        """The lock file's lock; a forked process may not use its parent's and makes its own."""
        if self._owner != os.getpid():
            self._lock = FileLock(self.path.with_name(self.path.name + ".lock"), timeout=LOCK_SECONDS)
            self._owner = os.getpid()
        return self._lock

    def advance(self, position: int, head: str, signer: Signer) -> None:
        """Write the head unless a later one stands there already."""
        with self._locked():
            standing = self.read()
            if standing is not None and standing.position >= position:
                return
            checkpoint = Checkpoint(*self._log, position, head)
            data = sign_checkpoint(checkpoint, signer)
            temporary = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.tmp")
            try:
                with temporary.open("xb") as writer:
                    writer.write(data)
                    writer.flush()
                    found = os.fstat(writer.fileno())
                _replace(temporary, self.path)
            except BaseException:  # an interrupt too leaves no temporary file
                temporary.unlink(missing_ok=True)
                raise
            self._seen = (_identity(found), checkpoint)


def _replace(temporary: Path, target: Path) -> None:
    """Rename; Windows refuses for the moment in which somebody has the target open to read it."""
    for _ in range(REPLACE_TRIES):
        try:
            temporary.replace(target)
        except PermissionError:
            if os.name != "nt":
                raise
            time.sleep(REPLACE_PAUSE)
        else:
            return
    temporary.replace(target)


def _identity(found: os.stat_result) -> tuple[int, int, int]:
    """What tells a written file from the one that it replaced."""
    return found.st_ino, found.st_mtime_ns, found.st_size
