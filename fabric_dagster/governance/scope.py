"""What of a project a commission lets a run write: whole folders or files, never a part of a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabric_dagster.contracts.commission import Commission


def may_write(commission: Commission, path: str) -> bool:
    """Whether the POSIX ``path`` under the project lies in the commissioned scope."""
    return within(commission.scope.writes, path)


def within(prefixes: Iterable[str], path: str) -> bool:
    """Whether the POSIX ``path`` lies under one of ``prefixes``.

    ``Assets/Art`` covers itself, its own ``.meta`` and what is in it; ``Assets/Artists/x.png`` it does not.
    """
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        return False
    return any(_covers(prefix.rstrip("/"), path) for prefix in prefixes)


def _covers(prefix: str, path: str) -> bool:
    return path in {prefix, f"{prefix}.meta"} or path.startswith(f"{prefix}/")
