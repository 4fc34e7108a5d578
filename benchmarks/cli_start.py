"""What starting the program takes, and proof that Dagster is imported only where it is needed.

Wall time of whole processes, in turn: ``fabric --help`` against ``python -c pass`` (what any Python program
pays) and ``dagster --version``. Which modules a start has imported is asked of ``-X importtime``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from benchmarks._report import Report, Spread, Table, ratios

ABOUT = "starting `fabric --help` against Python alone and `dagster --version`"
ROUNDS = 11
AIM_SECONDS = 0.5
HEAVY = ("dagster", "sqlalchemy", "numpy", "cv2", "PIL", "psd_tools", "pydantic")
SLOWEST = 8


def measure(rounds: int | None = None) -> Report:
    """Start each program ``rounds`` times."""
    checkout = Path(__file__).resolve().parents[1]
    bin_folder = Path(sys.executable).parent
    programs = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "fabric --help": [str(bin_folder / "fabric"), "--help"],
        "fabric pack list": [str(bin_folder / "fabric"), "pack", "list"],
        "dagster --version": [str(bin_folder / "dagster"), "--version"],
    }
    times: dict[str, list[float]] = {name: [] for name in programs}
    for number in range((rounds or ROUNDS) + 1):
        for name, command in programs.items():
            started = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True, cwd=checkout)
            if number:  # the first warms the system's file cache
                times[name].append(time.perf_counter() - started)
    report = Report("cli_start", ABOUT)
    spreads = {name: Spread.of(sample) for name, sample in times.items()}
    to_dagster = {name: ratios(sample, times["dagster --version"]) for name, sample in times.items()}
    imported, slowest = _imports(checkout)
    found = [name for name in HEAVY if name in imported]
    report.figures = {
        "aim": {"fabric_help_seconds": AIM_SECONDS},
        "seconds": {name: spread.as_dict() for name, spread in spreads.items()},
        "ratio_to_dagster": {name: ratio.as_dict() for name, ratio in to_dagster.items()},
        "modules": len(imported),
        "heavy_modules_imported_by_help": found,
        "slowest_imports_milliseconds": slowest,
    }
    report.tables = [
        Table(
            f"Whole processes, in turn: median (quartiles). Aim: fabric --help <= {AIM_SECONDS} s",
            ("", "seconds", "least to most", "x dagster --version"),
            [
                (
                    name,
                    spread.shown(3, " s"),
                    f"{spread.least:.3f} to {spread.most:.3f}",
                    to_dagster[name].shown(),
                )
                for name, spread in spreads.items()
            ],
        ),
        Table(
            "Slowest imports of `fabric --help`, with what they import",
            ("", "ms"),
            [(name, f"{ms:.1f}") for name, ms in slowest.items()],
        ),
    ]
    report.notes.append(
        f"`fabric --help` imports {len(imported)} modules; "
        f"of {', '.join(HEAVY)}: {', '.join(found) or 'none'}."
    )
    return report


def _imports(checkout: Path) -> tuple[frozenset[str], dict[str, float]]:
    """Every module that ``fabric --help`` imports, and the slowest in milliseconds, their own included."""
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-c",
        "from fabric_dagster.cli.main import main; main(['--help'])",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=checkout)
    took: dict[str, float] = {}
    for line in done.stderr.splitlines():
        if line.startswith("import time:") and line.count("|") == 2:
            _, cumulative, name = line.removeprefix("import time:").split("|")
            if cumulative.strip().isdigit():
                took[name.strip()] = int(cumulative) / 1000
    slowest = sorted(took.items(), key=lambda item: -item[1])[:SLOWEST]
    return frozenset(took), dict(slowest)
