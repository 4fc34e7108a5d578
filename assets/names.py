"""How compiled graphs are called in Dagster (design/DETAILS.md, "Names")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

if TYPE_CHECKING:
    from fabric_dagster.graphs.compiled import CompiledGraph

#: Where accepted tickets come from: an external asset that the intake sensor observes.
INTAKE = dg.AssetKey(["intake", "tickets"])

RUN_TAG = "fabric/run"
TICKET_TAG = "fabric/ticket"
GRAPH_TAG = "fabric/graph"
PROJECT_TAG = "fabric/project"
#: marks the Dagster runs that `fabric run` executes in its own process.
DRIVER_TAG = "fabric/driver"


def node_key(graph: CompiledGraph, node: str) -> dg.AssetKey:
    """``[workflow, node]``."""
    return dg.AssetKey([graph.workflow, node])


def template_key(pack: str, template: str) -> dg.AssetKey:
    """``[templates, pack, template]``."""
    return dg.AssetKey(["templates", pack, template])


def tickets(graph: CompiledGraph) -> dg.DynamicPartitionsDefinition:
    """A ticket is a partition of its workflow."""
    return dg.DynamicPartitionsDefinition(name=f"tickets__{graph.workflow}")


def check_name(validator: str) -> str:
    """``art_in_place@1`` → ``art_in_place_v1``."""
    return validator.replace("@", "_v")
