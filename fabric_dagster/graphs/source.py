"""Reads a Skill Graph's YAML into its contract, keeping the line of every part."""

from __future__ import annotations

from dataclasses import dataclass

from fabric_dagster.contracts.skill_graph import SkillGraph
from fabric_dagster.documents import Source, check, load_yaml


@dataclass(frozen=True, slots=True)
class GraphSource:
    """A graph whose shape is right, and the document that it was read from; not validated yet."""

    graph: SkillGraph
    source: Source


def parse_graph(data: bytes, name: str) -> GraphSource:
    """Read ``data``; ``name`` is what faults call the file.

    Raises ``InvalidDocument`` with every fault of its YAML or of its shape.
    """
    source = load_yaml(data, name)
    return GraphSource(check(SkillGraph, source), source)
