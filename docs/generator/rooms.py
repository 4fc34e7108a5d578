"""The rooms of the house and who imports whom, from the code itself (grimp reads it, nothing is run)."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import grimp

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("fabric_dagster", "assets", "resources", "sensors", "packs")
#: rooms within a room that others may enter by themselves
INNER = ("resources.unity.text",)
#: what sits in ``fabric_dagster`` by Dagster's convention and is not law
ROOF = ("fabric_dagster.cli", "fabric_dagster.definitions")


@dataclass(frozen=True)
class Room:
    """A folder, or a module that stands beside folders."""

    name: str
    floor: str
    title: str
    purpose: str
    modules: tuple[str, ...]


def room_of(module: str) -> str | None:
    """The room that ``module`` is in; ``None`` for a package's own front door."""
    for inner in INNER:
        if module == inner or module.startswith(f"{inner}."):
            return inner
    parts = module.split(".")
    if parts[0] in {"fabric_dagster", "resources"}:
        return ".".join(parts[:2]) if len(parts) > 1 else None
    return parts[0]


def floor_of(room: str) -> str:
    """``roof``, ``law``, ``line``, ``hands``, ``ears`` or ``knowledge``."""
    if room in ROOF:
        return "roof"
    return {
        "fabric_dagster": "law",
        "assets": "line",
        "resources": "hands",
        "sensors": "ears",
        "packs": "knowledge",
    }[room.partition(".")[0]]


def purpose_of(name: str) -> str:
    """The first paragraph's first line of the docstring of package or module ``name``."""
    path = ROOT.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    line = text.partition("\n\n")[0].replace("\n", " ").replace("``", "")
    return re.sub(r" \(design/[^)]*\)", "", line)


def house() -> tuple[Mapping[str, Room], set[tuple[str, str]]]:
    """Rooms by name, and the pairs (who imports, who is imported)."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    members: dict[str, set[str]] = {}
    edges: set[tuple[str, str]] = set()
    for module in sorted(graph.modules):
        room = room_of(module)
        if room is None or room == "fabric_dagster.defs":
            continue
        members.setdefault(room, set())
        inside = module[len(room) + 1 :].partition(".")[0]
        if inside:
            members[room].add(inside)
        for imported in graph.find_modules_directly_imported_by(module):
            other = room_of(imported)
            if other is not None and other != room:
                edges.add((room, other))
    members["packs"] = {path.parent.name for path in (ROOT / "packs").glob("*/pack.yaml")}
    rooms = {
        name: Room(name, floor_of(name), _title(name), purpose_of(name), tuple(sorted(modules)))
        for name, modules in sorted(members.items())
    }
    return rooms, {edge for edge in edges if edge[0] in rooms and edge[1] in rooms}


def _title(name: str) -> str:
    path = ROOT.joinpath(*name.split("."))
    shown = "/".join(name.split(".")[1:] if "." in name else [name])
    return f"{shown}/" if path.is_dir() else f"{shown}.py"
