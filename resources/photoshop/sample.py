"""The sample templates, built from nothing: original, small, and real in every part a test touches.

``offer_icon.psd`` (512 x 512) and ``offer_icon_wide.psd`` (768 x 512): sRGB, 8 bits, groups, an embedded
smart object ``Art/Art`` on a turned or tilted quad, a frame above it, a real text layer ``Text/Label``,
guides around the safe area, unique layer ids, a merged image and a thumbnail. A hidden group holds a
visible layer, so that an export which forgets parents shows it. Equal versions make equal bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from resources.photoshop.colour import srgb
from resources.photoshop.compose import composite, refresh_previews, thumbnail
from resources.photoshop.png import encode_png, write_atomically
from resources.photoshop.psd.codec import encode
from resources.photoshop.psd.container import Container, Header, Resource
from resources.photoshop.psd.layers import Channel, LayerInfo, LayerRecord
from resources.photoshop.psd.tagged import Block
from resources.photoshop.raster import place, premultiplied, straightened, trimmed
from resources.photoshop.sample_art import ART, INK, SIDE, WHITE, placeholder, write_art
from resources.photoshop.sample_blocks import (
    guides,
    layer_blocks,
    linked_block,
    pascal_name,
    placement_blocks,
    resolution,
    tagged,
    text_block,
    version_info,
)
from resources.photoshop.sample_draw import Canvas, Colour, both, grow, without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from PIL import Image

    from resources.photoshop.raster import Points

__all__ = ["ART", "TEMPLATES", "build_template", "write_art", "write_templates"]

#: the merged image is RLE, as Photoshop writes it; layers are ZIP, which keeps the file small
RLE, ZIP = 1, 2
RGB_MODE, DEPTH, CHANNELS = 3, 8, 4
OPEN_GROUP, GROUP_END = 1, 3
BASE_FLAGS, HIDDEN, NO_PIXELS = 8, 2, 24
RANGES = b"\x00\x00\xff\xff" * 10
#: the face that Pillow carries, so that the letters drawn are those of the named font
FONT: Final = "Aileron-Regular"
PLACEHOLDER_UUID: Final = "6f1d3c5a-2b7e-4d0a-9c41-0ff3e1c0a511"
PLACED_UUID: Final = "0b8e5f64-93a1-4f0e-8d27-51a7c9e2b6d3"
#: pixels that the art must keep clear of the canvas' sides
SAFE_MARGIN: Final = 40


@dataclass(frozen=True, slots=True)
class Look:
    """What tells one template from another."""

    width: int
    height: int
    sky: tuple[Colour, Colour]
    beams: tuple[Colour, Colour]
    label: str
    #: the art's corners, clockwise from top left
    quad: tuple[float, ...]


def _turned(x: float, y: float, side: float, degrees: float) -> tuple[float, ...]:
    """Corners of a square around a centre, turned."""
    half, angle = side / 2, math.radians(degrees)
    corners = []
    for dx, dy in ((-half, -half), (half, -half), (half, half), (-half, half)):
        corners += [
            x + dx * math.cos(angle) - dy * math.sin(angle), y + dx * math.sin(angle) + dy * math.cos(angle)
        ]  # fmt: skip
    return tuple(round(value, 6) for value in corners)


TEMPLATES: Final[dict[str, Look]] = {
    "offer_icon.psd": Look(
        512, 512, ((124, 92, 246), (58, 26, 140)), ((164, 134, 255), (92, 52, 190)), "OFFER",
        _turned(256, 232, 356, -4),
    ),
    "offer_icon_wide.psd": Look(
        768, 512, ((34, 170, 214), (16, 62, 136)), ((96, 214, 240), (30, 104, 176)), "BUNDLE",
        (206.0, 44.0, 568.0, 62.0, 556.0, 404.0, 214.0, 418.0),
    ),
}  # fmt: skip


def write_templates(folder: Path) -> dict[str, Path]:
    """Write every template into ``folder`` (made if missing); name → path."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in TEMPLATES:
        write_atomically(folder / name, build_template(name))
    return {name: folder / name for name in TEMPLATES}


def build_template(name: str = "offer_icon.psd") -> bytes:
    """The bytes of one template."""
    return build_look(TEMPLATES[name])


