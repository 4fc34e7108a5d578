"""Opens a log under its trust root as it stands there: the pinned file, followed to the newest version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.governance.rotation import followed
from fabric_dagster.spine.ports import TRUST_STREAM

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.governance.trust import Role, TrustRoot
    from fabric_dagster.spine.ports import Event
    from resources.ledger.store import SqlEventStore


def opened_under(
    root: TrustRoot, open_log: Callable[[TrustRoot], SqlEventStore], keeper: Role = "admin"
) -> SqlEventStore:
    """The log that ``open_log`` opens, under the newest version of ``root`` that is recorded there.

    Raises ``Refused`` (``trust.not_pinned``, ``trust.not_successor``) and ``CheckFailed`` (``spine.*``).
    """
    stores: dict[str, SqlEventStore] = {}

    def read(under: TrustRoot, after: int) -> Event | None:
        # One store a version: a store remembers what it has proven, and under which root.
        if under.digest not in stores:
            stores[under.digest] = open_log(under).before_anchors()
        return next(iter(stores[under.digest].read(TRUST_STREAM, after=after, limit=1)), None)

    try:
        placed = followed(root, read, keeper)
    finally:
        for store in stores.values():
            store.close()
    return open_log(placed)
