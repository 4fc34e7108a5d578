"""Workflows: every pack's graphs, validated, sealed and compiled, by reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.errors import Fault, InvalidDocument
from fabric_dagster.graphs.compile import compile_graph
from fabric_dagster.graphs.seal import seal_graph
from fabric_dagster.intelligence.packs import load_pack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from fabric_dagster.graphs.compiled import CompiledGraph
    from fabric_dagster.intelligence.packs import LoadedPack


@dataclass(frozen=True)
class Workflow:
    """A pack's graph, compiled."""

    pack: LoadedPack
    compiled: CompiledGraph


def load_workflows(folders: Iterable[Path]) -> dict[str, Workflow]:
    """Every graph of every pack in ``folders``, by reference; all faults of all files at once."""
    found: dict[str, Workflow] = {}
    faults: list[Fault] = []
    for folder in sorted(pack_folders(folders)):
        try:
            pack = load_pack(folder)
        except InvalidDocument as fault:
            faults.extend(fault.faults)
            continue
        for reference, source in pack.graphs.items():
            if reference in found:
                other = found[reference].pack.folder.name
                what = f"the graph {reference} is already in the pack {other}"
                faults.append(Fault("pack.duplicate_graph", what, folder.name, "rename one of them"))
                continue
            try:
                compiled = compile_graph(seal_graph(source, capabilities()), capabilities())
            except InvalidDocument as fault:
                faults.extend(fault.faults)
            else:
                found[reference] = Workflow(pack, compiled)
    if faults:
        raise InvalidDocument.of(faults)
    return found


def pack_folders(folders: Iterable[Path]) -> Iterator[Path]:
    """The folders of packs directly under ``folders``."""
    for folder in folders:
        if folder.is_dir():
            yield from (item for item in folder.iterdir() if (item / "pack.yaml").is_file())
