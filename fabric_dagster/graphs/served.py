"""Whether the providers at hand can do what a graph asks for; if not, it does not compile for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import Fault, InvalidDocument

if TYPE_CHECKING:
    from fabric_dagster.graphs.compiled import CompiledGraph


def unserved(compiled: CompiledGraph, served: frozenset[str]) -> list[Fault]:
    """One fault for each node whose capability is an application's and is not in ``served``."""
    return [
        Fault(
            "graph.not_served",
            "no provider here serves the capability of this node",
            name,
            "configure a provider that serves it in home.yaml, or use another capability",
            node.capability,
        )
        for name, node in compiled.nodes.items()
        if node.application != "fabric" and node.capability not in served
    ]


def require_served(compiled: CompiledGraph, served: frozenset[str]) -> None:
    """Raise ``InvalidDocument`` (``graph.not_served``) with every node that cannot be done here."""
    faults = unserved(compiled, served)
    if faults:
        raise InvalidDocument.of(faults)
