"""The Unity text engine against PyYAML on the same bytes: reading all of it, and changing one value.

The bytes are the sample project's ``.asset`` documents, repeated in one scene-like file of about a
megabyte. PyYAML gets each document's body, since it refuses Unity's headers; "libyaml" is its C
loader, "Python" its own. An edit is what the engine is for: find one property in the file and splice it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import yaml

from benchmarks._report import Report, Spread, Table, ratios
from resources.unity.sample import files
from resources.unity.text import UnityFile, apply, set_value
from resources.unity.text.file import plain

if TYPE_CHECKING:
    from collections.abc import Callable

ABOUT = "the Unity text engine against PyYAML: megabytes a second, reading and editing"
ROUNDS = 7
SIZE = 1_000_000
SLOW = "PyYAML, Python: read all (a tenth)"
MARK = b"--- !u!"
ID = 11_400_000


def measure(rounds: int | None = None) -> Report:
    """Every row once a round, in turn."""
    data = scene(SIZE)
    small = scene(SIZE // 10)
    last = UnityFile(data).documents[-1].file_id
    rows: dict[str, tuple[Callable[[], object], int]] = {
        "engine: read all": (lambda: _read(data), len(data)),
        "PyYAML, libyaml: read all": (lambda: _load(data, "CBaseLoader"), len(data)),
        SLOW: (lambda: _load(small, "BaseLoader"), len(small)),
        "engine: change one value": (lambda: _edit(data, last), len(data)),
    }
    found: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(rounds or ROUNDS):
        for name, (row, size) in rows.items():
            began = time.perf_counter()
            row()
            found[name].append(size / 1e6 / (time.perf_counter() - began))
    base = found["PyYAML, libyaml: read all"]
    rates = {name: Spread.of(sample) for name, sample in found.items()}
    compared = {name: ratios(sample, base) for name, sample in found.items()}
    report = Report("unity_text", ABOUT)
    report.figures = {
        "bytes": len(data),
        "megabytes_per_second": {name: rate.as_dict() for name, rate in rates.items()},
        "ratio_to_libyaml": {name: ratio.as_dict() for name, ratio in compared.items()},
    }
    report.tables = [
        Table(
            f"{len(data) / 1e6:.1f} MB, {len(UnityFile(data).documents)} documents: median (quartiles)",
            ("", "MB/s", "x libyaml"),
            [(name, rates[name].shown(1), compared[name].shown()) for name in rows],
        )
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


def _read(data: bytes) -> list[Any]:
    file = UnityFile(data)
    return [plain(data, file.root(span)) for span in file.documents]


def _load(data: bytes, loader: str) -> list[Any]:
    chosen = getattr(yaml, loader, yaml.BaseLoader)
    return [yaml.load(data[span.body : span.end], chosen) for span in UnityFile(data).documents]  # noqa: S506 - texts only


def _edit(data: bytes, file_id: str) -> bytes:
    file = UnityFile(data)
    return apply(data, set_value(file, file_id, "m_Name", "another_name"))