def build_look(look: Look) -> bytes:
    """The bytes of a template that looks like ``look``."""
    art = placeholder()
    png = encode_png(art)
    ids = iter(range(1, 100))
    ribbon, letters = _ribbon(look), _letters(look)
    layers = [
        _layer("Background", next(ids), _background(look)),
        *_group("Art", ids, [
            _layer("Glow", next(ids), _glow(look), blend=b"scrn", opacity=150),
            _smart_object("Art", next(ids), art, look.quad),
        ]),
        *_group("Frame", ids, [
            _layer("Border", next(ids), _border(look)),
            _layer("Shine", next(ids), _shine(look), blend=b"scrn", opacity=48),
        ]),
        *_group("Text", ids, [
            _layer("Ribbon", next(ids), ribbon),
            _text("Label", next(ids), letters, look),
        ]),
        *_group("Notes", ids, [_layer("Safe area", next(ids), _safe_area(look))], hidden=True),
    ]  # fmt: skip
    header = Header(1, CHANNELS, look.height, look.width, DEPTH, RGB_MODE)
    container = Container(
        header=header,
        colour_data=b"",
        resources=[_resource(number, data) for number, data in _resources(look)],
        resources_tail=b"",
        plain_layers=LayerInfo(-len(layers), layers, touched=True),
        global_mask=b"",
        blocks=[linked_block(PLACEHOLDER_UUID, "placeholder.png", b"png ", png)],
        section_tail=b"",
        compression=RLE,
        image=_blank_rows(look),
    )
    picture = composite(container, container.dump()).pixels
    thumbnail(container, np.zeros((1, 1, 3), np.uint8), make=True)
    container.resources.sort(key=lambda resource: resource.id)
    refresh_previews(container, picture)
    return container.dump()


def _resources(look: Look) -> list[tuple[int, bytes]]:
    across = (SAFE_MARGIN, look.width / 2, look.width - SAFE_MARGIN)
    down = (SAFE_MARGIN, look.height / 2, look.height - SAFE_MARGIN)
    return [
        (1005, resolution(72)),
        (1032, guides(across, down)),
        (1039, srgb()),
        (1057, version_info()),
    ]


def _resource(identifier: int, data: bytes) -> Resource:
    made = Resource(b"8BIM", identifier, b"\0\0", b"")
    made.replace(data)
    return made


def _blank_rows(look: Look) -> bytes:
    from resources.photoshop.psd.codec import encode_rows

    return encode_rows(np.zeros((look.height * CHANNELS, look.width), np.uint8), RLE, 1)


# -- layer records


def _layer(
    name: str,
    identifier: int,
    pixels: NDArray[np.uint8],
    *,
    blend: bytes = b"norm",
    opacity: int = 255,
    at: tuple[int, int] = (0, 0),
) -> LayerRecord:
    """A pixel layer, cut to what is not transparent."""
    cut, left, top = trimmed((pixels / 255).astype(np.float32), *at, DEPTH)
    samples = np.round(cut * 255).astype(np.uint8)
    height, width = samples.shape[:2]
    order = (3, 0, 1, 2)
    channels = [Channel(c if c < 3 else -1, encode(samples[..., c], ZIP, 1)) for c in order]  # noqa: PLR2004
    return LayerRecord(
        top, left, top + height, left + width, channels, b"8BIM", blend, opacity, 0, BASE_FLAGS, 0, b"",
        RANGES, pascal_name(name), layer_blocks(name, identifier),
    )  # fmt: skip


def _empty(name: str, identifier: int, section: Block, *, blend: bytes, flags: int) -> LayerRecord:
    channels = [Channel(c, b"\0\0") for c in (-1, 0, 1, 2)]
    blocks = [*layer_blocks(name, identifier), section]
    return LayerRecord(
        0, 0, 0, 0, channels, b"8BIM", blend, 255, 0, flags, 0, b"", RANGES, pascal_name(name), blocks
    )


def _group(
    name: str, ids: Iterator[int], members: list[LayerRecord], *, hidden: bool = False
) -> list[LayerRecord]:
    """The records of a pass-through group, bottom to top."""
    end_id, own_id = next(ids), next(ids)
    end = tagged(b"lsct", GROUP_END.to_bytes(4, "big"))
    begin = tagged(b"lsct", OPEN_GROUP.to_bytes(4, "big") + b"8BIMpass")
    flags = NO_PIXELS | (HIDDEN if hidden else 0)
    return [
        _empty("</Layer group>", end_id, end, blend=b"norm", flags=NO_PIXELS),
        *members,
        _empty(name, own_id, begin, blend=b"pass", flags=flags),
    ]


def _smart_object(name: str, identifier: int, art: NDArray[np.uint8], quad: tuple[float, ...]) -> LayerRecord:
    corners: Points = np.asarray(quad, float).reshape(4, 2)
    contents = premultiplied((art / 255).astype(np.float32))
    raster, left, top = place(contents, corners)
    pixels = np.round(straightened(raster) * 255).astype(np.uint8)
    record = _layer(name, identifier, pixels, at=(left, top))
    record.blocks += placement_blocks(PLACEHOLDER_UUID, PLACED_UUID, (SIDE, SIDE), quad)
    return record


def _text(name: str, identifier: int, pixels: NDArray[np.uint8], look: Look) -> LayerRecord:
    record = _layer(name, identifier, pixels)
    x, y = look.width / 2, _label_line(look) + LABEL_SIZE * 0.36
    box = (record.left - x, record.top - y, record.right - x, record.bottom - y)
    record.blocks.insert(0, text_block(look.label, FONT, LABEL_SIZE, (x, y), box))
    return record


