"""The table of events, its indexes, and the wall against changing or deleting a row.

The wall is no defence against somebody with the database, but against our own mistakes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _text(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "events",
        sa.Column("workspace", _text(80), nullable=False),
        sa.Column("branch", _text(80), nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("stream", _text(255), nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("type", _text(170), nullable=False),
        sa.Column("idempotency_key", _text(300)),
        sa.Column("digest", _text(71), nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "branch", "position"),
        sa.UniqueConstraint("workspace", "branch", "stream", "version"),
        sa.UniqueConstraint("workspace", "branch", "idempotency_key"),
    )
    op.create_index("events_by_type", "events", ["workspace", "branch", "type", "position"])
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION events_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the event log is append-only'; END $$"
        )
        op.execute(
            "CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events "
            "FOR EACH STATEMENT EXECUTE FUNCTION events_append_only()"
        )
        return
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER events_no_{verb.lower()} BEFORE {verb} ON events "
            "BEGIN SELECT RAISE(ABORT, 'the event log is append-only'); END"
        )
