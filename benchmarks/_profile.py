"""Which kind of work a call's time goes to, by the files that it is spent in.

A library's own functions are charged to the file of ours that called them, in proportion to its calls.
"""

from __future__ import annotations

import cProfile
import pstats
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REST = "everything else"
#: the end of a file's path within resources/photoshop (folders end in a slash) → what is done there
KINDS = {
    "png.py": "PNG",
    "psd/": "PSD",
    "blockdiff.py": "PSD",
    "smartobjects.py": "PSD",
    "descriptors.py": "PSD",
    "document.py": "PSD",
    "edit.py": "PSD",
    "raster.py": "pixels",
    "warp.py": "pixels",
    "compose.py": "pixels",
    "colour.py": "pixels",
    "export.py": "pixels",
    "layer_pixels.py": "pixels",
    "contents.py": "pixels",
    "reproduction.py": "pixels",
    "replace.py": "pixels",
    "parsed.py": "pixels",
}
#: named, though not pixels or coding: waiting for the disk to hold what was written
DISK = "the disk"
SYNCS = {"<built-in method posix.fsync>", "<built-in method nt.fsync>"}


def shares(work: Callable[[], None], root: Path) -> dict[str, float]:
    """Kind of work → its share of the time of ``work``."""
    profile = cProfile.Profile()
    profile.enable()
    work()
    profile.disable()
    stats: dict[Any, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]  # no types of its own
    base = str(root / "resources" / "photoshop") + "/"
    known: dict[Any, dict[str, float]] = {}
    spent: dict[str, float] = defaultdict(float)
    for function, (_, _, own, _, _) in stats.items():
        for kind, part in _of(function, stats, base, known, set()).items():
            spent[kind] += own * part
    total = sum(spent.values())
    return {kind: seconds / total for kind, seconds in spent.items()}


def _of(
    function: Any, stats: dict[Any, Any], base: str, known: dict[Any, dict[str, float]], busy: set[Any]
) -> dict[str, float]:
    """The kinds that a function works for, and how much for each; parts sum to one."""
    if function in known:
        return known[function]
    file, _, name = function
    if name in SYNCS:
        known[function] = {DISK: 1.0}
    elif file.replace("\\", "/").startswith(base):
        known[function] = {_kind(file.replace("\\", "/")[len(base) :]): 1.0}
    else:
        callers = {c: v for c, v in stats[function][4].items() if c not in busy and c != function}
        whole = sum(value[3] for value in callers.values())
        parts: dict[str, float] = defaultdict(float)
        for caller, value in callers.items():
            weight = value[3] / whole if whole else 1 / len(callers)
            for kind, part in _of(caller, stats, base, known, busy | {function}).items():
                parts[kind] += part * weight
        if busy:  # a loop was cut open: right for this asker only
            return dict(parts) or {REST: 1.0}
        known[function] = dict(parts) or {REST: 1.0}
    return known[function]


def _kind(path: str) -> str:
    return next((kind for end, kind in KINDS.items() if path.startswith(end)), REST)
