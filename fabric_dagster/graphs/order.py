"""The order of a graph's nodes: what stands above what, and which circle there is.

Deterministic: every answer depends on ids and edges only, never on the order in which they came.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def topological(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The ids, each after all of its parents, smallest id first where there is a choice.

    Nodes on a circle, and those below one, are left out: the result is shorter than ``parents`` then.
    """
    children: dict[str, list[str]] = {node: [] for node in parents}
    waiting = {node: len(set(above)) for node, above in parents.items()}
    for node, above in parents.items():
        for parent in set(above):
            children[parent].append(node)
    ready = [node for node, count in waiting.items() if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for child in children[node]:
            waiting[child] -= 1
            if not waiting[child]:
                heapq.heappush(ready, child)
    return tuple(order)


def ancestors(parents: Mapping[str, tuple[str, ...]], order: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Node → everything above it. On a graph with a circle, ``order`` is short and this still holds."""
    found: dict[str, frozenset[str]] = {}
    for node in order:
        found[node] = frozenset(parents[node]).union(*(found[parent] for parent in parents[node]))
    for node in parents.keys() - found.keys():
        seen: set[str] = set()
        stack = list(parents[node])
        while stack:
            if (above := stack.pop()) not in seen:
                seen.add(above)
                stack.extend(parents[above])
        found[node] = frozenset(seen)
    return found


def guaranteed(
    parents: Mapping[str, tuple[str, ...]], order: tuple[str, ...], any_joins: frozenset[str]
) -> dict[str, frozenset[str]]:
    """Node → what has certainly run before it: past an ``any`` join, what stands above all of its parents."""
    found: dict[str, frozenset[str]] = {}
    for node in order:
        sides = [found[parent] | {parent} for parent in parents[node]]
        empty: frozenset[str] = frozenset()
        if node in any_joins and sides:
            found[node] = sides[0].intersection(*sides[1:])
        else:
            found[node] = empty.union(*sides)
    return found


def circle(parents: Mapping[str, tuple[str, ...]], order: tuple[str, ...]) -> tuple[str, ...]:
    """The ids of one circle in the direction of the work, starting with its smallest; empty without one."""
    left = parents.keys() - set(order)
    above = {node: sorted(parent for parent in parents[node] if parent in left) for node in left}
    if not left:
        return ()
    trail = [min(left)]
    while (up := above[trail[-1]][0]) not in trail:  # every node that is left has a parent that is left
        trail.append(up)
    found = trail[trail.index(up) :][::-1]
    start = found.index(min(found))
    return tuple(found[start:] + found[:start])
