"""PSDs edited and drawn: time and memory against psd-tools, ag-psd and ImageMagick, on the same files.

``edit``: a template's smart object gets a new picture, the document is drawn, saved and exported; the sample
template of 512 pixels a side, and the same at 2048.
``large``: a document of 4096 x 4096 and 12 layers is drawn and exported, each in a process of its own.
``batch``: one template, 200 pictures, on one warm worker and on two; beside it what two processes that only
count come to against one, since a busy machine gives two little more than one. ``shares``: where an export's
time goes. Peers do less than ours, each as far as it can (``_psd_peers.py`` says how).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from benchmarks._documents import arts, large
from benchmarks._peers import ask, environment
from benchmarks._profile import shares
from benchmarks._psd_peers import DRAW, EDIT, OURS, PSD_TOOLS, ask_node, magick, node_folder
from benchmarks._report import Report, Spread, Table, ratios
from resources.photoshop import engine
from resources.photoshop.client import Pool
from resources.photoshop.psd.limits import Limits
from resources.photoshop.sample import TEMPLATES, build_look, write_templates
from resources.photoshop.sample_art import write_art

if TYPE_CHECKING:
    from collections.abc import Callable

ABOUT = "PSDs edited and drawn: time and memory against psd-tools, ag-psd and ImageMagick"
ROUNDS, EXPORTS, SLICE, EACH = 1, 200, 25, 3
SMALL, WIDE, SIDE = "offer_icon.psd", "offer_icon_2048.psd", 2048
ROOT = Path(__file__).resolve().parents[1]
OURS_NAME, TOOLS, AG, IM = "ours", "psd-tools", "ag-psd", "ImageMagick"
DOES = {
    OURS_NAME: "replace, prove, draw, previews, save by blocks, export",
    TOOLS: "replace, draw, save, export",
    AG: "read, replace bytes, write; draws nothing",
    IM: "read, merge without effects, export; replaces nothing",
}
AIMS = {"edit": 10.0, "large": 8.0, "memory": 1 / 3, "two_cores": 1.8, "share": 0.95}
CODING = ("pixels", "PNG", "PSD")


def measure(rounds: int | None = None) -> Report:
    """Each row once a round, in turn."""
    rounds = rounds or ROUNDS
    report = Report("photoshop_speed", ABOUT)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        python = stack.enter_context(environment(*PSD_TOOLS))
        peers = {TOOLS: python is not None, AG: node_folder(folder), IM: magick() is not None}
        report.notes += [
            f"{name} could not be had here: its rows are missing."
            for name, there in peers.items()
            if not there
        ]
        write_templates(folder)
        (folder / "art").mkdir()
        first = next(iter(write_art(folder / "art").values()))
        base = np.asarray(Image.open(first).convert("RGBA"))
        made = arts(base, folder, EXPORTS)
        pools = {size: Pool(size) for size in (1, 2)}
        for pool in pools.values():
            stack.callback(pool.close)
        first_look = TEMPLATES[SMALL]
        wide = replace(
            first_look, width=SIDE, height=SIDE, quad=tuple(4 * value for value in first_look.quad)
        )
        (folder / WIDE).write_bytes(build_look(wide))
        edited = {
            name: _rounds(rounds, _edits(folder, name, made[:EACH], pools[1], python, peers))
            for name in (SMALL, WIDE)
        }
        large(folder / "large.psd")
        drawn = _rounds(rounds, _draws(folder, python, peers))
        batch, counted = _batch(folder, made, pools)
        spent = _shares(folder, made[:20])
    taken = {name: [each[0] for each in found] for name, found in drawn.items()}
    held = {name: [each[1] for each in found if each[1]] for name, found in drawn.items()}
    _tell(report, {**{f"edit, {name}": found for name, found in edited.items()}, "large": taken}, held)
    _tell_batch(report, batch, counted, spent)
    return report


def steps(template: str, art: str) -> list[dict[str, Any]]:
    """Open the template, put ``art`` in, export."""
    place = {"layer": {"path": "Art/Art"}, "contents": art, "scope": "layer"}
    return [
        {"capability": "photoshop.open_duplicate@1", "args": {"source": template, "copy": "icon.psd"}},
        {"capability": "photoshop.replace_smart_object@1", "args": place},
        {"capability": "photoshop.export_png@1", "args": {"preset": "canvas", "out": "icon.png"}},
    ]


def _request(folder: Path, art: str, name: str = "offer_icon.psd") -> tuple[str, dict[str, Any]]:
    out = Path(tempfile.mkdtemp(dir=folder))
    names = {"smart_object_uuid_1": str(uuid.uuid4())}
    return "execute", {"steps": steps(str(folder / name), art), "folder": str(out), "allocations": names}


def _rounds(rounds: int, rows: dict[str, Callable[[], Any]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in rows}
    for _ in range(rounds):
        for name, row in rows.items():
            found[name].append(row())
    return found


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _edits(
    folder: Path, name: str, made: list[str], pool: Pool, python: Path | None, peers: dict[str, bool]
) -> dict[str, Callable[[], float]]:
    """Seconds a picture, warm, by peer."""
    template = str(folder / name)
    pool.call(*_request(folder, made[0], name))

    def ours() -> float:
        return _mean([_timed(lambda art=art: pool.call(*_request(folder, art, name))) for art in made])  # type: ignore[misc]

    rows: dict[str, Callable[[], float]] = {OURS_NAME: ours}
    if python is not None:
        rows[TOOLS] = lambda: _mean(ask(python, EDIT, template, str(folder / "tools"), *made))
    if peers[AG]:
        rows[AG] = lambda: _mean(ask_node(folder, template, str(folder / "ag.psd"), *made))
    if (program := magick()) is not None:
        words = _merge(program, template, str(folder / "im.png"))
        rows[IM] = lambda: _timed(lambda: subprocess.run(words, check=True, capture_output=True, timeout=300))
    return rows


def _merge(program: str, source: str, out: str) -> list[str]:
    return [program, source, "-delete", "0", "-background", "none", "-layers", "merge", out]


def _draws(folder: Path, python: Path | None, peers: dict[str, bool]) -> dict[str, Callable[[], list[float]]]:
    """Seconds and peak memory (KiB; 0 where it is not told) of drawing the large document."""
    source, out = str(folder / "large.psd"), str(folder / "large.png")
    rows: dict[str, Callable[[], list[float]]] = {
        OURS_NAME: lambda: ask(Path(sys.executable), OURS, source, out, str(ROOT))
    }
    if python is not None:
        rows[TOOLS] = lambda: ask(python, DRAW, source, out)
    if peers[AG]:
        rows[AG] = lambda: [ask_node(folder, source, str(folder / "ag.psd"))[0], 0]
    if (program := magick()) is not None:
        words = _merge(program, source, out)
        rows[IM] = lambda: [
            _timed(lambda: subprocess.run(words, check=True, capture_output=True, timeout=300)), 0,
        ]  # fmt: skip
    return rows


def _batch(
    folder: Path, made: list[str], pools: dict[int, Pool]
) -> tuple[dict[int, list[float]], list[float]]:
    """Seconds by slice of the 200 exports on one worker and on two in turn; how much two counters gain."""
    for size, pool in pools.items():
        pool.each([_request(folder, made[0])] * 2 * size)
    found: dict[int, list[float]] = {size: [] for size in pools}
    counted = []
    for start in range(0, len(made), SLICE):
        for size, pool in pools.items():
            requests = [_request(folder, art) for art in made[start : start + SLICE]]
            began = time.perf_counter()
            replies = pool.each(requests)
            found[size].append(time.perf_counter() - began)
            broken = [reply for reply in replies if isinstance(reply, Exception)]
            if broken:
                raise broken[0]
        counted.append(2 * _timed(lambda: _count(1)) / _timed(lambda: _count(2)))
    return found, counted


def _count(processes: int) -> None:
    """So many processes count to some millions, side by side."""
    words = [sys.executable, "-c", "for _ in range(8_000_000): pass"]
    running = [subprocess.Popen(words) for _ in range(processes)]
    for each in running:
        each.wait()


def _shares(folder: Path, made: list[str]) -> dict[str, float]:
    """The part of an export's time that each kind of work takes."""
    requests = [_request(folder, art)[1] for art in made]
    engine.execute(**requests[0], limits=Limits())

    def work() -> None:
        for request in requests[1:]:
            engine.execute(**request, limits=Limits())

    return shares(work, ROOT)


