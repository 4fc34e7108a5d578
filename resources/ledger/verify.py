"""Proves a whole log. Any doubt is a fault, any exception too; nothing is skipped.

What is checked: positions contiguous from 1, versions contiguous per stream, each event's predecessor digest,
signature by a trusted key of its actor, columns equal to the signed bytes, idempotency keys used once, the
database file itself, and the checkpoint outside it.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import FabricError
from fabric_dagster.spine.events import open_event
from fabric_dagster.spine.ports import SpineReport
from resources.ledger.schema import EVENTS

if TYPE_CHECKING:
    from sqlalchemy import Row

    from fabric_dagster.spine.checkpoints import Checkpoint
    from fabric_dagster.spine.events import Trust
    from fabric_dagster.spine.ports import Event
    from resources.ledger.checkpoint import CheckpointFile
    from resources.ledger.database import Database

#: As they stand in the table, so that a row compares as one tuple.
COLUMNS = ("workspace", "branch", "position", "stream", "version", "type", "idempotency_key", "digest")
_SIGNED = attrgetter(*COLUMNS)
#: A broken log breaks everywhere after the break: enough is enough.
MAX_FAULTS = 100
PAGE = 500


def check_columns(row: Row[Any], event: Event) -> str | None:
    """The first column of ``row`` that is not what was signed, or ``None``."""
    if tuple(row)[: len(COLUMNS)] == _SIGNED(event):
        return None
    return next((name for name in COLUMNS if getattr(row, name) != getattr(event, name)), "order")


class _Verification:
    def __init__(self, trust: Trust, since: int) -> None:
        self.trust = trust
        self.since = since
        self.position = since
        self.head = ""
        self.versions: dict[str, int] = {}
        self.keys: set[str] = set()
        self.watched_digest: str | None = None
        self.faults: list[str] = []
        self.count = 0

    def fault(self, text: str) -> None:
        self.faults.append(text)

    def row(self, row: Row[Any]) -> None:
        """Check one row against the one before it."""
        at = f"event {row.position}"
        self.count += 1
        if row.position != self.position + 1:
            self.fault(f"{at}: positions jump from {self.position}")
        self.position = row.position
        try:
            event = open_event(row.payload, row.signature, self.trust)
            if (column := check_columns(row, event)) is not None:
                self.fault(f"{at}: column {column} is not what was signed")
            if event.previous != self.head:
                self.fault(f"{at}: it does not follow the event before it")
            if event.version != self.versions.get(event.stream, 0) + 1:
                self.fault(f"{at}: stream {event.stream} jumps to version {event.version}")
            if event.idempotency_key is not None and event.idempotency_key in self.keys:
                self.fault(f"{at}: its idempotency key was used before")
            self.versions[event.stream] = event.version
            self.keys.add(event.idempotency_key or "")
            self.head = event.digest
        except Exception as fault:  # noqa: BLE001 - any exception here is a finding, never a skip
            self.fault(f"{at}: {_told(fault)}")
            # The neighbours are judged by the digest column from here on, so that one fault is one line.
            self.head = str(row.digest)
            if isinstance(row.stream, str) and isinstance(row.version, int):
                self.versions[row.stream] = row.version


def verify_log(
    database: Database,
    here: tuple[Any, ...],
    trust: Trust,
    checkpoint_file: CheckpointFile,
    since: int,
) -> SpineReport:
    """Verify the rows selected by ``here`` with position > ``since``; the file too when ``since`` is 0."""
    state = _Verification(trust, since)
    try:
        # Before the rows: a checkpoint is never ahead of the log, but the log may grow meanwhile.
        checkpoint = checkpoint_file.read()
        if since == 0:
            state.faults.extend(database.faults())
        _start(state, database, here)
        _walk(state, database, here, 0 if checkpoint is None else checkpoint.position)
        if checkpoint is not None:
            _compare(state, checkpoint)
        elif state.position > 0:
            state.fault("there is no checkpoint outside the log: a cut tail could not be seen")
    except Exception as fault:  # noqa: BLE001 - any exception is a finding
        state.fault(_told(fault))
    return SpineReport(state.count, state.head, tuple(state.faults[:MAX_FAULTS]))


def _start(state: _Verification, database: Database, here: tuple[Any, ...]) -> None:
    """Take what stands at ``since`` as given: its digest and the version of every stream there."""
    if state.position == 0:
        return
    with database.read() as connection:
        payload = connection.execute(
            select(EVENTS.c.payload).where(*here, EVENTS.c.position == state.position)
        ).scalar_one_or_none()
        versions = connection.execute(
            select(EVENTS.c.stream, func.max(EVENTS.c.version))
            .where(*here, EVENTS.c.position <= state.position)
            .group_by(EVENTS.c.stream)
        ).all()
    if payload is None:
        state.fault(f"event {state.position}: there is no such event to begin at")
    else:
        state.head = digest_bytes(payload)
    state.versions = {row[0]: row[1] for row in versions}


def _walk(state: _Verification, database: Database, here: tuple[Any, ...], watched: int) -> None:
    query = select(EVENTS).where(*here).order_by(EVENTS.c.position).limit(PAGE)
    if watched == state.position:
        state.watched_digest = state.head
    while len(state.faults) < MAX_FAULTS:
        with database.read() as connection:
            rows = connection.execute(query.where(EVENTS.c.position > state.position)).all()
        for row in rows:
            state.row(row)
            if row.position == watched:
                state.watched_digest = state.head
        if len(rows) < PAGE:
            return


def _compare(state: _Verification, checkpoint: Checkpoint) -> None:
    if checkpoint.position > state.position:
        state.fault(
            f"the log ends at event {state.position}, its checkpoint at {checkpoint.position}: it was cut"
        )
    elif checkpoint.position >= state.since and checkpoint.head != state.watched_digest:
        state.fault(f"event {checkpoint.position}: it is not the event that was checkpointed")


def _told(fault: Exception) -> str:
    return fault.faults[0].what if isinstance(fault, FabricError) else repr(fault)
