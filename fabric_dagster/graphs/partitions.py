"""Cuts a graph into partitions: the units that run and commit as one.

Rules kept here (design/DETAILS.md, "Partitioning"):

* A fabric control is a partition of its own. Nodes of one application that are joined by an edge belong
  together, unless taking them together would close a circle between partitions.
* So partitions are pure (one application), connected and convex, and their quotient graph is acyclic.
* A node that joins any of its parents stands in another partition than each of them: only what can fail by
  itself can be absorbed.
* Maximal: no two partitions that are joined by an edge and hold one application could still be merged.
  Where every group can be whole, every group is; where one must be cut, work goes with what came earlier.
* The result depends on ids and edges only, never on the order in which they came.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric_dagster.graphs.order import topological

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTROL = "fabric"


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition: ``nodes`` in the order in which they run, ``needs`` the partitions right above it."""

    id: str
    application: str
    nodes: tuple[str, ...]
    needs: tuple[str, ...]


def partition(
    parents: Mapping[str, tuple[str, ...]],
    application: Mapping[str, str],
    order: tuple[str, ...],
    any_joins: frozenset[str] = frozenset(),
) -> tuple[Partition, ...]:
    """The partitions in topological order; ``order`` is the topological order of the (acyclic) graph.

    ``any_joins`` are the nodes that join any of their parents.
    """
    group = _merge(parents, application, order, any_joins)
    members: dict[str, list[str]] = {}
    for node in order:
        members.setdefault(group[node], []).append(node)
    above = {
        name: tuple(sorted({group[parent] for node in nodes for parent in parents[node]} - {name}))
        for name, nodes in members.items()
    }
    counts: dict[str, int] = {}
    names: dict[str, str] = {}
    found = []
    for key in topological(above):
        kind = application[key]
        if kind == CONTROL:
            names[key] = key
        else:
            counts[kind] = counts.get(kind, 0) + 1
            names[key] = f"{kind}_{counts[kind]}"
        needs = tuple(sorted(names[parent] for parent in above[key]))
        found.append(Partition(names[key], kind, tuple(members[key]), needs))
    return tuple(found)


def _merge(
    parents: Mapping[str, tuple[str, ...]],
    application: Mapping[str, str],
    order: tuple[str, ...],
    any_joins: frozenset[str],
) -> dict[str, str]:
    """Node → the first node (in ``order``) of its partition, by contracting edges until none is left."""
    group = {node: node for node in order}
    edges = [
        (parent, node)
        for node in order
        if application[node] != CONTROL
        for parent in sorted(parents[node], key=order.index)
        if application[parent] == application[node]
    ]
    merged = True
    while merged:  # a merge can make room for an edge that was refused before it
        merged = False
        for upper, lower in edges:
            first, second = group[upper], group[lower]
            if (
                first == second
                or _detour(parents, group, first, second)
                or _swallows(parents, group, {first, second}, any_joins)
            ):
                continue
            kept, gone = sorted((first, second), key=order.index)
            group = {node: kept if name == gone else name for node, name in group.items()}
            merged = True
    return group


def _swallows(
    parents: Mapping[str, tuple[str, ...]],
    group: Mapping[str, str],
    merged: set[str],
    any_joins: frozenset[str],
) -> bool:
    """Whether the ``merged`` groups together would hold an ``any`` join and a parent of it."""
    members = {node for node, name in group.items() if name in merged}
    return any(members & set(parents[node]) for node in members & any_joins)


def _detour(
    parents: Mapping[str, tuple[str, ...]], group: Mapping[str, str], first: str, second: str
) -> bool:
    """Whether work leads from ``first`` through another partition to ``second``."""
    above: dict[str, set[str]] = {}
    for node, up in parents.items():
        above.setdefault(group[node], set()).update(group[parent] for parent in up)
    stack = [name for name in above[second] if name not in {first, second}]
    seen = set(stack)
    while stack:
        for name in above[stack.pop()]:
            if name == first:
                return True
            if name not in seen and name != second:
                seen.add(name)
                stack.append(name)
    return False
