"""The packs of one or several folders, and which of them knows a graph.

A folder below a root is a pack when it holds ``pack.yaml``; adding one is adding a folder. Packs are loaded
one by one: a broken one is reported and leaves the others usable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric_dagster.errors import Fault, InvalidDocument
from fabric_dagster.intelligence.packs import PACK, LoadedPack, load_pack

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fabric_dagster.graphs.source import GraphSource


@dataclass(frozen=True, slots=True)
class Catalog:
    """The packs that load, by name, and the faults of those that do not, by folder name."""

    packs: dict[str, LoadedPack]
    broken: dict[str, tuple[Fault, ...]]

    def graph(self, name: str) -> tuple[LoadedPack, GraphSource]:
        """The pack and graph called ``name`` (``Name@MAJOR``, or ``Name`` where one major version exists).

        Raises ``InvalidDocument`` with ``graph.unknown`` or ``graph.ambiguous``.
        """
        known = [(pack, read) for pack in self.packs.values() for read in pack.graphs.values()]
        found = [(pack, read) for pack, read in known if name in {read.graph.reference, read.graph.name}]
        if len(found) == 1:
            return found[0]
        names = ", ".join(sorted(read.graph.reference for _, read in (found or known))) or "none loads"
        if found:
            code, what, mend = (
                "graph.ambiguous",
                f"several graphs are called {name!r}",
                f"name one of: {names}",
            )
        else:
            code, what, mend = "graph.unknown", f"no pack has a graph {name!r}", f"use one of: {names}"
            if self.broken:
                mend += f"; packs that do not load: {', '.join(sorted(self.broken))}"
        raise InvalidDocument(code, what, mend=mend, value=name)


def pack_folders(roots: Iterable[Path]) -> list[Path]:
    """Every pack's folder below ``roots``, by name."""
    found = [path.parent for root in roots for path in root.glob(f"*/{PACK}")]
    return sorted(found, key=lambda folder: folder.name)


def load_catalog(roots: Iterable[Path]) -> Catalog:
    """Every pack below ``roots``. Two packs of one name are both reported and not used."""
    packs: dict[str, LoadedPack] = {}
    broken: dict[str, tuple[Fault, ...]] = {}
    for folder in pack_folders(roots):
        if folder.name in packs or folder.name in broken:
            twin = Fault("pack.duplicate", "two folders hold a pack of this name", str(folder), "rename one")
            broken[folder.name] = (*broken.get(folder.name, ()), twin)
            packs.pop(folder.name, None)
            continue
        try:
            packs[folder.name] = load_pack(folder)
        except InvalidDocument as fault:
            broken[folder.name] = fault.faults
    return Catalog(packs, broken)
