"""Signed appends, verification, projections and cold resumes, against raw inserts and raw Ed25519.

First the limits: what canonicalising, hashing and signing the same payloads takes alone on one core, and
what Ed25519 takes to verify them; then what is left of them. Every row is measured once a round, rounds
interleaved, so that a busy moment hits all alike. Payloads are about one kilobyte. Databases lie in the
system's temporary folder: ``TMPDIR`` names another disk, ``FABRIC_BENCH_POSTGRES`` another server.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks._ledgers import databases
from benchmarks._report import Report, Spread, Table, ratios
from fabric_dagster.digests import canonical, digest_bytes
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.spine.events import Place, message, seal
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.projection import load_run, stream_of
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks._ledgers import Ledgers, Raw

ABOUT = "signed appends, verification, projections and cold resumes against raw inserts and raw Ed25519"
ROUNDS = 7
SINGLE, BATCHES, BATCH, ALONE = 100, 10, 100, 1000
#: Events of a run, and runs in the short and in the long log.
RUN, SHORT, LONG = 14, 1_000 // 15, 100_000 // 15
TEXT = "y" * 400

SIGNER = signer_of("runtime", Ed25519PrivateKey.generate())
TRUST = TrustRoot.of({"runtime": SIGNER.public})
BODY = {"objective": TEXT, "plan": "sha256:" + "0" * 64, "numbers": [1, 2, 3], "nested": {"ok": True}}
EVENT = NewEvent("run:bench", "task.issued", BODY)
AT = Place("default", "main", 1, 1, "sha256:" + "0" * 64, "2026-01-01T00:00:00.000000Z")
SEALED = seal(EVENT, AT, SIGNER)


def open_store(url: str, anchors: Path) -> SqlEventStore:
    """A store as a home has it: anchored in two places, of which a SQLite file's folder is one."""
    places = ("one",) if url.startswith("sqlite") else ("one", "two")
    return SqlEventStore(url, "default", TRUST, anchors=[anchors / place for place in places])


def canonical_and_sign() -> int:
    """What every event costs at least, on one core."""
    document = {
        "schema": "fabric.event.v1",
        **{name: getattr(SEALED.event, name) for name in ("position", "stream", "version", "type", "body")},
        **{name: getattr(SEALED.event, name) for name in ("actor", "keyid", "workspace", "branch")},
        **{name: getattr(SEALED.event, name) for name in ("previous", "recorded_at", "run")},
    }
    for _ in range(ALONE):
        payload = canonical(document)
        digest_bytes(payload)
        SIGNER.sign(message(payload))
    return ALONE


def ed25519_verify() -> int:
    """What every proof costs at least, on one core."""
    payload = message(SEALED.payload)
    for _ in range(ALONE):
        TRUST.verify(SIGNER.keyid, SEALED.signature, payload)
    return ALONE


class Bench:
    """One database: a small log that grows, and a raw table beside it."""

    def __init__(self, url: str, raw: Raw, anchors: Path) -> None:
        self.url, self.raw, self.anchors = url, raw, anchors
        self.store = open_store(url, anchors)

    def raw_single(self) -> int:
        """Rows without any proof, one a transaction."""
        for _ in range(SINGLE):
            self.raw.insert([(SEALED.payload, SEALED.signature)])
        return SINGLE

    def raw_batch(self) -> int:
        """Rows without any proof, many a transaction."""
        for _ in range(BATCHES):
            self.raw.insert([(SEALED.payload, SEALED.signature)] * BATCH)
        return BATCHES * BATCH

    def append_single(self) -> int:
        """One event an append, as a run does: signed, chained, anchored twice."""
        for _ in range(SINGLE):
            self.store.append([EVENT], signer=SIGNER)
        return SINGLE

    def append_batch(self) -> int:
        """Many events an append, every one signed by itself."""
        for _ in range(BATCHES):
            self.store.append([EVENT] * BATCH, signer=SIGNER)
        return BATCHES * BATCH

    def verify(self) -> int:
        """Everything that is written so far, on one core."""
        return proven(self.store, 1)


