"""The picture of the house: six floors, their rooms with what each is for, and who imports whom.

Arrows go from the room that imports to the room that it imports. Between rooms of one floor those that a
longer way implies are left out; between floors one arrow stands for all, and it is drawn only where the
longer way does not say it already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from generator.layers import Drawing, curve, draw, reduced
from generator.rooms import house
from generator.svg import FLOORS, box, sheet, text, width_of, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from generator.rooms import Room

WIDTH, MARGIN, HEAD, PAD, LINE = 1320.0, 28.0, 34.0, 16.0, 15.5
LAW_WIDTH, ROOM = 590.0, 206.0
SAID = {
    "roof": ("The roof", "sees every room; nothing imports it"),
    "ears": ("The ears", "sensors/"),
    "line": ("The line", "assets/"),
    "hands": ("The hands", "resources/"),
    "law": ("The law", "fabric_dagster/"),
    "knowledge": ("The knowledge", "packs/"),
}
Place = tuple[float, float, float, float]


def picture() -> str:
    """The SVG."""
    rooms, edges = house()
    body: list[str] = []
    law, hands = _drawn(rooms, edges, "law", LAW_WIDTH, 3), _drawn(rooms, edges, "hands", 0, 3)
    top = 118.0
    roof = (MARGIN + 110, top, WIDTH - 2 * MARGIN - 220, 128.0)
    second = top + roof[3] + 40
    half = (WIDTH - 2 * MARGIN - 24) / 2
    cabin_height = max(_cabin_height(rooms[name], half) for name in ("assets", "sensors"))
    places: dict[str, Place] = {
        "roof": roof,
        "line": (MARGIN, second, half, cabin_height),
        "ears": (MARGIN + half + 24, second, half, cabin_height),
    }
    third = second + cabin_height + 44
    right = MARGIN + LAW_WIDTH + 24
    right_width = WIDTH - MARGIN - right
    knowledge_height = _cabin_height(rooms["packs"], right_width)
    inner = max(law.height, hands.height + knowledge_height + 44)
    places["law"] = (MARGIN, third, LAW_WIDTH, inner + HEAD + 2 * PAD)
    places["hands"] = (right, third, right_width, inner + HEAD + 2 * PAD - knowledge_height - 44)
    places["knowledge"] = (right, third + places["hands"][3] + 44, right_width, knowledge_height)
    if law.height < inner:
        law = _drawn(rooms, edges, "law", LAW_WIDTH, 3, inner)
    if hands.height < places["hands"][3] - HEAD - 2 * PAD:
        hands = _drawn(rooms, edges, "hands", 0, 3, places["hands"][3] - HEAD - 2 * PAD)
    body += [
        text(MARGIN, 46, "The house", "head"),
        text(
            MARGIN, 70, "An arrow points from what imports to what it imports. Ways that a longer way", "note"
        ),
        text(
            MARGIN,
            88,
            "implies are left out; dashed: readers only. Made from the code's own imports and docstrings.",
            "note",
        ),
    ]
    body += _roof(places["roof"])
    for name, place in places.items():
        if name != "roof":
            body.append(box(*place, f"f-{name}", 12))
        title, folder = SAID[name]
        x = place[0] + (0 if name == "roof" else PAD)
        y = place[1] + 27 + (14 if name == "roof" else 0)
        body += [
            text(x, y, title, f"floor t-{name}"),
            text(x + width_of(title, 17) * 1.13 + 10, y, folder, "note"),
        ]
    body += _between(places, edges)
    for name in ("line", "ears", "knowledge"):
        body += _cabin(rooms[{"line": "assets", "ears": "sensors", "knowledge": "packs"}[name]], places[name])
    body += _attic(rooms, places["roof"])
    body += _rooms(rooms, "law", law, places["law"])
    body += _rooms(rooms, "hands", hands, places["hands"])
    body += _across(rooms, edges, {"law": (law, places["law"]), "hands": (hands, places["hands"])})
    said = "; ".join(f"{SAID[name][0].lower()} ({SAID[name][1]})" for name in places)
    return sheet(
        WIDTH,
        third + inner + HEAD + 2 * PAD + MARGIN,
        [_heads(), *body],
        "The house: rooms and imports of Fabric on Dagster",
        f"Six floors: {said}. Everything imports the law; the law imports nothing of the others.",
    )


def _drawn(
    rooms: Mapping[str, Room],
    edges: set[tuple[str, str]],
    floor: str,
    width: float,
    at_most: int,
    height: float = 0.0,
) -> Drawing:
    names = [name for name, room in rooms.items() if room.floor == floor]
    sizes = {name: (_room_width(floor), _room_height(rooms[name], _room_width(floor))) for name in names}
    inside = reduced({(a, b) for a, b in edges if a in sizes and b in sizes})
    across = (width or WIDTH - 2 * MARGIN - LAW_WIDTH - 24) - 2 * PAD
    return draw(sizes, inside, width=across, at_most=at_most, height=height)


def _room_width(floor: str) -> float:
    return ROOM if floor == "law" else 168.0


def _room_height(room: Room, width: float) -> float:
    return 34 + LINE * len(wrapped(room.purpose, 12, width - 20))


def _rooms(rooms: Mapping[str, Room], floor: str, drawing: Drawing, place: Place) -> list[str]:
    left, top = place[0] + PAD, place[1] + HEAD + PAD
    out = []
    for points in drawing.arrows.values():
        moved = [(x + left, y + top) for x, y in points]
        moved[-1] = (moved[-1][0], moved[-1][1] - 5)
        out.append(f'<path class="w-{floor}" d="{curve(moved)}" marker-end="url(#a-{floor})"/>')
    for name, (x, y, width, height) in drawing.boxes.items():
        out.append(box(x + left, y + top, width, height, f"b-{floor}"))
        out.append(text(x + left + 10, y + top + 20, rooms[name].title, "name"))
        for at, line in enumerate(wrapped(rooms[name].purpose, 12, width - 20)):
            out.append(text(x + left + 10, y + top + 38 + LINE * at, line, "say"))
    return out


def _cabin_height(room: Room, width: float) -> float:
    said, chips = _cabin_lines(room, width)
    return HEAD + 16 + LINE * (len(said) + len(chips)) + 14


def _cabin_lines(room: Room, width: float) -> tuple[list[str], list[str]]:
    modules = "  ".join(room.modules)
    purpose = room.purpose.removeprefix(f"{SAID[room.floor][0]}: ")
    return wrapped(purpose[:1].upper() + purpose[1:], 12, width - 2 * PAD), wrapped(
        modules, 12.6, width - 2 * PAD
    ) if modules else []


def _cabin(room: Room, place: Place) -> list[str]:
    """A floor of one room: what it is for, and its modules."""
    x, y, width, _ = place
    said, chips = _cabin_lines(room, width)
    out = [text(x + PAD, y + HEAD + 16 + LINE * at, line, "say") for at, line in enumerate(said)]
    down = y + HEAD + 22 + LINE * len(said)
    for at, line in enumerate(chips):
        out.append(text(x + PAD, down + LINE * at, " · ".join(line.split()), f"chip t-{room.floor}"))
    return out


def _roof(place: Place) -> list[str]:
    x, y, width, height = place
    left, right = MARGIN - 8, WIDTH - MARGIN + 8
    points = f"{x:g},{y:g} {x + width:g},{y:g} {right:g},{y + height:g} {left:g},{y + height:g}"
    return [f'<polygon class="f-roof" stroke-linejoin="round" points="{points}"/>']


def _attic(rooms: Mapping[str, Room], place: Place) -> list[str]:
    names = [name for name, room in rooms.items() if room.floor == "roof"]
    out = []
    each = (place[2] - 24 * (len(names) - 1)) / len(names)
    for at, name in enumerate(names):
        x, y = place[0] + at * (each + 24), place[1] + 54
        out += [box(x, y, each, 64, "b-roof"), text(x + 10, y + 21, rooms[name].title, "name")]
        for line_at, line in enumerate(wrapped(rooms[name].purpose, 12, each - 20)[:2]):
            out.append(text(x + 10, y + 39 + LINE * line_at, line, "say"))
    return out


def _between(places: Mapping[str, Place], edges: set[tuple[str, str]]) -> list[str]:
    """One arrow for all imports from one floor into another, where no longer way says it."""
    from generator.rooms import floor_of

    order = ["roof", "ears", "line", "hands", "knowledge", "law"]
    found = {(floor_of(a), floor_of(b)) for a, b in edges}
    out = []
    for source, target in sorted(reduced({e for e in found if order.index(e[0]) < order.index(e[1])})):
        points = _floor_way(source, target, places)
        out.append(
            f'<path class="w-{source}" style="stroke-width:3" d="{curve(points)}" '
            f'marker-end="url(#a-{source})"/>'
        )
    return out


def _floor_way(source: str, target: str, places: Mapping[str, Place]) -> list[tuple[float, float]]:
    """From the middle of what two floors share, straight down where they stand above each other."""
    ax, ay, aw, ah = places[source]
    bx, by, bw, bh = places[target]
    low, high = max(ax, bx), min(ax + aw, bx + bw)
    if ay + ah <= by and low < high:
        middle = (low + high) / 2
        if any(x < middle < x + w and ay + ah < y < by for x, y, w, _ in places.values()):
            side = WIDTH - 12  # another floor lies between: down the outer wall
            return [(ax + aw + 96, ay + ah), (side, ay + ah + 24), (side, by), (bx + bw - 40, by + bh + 7)]
        return [(middle, ay + ah), (middle, by - 7)]
    if ax >= bx + bw:  # side by side: to the left, as a short hook
        y = max(ay, by) + min(ah, bh) / 2
        return [(ax, y), (bx + bw + 7, y)]
    return [(ax + aw / 2, ay + ah), (bx + bw / 2, by - 7)]


def _across(
    rooms: Mapping[str, Room], edges: set[tuple[str, str]], drawings: Mapping[str, tuple[Drawing, Place]]
) -> list[str]:
    """The few arrows out of the law into a room of the hands, each by itself and dashed."""
    out = []
    for source, target in sorted(edges):
        if rooms[source].floor != "law" or rooms[target].floor != "hands":
            continue
        law, law_place = drawings["law"]
        hands, hands_place = drawings["hands"]
        ax, ay, aw, ah = law.boxes[source]
        bx, by, bw, _ = hands.boxes[target]
        x, y = ax + aw + law_place[0] + PAD, ay + ah / 2 + law_place[1] + HEAD + PAD
        to_x, to_y = bx + bw * 0.2 + hands_place[0] + PAD, by + hands_place[1] + HEAD + PAD - 5
        gutter, lane = hands_place[0] - 12, to_y - 20
        out.append(
            f'<path class="w-law" stroke-dasharray="5 4" marker-end="url(#a-law)" d="M{x:.1f} {y:.1f}'
            f'H{gutter - 8:.1f}q8 0 8 8V{lane - 8:.1f}q0 8 8 8H{to_x - 8:.1f}q8 0 8 8V{to_y:.1f}"/>'
        )
    return out


def _heads() -> str:
    marks = (
        f'<marker id="a-{name}" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path class="h-{name}" d="M0 0L8 4L0 8z"/></marker>'
        for name in FLOORS
    )
    return f"<defs>{''.join(marks)}</defs>"