def _tell(report: Report, rows: dict[str, dict[str, list[float]]], held: dict[str, list[float]]) -> None:
    """Times and memory beside the peers'."""
    aimed = []
    for title, found in rows.items():
        compared = {name: ratios(values, found[OURS_NAME]) for name, values in found.items()}
        report.figures[title] = {
            "seconds": {name: Spread.of(values).as_dict() for name, values in found.items()},
            "times_ours": {name: ratio.as_dict() for name, ratio in compared.items()},
        }
        shown = [
            (name, Spread.of(values).shown(3), compared[name].shown(1), DOES[name])
            for name, values in found.items()
        ]
        head = ("", "seconds", "x ours", "does")
        report.tables.append(Table(f"{title}: seconds, and as many times ours", head, shown))
        if TOOLS in found:
            aimed.append(
                (f"{title}: psd-tools / ours", compared[TOOLS].shown(1), f"{AIMS[title.partition(',')[0]]:g}")
            )
    report.figures["peak_mib"] = {
        name: Spread.of(value / 1024 for value in values).as_dict() for name, values in held.items() if values
    }
    if held.get(TOOLS):
        memory = ratios(held[OURS_NAME], held[TOOLS]).shown(2)
        aimed.append(("large: memory, ours / psd-tools", memory, "at most 0.33"))
    report.figures["aims"] = AIMS
    report.tables.append(Table("what is aimed at", ("", "measured", "aim"), aimed))


def _tell_batch(
    report: Report, batch: dict[int, list[float]], counted: list[float], spent: dict[str, float]
) -> None:
    """What a second core gains, and where the time goes."""
    speedup, gain = ratios(batch[1], batch[2]), Spread.of(counted)
    coding = sum(spent.get(name, 0) for name in CODING)
    report.figures["batch"] = {
        "exports": EXPORTS,
        "seconds": {str(size): sum(values) for size, values in batch.items()},
        "speedup": speedup.as_dict(),
        "two_counters": gain.as_dict(),
    }
    report.figures["shares"] = {name: round(value, 4) for name, value in spent.items()}
    rows = [
        (f"{EXPORTS} exports: one worker / two", speedup.shown(2), f"{AIMS['two_cores']:g}"),
        ("two processes that only count, against one", gain.shown(2), "2 on two free cores"),
        ("share of pixels, PNG and PSD coding", f"{coding:.1%}", f"{AIMS['share']:.0%}"),
        *((f"  {name}", f"{value:.1%}", "") for name, value in sorted(spent.items(), key=lambda i: -i[1])),
    ]
    report.tables.append(Table("many exports of one template", ("", "measured", "aim"), rows))
