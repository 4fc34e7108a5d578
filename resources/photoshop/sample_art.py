"""Original art for the example tickets: a starter chest, a coin pile, a mega bundle, and a placeholder.

Each is a 512 x 512 RGBA picture with transparency around it. ``write_art`` makes the PNG files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from resources.photoshop.sample_draw import Canvas, Colour, Point, both, grow, without

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

SIDE: Final = 512
INK: Final[Colour] = (52, 24, 48)
GOLD: Final[tuple[Colour, Colour, Colour, Colour]] = (
    (255, 240, 150), (255, 204, 64), (240, 150, 28), (176, 92, 14),
)  # fmt: skip
WHITE: Final[Colour] = (255, 255, 255)
RUBY: Final[tuple[Colour, ...]] = ((255, 190, 200), (255, 96, 120), (226, 36, 78), (150, 12, 56))
SAPPHIRE: Final[tuple[Colour, ...]] = ((190, 240, 255), (84, 190, 255), (34, 120, 232), (22, 62, 168))
EMERALD: Final[tuple[Colour, ...]] = ((206, 255, 196), (98, 226, 110), (30, 168, 84), (12, 104, 70))


def coin(c: Canvas, x: float, y: float, r: float, squash: float = 0.86) -> None:
    """A coin seen slightly from above, with its edge below it."""
    ry, edge = r * squash, r * 0.2
    body = c.polygon([(x - r, y), (x + r, y), (x + r, y + edge), (x - r, y + edge)])
    low = c.ellipse(x, y + edge, r, ry)
    for mask in (grow(c.ellipse(x, y, r, ry), 4), grow(body, 4), grow(low, 4)):
        c.paint(mask, INK)
    for mask in (low, body):
        c.paint(mask, GOLD[2], GOLD[3])
    c.paint(c.ellipse(x, y, r, ry), GOLD[0], GOLD[1])
    c.paint(c.ellipse(x, y, r * 0.8, ry * 0.8), GOLD[2])
    c.paint(c.ellipse(x, y + r * 0.035, r * 0.77, ry * 0.77), GOLD[1], (255, 222, 110))
    c.paint(c.star(x, y + 1, r * 0.5, r * 0.24, 5), GOLD[2], GOLD[3])
    c.paint(c.star(x, y - r * 0.05, r * 0.5, r * 0.24, 5), (255, 252, 214), GOLD[0])
    shine = both(c.ellipse(x, y, r * 0.94, ry * 0.94), without(
        c.ellipse(x, y, r * 0.94, ry * 0.94), c.ellipse(x + r * 0.1, y + r * 0.12, r * 0.92, ry * 0.92)
    ))  # fmt: skip
    c.paint(shine, WHITE, alpha=0.8)


def gem(c: Canvas, x: float, y: float, r: float, tones: tuple[Colour, ...]) -> None:
    """A cut stone: crown facets over a pavilion."""
    girdle, crown, tip = y - r * 0.18, y - r * 0.72, y + r
    outer = [(x - r, girdle), (x - r * 0.58, crown), (x + r * 0.58, crown), (x + r, girdle), (x, tip)]
    c.paint(grow(c.polygon(outer), 4.5), INK)
    c.paint(c.polygon(outer), tones[1], tones[2])
    inner_left, inner_right = (x - r * 0.46, girdle), (x + r * 0.46, girdle)
    facets: list[tuple[list[Point], Colour]] = [
        ([outer[0], outer[1], inner_left], tones[1]),
        ([outer[1], (x, crown), inner_left], tones[0]),
        ([(x, crown), inner_left, inner_right], WHITE),
        ([(x, crown), outer[2], inner_right], tones[0]),
        ([outer[2], outer[3], inner_right], tones[2]),
        ([outer[0], inner_left, outer[4]], tones[2]),
        ([inner_left, inner_right, outer[4]], tones[1]),
        ([inner_right, outer[3], outer[4]], tones[3]),
    ]
    for points, tone in facets:
        c.paint(c.polygon(points), tone)
    c.paint(
        c.polygon([(x - r * 0.36, girdle), (x - r * 0.06, girdle), (x - r * 0.02, y + r * 0.6)]), tones[0]
    )


def sparkle(c: Canvas, x: float, y: float, r: float) -> None:
    """A four-pointed glint."""
    c.paint(c.star(x, y, r * 1.25, r * 0.3, 4), (255, 226, 120))
    c.paint(c.star(x, y, r, r * 0.22, 4), WHITE)


def chest(c: Canvas, x: float, y: float, w: float) -> None:
    """A closed treasure chest around the centre ``x, y``, ``w`` wide."""
    h, half = w * 0.42, w / 2
    lid_low, lid_top = y - w * 0.06, y - w * 0.4
    body = c.polygon([
        (x - half, lid_low), (x + half, lid_low), (x + half * 0.9, lid_low + h), (x - half * 0.9, lid_low + h)
    ])  # fmt: skip
    lid = both(
        c.rounded(x - half * 1.04, lid_top, x + half * 1.04, lid_low + w * 0.3, w * 0.3),
        c.rounded(x - half * 1.04, lid_top, x + half * 1.04, lid_low, 0),
    )
    for mask in (body, lid):
        c.paint(grow(mask, 6), INK)
    c.paint(body, (196, 104, 44), (120, 52, 30))
    for row in (0.36, 0.68):
        level = lid_low + h * row
        c.paint(both(body, c.rounded(x - half, level, x + half, level + 5, 0)), (86, 34, 26))
        c.paint(both(body, c.rounded(x - half, level + 5, x + half, level + 9, 0)), (222, 132, 62))
    c.paint(lid, (236, 142, 62), (170, 80, 36))
    c.paint(both(lid, c.rounded(x - half * 0.92, lid_top + 12, x + half * 0.92, lid_top + 26, 7)),
            (255, 196, 112), alpha=0.75)  # fmt: skip
    for side in (-1, 1):
        centre = x + side * half * 0.66
        band = c.rounded(centre - w * 0.065, lid_top, centre + w * 0.065, lid_low + h, 0)
        for part in (lid, body):
            strap = both(part, band)
            c.paint(both(part, grow(strap, 3.5)), INK)
            c.paint(strap, GOLD[0], GOLD[2])
            c.paint(
                both(strap, c.rounded(centre + w * 0.02, lid_top, centre + w * 0.065, lid_low + h, 0)),
                GOLD[2],
            )
    rim = c.rounded(x - half * 1.06, lid_low - w * 0.045, x + half * 1.06, lid_low + w * 0.035, w * 0.02)
    c.paint(grow(rim, 5), INK)
    c.paint(rim, GOLD[0], GOLD[2])
    c.paint(
        c.rounded(x - half * 1.02, lid_low - w * 0.032, x + half * 1.02, lid_low - w * 0.018, 3),
        WHITE,
        alpha=0.7,
    )
    plate = c.rounded(x - w * 0.1, lid_low - w * 0.09, x + w * 0.1, lid_low + w * 0.15, w * 0.05)
    c.paint(grow(plate, 5), INK)
    c.paint(plate, GOLD[0], GOLD[1])
    c.paint(c.ellipse(x, lid_low + w * 0.01, w * 0.036, w * 0.036), INK)
    c.paint(c.polygon([
        (x - w * 0.016, lid_low + w * 0.02), (x + w * 0.016, lid_low + w * 0.02),
        (x + w * 0.028, lid_low + w * 0.095), (x - w * 0.028, lid_low + w * 0.095),
    ]), INK)  # fmt: skip


def starter_pack() -> NDArray[np.uint8]:
    """A chest with a few coins and two stones."""
    c = Canvas(SIDE, SIDE)
    gem(c, 132, 128, 44, SAPPHIRE)
    gem(c, 384, 120, 40, RUBY)
    chest(c, 256, 262, 340)
    for x, y, r in ((118, 404, 48), (398, 402, 50), (204, 424, 46), (304, 428, 52)):
        coin(c, x, y, r)
    c.outline(7, INK)
    sparkle(c, 212, 88, 30)
    sparkle(c, 446, 206, 26)
    sparkle(c, 76, 232, 20)
    return c.done()


def daily_deal() -> NDArray[np.uint8]:
    """A pile of coins with an emerald on top."""
    c = Canvas(SIDE, SIDE)
    rows = [
        (4, 118, 388, 48), (3, 164, 344, 50), (4, 112, 432, 50), (3, 160, 300, 50), (2, 208, 262, 50),
    ]  # fmt: skip
    order = sorted(
        (y + lift, x + step * 96, r)
        for count, x, y, r in rows
        for step in range(count)
        for lift in ((step * 37 + y) % 14 - 7,)
    )
    for y, x, r in order:
        coin(c, x, y, r, 0.62)
    gem(c, 256, 166, 92, EMERALD)
    c.outline(7, INK)
    sparkle(c, 180, 108, 28)
    sparkle(c, 352, 206, 24)
    sparkle(c, 420, 336, 22)
    return c.done()


def mega_bundle() -> NDArray[np.uint8]:
    """A chest among stones of every colour and coins."""
    c = Canvas(SIDE, SIDE)
    for x, y, r, tones in (
        (96, 190, 56, EMERALD), (416, 186, 58, SAPPHIRE), (176, 112, 62, RUBY), (338, 110, 60, EMERALD),
        (256, 84, 66, SAPPHIRE),
    ):  # fmt: skip
        gem(c, x, y, r, tones)
    chest(c, 256, 280, 320)
    for x, y, r in ((80, 368, 46), (434, 366, 46), (140, 420, 50), (374, 420, 50)):
        coin(c, x, y, r)
    gem(c, 214, 418, 52, RUBY)
    gem(c, 304, 424, 48, SAPPHIRE)
    c.outline(7, INK)
    for x, y, r in ((118, 100, 26), (398, 92, 28), (256, 196, 20), (462, 286, 20), (54, 288, 22)):
        sparkle(c, x, y, r)
    return c.done()


def placeholder() -> NDArray[np.uint8]:
    """What the template's smart object holds before a ticket: a card with a picture sign."""
    c = Canvas(SIDE, SIDE)
    card, inner = c.rounded(40, 40, 472, 472, 48), c.rounded(54, 54, 458, 458, 34)
    c.paint(card, (150, 162, 198))
    c.paint(inner, (222, 228, 244))
    c.paint(c.ellipse(178, 178, 44, 44), (255, 206, 92))
    far = c.polygon([(54, 420), (196, 246), (300, 372), (300, 460), (54, 460)])
    near = c.polygon([(200, 460), (344, 280), (462, 420), (462, 460)])
    c.paint(both(inner, far), (120, 178, 150))
    c.paint(both(inner, near), (86, 148, 128))
    return c.done()


ART: Final[dict[str, Callable[[], NDArray[np.uint8]]]] = {
    "starter_pack.png": starter_pack,
    "daily_deal.png": daily_deal,
    "mega_bundle.png": mega_bundle,
}


def write_art(folder: Path) -> dict[str, Path]:
    """Write every picture of ``ART`` into ``folder`` (made if missing); name → path."""
    from resources.photoshop.png import write_png

    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in ART.items():
        write_png(folder / name, draw())
    return {name: folder / name for name in ART}
