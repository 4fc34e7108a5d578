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
    for pack, graphs in each_pack(folders):
        found |= {graph.reference: Workflow(pack, graph) for graph in graphs}
    return found


def each_pack(folders: Iterable[Path]) -> Iterator[tuple[LoadedPack, list[CompiledGraph]]]:
    """Pack after pack with its compiled graphs: who needs little of each holds little.

    Raises ``InvalidDocument`` at the end, with all faults of all files.
    """
    owners: dict[str, str] = {}
    faults: list[Fault] = []
    for folder in sorted(pack_folders(folders)):
        try:
            pack = load_pack(folder)
        except InvalidDocument as fault:
            faults.extend(fault.faults)
            continue
        graphs = []
        for reference, source in pack.graphs.items():
            if reference in owners:
                what = f"the graph {reference} is already in the pack {owners[reference]}"
                faults.append(Fault("pack.duplicate_graph", what, folder.name, "rename one of them"))
                continue
            try:
                graphs.append(compile_graph(seal_graph(source, capabilities()), capabilities()))
            except InvalidDocument as fault:
                faults.extend(fault.faults)
            else:
                owners[reference] = folder.name
        yield pack, graphs
    if faults:
        raise InvalidDocument.of(faults)


def pack_folders(folders: Iterable[Path]) -> Iterator[Path]:
    """The folders of packs directly under ``folders``."""
    for folder in folders:
        if folder.is_dir():
            yield from (item for item in folder.iterdir() if (item / "pack.yaml").is_file())