def proven(store: SqlEventStore, jobs: int | None) -> int:
    """Verify the whole log; how many events it has."""
    report = store.verify(jobs=jobs)
    if not report.sound:
        sys.exit(f"the benchmark's own log is not sound: {report.faults[0]}")
    return report.events


def run_digest(number: int) -> str:
    """A run's name."""
    return digest_bytes(f"run {number}".encode())


def grow(store: SqlEventStore, runs: range) -> None:
    """Runs as a log has them: opened, linked with their ticket, and a dozen events more each."""
    batch: list[NewEvent] = []
    for number in runs:
        run = run_digest(number)
        opened = {"run": run, "reference": "G@1", "partition_key": f"T-{number}", "objective": TEXT}
        batch.append(NewEvent(stream_of(run), "run.opened", opened, f"{run}:opened"))
        batch.append(NewEvent(f"ticket:T-{number}", "run.linked", {"run": run}, f"{run}:linked"))
        linked = {"dagster_run": "x", "objective": TEXT}
        batch += [NewEvent(stream_of(run), "dagster.linked", linked, f"{run}:{at}") for at in range(RUN - 1)]
        if len(batch) >= 500 or number == runs[-1]:
            store.append(batch, signer=SIGNER)
            batch = []


def resume(url: str, anchors: Path, run: str) -> Callable[[], int]:
    """Open the ledger anew, find a run by the beginning of its name, read and project it."""

    def once() -> int:
        store = open_store(url, anchors)
        (stream,) = store.streams(stream_of(run[:24]))
        load_run(store, stream.removeprefix("run:"))
        list(store.read(types=["graph.commissioned"]))
        store.close()
        return 1

    return once


def rebuild(url: str, anchors: Path) -> int:
    """Read and project every run of the log, proving every event."""
    store = open_store(url, anchors)
    events = 0
    for event in store.read(types=["run.opened"]):
        events += len(load_run(store, event.body["run"]).events)
    store.close()
    return events


LIMIT = "canonicalise, hash and sign alone"
PROOF = "Ed25519 verify alone"
#: What was busy work of this process, whatever else the machine had to do; a server's own work is not in it.
BUSY = " (processor time)"
BATCHED, SINGLY = f"signed append, batch of {BATCH}", "signed append, single"
ONE_CORE, ALL_CORES = "verify {:,} events on one core", "verify {:,} events on all cores"
REBUILD = "projections of {:,} runs rebuilt"
RESUMED = "resume a run, {:,} events"


def measure(rounds: int | None = None) -> Report:
    """Every row once a round: events a second; resumes in seconds."""
    report = Report("spine", ABOUT)
    rates: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    compared: dict[str, Spread] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root, databases(Path(root)) as found:
        benches = {
            name: Bench(item.small, item.raw, Path(root) / f"{name} small") for name, item in found.items()
        }
        for _ in range(rounds or ROUNDS):
            _round(benches, rates)
        for name, item in found.items():
            benches[name].store.close()
            _compare(name, rates, compared)
            _long(name, item, Path(root), rates, times, (rounds or ROUNDS) * 3)
            short, long = (times[f"{name}: {RESUMED.format(count * (RUN + 1))}"] for count in (SHORT, LONG))
            compared[f"{name}: resume on a long log / on a short one (times; aim at most 1.5)"] = ratios(
                long, short
            )
        if "PostgreSQL" not in found:
            report.notes.append("PostgreSQL was not measured: there is no server and no wheel of one.")
    _fill(report, rates, times, compared)
    return report


def _timed(row: str, work: Callable[[], int], rates: dict[str, list[float]]) -> None:
    """Events a second, by the clock and by this process's own time on a core."""
    began, busy = time.perf_counter(), time.process_time()
    count = work()
    rates.setdefault(row, []).append(count / (time.perf_counter() - began))
    rates.setdefault(row + BUSY, []).append(count / (time.process_time() - busy))


def _round(benches: dict[str, Bench], rates: dict[str, list[float]]) -> None:
    rows: dict[str, Callable[[], int]] = {LIMIT: canonical_and_sign, PROOF: ed25519_verify}
    for name, bench in benches.items():
        rows |= {
            f"{name}: raw insert, single": bench.raw_single,
            f"{name}: {SINGLY}": bench.append_single,
            f"{name}: raw insert, batch of {BATCH}": bench.raw_batch,
            f"{name}: {BATCHED}": bench.append_batch,
            f"{name}: verify on one core": bench.verify,
        }
    for row, work in rows.items():
        _timed(row, work, rates)


