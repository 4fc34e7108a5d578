"""psdparse behind one door: it has no types and is young, so nothing else imports it."""

from __future__ import annotations

from typing import Any, TypeAlias

#: a ``psdparse.PSDFile``
Parsed: TypeAlias = Any


def load(data: bytes) -> Parsed | None:
    """A ``psdparse.PSDFile`` of ``data``, or ``None`` where it can't open it.

    It opens almost any damaged file: give it only what the container's reader has accepted.
    """
    import psdparse  # type: ignore[import-not-found]

    parsed = psdparse.PSDFile()
    try:
        return parsed if parsed.load_bytes(data) else None
    except RuntimeError:
        return None
