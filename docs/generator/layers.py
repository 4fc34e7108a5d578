"""A layered drawing of a directed graph: rows, order within a row, coordinates, curves.

Rules kept here: an arrow points down; arrows that pass a row run through a slot of their own, so that they
cross no box; equal input gives equal output. The steps are those of Sugiyama, Tagawa and Toda (1981), each
in its plainest form: the graphs have a dozen nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SLOT = 6.0
GAP = 22.0
SLOT_GAP = 13.0
SWEEPS = 40

Edge = tuple[str, str]
Point = tuple[float, float]


@dataclass
class Drawing:
    """Boxes as ``(x, y, width, height)`` by name and the points of each arrow, from box to box."""

    boxes: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)
    arrows: dict[Edge, list[Point]] = field(default_factory=dict)
    height: float = 0.0


def reduced(edges: Iterable[Edge]) -> set[Edge]:
    """``edges`` without those that a longer way implies; a circle keeps all of its own."""
    kept = set(edges)
    after: dict[str, set[str]] = {}
    for source, target in kept:
        after.setdefault(source, set()).add(target)

    def reach(start: str, skip: Edge) -> set[str]:
        seen: set[str] = set()
        todo = [item for item in after.get(start, ()) if (start, item) != skip]
        while todo:
            item = todo.pop()
            if item not in seen:
                seen.add(item)
                todo += after.get(item, ())
        return seen

    return {edge for edge in kept if edge[1] not in reach(edge[0], edge) or edge[0] in reach(edge[1], edge)}


def rows_of(names: Iterable[str], edges: set[Edge], at_most: int) -> list[list[str]]:
    """Rows from the bottom: a node stands above all that it points to, ``at_most`` nodes a row."""
    names = sorted(names)
    below = {name: sorted(b for a, b in edges if a == name) for name in names}
    row: dict[str, int] = {}
    rank: dict[str, int] = {}

    def ranked(name: str, path: tuple[str, ...] = ()) -> int:
        if name not in rank:
            deeper = [ranked(item, (*path, name)) for item in below[name] if item not in path]
            rank[name] = 1 + max(deeper, default=-1)
        return rank[name]

    for name in sorted(names, key=lambda item: (ranked(item), -sum(b == item for _, b in edges), item)):
        place = 1 + max((row[item] for item in below[name] if item in row), default=-1)
        while sum(other == place for other in row.values()) >= at_most:
            place += 1
        row[name] = place
    _float_up(row, below, at_most)
    return [[name for name in names if row[name] == at] for at in sorted(set(row.values()))]


def _float_up(row: dict[str, int], below: Mapping[str, list[str]], at_most: int) -> None:
    """Lift what points to nothing until it stands just under the lowest that points to it."""
    for name in sorted(row, key=lambda item: (-row[item], item)):
        above = [row[other] for other, targets in below.items() if name in targets]
        if below[name] or not above:
            continue
        for place in range(min(above) - 1, row[name], -1):
            if sum(other == place for other in row.values()) < at_most:
                row[name] = place
                break


def draw(
    sizes: Mapping[str, tuple[float, float]],
    edges: set[Edge],
    *,
    width: float,
    at_most: int,
    between: float = 34.0,
    height: float = 0.0,
) -> Drawing:
    """Lay out boxes of ``sizes`` and the arrows of ``edges``, spread over ``height`` if given."""
    rows = rows_of(sizes, edges, at_most)[::-1]
    where = {name: index for index, row in enumerate(rows) for name in row}
    chains: dict[Edge, list[str]] = {}
    wide = {name: size[0] for name, size in sizes.items()}
    for source, target in sorted(edges):
        slots = [f"{source}>{target}@{index}" for index in range(where[source] + 1, where[target])]
        for slot, index in zip(slots, range(where[source] + 1, where[target]), strict=True):
            rows[index].append(slot)
            wide[slot] = SLOT
        chains[source, target] = [source, *slots, target]
    links = [pair for chain in chains.values() for pair in pairwise(chain)]
    rows = _ordered(rows, links)
    x = _across(rows, links, wide, width)
    tall = [max((sizes[name][1] for name in row if name in sizes), default=0.0) for row in rows]
    if height and len(rows) > 1:
        between = max(between, (height - sum(tall)) / (len(rows) - 1))
    drawing = Drawing()
    tops: dict[str, tuple[float, float]] = {}
    y = 0.0
    for row, row_height in zip(rows, tall, strict=True):
        for name in row:
            tops[name] = (y, y + row_height)
            if name in sizes:
                w, h = sizes[name]
                drawing.boxes[name] = (x[name] - w / 2, y + (row_height - h) / 2, w, h)
        y += row_height + between
    drawing.height = y - between
    for edge, chain in chains.items():
        drawing.arrows[edge] = _way(edge, chain, chains, drawing, x, tops)
    return drawing


def _ordered(rows: list[list[str]], links: list[Edge]) -> list[list[str]]:
    """The order within rows with the fewest crossings of some sweeps up and down, by barycentre."""
    best, fewest = [list(row) for row in rows], _crossings(rows, links)
    current = [list(row) for row in rows]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for index in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            fixed = {name: at for at, name in enumerate(current[index - 1 if down else index + 1])}
            place = {name: at for at, name in enumerate(current[index])}
            middle: dict[str, float] = {}
            for name in current[index]:
                near = [a if down else b for a, b in links if (b if down else a) == name]
                found = [fixed[item] / max(1, len(fixed) - 1) for item in near if item in fixed]
                middle[name] = sum(found) / len(found) if found else place[name] / max(1, len(place) - 1)
            current[index].sort(key=lambda item: (middle[item], place[item]))
        crossings = _crossings(current, links)
        if crossings < fewest:
            best, fewest = [list(row) for row in current], crossings
    return best


def _crossings(rows: list[list[str]], links: list[Edge]) -> int:
    place = {name: (index, at) for index, row in enumerate(rows) for at, name in enumerate(row)}
    count = 0
    for number, (a, b) in enumerate(links):
        for c, d in links[number + 1 :]:
            if place[a][0] == place[c][0]:
                count += (place[a][1] - place[c][1]) * (place[b][1] - place[d][1]) < 0
    return count


def _across(
    rows: list[list[str]], links: list[Edge], wide: Mapping[str, float], width: float
) -> dict[str, float]:
    """Horizontal centres: near to what a node is linked with, apart within a row, inside ``width``."""
    x: dict[str, float] = {}
    for row in rows:
        for at, name in enumerate(row):
            x[name] = width * (at + 1) / (len(row) + 1)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            wanted = []
            for name in row:
                near = [x[b] if a == name else x[a] for a, b in links if name in {a, b}]
                wanted.append(sum(near) / len(near) if near else width / 2)
            x.update(zip(row, _apart(wanted, [wide[name] for name in row], width), strict=True))
    return x


def _apart(wanted: list[float], wide: list[float], width: float) -> list[float]:
    """The places nearest to ``wanted`` (least squares) at which neighbours keep their distance."""
    offset, offsets = 0.0, []
    for at, size in enumerate(wide):
        if at:
            gap = GAP if min(wide[at - 1], size) > SLOT else SLOT_GAP
            offset += (wide[at - 1] + size) / 2 + gap
        offsets.append(offset)
    blocks: list[list[float]] = []  # [sum, count]
    for want, shift in zip(wanted, offsets, strict=True):
        blocks.append([want - shift, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    low, high = wide[0] / 2, width - wide[-1] / 2 - offsets[-1]
    found = [
        min(max(total / count, low), max(low, high)) for total, count in blocks for _ in range(int(count))
    ]
    return [place + shift for place, shift in zip(found, offsets, strict=True)]


def _way(
    edge: Edge,
    chain: list[str],
    chains: Mapping[Edge, list[str]],
    drawing: Drawing,
    x: Mapping[str, float],
    tops: Mapping[str, tuple[float, float]],
) -> list[Point]:
    source, target = edge
    leaving = sorted((one for one in chains if one[0] == source), key=lambda one: (x[chains[one][1]], one))
    coming = sorted((one for one in chains if one[1] == target), key=lambda one: (x[chains[one][-2]], one))
    sx, sy, sw, sh = drawing.boxes[source]
    tx, ty, tw, _ = drawing.boxes[target]
    points = [(sx + sw * (leaving.index(edge) + 1) / (len(leaving) + 1), sy + sh)]
    for slot in chain[1:-1]:
        points += [(x[slot], tops[slot][0]), (x[slot], tops[slot][1])]
    points.append((tx + tw * (coming.index(edge) + 1) / (len(coming) + 1), ty))
    return points


def curve(points: list[Point]) -> str:
    """An SVG path through ``points`` that leaves and arrives vertically."""
    (x, y), *rest = points
    parts = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        parts.append(
            f"L{to_x:.1f} {to_y:.1f}"
            if abs(x - to_x) < 0.05  # noqa: PLR2004 - a straight line
            else f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
        )
        x, y = to_x, to_y
    return "".join(parts)