def _compare(name: str, rates: dict[str, list[float]], compared: dict[str, Spread]) -> None:
    verify, limit = f"{name}: verify on one core", rates[LIMIT]
    compared |= {
        f"{name}: batch append / {LIMIT}{' (aim at least 0.35)' if name == 'SQLite' else ''}": ratios(
            rates[f"{name}: {BATCHED}"], limit
        ),
        f"{name}: that by processor time": ratios(rates[f"{name}: {BATCHED}{BUSY}"], rates[LIMIT + BUSY]),
        f"{name}: verify on one core / {PROOF}": ratios(rates[verify], rates[PROOF]),
        f"{name}: the same by processor time (aim at least 0.8)": ratios(
            rates[verify + BUSY], rates[PROOF + BUSY]
        ),
        f"{name}: single append / raw insert": ratios(
            rates[f"{name}: {SINGLY}"], rates[f"{name}: raw insert, single"]
        ),
        f"{name}: batch append / raw insert": ratios(
            rates[f"{name}: {BATCHED}"], rates[f"{name}: raw insert, batch of {BATCH}"]
        ),
    }


def _long(
    name: str,
    item: Ledgers,
    folder: Path,
    rates: dict[str, list[float]],
    times: dict[str, list[float]],
    resumes: int,
) -> None:
    """The same run resumed on a short and a long log, in turn; the long one proven and projected, once."""
    rows = {}
    for url, count in ((item.short, SHORT), (item.long, LONG)):
        anchors = folder / f"{name} {count}"
        store = open_store(url, anchors)
        grow(store, range(count))
        store.close()
        rows[f"{name}: {RESUMED.format(count * (RUN + 1))}"] = resume(url, anchors, run_digest(SHORT // 2))
    for _ in range(resumes):
        for row, work in rows.items():
            began = time.perf_counter()
            work()
            times.setdefault(row, []).append(time.perf_counter() - began)
    store = open_store(item.long, anchors)
    events = LONG * (RUN + 1)
    for row, jobs in ((ONE_CORE, 1), (ALL_CORES, os.cpu_count())):
        _timed(f"{name}: {row.format(events)}", partial(proven, store, jobs), rates)
    store.close()
    _timed(f"{name}: {REBUILD.format(LONG)}", partial(rebuild, item.long, anchors), rates)


def _fill(
    report: Report,
    rates: dict[str, list[float]],
    times: dict[str, list[float]],
    compared: dict[str, Spread],
) -> None:
    spreads = {row: Spread.of(sample) for row, sample in rates.items()}
    shown = {row: spread for row, spread in spreads.items() if not row.endswith(BUSY)}
    waits = {row: Spread.of(sample) for row, sample in times.items()}
    report.figures = {
        "events_per_second": {row: spread.as_dict() for row, spread in spreads.items()},
        "seconds": {row: spread.as_dict() for row, spread in waits.items()},
        "ratios": {row: spread.as_dict() for row, spread in compared.items()},
    }
    limits = (
        f"Limits on one core: {spreads[LIMIT].median:,.0f} events signed and {spreads[PROOF].median:,.0f} "
    )
    report.notes.append(limits + "verified a second, without any database.")
    report.tables = [
        Table(
            "Events a second: median, least, most",
            ("", "median", "least", "most"),
            [(n, f"{r.median:,.0f}", f"{r.least:,.0f}", f"{r.most:,.0f}") for n, r in shown.items()],
        ),
        Table(
            "Milliseconds: median (quartiles)",
            ("", "time"),
            [
                (n, f"{r.median * 1e3:.1f} ({r.lower * 1e3:.1f} to {r.upper * 1e3:.1f})")
                for n, r in waits.items()
            ],
        ),
        Table(
            "Ratios of rates, round by round: median (quartiles)",
            ("", "ratio"),
            [(name, ratio.shown()) for name, ratio in compared.items()],
        ),
    ]
