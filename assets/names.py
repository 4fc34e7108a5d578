"""How compiled graphs are called in Dagster (design/DETAILS.md, "Names")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import dagster as dg

if TYPE_CHECKING:
    from fabric_dagster.graphs.compiled import CompiledGraph

#: Where accepted tickets come from: an external asset that the intake sensor observes.
INTAKE = dg.AssetKey(["intake", "tickets"])

#: Dagster's own name of its job over all assets. A sensor's ``target`` would need one partitions definition
#: for all workflows, and a job for each workflow makes a large code location load three times as long.
EVERY_ASSET = "__ASSET_JOB"

RUN_TAG = "fabric/run"
TICKET_TAG = "fabric/ticket"
GRAPH_TAG = "fabric/graph"
PROJECT_TAG = "fabric/project"
#: the tag under which Dagster keeps what an asset's bytes are.
DATA_VERSION = "dagster/data_version"
#: marks the Dagster runs that `fabric run` executes in its own process.
DRIVER_TAG = "fabric/driver"


def console(level: str) -> dict[str, Any]:
    """The run configuration that prints events of ``level`` or above; the UI has every event all the same."""
    return {"loggers": {"console": {"config": {"log_level": level}}}}


class Named(Protocol):
    """A graph, so far as keys of its nodes go."""

    @property
    def workflow(self) -> str:
        """Its name in snake case."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """What a step keeps of its graph: compiled graphs and packs are let go once definitions stand."""

    workflow: str
    #: ``Name@MAJOR``
    reference: str


@dataclass(frozen=True, slots=True)
class Station:
    """What a step keeps of its partition."""

    id: str
    application: str
    nodes: tuple[str, ...]
    #: of its first node.
    capability: str


def node_key(graph: Named, node: str) -> dg.AssetKey:
    """``[workflow, node]``."""
    return dg.AssetKey([graph.workflow, node])


def approval_key(graph: Named, handoff: str) -> dg.AssetKey:
    """``[workflow, handoff, "approval"]``: a person's decision on what ``handoff`` seals."""
    return dg.AssetKey([graph.workflow, handoff, "approval"])


def template_key(pack: str, template: str) -> dg.AssetKey:
    """``[templates, pack, template]``."""
    return dg.AssetKey(["templates", pack, template])


def tickets(graph: CompiledGraph) -> dg.DynamicPartitionsDefinition:
    """A ticket is a partition of its workflow."""
    return dg.DynamicPartitionsDefinition(name=f"tickets__{graph.workflow}")


def check_name(validator: str) -> str:
    """``art_in_place@1`` → ``art_in_place_v1``."""
    return validator.replace("@", "_v")
