"""The places outside the database where a log's signed head lies: a cut or replaced log disagrees with them.

Rules kept here:

* A head is written after its commit, never backwards. A file is replaced whole.
* Without flushing to the device: after a power cut an anchor may be older than the log (which is flushed),
  and then covers a little less; it is never newer.
* A place of another machine is written at most every ``REMOTE_SECONDS`` and at the end, and its silence stops
  no work; whoever verifies asks it, and there its silence is a fault.
"""

from __future__ import annotations

import logging
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from filelock import BaseFileLock, FileLock

from fabric_dagster.spine.checkpoints import MAX_BYTES, Checkpoint, open_checkpoint, sign_checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabric_dagster.spine.events import Trust
    from fabric_dagster.spine.ports import Signer

LOCK_SECONDS = 30
REPLACE_TRIES, REPLACE_PAUSE = 50, 0.01
REMOTE_SECONDS = 5.0
NAME = re.compile(r"checkpoint\.([a-z0-9_-]+)\.([a-z0-9_-]+)\.json")
_LOG = logging.getLogger(__name__)


class Anchor(Protocol):
    """One place."""

    where: str

    def read(self) -> Checkpoint | None:
        """The checkpoint, verified; ``None`` where there is none; ``CheckFailed`` for a bad one."""
        ...

    def advance(self, position: int, data: bytes) -> None:
        """Write ``data`` (a signed head at ``position``) unless a later one stands there already."""
        ...

    def flush(self) -> None:
        """Write what was put off."""
        ...


class Anchors:
    """Every place of the log (``workspace``, ``branch``): folders, or URLs of ``fsspec``."""

    def __init__(self, places: Iterable[str | Path], trust: Trust, workspace: str, branch: str) -> None:
        self._log = (workspace, branch)
        self._trust = trust
        name = f"checkpoint.{workspace}.{branch}.json"
        self.near: list[FileAnchor] = []
        self.far: list[RemoteAnchor] = []
        for place in dict.fromkeys(str(item) for item in places):
            if "://" in place:
                self.far.append(RemoteAnchor(f"{place.rstrip('/')}/{name}", self._open))
            else:
                self.near.append(FileAnchor(Path(place) / name, self._open))

    def all(self) -> list[Anchor]:
        """Near ones first."""
        return [*self.near, *self.far]

    def logs(self) -> set[tuple[str, str]]:
        """Workspace and branch of every log that has a head in one of the near places."""
        names = (path.name for anchor in self.near for path in anchor.path.parent.glob("checkpoint.*.json"))
        found = (NAME.fullmatch(name) for name in names)
        return {(match[1], match[2]) for match in found if match}

    def newest(self, *, far: bool) -> list[tuple[str, Checkpoint]]:
        """Every head that is written down, by its place; ``far`` asks other machines, too."""
        found = ((anchor.where, anchor.read()) for anchor in (self.all() if far else self.near))
        return [(where, checkpoint) for where, checkpoint in found if checkpoint is not None]

    def envelopes(self) -> list[tuple[int, bytes]]:
        """Position and signed bytes of every head in a near place."""
        found = (anchor.path.read_bytes() for anchor in self.near if anchor.read() is not None)
        return [(self._open(data).position, data) for data in found]

    def advance(self, position: int, head: str, signer: Signer) -> None:
        """Write the head everywhere."""
        data = sign_checkpoint(Checkpoint(*self._log, position, head), signer)
        for anchor in self.all():
            anchor.advance(position, data)

    def flush(self) -> None:
        """Write what was put off."""
        for anchor in self.far:
            anchor.flush()

    def _open(self, data: bytes) -> Checkpoint:
        return open_checkpoint(data, self._trust, *self._log)


class Opener(Protocol):
    """Proves a checkpoint's bytes."""

    def __call__(self, data: bytes) -> Checkpoint:
        """The checkpoint in ``data``, or ``CheckFailed``."""
        ...


class FileAnchor:
    """A signed head in the file ``path``."""

    def __init__(self, path: Path, opener: Opener) -> None:
        self.path = path
        self.where = str(path)
        self._open = opener
        self._owner = -1
        self._seen: tuple[tuple[int, int, int], Checkpoint] | None = None

    def read(self) -> Checkpoint | None:
        """See ``Anchor``; what was proven once is known by the file's identity."""
        try:
            found = os.stat(self.path)  # noqa: PTH116 - twice a single append's way: this is the quick one
            if self._seen is not None and self._seen[0] == _identity(found):
                return self._seen[1]
            with self.path.open("rb") as reader:
                found = os.fstat(reader.fileno())
                data = reader.read(MAX_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        checkpoint = self._open(data)
        self._seen = (_identity(found), checkpoint)
        return checkpoint

    def _locked(self) -> BaseFileLock:
        """The lock file's lock; a forked process may not use its parent's and makes its own."""
        if self._owner != os.getpid():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.path.with_name(self.path.name + ".lock"), timeout=LOCK_SECONDS)
            self._owner = os.getpid()
        return self._lock

    def advance(self, position: int, data: bytes) -> None:
        """See ``Anchor``."""
        with self._locked():
            standing = self.read()
            if standing is not None and standing.position >= position:
                return
            # One name: the lock is ours, so what lies there was left by a writer that was killed.
            temporary = self.path.with_name(f".{self.path.name}.tmp")
            temporary.unlink(missing_ok=True)
            try:
                with temporary.open("xb") as writer:
                    writer.write(data)
                    writer.flush()
                    found = os.fstat(writer.fileno())
                _replace(temporary, self.path)
            except BaseException:  # an interrupt too leaves no temporary file
                temporary.unlink(missing_ok=True)
                raise
            self._seen = (_identity(found), self._open(data))

    def flush(self) -> None:
        """Nothing is put off."""


class RemoteAnchor:
    """A signed head at a URL that ``fsspec`` serves."""

    def __init__(self, url: str, opener: Opener) -> None:
        self.where = url
        self._open = opener
        self._waiting: tuple[int, bytes] | None = None
        self._next = 0.0

    def read(self) -> Checkpoint | None:
        """See ``Anchor``."""
        from resources.files.remote import file_system

        system, path = file_system(self.where)
        try:
            data = system.cat_file(path, start=0, end=MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        return self._open(bytes(data))

    def advance(self, position: int, data: bytes) -> None:
        """See ``Anchor``; put off for a moment where the last one has just been written."""
        self._waiting = (position, data)
        if time.monotonic() >= self._next:
            self.flush()

    def flush(self) -> None:
        """Write the newest head, where one waits; a place that cannot be reached is tried again later."""
        from resources.files.remote import file_system

        if self._waiting is None:
            return
        position, data = self._waiting
        self._next = time.monotonic() + REMOTE_SECONDS
        try:
            system, path = file_system(self.where)
            standing = self.read()
            if standing is None or standing.position < position:
                system.makedirs(path.rpartition("/")[0], exist_ok=True)
                system.pipe_file(path, data)
        except Exception as fault:  # noqa: BLE001 - drivers raise what they like; verifying reports it
            _LOG.warning("the anchor %s could not be written: %s", self.where, fault)
            return
        self._waiting = None


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
