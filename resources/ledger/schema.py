"""The one table of the ledger: ``payload`` and ``signature`` are the events, other columns are indexes.

What this says is what the newest of ``migrations/versions`` makes; the tests hold one against the other.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

#: The newest migration: a database at another one is not read or written.
REVISION = "0002"
#: What a database without a revision of its own was made as.
UNNAMED_REVISION = "0001"

METADATA = MetaData()


def text(length: int) -> String:
    """Text that sorts by its bytes, so that the streams with one beginning lie side by side."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


EVENTS = Table(
    "events",
    METADATA,
    Column("workspace", text(80), nullable=False),
    Column("branch", text(80), nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("stream", text(255), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("type", text(170), nullable=False),
    Column("idempotency_key", text(300)),
    Column("digest", text(71), nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    PrimaryKeyConstraint("workspace", "branch", "position"),
    UniqueConstraint("workspace", "branch", "stream", "version"),
    UniqueConstraint("workspace", "branch", "idempotency_key"),
    Index("events_by_type", "workspace", "branch", "type", "position"),
)
