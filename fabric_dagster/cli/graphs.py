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


def find_graph(wanted: str, home: Path | None = None, packs: Path | None = None) -> GraphSource:
    """The graph that ``wanted`` names, validated; it is looked for where ``fabric pack`` looks for packs.

    Raises ``UsageFault`` when nothing is there or two packs have it, ``InvalidDocument`` with every fault.
    """
    from fabric_dagster.capabilities.registry import capabilities
    from fabric_dagster.cli.packs import nearby, roots
    from fabric_dagster.graphs.check import check_graph
    from fabric_dagster.graphs.source import parse_graph

    if not _REFERENCE.fullmatch(wanted):
        return check_graph(_read(Path(wanted), wanted), wanted, capabilities())
    folders = roots(nearby(home), packs)
    found: list[tuple[str, bytes]] = []
    broken: list[tuple[str, bytes]] = []
    seen: set[str] = set()
    for root, path in _files(folders):
        shown = path.relative_to(root.parent).as_posix()
        data = _read(path, shown)
        try:
            reference = parse_graph(data, shown).graph.reference
        except InvalidDocument:
            # Another graph's faults are not this call's; one that bears the name is what was asked for.
            name = _NAME.search(data)
            if name and name[1].decode() == wanted.partition("@")[0]:
                broken.append((shown, data))
            continue
        seen.add(reference)
        if reference == wanted:
            found.append((shown, data))
    if len(found) > 1:
        places = ", ".join(shown for shown, _ in found)
        raise UsageFault(
            "graph.ambiguous", f"{wanted} stands in several files: {places}", mend="name the file"
        )
    for shown, data in found or broken:
        return check_graph(data, shown, capabilities())
    raise UsageFault(
        "graph.not_found",
        f"no pack under {', '.join(map(str, folders))} has this graph",
        mend=f"use one of: {', '.join(sorted(seen)) or 'none are there'}; or name a YAML file",
        value=wanted,
    )


def _files(folders: tuple[Path, ...]) -> Iterator[tuple[Path, Path]]:
    for root in folders:
        yield from ((root, path) for path in sorted(root.glob("*/graphs/*.yaml")) if not path.is_symlink())


def _read(path: Path, shown: str) -> bytes:
    from fabric_dagster.documents import MAX_BYTES

    if not path.is_file():
        like = (
            f"write its major version too, as in {shown}@1, or " if _REFERENCE.fullmatch(f"{shown}@1") else ""
        )
        raise UsageFault(
            "graph.not_found",
            "this is neither Name@MAJOR nor a file",
            mend=f"{like}name a YAML file; `fabric pack list` names the graphs",
            value=shown,
        )
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)
