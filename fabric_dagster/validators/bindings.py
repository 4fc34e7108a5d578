"""What a graph's certificate stands on here and now, besides graph and pack: each part by its digest.

Rules kept here:

* Built-in validators count by the digest of their code (``registry.py``); a pack's own are in the pack's
  digest, and their Python is never imported to find out.
* Only what the graph binds counts: another validator's change is nothing to this graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.contracts.qualification import Bindings
from fabric_dagster.digests import digest_of
from fabric_dagster.validators.registry import digests

if TYPE_CHECKING:
    from fabric_dagster.graphs.compiled import CompiledGraph


def bindings_of(compiled: CompiledGraph) -> Bindings:
    """The present bindings of ``compiled``."""
    graph = compiled.graph
    built_in, known = digests(), capabilities()
    bound = sorted({item.id for item in graph.validators})
    return Bindings(
        validators={name: built_in[name] for name in bound if name in built_in},
        capabilities={name: known[name].digest for name in sorted({node.capability for node in graph.nodes})},
        compatibility=digest_of("fabric.compatibility.v1", dict(graph.compatibility)),
        recovery=digest_of("fabric.recovery-policy.v1", [edge.body() for edge in graph.recovery]),
    )
