"""Opens the ledger's database and takes its write lock; the only module that knows which database it is.

Rules kept here:

* SQLite: write-ahead log, ``synchronous=FULL`` (what was acknowledged survives a power cut), writers begin
  with ``BEGIN IMMEDIATE`` and wait for each other at most ``BUSY_SECONDS``.
* Another database needs its own ``_prepare`` and ``_lock`` (PostgreSQL: ``pg_advisory_xact_lock``); nothing
  outside this module changes for it.
* A driver's error never reaches a caller: it becomes ``spine.unavailable`` or ``spine.broken``.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock
from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

from fabric_dagster.errors import CheckFailed, OperationFailed, UsageFault
from resources.ledger.schema import APPEND_ONLY, METADATA

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "sqlite:///"
BUSY_SECONDS = 60


class Database:
    """One ledger database, opened and made if needed."""

    def __init__(self, url: str) -> None:
        # Everything after the prefix is the path: a folder's name may hold "?", "#" or "%".
        path = url.removeprefix(PREFIX)
        if path == url or path in {"", ":memory:"} or "\0" in path:
            raise UsageFault(
                "spine.bad_url",
                "the ledger is kept in a SQLite file",
                value=url.partition("@")[2] or url,
                mend="use sqlite:///PATH",
            )
        self.file = Path(path)
        with explained(str(self.file)):
            self._engine = create_engine(
                URL.create("sqlite", database=path), connect_args={"timeout": BUSY_SECONDS}
            )
            event.listen(self._engine, "connect", _prepare)
            event.listen(self._engine, "begin", _lock)
            self._writers = self._engine.execution_options(fabric_writes=True)
            self._pid = os.getpid()
            if not self.file.exists() or self.file.stat().st_size == 0:
                self._create()

    def _create(self) -> None:
        # Switching to WAL ignores SQLite's own waiting, so first openers take turns.
        with FileLock(self.file.with_name(self.file.name + ".new"), timeout=BUSY_SECONDS):
            with self._engine.connect() as connection:
                raw = connection.connection.dbapi_connection
                if isinstance(raw, sqlite3.Connection):
                    raw.execute("PRAGMA journal_mode=WAL")
            with self.write() as connection:
                METADATA.create_all(connection)
                for trigger in APPEND_ONLY:
                    connection.exec_driver_sql(trigger)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction under the write lock; commits when the block ends, else rolls back."""
        self._own()
        with explained(str(self.file)), self._writers.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the log."""
        self._own()
        with explained(str(self.file)), self._engine.connect() as connection:
            yield connection

    def _own(self) -> None:
        """A forked process must not use (or close) its parent's connections: it opens its own."""
        if self._pid != os.getpid():
            self._engine.dispose(close=False)
            self._pid = os.getpid()

    def faults(self) -> list[str]:
        """What the database itself finds wrong with its file."""
        with self.read() as connection:
            rows = connection.exec_driver_sql("PRAGMA integrity_check(10)").scalars().all()
        return [f"the database file: {row}" for row in rows if row != "ok"]

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


def _prepare(raw: Any, _record: object) -> None:  # noqa: ANN401 - the driver's connection
    # Transactions are begun by ``_lock``: the driver's own idea of when to begin one is switched off.
    raw.isolation_level = None
    raw.execute("PRAGMA synchronous=FULL")
    raw.execute("PRAGMA foreign_keys=ON")


def _lock(connection: Connection) -> None:
    writes = connection.get_execution_options().get("fabric_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn what a driver raises into an error that says what to do."""
    try:
        yield
    except IntegrityError as fault:
        raise OperationFailed(
            "spine.rejected",
            f"the database refused the event: {fault.orig}",
            where=where,
            mend="run `fabric spine verify`",
        ) from fault
    except OperationalError as fault:
        raise OperationFailed(
            "spine.unavailable",
            f"the ledger cannot be used: {fault.orig}",
            where=where,
            mend="look for a process that holds it, a full disk or missing permissions",
        ) from fault
    except (DatabaseError, sqlite3.Error, UnicodeDecodeError) as fault:
        # The driver itself stumbles over damaged text, too.
        raise CheckFailed(
            "spine.broken",
            f"the ledger's file is damaged: {getattr(fault, 'orig', fault)}",
            where=where,
            mend="stop using it and restore it from a backup",
        ) from fault