# -- pictures

LABEL_SIZE: Final = 46.0
RADIUS: Final = 84
EDGE: Final = 12


def _label_line(look: Look) -> float:
    return look.height - 82.0


def _card(c: Canvas, look: Look, inset: float = 0) -> Image.Image:
    """The icon's round rectangle, moved in by ``inset``."""
    edge = EDGE + inset
    return c.rounded(edge, edge, look.width - edge, look.height - edge, RADIUS - inset)


def _background(look: Look) -> NDArray[np.uint8]:
    c = Canvas(look.width, look.height)
    card = _card(c, look)
    c.paint(card, *look.sky)
    beams = c.rays(look.width / 2, look.height * 0.46, 14, look.width, 0.11)
    c.paint(both(card, beams), *look.beams)
    return c.done()


def _glow(look: Look) -> NDArray[np.uint8]:
    """Flat rings of light: bands compress, and suit the drawn style."""
    c = Canvas(look.width, look.height)
    for step, radius in enumerate((214, 178, 140)):
        tone = 60 + 46 * step
        c.paint(
            c.ellipse(look.width / 2, look.height * 0.46, radius, radius), (tone, tone, min(255, tone + 40))
        )
    return c.done()


def _border(look: Look) -> NDArray[np.uint8]:
    c = Canvas(look.width, look.height)
    c.paint(without(_card(c, look), _card(c, look, 26)), INK)
    c.paint(without(_card(c, look, 5), _card(c, look, 21)), (255, 232, 130), (222, 128, 22))
    c.paint(without(_card(c, look, 5), _card(c, look, 9)), (255, 250, 206), (246, 172, 60))
    c.paint(without(_card(c, look, 17), _card(c, look, 21)), (226, 148, 34), (150, 78, 12))
    for x, y in ((0.5, 0), (0, 0.5), (1, 0.5)):
        centre = (EDGE + 13 + x * (look.width - 2 * EDGE - 26), EDGE + 13 + y * (look.height - 2 * EDGE - 26))
        c.paint(c.ellipse(*centre, 17, 17), INK)
        c.paint(c.ellipse(*centre, 12.5, 12.5), (255, 246, 180), (236, 140, 28))
        c.paint(c.ellipse(centre[0] - 3, centre[1] - 4, 4, 3.4), WHITE)
    return c.done()


def _shine(look: Look) -> NDArray[np.uint8]:
    c = Canvas(look.width, look.height)
    arc = c.ellipse(look.width * 0.5, -look.height * 0.42, look.width * 0.95, look.height * 0.72)
    c.paint(both(_card(c, look, 28), arc), (235, 235, 255), (120, 120, 170))
    return c.done()


def _ribbon(look: Look) -> NDArray[np.uint8]:
    c = Canvas(look.width, look.height)
    middle, line = look.width / 2, _label_line(look)
    half, tall = min(168.0, look.width * 0.33), 33.0
    for side in (-1, 1):
        tip = middle + side * (half + 44)
        fold = middle + side * (half - 22)
        tail = c.polygon([
            (fold, line - tall + 18), (tip, line - tall + 18), (tip - side * 20, line + 18),
            (tip, line + tall + 18), (fold, line + tall + 18),
        ])  # fmt: skip
        c.paint(grow(tail, 5), INK)
        c.paint(tail, (196, 30, 62), (140, 12, 48))
        dark = c.polygon([(middle + side * half, line + tall), (fold, line + tall), (fold, line + tall + 18)])
        c.paint(grow(dark, 5), INK)
        c.paint(dark, (96, 6, 36))
    front = c.rounded(middle - half, line - tall, middle + half, line + tall, 8)
    c.paint(grow(front, 5), INK)
    c.paint(front, (255, 92, 104), (214, 28, 66))
    c.paint(c.rounded(middle - half, line - tall, middle + half, line - tall + 7, 4), (255, 168, 164))
    c.paint(c.rounded(middle - half, line + tall - 7, middle + half, line + tall, 4), (168, 14, 52))
    return c.done()


def _letters(look: Look) -> NDArray[np.uint8]:
    c = Canvas(look.width, look.height)
    letters = c.text(look.width / 2, _label_line(look), LABEL_SIZE, look.label, 3)
    c.paint(grow(letters, 1.2), WHITE)
    return c.done()


def _safe_area(look: Look) -> NDArray[np.uint8]:
    c = Canvas(look.width, look.height)
    sides = (SAFE_MARGIN, SAFE_MARGIN, look.width - SAFE_MARGIN, look.height - SAFE_MARGIN)
    inner = (sides[0] + 4, sides[1] + 4, sides[2] - 4, sides[3] - 4)
    c.paint(c.rounded(*sides, 0), (255, 0, 255), alpha=0.25)
    c.paint(without(c.rounded(*sides, 0), c.rounded(*inner, 0)), (0, 255, 255))
    return c.done()
