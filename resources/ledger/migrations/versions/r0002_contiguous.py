"""A wall against gaps: a row is inserted at the position after the last one, or not at all.

A reader goes on from a position; a gap that is filled later would be skipped for ever.
"""

from alembic import op

revision = "0002"
down_revision = "0001"

_NEXT = (
    "(SELECT coalesce(max(position), 0) + 1 FROM events"
    " WHERE workspace = NEW.workspace AND branch = NEW.branch)"
)


def upgrade() -> None:
    """Put it up."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION events_contiguous() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN IF NEW.position <> {_NEXT} THEN "
            "RAISE EXCEPTION 'positions of the event log are contiguous'; END IF; RETURN NEW; END $$"
        )
        op.execute(
            "CREATE TRIGGER events_no_gap BEFORE INSERT ON events "
            "FOR EACH ROW EXECUTE FUNCTION events_contiguous()"
        )
        return
    op.execute(
        f"CREATE TRIGGER events_no_gap BEFORE INSERT ON events WHEN NEW.position <> {_NEXT} "
        "BEGIN SELECT RAISE(ABORT, 'positions of the event log are contiguous'); END"
    )
