"""One governed run against the same work as bare Dagster assets and as a plain script.

Four variants take the same tickets in turn, each on a project of its own:

* ``governed``: ticket to verdict through supervisor and Dagster, in process, programs warm;
* ``supervisor``: the same without Dagster, to see what each of the two costs;
* ``bare``: hand-written Dagster assets and checks without governance (``_bare.py``), the same instance kind;
* ``script``: the same functions called one after the other.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks._report import Report, Spread, Table, ratios
from benchmarks._tickets import GRAPH, make_ticket, open_home
from benchmarks._timing import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import dagster as dg

    from benchmarks._timing import Mark, Stopwatch
    from fabric_dagster.cli.driving import Driver
    from resources.supervision.assembly import Hall

ABOUT = "a governed run against bare Dagster and a plain script, programs warm, in turn"
ROUNDS = 12
WARM_UP = 2
AIM = 1.25
DETAILED = 6


def measure(rounds: int | None = None) -> Report:
    """Take ``rounds`` tickets through every variant."""
    import dagster as dg

    from benchmarks._bare import Desk, bare_job, run_job, script
    from fabric_dagster.cli.driving import Driver

    warnings.simplefilter("ignore")
    report = Report("governed_run", ABOUT)
    with tempfile.TemporaryDirectory(prefix="fabric-bench-", ignore_cleanup_errors=True) as name:
        root = Path(name)
        first, second = open_home(root / "governed"), open_home(root / "supervisor")
        workflow = first.workflow(GRAPH)
        tickets = root / "tickets"
        desks = {}
        for which in ("bare", "script"):
            for part in ("project", "templates", "dagster/dagster.yaml"):
                _copy(first.home.path / part, root / which / part)
            desks[which] = Desk(root / which, tickets, workflow, first.authorize(workflow))
        job = bare_job(desks["bare"])
        with (
            dg.DagsterInstance.from_config(str(root / "bare" / "dagster")) as instance,
            Driver(first) as driver,
        ):
            variants: dict[str, Callable[[str], object]] = {
                "governed": lambda key: _governed(first, driver, tickets / f"{key}.json"),
                "supervisor": lambda key: _supervised(second, tickets / f"{key}.json"),
                "bare": lambda key: run_job(job, instance, key),
                "script": lambda key: script(desks["script"], key),
            }
            times = _rounds(variants, tickets, workflow.pack.folder / "tickets", rounds or ROUNDS)
            _compare(report, times)
            numbers = range(10_000, 10_000 + DETAILED)
            keys = [_ticket(tickets, workflow.pack.folder / "tickets", number) for number in numbers]
            marks = _marks(instance)
            parts = _parts({which: variants[which] for which in ("governed", "bare")}, keys, marks)
            _break_down(report, parts, len(keys))
        for hall in (first, second):
            hall.validator.close()
    return report


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


def _ticket(tickets: Path, examples: Path, number: int) -> str:
    return make_ticket(tickets, examples, number).stem


def _governed(hall: Hall, driver: Driver, ticket: Path) -> None:
    from sensors.inbox import take

    run = driver.drive(take(hall, ticket, GRAPH))
    _require(run.state, run.unresolved)


def _supervised(hall: Hall, ticket: Path) -> None:
    """What the steps of the line call, in their order."""
    from fabric_dagster.supervisor import controls
    from fabric_dagster.supervisor.execution import run_partition
    from fabric_dagster.supervisor.judging import judge_side
    from sensors.inbox import take

    taken = take(hall, ticket, GRAPH)
    services, workflow, run = hall.services, taken.workflow, taken.opened.run.run
    for part in workflow.compiled.partitions:
        name = part.capabilities[0].partition("@")[0]
        if name == "fabric.ticket_brief":
            controls.lay_brief(services, workflow, run)
        elif name == "fabric.asset_decision":
            controls.make_decision(services, workflow, run)
        elif name == "fabric.seal_handoff":
            controls.seal_handoff(services, workflow, run, part.id)
        elif name == "fabric.independent_verdict":
            _require(controls.complete(services, workflow, run, part.id).state, ())
        else:
            run_partition(services, workflow, run, part.id)
            judge_side(services, workflow, run, part.id)


def _require(state: str, why: Sequence[str]) -> None:
    if state != "completed":
        raise RuntimeError(f"the run is {state}, nothing was measured: {'; '.join(why)}")


def _rounds(
    variants: dict[str, Callable[[str], object]], tickets: Path, examples: Path, rounds: int
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in variants}
    order = list(variants)
    for number in range(1, rounds + WARM_UP + 1):
        key = _ticket(tickets, examples, number)
        for name in order:
            started = time.perf_counter()
            variants[name](key)
            spent = time.perf_counter() - started
            if number > WARM_UP:
                times[name].append(spent)
        order.append(order.pop(0))  # nobody is always first
    return times


def _compare(report: Report, times: dict[str, list[float]]) -> None:
    spreads = {name: Spread.of(sample) for name, sample in times.items()}
    to_bare = {name: ratios(sample, times["bare"]) for name, sample in times.items()}
    to_script = {name: ratios(sample, times["script"]) for name, sample in times.items()}
    report.figures |= {
        "rounds": len(times["bare"]),
        "aim": {"governed_to_bare": AIM},
        "seconds": {name: item.as_dict() for name, item in spreads.items()},
        "ratio_to_bare": {name: item.as_dict() for name, item in to_bare.items()},
        "ratio_to_script": {name: item.as_dict() for name, item in to_script.items()},
    }
    rows = [
        (
            name,
            spreads[name].shown(3, " s"),
            to_bare[name].shown(),
            f"{to_bare[name].least:.2f} to {to_bare[name].most:.2f}",
            to_script[name].shown(),
        )
        for name in times
    ]
    report.tables.append(
        Table(
            f"{len(times['bare'])} tickets each, in turn: median (quartiles). Aim: governed <= {AIM} x bare",
            ("", "seconds", "x bare", "least to most", "x script"),
            rows,
        )
    )


def _marks(instance: dg.DagsterInstance) -> list[Mark]:
    """What is timed by category, in both variants."""
    import dagster as dg
    from filelock import BaseFileLock

    from assets import factory
    from benchmarks import _bare
    from fabric_dagster.supervisor import execution
    from fabric_dagster.supervisor.services import Services
    from resources.artifacts.store import FolderArtifactStore
    from resources.files.transaction import FileTransactions
    from resources.ledger.store import SqlEventStore
    from resources.photoshop.client import Worker
    from resources.photoshop.provider import HeadlessPhotoshop
    from resources.supervision import assembly
    from resources.unity.provider import HeadlessUnity
    from resources.validator.client import ValidatorClient
    from sensors import inbox

    artifacts, dagster = "artifact store: copies, hashes, reads", "Dagster: its events and runs in SQLite"
    log, runs = type(instance.event_log_storage), type(instance.run_storage)
    return [
        (factory, "partition_step", "steps: the rest of their code"),
        (factory, "check_step", "steps: the rest of their code"),
        *(
            (_bare.Desk, name, "steps: the rest of their code")
            for name in ("decide", "edit", "integrate", "check")
        ),
        (assembly, "authorize_execution", "authority: certificate, commission, templates"),
        (SqlEventStore, "append", "spine: signed appends"),
        (Services, "reload", "spine: reading and projecting"),
        (FolderArtifactStore, "put_bytes", artifacts),
        (FolderArtifactStore, "put_file", artifacts),
        (FolderArtifactStore, "get", artifacts),
        (FolderArtifactStore, "path", artifacts),
        (Worker, "call", "Photoshop engine"),
        (_bare.engine, "execute", "Photoshop engine"),
        (ValidatorClient, "judge", "blind checks"),
        (_bare.Bench, "judge", "blind checks"),
        (HeadlessUnity, "stage", "Unity: stage"),
        (HeadlessUnity, "allocate", "Unity: stage"),
        (HeadlessUnity, "observe", "postconditions observed"),
        (HeadlessPhotoshop, "observe", "postconditions observed"),
        (FileTransactions, "commit", "journaled transactions"),
        (FileTransactions, "forget", "journaled transactions"),
        (FileTransactions, "standing", "journaled transactions"),
        (execution, "store_manifest", "tree manifest"),
        (_bare, "tree_manifest", "tree manifest"),
        (BaseFileLock, "acquire", "locks"),
        (BaseFileLock, "release", "locks"),
        (inbox, "read_ticket", "ticket read"),
        (_bare.Desk, "brief", "ticket read"),
        (assembly.Hall, "template_digests", "authority: certificate, commission, templates"),
        (dg.JobDefinition, "execute_in_process", "Dagster: executing"),
        (log, "store_event", dagster),
        *((runs, name, dagster) for name in ("add_run", "handle_run_event") if name in runs.__dict__),
    ]


def _parts(
    variants: dict[str, Callable[[str], object]], keys: list[str], marks: list[Mark]
) -> dict[str, dict[str, tuple[float, float]]]:
    """Variant, category: mean milliseconds and calls; variants in turn, as in the comparison."""
    watches: dict[str, list[Stopwatch]] = {which: [] for which in variants}
    for key in keys:
        for which, run in variants.items():
            with watched(marks) as watch:
                run(key)
            watches[which].append(watch)
    return {
        which: {
            name: (
                sum(watch.seconds[name] for watch in found) / len(keys) * 1000,
                sum(watch.calls[name] for watch in found) / len(keys),
            )
            for name in {name for watch in found for name in watch.seconds}
        }
        for which, found in watches.items()
    }


def _break_down(report: Report, parts: dict[str, dict[str, tuple[float, float]]], count: int) -> None:
    governed, bare = parts["governed"], parts["bare"]
    nothing = (0.0, 0.0)
    more = {name: governed.get(name, nothing)[0] - bare.get(name, nothing)[0] for name in governed | bare}
    total = sum(bare[name][0] for name in bare)
    report.figures["breakdown"] = {
        which: {name: {"milliseconds": round(ms, 1), "calls": calls} for name, (ms, calls) in found.items()}
        for which, found in parts.items()
    }
    rows = [
        (
            name,
            f"{governed.get(name, nothing)[0]:.1f}",
            f"{governed.get(name, nothing)[1]:.0f}",
            f"{bare.get(name, nothing)[0]:.1f}",
            f"{bare.get(name, nothing)[1]:.0f}",
            f"{extra:+.1f}",
            f"{extra / total:+.1%}",
        )
        for name, extra in sorted(more.items(), key=lambda item: -item[1])
    ]
    summed = sum(ms for ms, _ in governed.values())
    extra = summed - total
    rows.append(
        ("together", f"{summed:.1f}", "", f"{total:.1f}", "", f"{extra:+.1f}", f"{extra / total:+.1%}")
    )
    columns = ("", "governed ms", "calls", "bare ms", "calls", "more ms", "of bare")
    report.tables.append(Table(f"Where it goes: own time, mean of {count} tickets", columns, rows))
