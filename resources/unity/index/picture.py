"""Draws a neighbourhood as SVG: users on the left, the asset in the middle, what it needs on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from resources.unity.index.graph import Neighbourhood

WIDTH, HEIGHT, GAP, COLUMN = 250, 38, 12, 340
MARGIN, HEAD = 24, 44
#: how many assets a column shows
MOST = 24
NAME, FOLDER = 34, 40
COLOURS = {
    "prefab": "#2b6cb0", "unity": "#2f855a", "mat": "#b7791f", "asset": "#6b46c1", "png": "#c05621",
    "psd": "#c05621", "cs": "#4a5568", "asmdef": "#4a5568", "spriteatlas": "#b83280",
}  # fmt: skip
OTHER = "#718096"
STYLE = """<style>
text{font:13px system-ui,sans-serif;fill:#1a202c}
.head{font-weight:600;fill:#4a5568} .path,.more{font-size:10px;fill:#718096}
.box{fill:#fff;stroke:#cbd5e0} .chosen{stroke:#1a202c;stroke-width:2} .line{fill:none;stroke:#a0aec0}
</style>"""

Place = tuple[float, float]


def draw(found: Neighbourhood) -> str:
    """The picture, as one SVG document."""
    columns = [
        *(
            ("uses it" if d == 1 else f"{d} steps away", found.users[d])
            for d in sorted(found.users, reverse=True)
        ),
        ("", [found.asset]),
        *(("it needs" if d == 1 else f"{d} steps away", found.needs[d]) for d in sorted(found.needs)),
    ]
    tallest = max(min(len(paths), MOST) + (len(paths) > MOST) for _, paths in columns)
    height = 2 * MARGIN + HEAD + tallest * (HEIGHT + GAP)
    width = 2 * MARGIN + (len(columns) - 1) * COLUMN + WIDTH
    places: dict[str, Place] = {}
    boxes: list[str] = []
    for number, (title, paths) in enumerate(columns):
        left = MARGIN + number * COLUMN
        shown = paths[:MOST]
        top = MARGIN + HEAD + (height - 2 * MARGIN - HEAD - len(shown) * (HEIGHT + GAP)) / 2
        boxes.append(_text(left, MARGIN + 14, f"{title} ({len(paths)})" if title else "", "head"))
        for row, path in enumerate(shown):
            places[path] = (left, top + row * (HEIGHT + GAP))
            boxes.append(_box(path, places[path], chosen=path == found.asset))
        if len(paths) > MOST:
            below = top + len(shown) * (HEIGHT + GAP)
            boxes.append(_text(left, below + 14, f"… and {len(paths) - MOST} more", "more"))
    lines = [_line(places[a], places[b]) for a, b in found.edges if a in places and b in places]
    label = quoteattr(f"What uses {found.asset} and what it needs")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}"',
            f'  width="{width}" height="{height:.0f}" role="img" aria-label={label}>',
            STYLE,
            f'<rect width="{width}" height="{height:.0f}" fill="#f7fafc"/>',
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


def _box(path: str, place: Place, *, chosen: bool) -> str:
    left, top = place
    folder, _, name = path.rpartition("/")
    colour = COLOURS.get(name.rpartition(".")[2].lower(), OTHER)
    kind = "box chosen" if chosen else "box"
    return (
        f"<g><title>{escape(path)}</title>"
        f'<rect class="{kind}" x="{left}" y="{top:.1f}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f'<rect x="{left}" y="{top:.1f}" width="5" height="{HEIGHT}" fill="{colour}"/>'
        + _text(left + 14, top + 16, _short(name, NAME), "name")
        + _text(left + 14, top + 30, _short(folder, FOLDER), "path")
        + "</g>"
    )


def _short(text: str, most: int) -> str:
    """``text``, its middle left out where it is too long: both ends tell assets apart."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def _text(left: float, top: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{left}" y="{top:.1f}">{escape(text)}</text>'


def _line(user: Place, used: Place) -> str:
    """From the right edge of who uses to the left edge of what is used; within a column a bow beside it."""
    (x1, y1), (x2, y2) = user, used
    start, end = (x1 + WIDTH, y1 + HEIGHT / 2), (x2, y2 + HEIGHT / 2)
    if x2 <= x1:
        end = (x2 + WIDTH, end[1])
    bend = 45 if x2 > x1 else 30
    second = end[0] - bend if x2 > x1 else end[0] + bend
    return (
        f'<path class="line" d="M{start[0]:.1f} {start[1]:.1f}C{start[0] + bend:.1f} {start[1]:.1f} '
        f'{second:.1f} {end[1]:.1f} {end[0]:.1f} {end[1]:.1f}"/>'
    )
