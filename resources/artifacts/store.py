"""Artifacts in a folder: ``sha256/ab/abcdef…``, put by one rename, verified on every read.

Rules kept here:

* A name is its bytes' digest. Bytes are written under a temporary name, flushed, made read-only, then put in
  place by one atomic rename: a crash leaves a temporary file at most, and old ones are removed on opening.
* Putting what is there already writes nothing but its time, under the lock that removing takes too: what was
  put is never removed as old. A damaged file is replaced when the right bytes come again.
* No part of the path below the root may be a link.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import time
from typing import TYPE_CHECKING, BinaryIO

from filelock import FileLock

from fabric_dagster.digests import digest_file
from fabric_dagster.errors import CheckFailed, InvalidDocument, OperationFailed
from resources.files.durable import flush_folder
from resources.files.paths import is_link

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
CHUNK = 1 << 20
#: A temporary file that is older was left by a crash: no put takes an hour.
LEFTOVER_SECONDS = 3600
READ_ONLY = 0o444
LOCK = "artifacts.lock"
LOCK_SECONDS = 60


class FolderArtifactStore:
    """``fabric_dagster.artifacts.ports.ArtifactStore`` in the folder ``root``, made if needed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._blobs = root / "sha256"
        self._incoming = root / "incoming"
        for folder in (root, self._blobs, self._incoming):
            folder.mkdir(parents=True, exist_ok=True)
            if is_link(folder.lstat()):
                raise OperationFailed(
                    "artifact.symlink",
                    "a link stands in the store",
                    where=str(folder),
                    mend="use a real folder",
                )
        self._clean()

    def put_bytes(self, data: bytes) -> str:
        """Store ``data``; the digest is its name."""
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        if not self._kept(digest):
            with self._temporary() as (path, writer):
                writer.write(data)
                self._place(path, writer, digest)
        return digest

    def put_file(self, path: Path) -> str:
        """Store a regular file's bytes; the digest is of the bytes that were copied."""
        found = path.lstat()
        if is_link(found) or not stat.S_ISREG(found.st_mode):
            raise OperationFailed("artifact.irregular", "only a regular file is stored", where=str(path))
        if self._kept(digest := digest_file(path)):
            return digest
        state = hashlib.sha256()
        with path.open("rb") as reader, self._temporary() as (temporary, writer):
            while chunk := reader.read(CHUNK):
                state.update(chunk)
                writer.write(chunk)
            digest = "sha256:" + state.hexdigest()
            self._place(temporary, writer, digest)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of ``digest``, verified; ``CheckFailed`` (``artifact.missing``, ``artifact.corrupt``)."""
        path = self._found(digest)
        data = path.read_bytes()
        if "sha256:" + hashlib.sha256(data).hexdigest() != digest:
            raise _corrupt(path)
        return data

    def path(self, digest: str) -> Path:
        """A read-only file that holds the verified bytes of ``digest``."""
        path = self._found(digest)
        if digest_file(path) != digest:
            raise _corrupt(path)
        return path

    def has(self, digest: str) -> bool:
        """Whether the bytes are there and are what their name says."""
        try:
            self.path(digest)
        except CheckFailed:
            return False
        return True

    # -- what is there

    def digests(self) -> Iterator[str]:
        """Every name that is there, sorted within its folder; a file with another name is an error."""
        for folder in sorted(self._blobs.iterdir()):
            for entry in sorted(folder.iterdir()) if folder.is_dir() else [folder]:
                digest = f"sha256:{entry.name}"
                if DIGEST.fullmatch(digest) is None or self._name(digest) != entry:
                    raise OperationFailed(
                        "artifact.foreign",
                        "something else lies among the artifacts",
                        where=str(entry),
                        mend="find out who put it there and move it away",
                    )
                yield digest

    def verify(self, digest: str) -> None:
        """``CheckFailed`` where it is missing or not what its name says."""
        self.path(digest)

    def size(self, digest: str) -> int:
        """How many bytes it has."""
        return self._found(digest).stat().st_size

    def modified(self, digest: str) -> float:
        """When it was last put, in seconds since 1970."""
        return self._found(digest).stat().st_mtime

    def discard(self, digest: str, before: float) -> bool:
        """Remove it if it was last put ``before`` that time; whether it was."""
        with self.alone():
            path = self._found(digest)
            if path.stat().st_mtime >= before:
                return False
            if os.name == "nt":
                path.chmod(stat.S_IWRITE)
            path.unlink()
            return True

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only one that removes, or says of what is there that it was just put."""
        # A lock of its own each time: neither a thread nor a forked process may use another's.
        with FileLock(self.root / LOCK, timeout=LOCK_SECONDS):
            yield

    # -- the folder

    def _kept(self, digest: str) -> bool:
        """Whether it is there, sound, and now counts as just put."""
        with self.alone():
            path = self._name(digest)
            try:
                if not is_link(path.lstat()):
                    os.utime(path)
            except FileNotFoundError:
                return False
        return self.has(digest)

    def _name(self, digest: str) -> Path:
        match = DIGEST.fullmatch(digest)
        if match is None:
            raise bad_digest(digest)
        return self._blobs / match[1][:2] / match[1]

    def _found(self, digest: str) -> Path:
        path = self._name(digest)
        for part in (path.parent, path):
            try:
                found = part.lstat()
            except (FileNotFoundError, NotADirectoryError):
                raise CheckFailed(
                    "artifact.missing",
                    "the artifact store has no such bytes",
                    value=digest,
                    mend="restore the store from a backup, or run again from the step that made them",
                ) from None
            if is_link(found):
                raise _corrupt(part)
        if not stat.S_ISREG(found.st_mode):
            raise _corrupt(path)
        return path

    @contextlib.contextmanager
    def incoming(self) -> Iterator[Path]:
        """A temporary file's name beside the store; nothing is left there afterwards."""
        path = self._incoming / f"{secrets.token_hex(16)}.tmp"
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _temporary(self) -> Iterator[tuple[Path, BinaryIO]]:
        with self.incoming() as path, path.open("xb") as writer:
            yield path, writer

    def _place(self, temporary: Path, writer: BinaryIO, digest: str) -> None:
        writer.flush()
        os.fsync(writer.fileno())
        writer.close()
        temporary.chmod(READ_ONLY)
        target = self._name(digest)
        try:
            target.parent.mkdir()
        except FileExistsError:
            if is_link(target.parent.lstat()):
                raise _corrupt(target.parent) from None
        else:
            flush_folder(self._blobs)
        if os.name == "nt" and target.exists():
            # Windows does not replace a read-only file; here it can only be one that is damaged or the same.
            target.chmod(stat.S_IWRITE)
        temporary.replace(target)
        flush_folder(target.parent)

    def _clean(self) -> None:
        limit = time.time() - LEFTOVER_SECONDS
        for entry in os.scandir(self._incoming):
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime < limit:
                    os.unlink(entry.path)  # noqa: PTH108 - an entry of scandir


def bad_digest(text: str) -> InvalidDocument:
    """That something else stands where a digest must."""
    return InvalidDocument(
        "artifact.bad_digest", "this is no digest", value=text, mend="digests look like sha256:…"
    )


def _corrupt(path: Path) -> CheckFailed:
    return CheckFailed(
        "artifact.corrupt",
        "a stored artifact is not what its name says",
        where=str(path),
        mend="restore it from a backup, or run again from the step that made it",
    )
