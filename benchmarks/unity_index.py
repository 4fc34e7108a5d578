"""The index of a project of 50,000 assets, against reading the same bytes and against walking its folders.

Cold is a look without anything kept, warm one where nothing changed. The walk that a warm look is held
against asks each file for size and time, since nothing else tells a change; the barest walk, which only
lists names, stands beside it. All of it from the page cache: disks differ, this is about our own work.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks._report import Report, Spread, Table, ratios
from resources.unity.index import IndexCache, index_project
from resources.unity.index.folder import OPAQUE
from resources.unity.project import open_project
from resources.unity.sample import files

if TYPE_CHECKING:
    from collections.abc import Callable

ABOUT = "the index of a Unity project of 50,000 assets: cold and warm, and its memory"
ROUNDS = 5
ASSETS = 50_000
FOLDER = 100
GUID = re.compile(rb"guid: [0-9a-f]{32}")
READ, STAT, BARE = "read the same bytes", "walk with sizes and times", "walk, names only"
COLD, KEPT, WARM = "index, cold", "index, cold, and kept", "index, warm"


def measure(rounds: int | None = None) -> Report:
    """Every row once a round, in turn."""
    with tempfile.TemporaryDirectory() as place:
        root, kept = Path(place) / "project", Path(place) / "cache"
        build(root)
        project, cache = open_project(root), IndexCache(kept)

        def again() -> object:
            cache.path(project.root).unlink(missing_ok=True)
            return index_project(project, cache=cache)

        rows: dict[str, Callable[[], object]] = {
            BARE: lambda: sum(len(names) for _, _, names in os.walk(root)),
            STAT: lambda: _stat(str(root)),
            READ: lambda: _read(root),
            COLD: lambda: index_project(project),
            KEPT: again,
            WARM: lambda: index_project(project, cache=cache),
        }
        time.sleep(2.5)  # what was written within two seconds is not believed
        found: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(rounds or ROUNDS):
            for name, row in rows.items():
                began = time.perf_counter()
                row()
                found[name].append(time.perf_counter() - began)
        tracemalloc.start()
        index = index_project(project)
        held = tracemalloc.get_traced_memory()[0] / len(index.guids)
        tracemalloc.stop()
    aims = {
        f"{COLD} / {READ}": (ratios(found[COLD], found[READ]), 3),
        f"{KEPT} / {READ}": (ratios(found[KEPT], found[READ]), 3),
        f"{WARM} / {STAT}": (ratios(found[WARM], found[STAT]), 2),
        f"{WARM} / {BARE}": (ratios(found[WARM], found[BARE]), 2),
    }
    report = Report("unity_index", ABOUT)
    report.figures = {
        "assets": len(index.guids),
        "files": index.files,
        "references": sum(1 for _ in index.uses),
        "seconds": {name: Spread.of(sample).as_dict() for name, sample in found.items()},
        "aims": {name: {"ratio": ratio.as_dict(), "aim": aim} for name, (ratio, aim) in aims.items()},
        "bytes_per_asset": {"held": round(held), "aim": 1024},
    }
    report.tables = [
        Table(
            f"{len(index.guids):,} assets in {index.files:,} files",
            ("", "seconds"),
            [(name, Spread.of(sample).shown()) for name, sample in found.items()],
        ),
        Table(
            "what is aimed at",
            ("", "ratio", "aim"),
            [
                *((name, ratio.shown(), f"{aim}") for name, (ratio, aim) in aims.items()),
                ("memory an asset, bytes", f"{held:.0f}", "1024"),
            ],
        ),
    ]
    return report


def build(root: Path) -> None:
    """Half textures with their metas, half ScriptableObjects that refer to others; a hundred a folder."""
    shapes = files()
    texture = next(data for path, data in shapes.items() if path.endswith(".png.meta"))
    asset = next(d for p, d in shapes.items() if p.endswith(".asset") and b"MonoBehaviour" in d)
    meta = next(data for path, data in shapes.items() if path.endswith(".asset.meta"))
    chance = random.Random(1)  # noqa: S311 - the same project in every run
    guids = [b"%032x" % chance.getrandbits(128) for _ in range(ASSETS)]
    for name in ("Packages", "ProjectSettings"):
        (root / name).mkdir(parents=True)
    (root / "ProjectSettings/ProjectVersion.txt").write_text("m_EditorVersion: 2022.3.62f3\n")
    for number, guid in enumerate(guids):
        folder = root / "Assets" / f"d{number // 5000}" / f"e{number // FOLDER}"
        if number % FOLDER == 0:
            folder.mkdir(parents=True)
        own = b"guid: " + guid
        if number % 2:
            path = folder / f"a{number}.asset"
            path.write_bytes(GUID.sub(lambda _: b"guid: " + chance.choice(guids), asset))
            Path(f"{path}.meta").write_bytes(GUID.sub(own, meta, count=1))
        else:
            path = folder / f"a{number}.png"
            path.write_bytes(b"\x89PNG\r\n")
            Path(f"{path}.meta").write_bytes(GUID.sub(own, texture, count=1))


def _stat(root: str) -> int:
    count, todo = 0, [root]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def _read(root: Path) -> int:
    """What an index must read, read and thrown away."""
    size = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if os.path.splitext(name)[1] not in OPAQUE:  # noqa: PTH122 - as the index does it
                with open(f"{folder}/{name}", "rb") as stream:  # noqa: PTH123 - as the index does it
                    size += len(stream.read())
    return size
