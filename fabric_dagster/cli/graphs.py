"""Finds the graph that a command's argument names: ``Name@MAJOR`` in the packs, or a YAML file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from fabric_dagster.errors import InvalidDocument, UsageFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.graphs.source import GraphSource

_REFERENCE = re.compile(r"[A-Z][A-Za-z0-9]{2,79}@[1-9][0-9]*|[A-Z][A-Za-z0-9]{2,79}@0")
_NAME = re.compile(rb"^name:[ \t]*['\"]?([A-Z][A-Za-z0-9]{2,79})['\"]?[ \t]*(?:#.*)?\r?$", re.MULTILINE)


def packs_folder() -> Path:
    """The packs of this checkout."""
    import packs

    return Path(packs.__file__).parent


def find_graph(wanted: str, folder: Path | None = None) -> GraphSource:
    """The graph that ``wanted`` names, its shape checked; ``folder`` holds the packs.

    Raises ``UsageFault`` when nothing is there or two packs have it, ``InvalidDocument`` with every fault
    of its shape.
    """
    from fabric_dagster.graphs.source import parse_graph

    if not _REFERENCE.fullmatch(wanted):
        return parse_graph(_read(Path(wanted), wanted), wanted)
    root = (folder or packs_folder()).absolute()
    found: list[GraphSource] = []
    broken: list[InvalidDocument] = []
    seen: set[str] = set()
    for path in _files(root):
        shown = path.relative_to(root.parent).as_posix()
        data = _read(path, shown)
        name = _NAME.search(data)
        try:
            parsed = parse_graph(data, shown)
        except InvalidDocument as fault:
            # Another graph's faults are not this call's; one that bears the name is what was asked for.
            if name and name[1].decode() == wanted.partition("@")[0]:
                broken.append(fault)
            continue
        seen.add(parsed.graph.reference)
        if parsed.graph.reference == wanted:
            found.append(parsed)
    if len(found) > 1:
        places = ", ".join(item.source.name for item in found)
        raise UsageFault(
            "graph.ambiguous", f"{wanted} stands in several packs: {places}", mend="name the file"
        )
    if found:
        return found[0]
    if broken:
        raise InvalidDocument.of([fault for error in broken for fault in error.faults])
    raise UsageFault(
        "graph.not_found",
        f"no pack under {root} has this graph",
        mend=f"use one of: {', '.join(sorted(seen)) or 'none are there'}; or name a YAML file",
        value=wanted,
    )


def _files(root: Path) -> Iterator[Path]:
    for pattern in ("*/graphs/*.yaml", "*/graphs/*.yml"):
        yield from sorted(path for path in root.glob(pattern) if not path.is_symlink())


def _read(path: Path, shown: str) -> bytes:
    from fabric_dagster.documents import MAX_BYTES

    if not path.is_file():
        raise UsageFault(
            "graph.not_found", "this is neither Name@MAJOR nor a file", mend="name a YAML file", value=shown
        )
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)
