"""SQLite as the ledger's database: one file, write-ahead log, one writer at a time.

Rules kept here:

* ``synchronous=FULL``: what was acknowledged survives a power cut.
* Writers begin with ``BEGIN IMMEDIATE`` and wait for each other at most ``BUSY_SECONDS``.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock
from sqlalchemy import URL, Connection, create_engine, event

from fabric_dagster.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

PREFIX = "sqlite:///"
BUSY_SECONDS = 60


class Sqlite:
    """One database file."""

    def __init__(self, url: str) -> None:
        # Everything after the prefix is the path: a folder's name may hold "?", "#" or "%".
        path = url.removeprefix(PREFIX)
        if path == url or path in {"", ":memory:"} or "\0" in path:
            raise UsageFault("spine.bad_url", "this is no SQLite file", value=url, mend="use sqlite:///PATH")
        self.file = Path(path)
        self.where = str(self.file)

    def engine(self) -> Engine:
        """Connections to the file."""
        made = create_engine(
            URL.create("sqlite", database=str(self.file)), connect_args={"timeout": BUSY_SECONDS}
        )
        event.listen(made, "connect", _prepare)
        event.listen(made, "begin", _begin)
        return made

    def is_there(self) -> bool:
        """Whether the file is: looking must not make one."""
        return self.file.is_file() and self.file.stat().st_size > 0

    @contextmanager
    def making(self, engine: Engine) -> Iterator[None]:
        """First openers take turns, because switching to the write-ahead log ignores SQLite's own waiting."""
        with FileLock(self.file.with_name(self.file.name + ".new"), timeout=BUSY_SECONDS):
            with engine.connect() as connection:
                raw = connection.connection.dbapi_connection
                if isinstance(raw, sqlite3.Connection):
                    raw.execute("PRAGMA journal_mode=WAL")
            yield

    def lock(self, connection: Connection, log: str) -> None:
        """``BEGIN IMMEDIATE`` has taken the file's one write lock already."""

    def faults(self, connection: Connection) -> list[str]:
        """What SQLite itself finds wrong with the file: pages, indexes, rows."""
        rows = connection.exec_driver_sql("PRAGMA integrity_check(10)").scalars().all()
        return [f"the database file: {row}" for row in rows if row != "ok"]

    def damaged(self, fault: Exception) -> bool:
        """Every error that is neither "busy" nor a refusal speaks of the file itself."""
        return not isinstance(fault, sqlite3.OperationalError)


def _prepare(raw: Any, _record: object) -> None:  # noqa: ANN401 - the driver's connection
    # Transactions are begun by ``_begin``: the driver's own idea of when to begin one is switched off.
    raw.isolation_level = None
    raw.execute("PRAGMA synchronous=FULL")
    raw.execute("PRAGMA foreign_keys=ON")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("fabric_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
