"""Which schema a database has, and how it gets the newest one; Alembic runs only where something is to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Column, MetaData, String, Table, inspect, select

from fabric_dagster.errors import CheckFailed, OperationFailed
from resources.ledger.schema import EVENTS, REVISION, UNNAMED_REVISION

if TYPE_CHECKING:
    from sqlalchemy import Connection

MIGRATIONS = Path(__file__).resolve().parent / "migrations"
_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32)))


def revision_of(connection: Connection) -> str | None:
    """The database's schema; ``None`` where it holds no ledger."""
    tables = inspect(connection)
    if tables.has_table(_VERSION.name):
        found = connection.execute(select(_VERSION.c.version_num)).scalars().all()
        if len(found) == 1:
            return str(found[0])
    return UNNAMED_REVISION if tables.has_table(EVENTS.name) else None


def require_newest(found: str, where: str) -> None:
    """Refuse a database that this program was not made for."""
    if found == REVISION:
        return
    require_known(found, where)
    raise OperationFailed(
        "spine.older_schema",
        f"the ledger's database has schema {found}, this program needs {REVISION}",
        where=where,
        mend="make a backup, then run `fabric spine migrate`",
    )


def require_known(found: str | None, where: str) -> None:
    """Refuse a database that a newer program has made."""
    if found is not None and found not in _known():
        raise OperationFailed(
            "spine.newer_schema",
            f"the ledger's database has schema {found}, which this program does not know",
            where=where,
            mend="use the version of the program that made it, or a newer one",
        )


def upgrade(connection: Connection, found: str | None) -> None:
    """Run every step after ``found`` (all where it is ``None``) in the transaction of ``connection``.

    Raises ``CheckFailed`` (``spine.migration``).
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    # Alembic's configuration takes "%" for a variable.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        if found == UNNAMED_REVISION and not inspect(connection).has_table(_VERSION.name):
            command.stamp(config, found)
        command.upgrade(config, REVISION)
    except CommandError as fault:
        raise CheckFailed(
            "spine.migration",
            f"the schema could not be brought up to date: {fault}",
            mend="restore the ledger from a backup",
        ) from fault


def _known() -> set[str]:
    from alembic.script import ScriptDirectory

    return {step.revision for step in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}
