"""Opens the ledger's database and takes its write lock; SQLite and PostgreSQL differ below here alone.

Rules kept here:

* Whoever makes a database says so (``create``); nobody else brings one into being by looking.
* A database with another schema is neither read nor written, but migrated on purpose.
* A driver's error never reaches a caller: it becomes ``spine.rejected``, ``spine.unavailable`` or
  ``spine.broken``. No password is in any of them.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, IntegrityError

from fabric_dagster.errors import CheckFailed, OperationFailed, UsageFault
from resources.ledger.migrate import require_known, require_newest, revision_of, upgrade
from resources.ledger.postgres import DRIVER, Postgres
from resources.ledger.schema import REVISION
from resources.ledger.sqlite import PREFIX, Sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

#: The write lock of a schema's change; no log has this name.
SCHEMA_LOCK = "schema"


def dialect_of(url: str) -> Sqlite | Postgres:
    """What serves ``url``; ``UsageFault`` (``spine.bad_url``) where nothing does."""
    if url.startswith(PREFIX):
        return Sqlite(url)
    if url.startswith(f"{DRIVER}://"):
        return Postgres(url)
    raise UsageFault(
        "spine.bad_url",
        "the ledger is kept in a SQLite file or in PostgreSQL",
        value=url.partition("://")[0],
        mend=f"use {PREFIX}PATH or {DRIVER}://USER@HOST/DATABASE",
    )


class Database:
    """One ledger database. ``may_create`` is asked before a new one is made, and raises where none may be."""

    def __init__(
        self, url: str, may_create: Callable[[], None] = lambda: None, *, migrate: bool = False
    ) -> None:
        self.url = url
        self.dialect = dialect_of(url)
        self.where = self.dialect.where
        self._pid = os.getpid()
        if not self.dialect.is_there():
            may_create()
        with self._explained():
            self._engine = self.dialect.engine()
            self._writers = self._engine.execution_options(fabric_writes=True)
        #: the schema that was found, before anything was done about it.
        self.found = self._revision() if self.dialect.is_there() else None
        if self.found is None:
            may_create()
        if self.found is None or (migrate and self.found != REVISION):
            self._upgrade()
        else:
            require_newest(self.found, self.where)

    def _revision(self) -> str | None:
        with self.read() as connection:
            return revision_of(connection)

    def _upgrade(self) -> None:
        with self._explained(), self.dialect.making(self._engine), self.write(SCHEMA_LOCK) as connection:
            # Somebody else may have been faster.
            found = revision_of(connection)
            require_known(found, self.where)
            if found != REVISION:
                upgrade(connection, found)

    @contextmanager
    def write(self, log: str) -> Iterator[Connection]:
        """A transaction under the write lock of ``log``; commits when the block ends, else rolls back."""
        self._own()
        with self._explained(), self._writers.begin() as connection:
            self.dialect.lock(connection, log)
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees whole appends only."""
        self._own()
        with self._explained(), self._engine.connect() as connection:
            yield connection

    def _own(self) -> None:
        """A forked process must not use (or close) its parent's connections: it opens its own."""
        if self._pid != os.getpid():
            self._engine.dispose(close=False)
            self._pid = os.getpid()

    def faults(self) -> list[str]:
        """What the database itself finds wrong."""
        with self.read() as connection:
            return self.dialect.faults(connection)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what a driver raises into an error that says what to do."""
        try:
            yield
        except IntegrityError as fault:
            raise OperationFailed(
                "spine.rejected",
                f"the database refused the event: {_first_line(fault)}",
                where=self.where,
                mend="run `fabric spine verify`",
            ) from fault
        except (DBAPIError, sqlite3.Error, UnicodeDecodeError) as fault:
            # The driver itself stumbles over damaged text, too.
            driver = fault.orig if isinstance(fault, DBAPIError) else fault
            if isinstance(driver, Exception) and self.dialect.damaged(driver):
                raise CheckFailed(
                    "spine.broken",
                    f"the ledger's database is damaged: {_first_line(fault)}",
                    where=self.where,
                    mend="stop using it and restore it from a backup",
                ) from fault
            raise OperationFailed(
                "spine.unavailable",
                f"the ledger cannot be used: {_first_line(fault)}",
                where=self.where,
                mend="look for a process that holds it, a full disk, missing permissions or a stopped server",
            ) from fault


def _first_line(fault: Exception) -> str:
    """What the driver says; PostgreSQL adds lines of hints."""
    return str(getattr(fault, "orig", None) or fault).strip().partition("\n")[0]
