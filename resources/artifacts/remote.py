"""Artifacts at any URL that ``fsspec`` serves, with a verified cache of files on this machine.

Rules kept here:

* What is read is verified before anybody gets it, and only then enters the cache; the cache verifies again.
* An upload goes under a temporary name and is moved, so that a name never holds half of its bytes.
* Putting again what lies there for long uploads it anew: its time says how long ago somebody put it.
* One home uses one place: the lock that keeps removing and putting apart is the cache's.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from typing import TYPE_CHECKING

from fabric_dagster.digests import digest_file
from fabric_dagster.errors import CheckFailed, OperationFailed
from resources.artifacts.store import DIGEST, bad_digest
from resources.files.remote import file_system

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from resources.artifacts.store import FolderArtifactStore

#: What was put longer ago is put again, so that it does not count as old.
REFRESH_SECONDS = 3600


class RemoteArtifactStore:
    """``fabric_dagster.artifacts.ports.ArtifactStore`` at ``url``; ``cache`` holds files of this machine."""

    def __init__(self, url: str, cache: FolderArtifactStore) -> None:
        self.url = url
        self.cache = cache
        self._system, root = file_system(url)
        self._root = root.rstrip("/")

    def put_bytes(self, data: bytes) -> str:
        """Store ``data``; the digest is its name."""
        digest = self.cache.put_bytes(data)
        self._upload(digest)
        return digest

    def put_file(self, path: Path) -> str:
        """Store a regular file's bytes; the digest is of the bytes that were copied."""
        digest = self.cache.put_file(path)
        self._upload(digest)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of ``digest``, verified; ``CheckFailed`` (``artifact.missing``, ``artifact.corrupt``)."""
        return self.path(digest).read_bytes()

    def path(self, digest: str) -> Path:
        """A read-only file of this machine that holds the verified bytes of ``digest``."""
        if not self.cache.has(digest):
            self._download(digest)
        return self.cache.path(digest)

    def has(self, digest: str) -> bool:
        """Whether the bytes are there, at the URL, and are what their name says."""
        try:
            self.verify(digest)
        except CheckFailed:
            return False
        return True

    # -- what is there

    def digests(self) -> Iterator[str]:
        """Every name that is there; a file with another name is an error."""
        folder = f"{self._root}/sha256"
        self._system.invalidate_cache()
        for found in self._system.find(folder) if self._system.exists(folder) else []:
            digest = f"sha256:{str(found).rpartition('/')[2]}"
            if DIGEST.fullmatch(digest) is None:
                raise OperationFailed(
                    "artifact.foreign",
                    "something else lies among the artifacts",
                    where=str(found),
                    mend="find out who put it there and move it away",
                )
            yield digest

    def size(self, digest: str) -> int:
        """How many bytes it has."""
        return int(self._system.size(self._found(digest)))

    def modified(self, digest: str) -> float:
        """When it was last put, in seconds since 1970, by the clock of whoever keeps it."""
        return float(self._system.modified(self._found(digest)).timestamp())

    def discard(self, digest: str, before: float) -> bool:
        """Remove it, here and there, if it was last put ``before`` that time; whether it was."""
        with self.cache.alone():
            if self.modified(digest) >= before:
                return False
            self._system.rm_file(self._name(digest))
        if self.cache.has(digest):
            self.cache.discard(digest, before)
        return True

    def verify(self, digest: str) -> None:
        """Read what lies at the URL, past the cache; ``CheckFailed`` where it is not what its name says."""
        path = self._found(digest)
        state = hashlib.sha256()
        with self._system.open(path, "rb") as reader:
            while chunk := reader.read(1 << 20):
                state.update(chunk)
        if f"sha256:{state.hexdigest()}" != digest:
            raise self._corrupt(digest)

    # -- the place

    def _name(self, digest: str) -> str:
        match = DIGEST.fullmatch(digest)
        if match is None:
            raise bad_digest(digest)
        return f"{self._root}/sha256/{match[1][:2]}/{match[1]}"

    def _found(self, digest: str) -> str:
        path = self._name(digest)
        if not self._system.exists(path):
            raise CheckFailed(
                "artifact.missing",
                "the artifact store has no such bytes",
                where=self.url,
                value=digest,
                mend="restore the store from a backup, or run again from the step that made them",
            )
        return path

    def _upload(self, digest: str) -> None:
        name, source = self._name(digest), self.cache.path(digest)
        with self.cache.alone():
            self._system.invalidate_cache()
            if self._system.exists(name):
                fresh = time.time() - self.modified(digest) < REFRESH_SECONDS
                if fresh and self._system.size(name) == source.stat().st_size:
                    return
            temporary = f"{self._root}/incoming/{secrets.token_hex(16)}"
            for path in (temporary, name):
                self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._system.put_file(str(source), temporary)
            self._system.mv(temporary, name)

    def _download(self, digest: str) -> None:
        path = self._found(digest)
        with self.cache.incoming() as temporary:
            self._system.get_file(path, str(temporary))
            if digest_file(temporary) != digest:
                raise self._corrupt(digest)
            self.cache.put_file(temporary)

    def _corrupt(self, digest: str) -> CheckFailed:
        return CheckFailed(
            "artifact.corrupt",
            "a stored artifact is not what its name says",
            where=self._name(digest),
            mend="restore it from a backup, or run again from the step that made it",
        )
