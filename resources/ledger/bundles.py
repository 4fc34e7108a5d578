"""Writes a log into a bundle file, and proves one that was written."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from fabric_dagster.errors import CheckFailed, InvalidDocument, UsageFault
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.spine.bundle import HEADERS, MAX_LINE, events_in, lines, trust_in, verify_bundle
from fabric_dagster.spine.ports import TRUST_STREAM
from resources.files.durable import flush_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabric_dagster.spine.ports import SpineReport
    from resources.ledger.store import SqlEventStore


def export_log(store: SqlEventStore, target: Path) -> int:
    """Write ``store``'s log, up to its newest signed head, to ``target`` in one step; how many events it has.

    Raises ``CheckFailed`` where there is no head or the log is not the one that it speaks of; nothing is
    proven beyond that: whoever gets the bundle does.
    """
    position, envelope = store.signed_head()
    if target.is_dir():
        raise UsageFault("spine.bad_target", "a folder stands there", where=str(target))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as writer:
            stored = store.stored(position)
            trust = store.trust.body()
            for line in lines(store.workspace, store.branch, position, trust, stored, envelope):
                writer.write(line)
            writer.flush()
            os.fsync(writer.fileno())
        temporary.replace(target)
    except FileNotFoundError as fault:
        raise UsageFault(
            "spine.bad_target", "its folder is not there", where=str(target), mend="make it first"
        ) from fault
    finally:
        temporary.unlink(missing_ok=True)
    flush_folder(target.absolute().parent)
    return position


def prove_bundle(path: Path, root: TrustRoot | None) -> tuple[SpineReport, TrustRoot]:
    """What verifying the bundle at ``path`` finds, and the trust root that it was verified under.

    ``root`` is the one that the caller was given; without it, the bundle's own is taken, which proves only
    that the bundle agrees with itself.
    """
    own = TrustRoot.parse(trust_in(_lines(path, HEADERS)), f"{path}: line {HEADERS}")
    under = own if root is None else root
    if own.digest != under.digest:
        raise CheckFailed(
            "spine.other_trust",
            "the bundle was signed under another trust root than the one to verify it with",
            where=str(path),
            value=own.digest,
            mend="give the trust root of the log's home with --trust; ask its owner for it",
        )
    # Where a key ended is a place on this very log.
    places = {
        int(event.body["version"]): event.position
        for event in events_in(_lines(path))
        if event.stream == TRUST_STREAM and isinstance(event.body.get("version"), int)
    }
    return verify_bundle(_lines(path), under.placed(places)), under


def _lines(path: Path, most: int | None = None) -> Iterator[bytes]:
    try:
        with path.open("rb") as reader:
            number = 0
            while (most is None or number < most) and (line := reader.readline(MAX_LINE + 1)):
                number += 1
                yield line
    except OSError as fault:
        raise InvalidDocument(
            "spine.bad_bundle", f"the bundle cannot be read: {fault.strerror}", where=str(path)
        ) from fault
