"""Validation: every rule of a Skill Graph, every fault at once, each with file, line and value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabric_dagster.graphs.case import Case
from fabric_dagster.graphs.rules import closure, structure, surface, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fabric_dagster.capabilities.base import Capability
    from fabric_dagster.errors import Fault
    from fabric_dagster.graphs.source import GraphSource

RULES = (*surface.RULES, *structure.RULES, *values.RULES, *closure.RULES)

_LINE = re.compile(r":([0-9]+)$")


def validate_graph(gs: GraphSource, capabilities: Mapping[str, Capability]) -> list[Fault]:
    """Every fault of ``gs`` against the registered ``capabilities``, in the order of its lines."""
    case = Case(gs.graph, gs.source, capabilities)
    faults = [fault for rule in RULES for fault in rule(case)]
    return in_lines(faults)


def in_lines(faults: Iterable[Fault]) -> list[Fault]:
    """``faults`` of one document in the order of its lines."""
    return sorted(faults, key=lambda fault: (_line(fault), fault.code, fault.value or ""))


def _line(fault: Fault) -> int:
    match = _LINE.search(fault.where)
    return int(match[1]) if match else 0
