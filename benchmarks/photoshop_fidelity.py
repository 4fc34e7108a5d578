"""What a document shows, drawn from its layers, against the merged image that Photoshop stored in it.

Every file of the corpus (``FABRIC_CORPUS``, default ``../shared/corpus``) whose merged image an Adobe
application wrote. The error is the mean absolute difference of the colours over white, 0 to 255. Our
engine, psd-tools alone and psdparse alone draw the same bytes in turn. Where ours keeps the stored merged
image (modes in which nothing is edited), its error is nothing by construction: those files are counted apart.
Smart objects: their original contents drawn again, against the raster that Photoshop drew of them.
"""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import statistics
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks._peers import ask, environment
from benchmarks._report import Report, Table
from fabric_dagster.errors import FabricError
from resources.photoshop import parsed
from resources.photoshop.compose import composite, has_preview, is_fast
from resources.photoshop.document import build
from resources.photoshop.psd.container import MODES, Container, parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.reproduction import error_of
from resources.photoshop.smartobjects import links, placement
from resources.photoshop.warp import warp_refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ABOUT = "drawing real PSDs: the error against Photoshop's own merged images"
AIMS = {"median": 0.01, "mean": 1.1, "share_to_3": 0.96}
VISIBLE = 3.0
LIMIT = 5.0
WORST = 255.0
TOOLS = "psd-tools"
ENGINES = ("ours", TOOLS, "psdparse")
PEER = "psd-tools[composite]==1.26.0"
#: psd-tools with what it composites with, in an environment of its own: every picture over white, as rows
SCRIPT = """
import json, sys, warnings
import numpy as np
from psd_tools import PSDImage
warnings.simplefilter("ignore")
drawn = {}
for name, path, out in zip(sys.argv[1::3], sys.argv[2::3], sys.argv[3::3]):
    try:
        image = PSDImage.open(path).composite(ignore_preview=True, apply_icc=False)
        image = image.convert("RGB") if image.mode == "LAB" else image
        np.save(out, np.asarray(image.convert("RGBA")))
        drawn[name] = out
    except Exception as fault:
        print(name, type(fault).__name__, file=sys.stderr)
print(json.dumps(drawn))
"""


def measure(rounds: int | None = None) -> Report:  # noqa: ARG001 - errors do not wander
    """Once over every trusted file."""
    report = Report("photoshop_fidelity", ABOUT)
    corpus = Path(os.environ.get("FABRIC_CORPUS") or "../shared/corpus") / "psd"
    if not corpus.is_dir():
        report.notes.append(f"There are no files in {corpus}: set FABRIC_CORPUS.")
        return report
    peer = peer_pictures(corpus)
    if not peer:
        report.notes.append(f"{PEER} could not be had here: its row counts every file as not drawn.")
    drawn: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    kept, rows, refused = 0, [], []
    for name, data in trusted(corpus):
        try:
            container = parse(data, Limits())
            truth = over_white(stored(data))
        except (FabricError, ValueError) as fault:
            refused.append(f"{name}: {fault}")
            continue
        errors = {engine: apart(engine, data, truth) for engine in ENGINES if engine != TOOLS}
        errors[TOOLS] = by_tools(peer.get(name), truth)
        if not is_fast(container) and has_preview(container):
            kept += 1
        for engine, found in errors.items():
            drawn[engine].append(found)
        best = min(errors["psd-tools"], errors["psdparse"])
        if errors["ours"] > VISIBLE or errors["ours"] > best + 0.1:
            rows.append((short(name), *(f"{errors[engine]:.3f}" for engine in ENGINES), mode(container)))
    report.figures = {
        "files": len(drawn["ours"]),
        "merged_image_kept": kept,
        "aims": AIMS,
        "engines": {engine: figures(found) for engine, found in drawn.items()},
        "refused": refused,
    }
    report.tables = [
        Table(
            f"{len(drawn['ours'])} files; {kept} of them show the stored merged image in ours",
            ("", "median", "mean", "share at most 3"),
            [
                (engine, f"{f['median']:.3f}", f"{f['mean']:.2f}", f"{f['share_to_3']:.1%}")
                for engine, f in report.figures["engines"].items()
            ],
        ),
        Table("above 3, or more than .1 above the better engine", ("", *ENGINES, "mode"), rows),
    ]
    _redrawn(report, corpus)
    return report


def peer_pictures(corpus: Path) -> dict[str, NDArray[np.uint8]]:
    """What psd-tools draws of each trusted file that it can draw; nothing where it cannot be installed."""
    with environment(PEER) as python, tempfile.TemporaryDirectory() as folder:
        if python is None:
            return {}
        words = []
        for number, (name, _) in enumerate(trusted(corpus)):
            words += [name, str(corpus / name), str(Path(folder) / f"{number}.npy")]
        return {name: np.load(path) for name, path in ask(python, SCRIPT, *words).items()}


