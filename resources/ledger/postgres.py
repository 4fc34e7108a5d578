"""PostgreSQL as the ledger's database, through psycopg 3.

Rules kept here:

* An append holds ``pg_advisory_xact_lock`` of its log until its commit can be seen: positions come to be in
  the order in which they become visible, so that no reader ever skips one.
* A statement sees what was committed when it began, so the lock is taken by a statement of its own first.
* A password comes from ``FABRIC_LEDGER_PASSWORD`` or libpq's own ``pgpass``, never from the URL, and is never
  shown.
* A server that acknowledges before it flushed is not believed: ``synchronous_commit=off`` is overruled.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError

from fabric_dagster.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

DRIVER = "postgresql+psycopg"
PASSWORD = "FABRIC_LEDGER_PASSWORD"  # noqa: S105 - the variable's name
LOCK_SECONDS = 60
CONNECT_SECONDS = 10
#: SQLSTATE of pages and indexes that cannot be what was written.
DAMAGE = frozenset({"XX001", "XX002"})
LOCK = text("SELECT pg_advisory_xact_lock(:key)")


class Postgres:
    """One database on a server."""

    file = None

    def __init__(self, url: str) -> None:
        try:
            self._url = make_url(url)
        except (ArgumentError, ValueError):
            raise UsageFault("spine.bad_url", "the ledger's URL cannot be read", mend=_USE) from None
        if self._url.password or "password" in self._url.query:
            raise UsageFault(
                "spine.password_in_url",
                "a password stands in the ledger's URL",
                where=self._url.render_as_string(hide_password=True).partition("?")[0],
                mend=f"take it out; give it in {PASSWORD} or in ~/.pgpass",
            )
        self.where = self._url.render_as_string(hide_password=True)

    def engine(self) -> Engine:
        """Connections to the database; one that the server has closed meanwhile is opened again."""
        password = os.environ.get(PASSWORD)
        made = create_engine(
            self._url.set(password=password) if password else self._url,
            pool_pre_ping=True,
            connect_args={} if "connect_timeout" in self._url.query else {"connect_timeout": CONNECT_SECONDS},
            hide_parameters=True,
        )
        event.listen(made, "connect", _prepare)
        return made

    def is_there(self) -> bool:
        """A server is there, or opening says why not."""
        return True

    @contextmanager
    def making(self, engine: Engine) -> Iterator[None]:  # noqa: ARG002 - SQLite's way needs it
        """The write lock is enough: first openers take turns at it."""
        yield

    def lock(self, connection: Connection, log: str) -> None:
        """Wait for the write lock of ``log``; it is held until the transaction has ended."""
        name = hashlib.sha256(f"fabric.ledger:{log}".encode()).digest()
        connection.execute(LOCK, {"key": int.from_bytes(name[:8], signed=True)})

    def faults(self, connection: Connection) -> list[str]:  # noqa: ARG002 - SQLite is asked through it
        """None: a server checks its own pages, and every row is proven by its signature anyway."""
        return []

    def damaged(self, fault: Exception) -> bool:
        """Whether the server says that its own files are damaged."""
        return getattr(fault, "sqlstate", None) in DAMAGE


_USE = f"use {DRIVER}://USER@HOST/DATABASE"


def _prepare(raw: Any, _record: object) -> None:  # noqa: ANN401 - the driver's connection
    raw.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
    if raw.execute("SHOW synchronous_commit").fetchone()[0] == "off":
        raw.execute("SET synchronous_commit = on")
    raw.commit()
