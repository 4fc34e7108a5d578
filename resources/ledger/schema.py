"""The one table of the ledger: ``payload`` and ``signature`` are the events, other columns are indexes."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

METADATA = MetaData()

EVENTS = Table(
    "events",
    METADATA,
    Column("workspace", String(80), nullable=False),
    Column("branch", String(80), nullable=False),
    Column("position", Integer, nullable=False),
    Column("stream", String(255), nullable=False),
    Column("version", Integer, nullable=False),
    Column("type", String(170), nullable=False),
    Column("idempotency_key", String(300)),
    Column("digest", String(71), nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    PrimaryKeyConstraint("workspace", "branch", "position"),
    UniqueConstraint("workspace", "branch", "stream", "version"),
    UniqueConstraint("workspace", "branch", "idempotency_key"),
    Index("events_by_type", "workspace", "branch", "type", "position"),
)

#: Not a defence against somebody with the file, but against our own mistakes.
APPEND_ONLY = tuple(
    f"CREATE TRIGGER IF NOT EXISTS events_no_{verb.lower()} BEFORE {verb} ON events "
    "BEGIN SELECT RAISE(ABORT, 'the event log is append-only'); END"
    for verb in ("UPDATE", "DELETE")
)
