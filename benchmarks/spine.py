"""Signed appends and verification, against raw inserts and raw Ed25519, side by side in one run.

Every row is measured once a round, rounds interleaved, so that a busy moment hits all alike; medians with the
smallest and largest round. Payloads are about one kilobyte. The database lies in the system's temporary
folder: set ``TMPDIR`` to measure another disk.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks._report import Report, Spread, Table, ratios
from fabric_dagster.digests import canonical, digest_bytes
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.spine.events import Place, message, open_event, seal
from fabric_dagster.spine.ports import NewEvent
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore

ABOUT = "signed appends and verification against raw inserts and raw Ed25519"
ROUNDS = 7
SINGLE, BATCHES, BATCH = 200, 10, 100
BODY = {"objective": "y" * 500, "plan": "sha256:" + "0" * 64, "numbers": [1, 2, 3], "nested": {"ok": True}}


class Bench:
    """One temporary ledger and one raw table beside it."""

    def __init__(self, folder: Path) -> None:
        self.signer = signer_of("runtime", Ed25519PrivateKey.generate())
        self.trust = TrustRoot.of({"runtime": self.signer.public})
        self.store = SqlEventStore(
            f"sqlite:///{(folder / 'ledger.sqlite').as_posix()}", "default", self.trust
        )
        self.raw = sqlite3.connect(folder / "raw.sqlite", isolation_level=None)
        self.raw.execute("PRAGMA journal_mode=WAL")
        self.raw.execute("PRAGMA synchronous=FULL")
        self.raw.execute("CREATE TABLE t (position INTEGER PRIMARY KEY, payload BLOB, signature BLOB)")
        place = Place("default", "main", 1, 1, "sha256:" + "0" * 64, "2026-01-01T00:00:00.000000Z")
        self.sealed = seal(self.event(), place, self.signer)
        self.place = place

    def event(self) -> NewEvent:
        """A typical event."""
        return NewEvent("run:bench", "task.issued", BODY)

    def raw_single(self) -> int:
        """Rows without any proof, one a transaction."""
        for _ in range(SINGLE):
            self._insert(1)
        return SINGLE

    def raw_batch(self) -> int:
        """Rows without any proof, many a transaction."""
        for _ in range(BATCHES):
            self._insert(BATCH)
        return BATCHES * BATCH

    def _insert(self, count: int) -> None:
        self.raw.execute("BEGIN IMMEDIATE")
        rows = [(self.sealed.payload, self.sealed.signature)] * count
        self.raw.executemany("INSERT INTO t (payload, signature) VALUES (?, ?)", rows)
        self.raw.execute("COMMIT")

    def append_single(self) -> int:
        """One event an append, as a run does."""
        for _ in range(SINGLE):
            self.store.append([self.event()], signer=self.signer)
        return SINGLE

    def append_batch(self) -> int:
        """Many events an append."""
        for _ in range(BATCHES):
            self.store.append([self.event() for _ in range(BATCH)], signer=self.signer)
        return BATCHES * BATCH

    def canonical_and_sign(self) -> int:
        """What every event costs at least."""
        document = json.loads(self.sealed.payload)
        for _ in range(1000):
            payload = canonical(document)
            digest_bytes(payload)
            self.signer.sign(message(payload))
        return 1000

    def ed25519_verify(self) -> int:
        """What every proof costs at least."""
        payload = message(self.sealed.payload)
        for _ in range(1000):
            self.trust.verify(self.signer.keyid, self.sealed.signature, payload)
        return 1000

    def open_events(self) -> int:
        """Decode and prove one event, without a database."""
        for _ in range(1000):
            open_event(self.sealed.payload, self.sealed.signature, self.trust)
        return 1000

    def verify_log(self) -> int:
        """Everything that is written so far."""
        report = self.store.verify()
        if not report.sound:
            sys.exit("the benchmark's own log is not sound")
        return report.events

    def read_again(self) -> int:
        """Reading what this process has proven before."""
        return sum(1 for _ in self.store.read())


ROWS = {
    "raw insert, single": Bench.raw_single,
    "raw insert, batch of 100": Bench.raw_batch,
    "signed append, single": Bench.append_single,
    "signed append, batch of 100": Bench.append_batch,
    "canonicalise, hash and sign alone": Bench.canonical_and_sign,
    "Ed25519 verify alone": Bench.ed25519_verify,
    "open one event": Bench.open_events,
    "verify the whole log": Bench.verify_log,
    "read the whole log again": Bench.read_again,
}


#: a rate over another one of the same round.
COMPARED = {
    "batch append / canonicalise, hash and sign alone": (
        "signed append, batch of 100",
        "canonicalise, hash and sign alone",
    ),
    "verify the log / Ed25519 verify alone": ("verify the whole log", "Ed25519 verify alone"),
}


def measure(rounds: int | None = None) -> Report:
    """Every row once a round: events a second."""
    found: dict[str, list[float]] = {name: [] for name in ROWS}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        bench = Bench(Path(folder))
        for _ in range(rounds or ROUNDS):
            for name, row in ROWS.items():
                began = time.perf_counter()
                count = row(bench)
                found[name].append(count / (time.perf_counter() - began))
        bench.store.close()
        bench.raw.close()
    report = Report("spine", ABOUT)
    rates = {name: Spread.of(sample) for name, sample in found.items()}
    compared = {name: ratios(found[mine], found[base]) for name, (mine, base) in COMPARED.items()}
    report.figures = {
        "events_per_second": {name: rate.as_dict() for name, rate in rates.items()},
        "ratios": {name: ratio.as_dict() for name, ratio in compared.items()},
    }
    report.tables = [
        Table(
            "Events a second: median, least, most",
            ("", "median", "least", "most"),
            [(n, f"{r.median:,.0f}", f"{r.least:,.0f}", f"{r.most:,.0f}") for n, r in rates.items()],
        ),
        Table(
            "Ratios of rates, round by round: median (quartiles)",
            ("", "ratio"),
            [(name, ratio.shown()) for name, ratio in compared.items()],
        ),
    ]
    return report
