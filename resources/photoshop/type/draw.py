"""Glyphs to pixels: outlines from the font itself, filled by Skia, the same on every system.

Pictures are premultiplied float32 ``(h, w, 4)``, as everywhere in this room. Outlines are unhinted, edges
are antialiased by coverage; the system's own text rendering takes no part.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fabric_dagster.errors import OperationFailed
from resources.photoshop.raster import MAX_SIDE, Picture

if TYPE_CHECKING:
    from resources.photoshop.type.fonts import Font
    from resources.photoshop.type.layout import Laid
    from resources.photoshop.type.style import Affine

#: faux bold thickens by this part of the size, faux italic leans by this tangent
BOLDER: Final = 1 / 30
LEANING: Final = math.tan(math.radians(12))


def draw(laid: Laid, transform: Affine, *, smooth: bool, pixels: int) -> tuple[Picture, int, int]:
    """The picture of ``laid`` through the layer's transform: (premultiplied, left, top).

    ``pixels`` bounds its area; raises ``psd.too_many_pixels`` beyond.
    """
    import skia  # type: ignore[import-not-found]

    matrix = skia.Matrix.MakeAll(
        transform[0], transform[2], transform[4], transform[1], transform[3], transform[5], 0, 0, 1
    )
    outlines = _Outlines()
    shapes: dict[tuple[float, ...], list[Any]] = {}
    for glyph in laid.glyphs:
        path = outlines.placed(glyph)
        path.transform(matrix)
        if not path.isEmpty():
            shapes.setdefault(glyph.style.colour, []).append(path)
    for rule in laid.rules:
        path = skia.Path().addRect(skia.Rect(rule.left, rule.top, rule.right, rule.bottom))
        path.transform(matrix)
        shapes.setdefault(rule.style.colour, []).append(path)
    boxes = [path.computeTightBounds() for paths in shapes.values() for path in paths]
    if not boxes:
        return np.zeros((0, 0, 4), np.float32), 0, 0
    left = math.floor(min(box.left() for box in boxes))
    top = math.floor(min(box.top() for box in boxes))
    right = math.ceil(max(box.right() for box in boxes))
    bottom = math.ceil(max(box.bottom() for box in boxes))
    width, height = max(1, right - left), max(1, bottom - top)
    if width * height > pixels or max(width, height) > MAX_SIDE:
        raise OperationFailed(
            "psd.too_many_pixels", f"the text would cover {width} x {height} pixels", mend="shorten the text"
        )
    picture = np.zeros((height, width, 4), np.float32)
    for colour, paths in shapes.items():
        share = _coverage(paths, left, top, width, height, smooth=smooth)[..., None] * np.float32(colour[3])
        tone = np.array([*colour[:3], 1.0], np.float32)
        picture = tone * share + picture * (1 - share)
    return picture.astype(np.float32), left, top


def _coverage(paths: list[Any], left: int, top: int, width: int, height: int, *, smooth: bool) -> Picture:
    import skia

    samples = np.zeros((height, width, 4), np.uint8)
    canvas = skia.Surface(samples).getCanvas()
    canvas.translate(-left, -top)
    paint = skia.Paint(Color=skia.ColorWHITE, AntiAlias=smooth)
    for path in paths:
        canvas.drawPath(path, paint)
    canvas.getSurface().flushAndSubmit()
    return np.asarray(samples[..., 3] / 255, np.float32)


class _Outlines:
    """Glyph outlines in font units, read once each."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Any] = {}

    def placed(self, glyph: Any) -> Any:  # noqa: ANN401 - a Skia path
        """The outline in the layer's own pixels."""
        import skia

        scale, style = glyph.size / glyph.font.units, glyph.style
        key = (id(glyph.font), glyph.number)
        if key not in self._known:
            self._known[key] = _outline(glyph.font, glyph.number)
        lean = LEANING if style.italic else 0.0
        path = skia.Path(self._known[key])
        path.transform(
            skia.Matrix.MakeAll(
                scale * style.across, lean * scale * style.across, glyph.x, 0, -scale * style.down, glyph.y,
                0, 0, 1,
            )
        )  # fmt: skip
        if style.bold:
            paint = skia.Paint(
                Style=skia.Paint.kStrokeAndFill_Style, StrokeWidth=glyph.size * BOLDER,
                StrokeJoin=skia.Paint.kMiter_Join,
            )  # fmt: skip
            thick = skia.Path()
            paint.getFillPath(path, thick)
            return thick
        return path


def _outline(font: Font, number: int) -> Any:  # noqa: ANN401 - a Skia path
    import skia

    path = skia.Path()
    path.setFillType(skia.PathFillType.kWinding)
    font.shaped.draw_glyph_with_pen(number, _Pen(path))
    return path


class _Pen:
    """What HarfBuzz draws with: fontTools' names for Skia's verbs."""

    def __init__(self, path: Any) -> None:  # noqa: ANN401 - a Skia path
        self.path = path

    def moveTo(self, at: tuple[float, float]) -> None:  # noqa: N802 - the protocol's name
        self.path.moveTo(*at)

    def lineTo(self, at: tuple[float, float]) -> None:  # noqa: N802
        self.path.lineTo(*at)

    def curveTo(self, *points: tuple[float, float]) -> None:  # noqa: N802
        self.path.cubicTo(*[value for point in points for value in point])

    def qCurveTo(self, *points: tuple[float, float]) -> None:  # noqa: N802
        self.path.quadTo(*[value for point in points for value in point])

    def closePath(self) -> None:  # noqa: N802
        self.path.close()

    def endPath(self) -> None:  # noqa: N802
        """An open contour is filled all the same."""
