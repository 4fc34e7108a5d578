"""Homes to be killed in: made once, kept at several points of a run, brought back in a moment.

A ground's ledger is in SQLite or in PostgreSQL. A commission holds for one path: a home comes back to it.
"""

import contextlib
import secrets
import shutil
from urllib.parse import quote

import governed
import psycopg

from fabric_dagster.digests import digest_file
from fabric_dagster.supervisor.projection import load_run
from resources.home import Home
from resources.setup import CONFIG, initialise
from resources.supervision.assembly import Hall
from resources.supervision.assembly import hall as open_hall
from resources.supervision.demonstration import make_executable

TEMPLATE = "templates/offer_icon.psd"


class Ground:
    """A commissioned home below ``place``; ``server`` is PostgreSQL's, if the ledger is to be there."""

    def __init__(self, place, server=None):
        self.place, self.home = place, place / "home"
        self.ticket = governed.write_ticket(place / "tickets")
        self._server, self._opened = server, None
        self.home.mkdir(parents=True, mode=0o700)
        config = CONFIG.format(id=secrets.token_hex(16))
        if server is not None:
            self.database = f"ground_{secrets.token_hex(6)}"
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {self.database}")
            where = quote(str(server.pgdata), safe="")
            config += f"ledger: postgresql+psycopg://postgres@/{self.database}?host={where}\n"
        (self.home / "home.yaml").write_text(config, encoding="utf-8")
        initialise(Home(self.home))
        made = Hall(Home(self.home))
        make_executable(made, made.workflow(governed.GRAPH), lambda _line: None)
        made.services.store.close()

    def hall(self):
        """The home, opened in this process; once until it is closed."""
        if self._opened is None:
            self._opened = open_hall(Home(self.home).path)
        return self._opened

    def close(self):
        """Close what this process has open."""
        if self._opened is not None:
            self._opened.services.store.close()
        self._opened = None
        open_hall.cache_clear()

    def keep(self, name):
        """Keep the home as it is now."""
        self.close()
        shutil.copytree(self.home, self.place / "kept" / name, symlinks=True)
        with self._database() as connection:
            if connection is not None:
                connection.execute(f"CREATE TABLE kept_{name} AS TABLE events")

    def restore(self, name):
        """Bring the home back to what was kept."""
        self.close()
        shutil.rmtree(self.home)
        shutil.copytree(self.place / "kept" / name, self.home, symlinks=True)
        with self._database() as connection:
            if connection is not None:
                connection.execute("ALTER TABLE events DISABLE TRIGGER USER")
                connection.execute("TRUNCATE events")
                connection.execute(f"INSERT INTO events TABLE kept_{name}")
                connection.execute("ALTER TABLE events ENABLE TRIGGER USER")

    @contextlib.contextmanager
    def _database(self):
        """One transaction on PostgreSQL, with nobody else connected; ``None`` where there is none."""
        if self._server is None:
            yield None
            return
        with psycopg.connect(self._server.get_uri(self.database)) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = %s AND pid <> pg_backend_pid()",
                [self.database],
            )
            yield connection

    def end(self):
        """Remove what is not in the folder."""
        self.close()
        governed.end_validator(self.home)
        if self._server is not None:
            with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {self.database} WITH (FORCE)")

    def files(self):
        """``{path: digest}`` of everything that a run may write, and of the source."""
        return files(self.home)

    def record(self):
        """The run as the spine has it, if it was opened, and all events' digests; the spine is verified."""
        store = self.hall().services.store
        report = store.verify()
        assert report.sound, report.faults
        events = list(store.read())
        opened = [event for event in events if event.type == "run.opened"]
        assert len(opened) <= 1
        record = load_run(store, opened[0].body["run"], store.trust) if opened else None
        return record, {event.position: event.digest for event in events}


def files(home):
    """``{path: digest}`` of everything that a run may write in ``home``, and of the source."""
    found = {f"project/{p}": d for p, d in governed.tree(home / "project").items()}
    # The report page tells of the run and its times; it is no part of what the run made.
    for path in (home / "deliveries").rglob("*"):
        if path.is_file() and not path.name.startswith(".fabric-") and path.name != "report.html":
            found[f"deliveries/{path.name}"] = digest_file(path)
    found[TEMPLATE] = digest_file(home / TEMPLATE)
    return {path: digest for path, digest in found.items() if "/.fabric-" not in path}


def look(now, *allowed, partial=frozenset()):
    """No file is half-written: each is as it is in one of ``allowed``, and the source is untouched."""
    assert allowed[0][TEMPLATE] == now[TEMPLATE]
    for path in set(now).union(*allowed):
        assert now.get(path) in {item.get(path) for item in allowed} | partial, path


def once(record):
    """Every commit that was begun ended in its one result, or in what the validator saw of it."""
    begun = [event for event in record.events if event.type == "commit.begun"]
    seen = [event.body["decision"] for event in record.events if event.type == "reconciliation.observed"]
    results = [e.body["result"]["status"] for e in record.events if e.type == "task.result"]
    undone = sum(1 for event in record.events if event.type == "compensation.done")
    looked_at = [word for word in seen if word in {"adopted", "dismissed"}]
    assert len(begun) <= results.count("succeeded") + len(looked_at) + undone
    return len(begun), seen.count("dismissed")