def by_tools(shown: NDArray[np.uint8] | None, truth: NDArray[np.float32]) -> float:
    """psd-tools' mean error; 255 where it drew nothing."""
    if shown is None or shown.shape[:2] != truth.shape[:2]:
        return WORST
    return float(np.abs(over_white(shown) - truth).mean())


def _redrawn(report: Report, corpus: Path) -> None:
    """Every embedded smart object's own contents, drawn again, against the layer's raster."""
    errors: list[tuple[str, bool, float]] = []
    unknown = 0
    for path in sorted(corpus.glob("*.ps[bd]")):
        try:
            container = parse(path.read_bytes(), Limits())
            document, linked = build(container), links(container)
        except FabricError:
            continue
        for layer in document.walk():
            placed = placement(layer.record) if layer.kind == "smart_object" else None
            link = linked.get(placed.uuid) if placed else None
            if placed is None or link is None or placed.filtered or warp_refusal(placed.warp):
                continue
            try:
                found = error_of(document, layer, placed, link, Limits())
            except FabricError:
                found = None
            if found is None:
                unknown += 1
            else:
                errors.append((f"{path.name}/{placed.uuid}", placed.warp is not None, found))
    rows = []
    by_object: dict[str, list[float]] = {}
    for name, _, found in errors:
        by_object.setdefault(name, []).append(found)
    for title, aim, values in (
        ("layers", "1.5", [found for _, _, found in errors]),
        ("objects, each once", "1.5", [statistics.median(found) for found in by_object.values()]),
        ("warped layers", "1.0", [found for _, warped, found in errors if warped]),
    ):
        if values:
            share = sum(value <= LIMIT for value in values) / len(values)
            rows.append((title, f"{len(values)}", f"{statistics.median(values):.2f}", aim, f"{share:.0%}"))
    report.figures["smart_objects"] = {
        "unknown": unknown,
        "rows": [
            dict(zip(("what", "count", "median", "aim", "share_to_5"), row, strict=True)) for row in rows
        ],
    }
    title = f"smart objects: their own contents drawn again; {unknown} prove nothing"
    report.tables.append(Table(title, ("", "count", "median", "aim", "at most 5"), rows))


def trusted(corpus: Path) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every file whose merged image is trusted."""
    for entry in json.loads((corpus / "index.json").read_text(encoding="utf-8")):
        if entry["preview_trusted"]:
            yield entry["file"], (corpus / entry["file"]).read_bytes()


def stored(data: bytes) -> NDArray[np.uint8]:
    """The merged image of a file, in sRGB or the document's own RGB, as ``(h, w, 4)``."""
    from psd_tools import PSDImage

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image = PSDImage.open(io.BytesIO(data)).topil(apply_icc=False)
    if image is None:
        msg = "it has no merged image"
        raise ValueError(msg)
    return rgba(image)


def rgba(image: Any) -> NDArray[np.uint8]:
    """A Pillow picture as ``(h, w, 4)``."""
    return np.asarray((image.convert("RGB") if image.mode == "LAB" else image).convert("RGBA"))


def apart(engine: str, data: bytes, truth: NDArray[np.float32]) -> float:
    """``error`` in a process of its own, since engines crash: 255 where this one did."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("forkserver")) as pool:
        try:
            return pool.submit(error, engine, data, truth).result()
        except BrokenProcessPool:
            return WORST


def error(engine: str, data: bytes, truth: NDArray[np.float32]) -> float:
    """The engine's mean error; 255 where it cannot draw the file at all."""
    container = parse(data, Limits())
    try:
        if engine == "ours":
            shown = composite(container, data).pixels
            if not is_fast(container):
                return float(np.abs(over_white(shown) - over_white(srgb(data))).mean())
        else:
            opened = parsed.load(data)
            if opened is None:
                return WORST
            flat, _ = opened.composite()
            shape = (container.header.height, container.header.width, 4)
            shown = np.frombuffer(flat, np.uint8).reshape(shape)[..., [2, 1, 0, 3]]
    except (FabricError, ValueError, NotImplementedError, ImportError, RuntimeError, TypeError):
        return WORST
    return float(np.abs(over_white(shown) - truth).mean())


def srgb(data: bytes) -> NDArray[np.uint8]:
    """The merged image converted to sRGB."""
    from psd_tools import PSDImage

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rgba(PSDImage.open(io.BytesIO(data)).topil())


def over_white(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Colours blended over white."""
    alpha = pixels[..., 3:].astype(np.float32) / 255
    return pixels[..., :3] * alpha + 255 * (1 - alpha)


def figures(found: list[float]) -> dict[str, float]:
    """What is aimed at, of one engine."""
    return {
        "median": statistics.median(found),
        "mean": statistics.fmean(found),
        "share_to_3": sum(value <= VISIBLE for value in found) / len(found),
    }


def short(name: str) -> str:
    """The end of a corpus file's name."""
    return name.rpartition("__")[2]


def mode(container: Container) -> str:
    """Colour mode and depth."""
    return f"{MODES[container.header.mode]} {container.header.depth}"
