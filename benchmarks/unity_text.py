"""The Unity text engine against PyYAML and unityparser on the same bytes: read, split, scan, change a value.

The bytes are the sample project's ``.asset`` documents, repeated in one scene-like file of about a
megabyte. PyYAML gets each document's body, since it refuses Unity's headers; "libyaml" is its C
loader, "Python" its own. An edit is what the engine is for: find one property in the file and splice it;
unityparser loads the file and writes it again. unityparser pins another PyYAML than ours, so it runs in an
environment of its own, in the same run of this benchmark.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmarks._peers import ask, environment
from benchmarks._report import Report, Spread, Table, ratios
from resources.unity.sample import files
from resources.unity.text import UnityFile, apply, scan_rows, set_value
from resources.unity.text.documents import split
from resources.unity.text.file import plain

if TYPE_CHECKING:
    from collections.abc import Callable

ABOUT = "the Unity text engine against PyYAML and unityparser: megabytes a second, reading and editing"
ROUNDS, SLOW_ROUNDS = 7, 3
SIZE = 1_000_000
LIBYAML, SLOW = "PyYAML, libyaml: read all", "PyYAML, Python: read all (a tenth)"
EDIT, SPLIT, SCAN = "engine: change one value", "engine: split into documents", "engine: scan references"
PARSER = "unityparser: change one value"
PEER = "unityparser==4.0.0"
MARK = b"--- !u!"
ID = 11_400_000
AIMS = {(SPLIT, LIBYAML): 25, (SCAN, LIBYAML): 100, (EDIT, PARSER): 200}
SCRIPT = """
import json, sys, time
from unityparser import UnityDocument
began = time.perf_counter()
document = UnityDocument.load_yaml(sys.argv[1])
document.entries[-1].m_Name = "another_name"
document.dump_yaml(file_path=sys.argv[1] + ".out")
print(json.dumps(time.perf_counter() - began))
"""


def measure(rounds: int | None = None) -> Report:
    """Every row once a round, in turn; unityparser as often as a minute each allows."""
    data = scene(SIZE)
    small = scene(SIZE // 10)
    last = UnityFile(data).documents[-1].file_id
    rows: dict[str, tuple[Callable[[], object], int]] = {
        "engine: read all": (lambda: _read(data), len(data)),
        SPLIT: (lambda: _repeat(lambda: split(data)), 20 * len(data)),
        SCAN: (lambda: _repeat(lambda: scan_rows(data)), 20 * len(data)),
        EDIT: (lambda: _edit(data, last), len(data)),
        LIBYAML: (lambda: _load(data, "CBaseLoader"), len(data)),
        SLOW: (lambda: _load(small, "BaseLoader"), len(small)),
    }
    found: dict[str, list[float]] = {name: [] for name in rows}
    report = Report("unity_text", ABOUT)
    with environment(PEER) as python, tempfile.TemporaryDirectory() as folder:
        if python is None:
            report.notes.append(f"{PEER} could not be installed: its row is missing.")
        else:
            found[PARSER] = []
            scene_file = Path(folder) / "scene.unity"
            scene_file.write_bytes(small)
        for number in range(rounds or ROUNDS):
            for name, (row, size) in rows.items():
                began = time.perf_counter()
                row()
                found[name].append(size / 1e6 / (time.perf_counter() - began))
            if python is not None and number < SLOW_ROUNDS:
                found[PARSER].append(len(small) / 1e6 / ask(python, SCRIPT, str(scene_file)))
    base = found[LIBYAML]
    rates = {name: Spread.of(sample) for name, sample in found.items()}
    compared = {name: ratios(sample, base[: len(sample)]) for name, sample in found.items()}
    aims = {
        f"{one} / {two}": (Spread.of(a / b for a, b in zip(found[one], found[two], strict=False)), aim)
        for (one, two), aim in AIMS.items()
        if two in found
    }
    report.figures = {
        "bytes": len(data),
        "megabytes_per_second": {name: rate.as_dict() for name, rate in rates.items()},
        "ratio_to_libyaml": {name: ratio.as_dict() for name, ratio in compared.items()},
        "aims": {name: {"ratio": ratio.as_dict(), "aim": aim} for name, (ratio, aim) in aims.items()},
    }
    report.tables = [
        Table(
            f"{len(data) / 1e6:.1f} MB, {len(UnityFile(data).documents)} documents: median (quartiles)",
            ("", "MB/s", "x libyaml"),
            [(name, rates[name].shown(2), compared[name].shown()) for name in found],
        ),
        Table(
            "what is aimed at",
            ("", "ratio", "aim"),
            [(name, ratio.shown(0), f"{aim}") for name, (ratio, aim) in aims.items()],
        ),
    ]
    return report


def scene(size: int) -> bytes:
    """A file of at least ``size`` bytes: the sample's documents again and again, each under its own id."""
    found = files()
    bodies = [
        data.partition(MARK)[2].partition(b"\n")[2]
        for path, data in sorted(found.items())
        if path.endswith(".asset") and data.count(MARK) == 1 and b"MonoBehaviour" in data
    ]
    parts = [b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"]
    length = number = 0
    while length < size:
        parts.append(b"%s114 &%d\n%s" % (MARK, ID + number, bodies[number % len(bodies)]))
        length += len(parts[-1])
        number += 1
    return b"".join(parts)


def _repeat(call: Callable[[], object]) -> None:
    """Twenty times: once takes less than the clock should be trusted for."""
    for _ in range(20):
        call()


def _read(data: bytes) -> list[Any]:
    file = UnityFile(data)
    return [plain(data, file.root(span)) for span in file.documents]


def _load(data: bytes, loader: str) -> list[Any]:
    chosen = getattr(yaml, loader, yaml.BaseLoader)
    return [yaml.load(data[span.body : span.end], chosen) for span in UnityFile(data).documents]  # noqa: S506 - texts only


def _edit(data: bytes, file_id: str) -> bytes:
    file = UnityFile(data)
    return apply(data, set_value(file, file_id, "m_Name", "another_name"))
