"""What the worker can be asked for: the methods behind the pipe.

Each takes JSON parameters and the limits, and returns JSON. Files are named by path; sources are opened
read-only, results go where the parent says (a private folder of its own).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import InvalidDocument
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits

METHODS: Final = {
    "ping": "ping",
    "inspect": "inspect_file",
    "render": "render_file",
    "execute": "execute",
    "diff": "diff_files",
}


def warm_up() -> None:
    """Import what requests need, before the memory limit is set."""
    import cv2
    import numpy as np
    import psd_tools
    from PIL import ImageCms

    from resources.photoshop import parsed

    _ = (np, psd_tools, ImageCms, parsed.load(b""))
    cv2.setNumThreads(1)


def ping(limits: Limits) -> dict[str, Any]:
    """Proof of life."""
    return {"pixels": limits.pixels}


def read_size(path: str, limits: Limits, where: str = "") -> None:
    """Refuse a file that is larger than allowed before it is read."""
    size = Path(path).stat().st_size
    if size > limits.file_bytes:
        raise InvalidDocument(
            "psd.too_large", f"the file has {size} bytes, the limit is {limits.file_bytes}", where=where
        )


def read(path: str, limits: Limits) -> bytes:
    """The bytes of a source, unless it is larger than allowed."""
    read_size(path, limits)
    return Path(path).read_bytes()


def inspect_file(
    path: str, limits: Limits, roles: dict[str, Any] | None = None, fonts: list[str] | None = None
) -> dict[str, Any]:
    """The semantic document of a file, with its digest; text is measured with what ``fonts`` holds."""
    from resources.photoshop.inspect import inspect
    from resources.photoshop.type.fonts import FontBook

    data = read(path, limits)
    found = inspect(parse(data, limits), data, roles, fonts=FontBook(fonts or ()), limits=limits)
    return {"digest": digest_bytes(data), **found}


def render_file(
    path: str, out: str, layer: dict[str, Any] | None, preset: str | dict[str, Any], limits: Limits
) -> dict[str, Any]:
    """Export what a file shows (or one layer of it) to ``out``; facts about the picture."""
    from resources.photoshop.address import resolve
    from resources.photoshop.document import build
    from resources.photoshop.export import export_png
    from resources.photoshop.operations import preset_of
    from resources.photoshop.png import write_atomically

    data = read(path, limits)
    document = build(parse(data, limits))
    chosen = resolve(document, layer) if layer else None
    png, facts = export_png(document, data, preset_of(preset), chosen)
    write_atomically(Path(out), png)
    return facts


def execute(
    steps: list[dict[str, Any]],
    folder: str,
    allocations: dict[str, str],
    limits: Limits,
    implied: int = 0,
    fonts: list[str] | None = None,
) -> dict[str, Any]:
    """Run typed operations and save copies and exports under ``folder``; reports and facts by step.

    ``fonts`` are folders that are looked at before the system's. The first ``implied`` steps stand in no
    plan: operations are numbered from the one after them.
    """
    from resources.photoshop.edit import Session
    from resources.photoshop.provider import READS
    from resources.photoshop.type.fonts import FontBook

    for step in steps:
        path = step["args"].get(READS.get(step["capability"], ""))
        if path is not None:
            read_size(path, limits, path)
    session = Session(limits, allocations, FontBook(fonts or ()))
    facts = [
        session.run(number, step["capability"], step["args"]) for number, step in enumerate(steps, -implied)
    ]
    return {"documents": session.save(Path(folder)), "facts": facts}


def diff_files(before: str, after: str, limits: Limits) -> list[dict[str, Any]]:
    """The block-level difference of two files."""
    from resources.photoshop.blockdiff import diff

    first, second = parse(read(before, limits), limits), parse(read(after, limits), limits)
    return [change.as_dict() for change in diff(first, second)]
