"""Proves a whole log, on all cores. Any doubt is a fault, any exception too; nothing is skipped.

What is checked beside what ``fabric_dagster.spine.chain`` checks of every event: idempotency keys used once,
the database itself, and the heads that lie outside it. What is verified are the bytes that are stored.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import Fault
from fabric_dagster.spine.chain import CLAIMS, MAX_FAULTS, Stretch, compare, join, told
from fabric_dagster.spine.ports import SpineReport
from resources.ledger.database import Database
from resources.ledger.schema import EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from fabric_dagster.governance.trust import TrustRoot
    from resources.ledger.anchors import Anchors

PAGE = 1000
#: Starting a process takes about as long as proving this many events.
WORTH_A_PROCESS = 5000
_PAYLOAD, _SIGNATURE = len(CLAIMS), len(CLAIMS) + 1


@dataclass(frozen=True)
class Log:
    """One log of one database, as another process can open it."""

    url: str
    workspace: str
    branch: str
    trust: bytes
    #: version of the trust root → where it was recorded.
    positions: dict[int, int]

    @property
    def here(self) -> tuple[Any, ...]:
        """What selects its rows."""
        return EVENTS.c.workspace == self.workspace, EVENTS.c.branch == self.branch


def verify_log(
    database: Database, log: Log, trust: TrustRoot, anchors: Anchors, since: int, jobs: int | None
) -> SpineReport:
    """Verify the events after ``since``, and the database too when ``since`` is 0."""
    faults: list[Fault] = []
    stretches: list[Stretch] = []
    before: dict[str, int] = {}
    try:
        # Before the rows: a head is never ahead of the log, but the log may grow meanwhile.
        heads = anchors.newest(far=True)
        if since == 0:
            faults += [Fault("spine.database", text, database.where) for text in database.faults()]
        end = _end(database, log)
        start = Stretch(since, _head(database, log, since, faults))
        if since:
            before = _versions(database, log, since)
        watch = dict.fromkeys(head.position for _, head in heads)
        stretches = [start, *_stretches(database, log, trust, since, end, watch, jobs)]
        faults += join(before, stretches)
        last = stretches[-1]
        watched = {since: start.head} | {k: v for part in stretches for k, v in part.watched.items()}
        for where, head in heads:
            faults += compare(head, where, since, last.position, watched)
        if last.position > 0:
            faults += _unanchored(anchors, {where for where, _ in heads})
        faults += _keys_used_twice(database, log)
    except Exception as fault:  # noqa: BLE001 - any exception is a finding
        faults += told(fault)
    count = sum(part.count for part in stretches)
    return SpineReport(count, stretches[-1].head if stretches else "", tuple(faults[:MAX_FAULTS]))


def _unanchored(anchors: Anchors, there: set[str]) -> Iterator[Fault]:
    for where in [anchor.where for anchor in anchors.all()] or ["nowhere"]:
        if where not in there:
            what = "there is no checkpoint outside the log: a cut tail could not be seen"
            yield Fault("spine.unanchored", what, where)


def _stretches(
    database: Database,
    log: Log,
    trust: TrustRoot,
    since: int,
    end: int,
    watch: Mapping[int, None],
    jobs: int | None,
) -> list[Stretch]:
    # Rows beyond the end are looked at as well: the last stretch goes on until there are no more.
    wanted = jobs or os.cpu_count() or 1
    parts = min(wanted, max(1, (end - since) // WORTH_A_PROCESS))
    if parts == 1:
        return [_prove(database, log, trust, since, None, watch)]
    borders = [since + (end - since) * part // parts for part in range(parts)]
    ends = [*borders[1:], None]
    context = multiprocessing.get_context("spawn")
    # An interrupt is the parent's to tell of.
    with ProcessPoolExecutor(parts, context, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        return list(pool.map(_elsewhere, [log] * parts, borders, ends, [watch] * parts))


def _elsewhere(log: Log, after: int, end: int | None, watch: Mapping[int, None]) -> Stretch:
    """One stretch, in a process of its own."""
    from fabric_dagster.governance.trust import TrustRoot

    database = Database(log.url)
    try:
        trust = TrustRoot.parse(log.trust, "trust root").placed(log.positions)
        return _prove(database, log, trust, after, end, watch)
    finally:
        database.close()


def _prove(
    database: Database, log: Log, trust: TrustRoot, after: int, end: int | None, watch: Mapping[int, None]
) -> Stretch:
    faults: list[Fault] = []
    stretch = Stretch(after, _head(database, log, after, faults))
    query = select(EVENTS).where(*log.here).order_by(EVENTS.c.position)
    query = query if end is None else query.where(EVENTS.c.position <= end)
    while len(stretch.faults) < MAX_FAULTS:
        with database.read() as connection:
            page = query.where(EVENTS.c.position > stretch.position).limit(PAGE)
            # The driver's own tuples: the library's rows cost a tenth of a signature each.
            cursor = connection.execute(page).cursor
            rows = [] if cursor is None else cursor.fetchall()
        for row in rows:
            stretch.add(row[_PAYLOAD], row[_SIGNATURE], trust, row[:_PAYLOAD], watch)
        if len(rows) < PAGE:
            break
    stretch.faults += faults
    return stretch


def _end(database: Database, log: Log) -> int:
    with database.read() as connection:
        return connection.execute(select(func.max(EVENTS.c.position)).where(*log.here)).scalar() or 0


def _head(database: Database, log: Log, at: int, faults: list[Fault]) -> str:
    """The digest of the bytes that stand at ``at``, where a stretch begins."""
    if at == 0:
        return ""
    query = select(EVENTS.c.payload).where(*log.here, EVENTS.c.position == at)
    with database.read() as connection:
        payload = connection.execute(query).scalar_one_or_none()
    if not isinstance(payload, bytes):
        faults.append(Fault("spine.gap", "there is no such event to begin at", f"event {at}"))
        return ""
    return digest_bytes(payload)


def _versions(database: Database, log: Log, at: int) -> dict[str, int]:
    """The version of every stream at ``at``, taken as given."""
    query = (
        select(EVENTS.c.stream, func.max(EVENTS.c.version))
        .where(*log.here, EVENTS.c.position <= at)
        .group_by(EVENTS.c.stream)
    )
    with database.read() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}


def _keys_used_twice(database: Database, log: Log) -> Iterator[Fault]:
    """Columns were proven to be what was signed, so they can be asked."""
    key = EVENTS.c.idempotency_key
    query = select(key).where(*log.here, key.is_not(None)).group_by(key).having(func.count() > 1).limit(10)
    with database.read() as connection:
        for found in connection.execute(query).scalars():
            yield Fault("spine.key_twice", "two events used one idempotency key", value=found)
