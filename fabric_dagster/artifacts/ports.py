"""What the law asks of an artifact store: bytes by digest, verified every time they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class ArtifactStore(Protocol):
    """Content-addressed bytes. Putting is atomic and idempotent."""

    def put_bytes(self, data: bytes) -> str:
        """Store ``data``; the digest is its name."""
        ...

    def put_file(self, path: Path) -> str:
        """Store a file's bytes; the digest is their name."""
        ...

    def get(self, digest: str) -> bytes:
        """The bytes of ``digest``, verified; ``CheckFailed`` (``artifact.missing``/``artifact.corrupt``)."""
        ...

    def path(self, digest: str) -> Path:
        """A read-only file that holds the verified bytes of ``digest``."""
        ...

    def has(self, digest: str) -> bool:
        """Whether the bytes are there and are what their name says."""
        ...
