"""What loading a code location takes: packs compiled to Dagster, against hand-written assets of that shape.

Each load is a fresh process; the two variants take turns. The packs are generated from the sample pack: ten
graphs of ten nodes a pack, each graph with its own rules. The hand-written side (``_written.py``) has the
same steps, keys, checks and specs, and reads, validates and digests nothing.

Three times are taken: defining and resolving alone, without any import; the whole process that does it; and
``dagster definitions validate``, which loads the location as the UI does: in a server, with its snapshot.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks._report import Report, Spread, Table, ratios

ABOUT = "loading a code location: compiled packs against hand-written assets, a process each, in turn"
#: graphs → rounds
SIZES = {10: 7, 100: 7, 1000: 3}
AIM = 1.2
PER_PACK = 10
SAMPLE = "CreateOfferIconAndIntegrate"
VARIANTS = ("compiled", "written")
COMPARED = {
    "load_seconds": ("define and resolve", "s", 2),
    "total_seconds": ("whole process", "s", 2),
    "validate_seconds": ("dagster definitions validate", "s", 2),
    "peak_mib": ("peak memory", "MiB", 0),
}


def measure(rounds: int | None = None) -> Report:
    """Load each size ``rounds`` times in each variant."""
    report = Report("code_location", ABOUT)
    checkout = Path(__file__).resolve().parents[1]
    report.figures["aim"] = {"compiled_to_written": AIM}
    rows = []
    for count, its_own in SIZES.items():
        with tempfile.TemporaryDirectory(prefix="fabric-bench-") as folder:
            generate(checkout / "packs" / "offers", Path(folder), count)
            found = {name: [] for name in VARIANTS}
            order = list(VARIANTS)
            for _ in range(rounds or its_own):
                for name in order:
                    loaded = _load(checkout, name, folder, count)
                    loaded["validate_seconds"] = _validate(checkout, name, folder, count)
                    found[name].append(loaded)
                order.reverse()
        rows += _compare(report, count, found)
    report.tables.append(
        Table(
            f"Medians; ratio: median (quartiles) of the rounds' ratios. Aim: <= {AIM}",
            ("graphs of ten nodes", "", "compiled", "hand-written", "ratio", "rounds"),
            rows,
        )
    )
    return report


def _compare(report: Report, count: int, found: dict[str, list[dict[str, float]]]) -> list[tuple[str, ...]]:
    kept = report.figures[str(count)] = {
        name: {key: Spread.of(item[key] for item in loads).as_dict() for key in loads[0]}
        for name, loads in found.items()
    }
    rows = []
    for key, (said, unit, digits) in COMPARED.items():
        mine, base = ([load[key] for load in found[name]] for name in VARIANTS)
        if not all(base):
            continue
        ratio = ratios(mine, base)
        kept[f"ratio_{key}"] = ratio.as_dict()
        values = [f"{Spread.of(sample).median:.{digits}f} {unit}" for sample in (mine, base)]
        rows.append((str(count), said, *values, ratio.shown(), str(len(mine))))
    return rows


def generate(sample: Path, folder: Path, count: int) -> None:
    """``count`` graphs in packs of ten under ``folder``, made from the pack ``sample``."""
    text = (sample / "pack.yaml").read_text(encoding="utf-8")
    head, _, rest = text.partition("\nrules:\n")
    lines = rest.splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if line.strip() and not line.startswith((" ", "#")))
    rules, tail = "".join(lines[:end]), "".join(lines[end:])
    (graph_file,) = sorted((sample / "graphs").glob("*.yaml"))
    graph = graph_file.read_text(encoding="utf-8")
    for first in range(0, count, PER_PACK):
        name = f"pack{first // PER_PACK:03}"
        numbers = range(first, min(first + PER_PACK, count))
        pack = folder / name
        (pack / "graphs").mkdir(parents=True)
        (pack / "sop").mkdir()
        for text_file in (sample / "sop").iterdir():
            (pack / "sop" / text_file.name).write_bytes(text_file.read_bytes())
        mine = "".join(
            rules.replace(f"{SAMPLE}@", f"MakeIcon{number:04}@").replace("- id: ", f"- id: r{number}_")
            for number in numbers
        )
        document = f"{head}\nrules:\n{mine}{tail}".replace("name: offers\n", f"name: {name}\n")
        (pack / "pack.yaml").write_text(document, encoding="utf-8", newline="\n")
        for number in numbers:
            target = pack / "graphs" / f"make_icon{number:04}.yaml"
            target.write_text(graph.replace(SAMPLE, f"MakeIcon{number:04}"), encoding="utf-8", newline="\n")


def _load(checkout: Path, variant: str, folder: str, count: int) -> dict[str, float]:
    script = str(checkout / "benchmarks" / "_load.py")
    done = subprocess.run(
        [sys.executable, script, variant, folder, str(count)],
        capture_output=True,
        text=True,
        check=False,
        cwd=checkout,
    )
    if done.returncode:
        raise RuntimeError(f"{variant} did not load: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


LOCATION = """
import dagster as dg
from benchmarks._load import definitions_of

defs = definitions_of({variant!r}, {folder!r}, {count})
"""


def _validate(checkout: Path, variant: str, folder: str, count: int) -> float:
    with tempfile.TemporaryDirectory(prefix="fabric-bench-") as place:
        file = Path(place) / "location.py"
        file.write_text(LOCATION.format(variant=variant, folder=folder, count=count), encoding="utf-8")
        kept = {key: value for key, value in os.environ.items() if key != "DAGSTER_HOME"}
        program = str(Path(sys.executable).parent / "dagster")
        started = time.perf_counter()
        done = subprocess.run(
            [program, "definitions", "validate", "-f", str(file), "-d", str(checkout)],
            capture_output=True,
            text=True,
            check=False,
            cwd=checkout,
            env=kept | {"PYTHONPATH": str(checkout)},
        )
        spent = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(f"{variant} is not valid: {done.stderr[-2000:]}")
    return spent
