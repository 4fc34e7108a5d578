"""Small SVG pieces: boxes, wrapped text, and a palette that reads in light and in dark."""

from __future__ import annotations

from html import escape

ATTRIBUTES = (
    'role="img" aria-labelledby="t d" '
    'font-family="system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif"'
)
NARROW, BROAD = set("il.,:;'|!()[]tfjr/` "), set("mwMW@%")

#: name → (light, dark)
PALETTE: dict[str, tuple[str, str]] = {
    "paper": ("#fbfaf6", "#15181d"),
    "edge": ("#d9d5c9", "#30363d"),
    "ink": ("#1d2126", "#e8e6e0"),
    "soft": ("#555d66", "#a5adb6"),
    "box": ("#ffffff", "#1d2229"),
    "wire": ("#7b8490", "#8b949e"),
}
#: floor → (light tint, light line, dark tint, dark line)
FLOORS: dict[str, tuple[str, str, str, str]] = {
    "roof": ("#eceef1", "#66707c", "#20252b", "#9aa5b1"),
    "ears": ("#f4ecf9", "#8d5bb0", "#251d2c", "#c09be0"),
    "line": ("#e6f4ea", "#3f8a5b", "#17261d", "#73c795"),
    "hands": ("#fdf0e3", "#bb7429", "#2a2018", "#e6a766"),
    "law": ("#e8eff9", "#4a72b8", "#18212f", "#86aeee"),
    "knowledge": ("#fbf4d8", "#9a7f1c", "#27240f", "#dcc25c"),
}


def width_of(text: str, size: float) -> float:
    """About how wide ``text`` is in a sans-serif face of ``size``, on the safe side."""
    units = sum(0.36 if c in NARROW else 0.92 if c in BROAD else 0.69 if c.isupper() else 0.605 for c in text)
    return units * size


def wrapped(text: str, size: float, width: float) -> list[str]:
    """``text`` in lines no wider than ``width``."""
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def text(x: float, y: float, content: str, kind: str, anchor: str = "start") -> str:
    """One line of text of class ``kind``."""
    placed = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{placed}>{escape(content)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str, radius: float = 8) -> str:
    """A rectangle of class ``kind``."""
    size = f'width="{width:.1f}" height="{height:.1f}" rx="{radius:g}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size}/>'


def sheet(width: float, height: float, body: list[str], title: str, description: str) -> str:
    """A whole picture with its own paper, title and description for who cannot see it."""
    light, dark = _style(0), _style(1)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {ATTRIBUTES}>',
            f'<title id="t">{escape(title)}</title>',
            f'<desc id="d">{escape(description)}</desc>',
            f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}</style>",
            box(0.5, 0.5, width - 1, height - 1, "paper", 14),
            *body,
            "</svg>\n",
        ]
    )


def _style(which: int) -> str:
    colour = {name: pair[which] for name, pair in PALETTE.items()}
    rules = [
        f".paper{{fill:{colour['paper']};stroke:{colour['edge']}}}",
        f".name{{fill:{colour['ink']};font-size:14px;font-weight:650}}",
        f".say{{fill:{colour['soft']};font-size:12px}}",
        f".head{{fill:{colour['ink']};font-size:22px;font-weight:700}}",
        f".note{{fill:{colour['soft']};font-size:13px}}",
        f".chip{{fill:{colour['soft']};font-size:12px}}",
        ".floor{font-size:17px;font-weight:700}",
    ]
    for name, (light, light_line, dark, dark_line) in FLOORS.items():
        tint, line = (dark, dark_line) if which else (light, light_line)
        rules += [
            f".f-{name}{{fill:{tint};stroke:{line};stroke-width:1.2;stroke-opacity:.55}}",
            f".b-{name}{{fill:{colour['box']};stroke:{line};stroke-width:1.3}}",
            f".w-{name}{{fill:none;stroke:{line};stroke-width:1.6;stroke-opacity:.85}}",
            f".h-{name}{{fill:{line}}}",
            f".t-{name}{{fill:{line}}}",
        ]
    return "".join(rules)
