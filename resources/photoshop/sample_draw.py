"""A small drawing kit for the sample art: shapes as masks, painted at four times the size.

Everything is computed with Pillow, OpenCV and NumPy from numbers in the code: no fonts of the system, no
random choices, so the same versions draw the same bytes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFont

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SCALE = 4
OPAQUE = 255
Colour = tuple[int, int, int]
Point = tuple[float, float]


class Canvas:
    """A transparent picture; coordinates are in its own pixels, drawn at ``SCALE`` times the size."""

    def __init__(self, width: int, height: int) -> None:
        self.size = (width, height)
        self.large = (width * SCALE, height * SCALE)
        self.image = Image.new("RGBA", self.large, (0, 0, 0, 0))

    # -- masks

    def polygon(self, points: Sequence[Point]) -> Image.Image:
        """A filled polygon."""
        mask, draw = self._blank()
        draw.polygon([(x * SCALE, y * SCALE) for x, y in points], fill=OPAQUE)
        return mask

    def ellipse(self, x: float, y: float, rx: float, ry: float) -> Image.Image:
        """A filled ellipse around a centre."""
        mask, draw = self._blank()
        draw.ellipse([(x - rx) * SCALE, (y - ry) * SCALE, (x + rx) * SCALE, (y + ry) * SCALE], fill=OPAQUE)
        return mask

    def rounded(self, left: float, top: float, right: float, bottom: float, radius: float) -> Image.Image:
        """A rectangle with round corners."""
        mask, draw = self._blank()
        box = [left * SCALE, top * SCALE, right * SCALE - 1, bottom * SCALE - 1]
        draw.rounded_rectangle(box, radius * SCALE, fill=OPAQUE)
        return mask

    def star(self, x: float, y: float, outer: float, inner: float, points: int) -> Image.Image:
        """A star with its first point up."""
        corners = []
        for step in range(points * 2):
            radius, angle = (outer, inner)[step % 2], math.pi * step / points - math.pi / 2
            corners.append((x + radius * math.cos(angle), y + radius * math.sin(angle)))
        return self.polygon(corners)

    def rays(self, x: float, y: float, count: int, reach: float, turn: float = 0.0) -> Image.Image:
        """Sunbeams: every second of ``2 count`` equal wedges."""
        mask, draw = self._blank()
        for step in range(count):
            middle = 2 * math.pi * step / count + turn
            sides = [middle - math.pi / (2 * count), middle + math.pi / (2 * count)]
            far = [((x + reach * math.cos(a)) * SCALE, (y + reach * math.sin(a)) * SCALE) for a in sides]
            draw.polygon([(x * SCALE, y * SCALE), *far], fill=OPAQUE)
        return mask

    def text(self, x: float, y: float, size: float, text: str, tracking: float = 0.0) -> Image.Image:
        """Letters around a centre, in the font that Pillow carries."""
        mask, draw = self._blank()
        font = ImageFont.load_default(size * SCALE)
        widths = [draw.textlength(letter, font=font) + tracking * SCALE for letter in text]
        at = x * SCALE - (sum(widths) - tracking * SCALE) / 2
        for letter, width in zip(text, widths, strict=True):
            draw.text((at, y * SCALE), letter, fill=OPAQUE, font=font, anchor="lm")
            at += width
        return mask

    def _blank(self) -> tuple[Image.Image, ImageDraw.ImageDraw]:
        mask = Image.new("L", self.large, 0)
        return mask, ImageDraw.Draw(mask)

    # -- paint

    def paint(self, mask: Image.Image, top: Colour, bottom: Colour | None = None, alpha: float = 1.0) -> None:
        """Fill ``mask`` with a colour, or with a vertical gradient over the mask's own height."""
        box = mask.getbbox()
        if box is None:
            return
        # Only the mask's own box is touched: most shapes are small.
        width, height = box[2] - box[0], box[3] - box[1]
        rows = np.linspace(0, 1, height)[:, None]
        colours = np.round(np.asarray(top) * (1 - rows) + np.asarray(bottom or top) * rows).astype(np.uint8)
        layer = Image.fromarray(np.repeat(colours[:, None], width, axis=1), "RGB").convert("RGBA")
        part = mask.crop(box)
        layer.putalpha(part if alpha >= 1 else part.point([round(i * alpha) for i in range(256)]))
        under = self.image.crop(box)
        self.image.paste(Image.alpha_composite(under, layer), box[:2])

    def outline(self, width: float, colour: Colour) -> None:
        """Put a contour of ``width`` behind everything drawn so far."""
        alpha = self.image.getchannel("A")
        contour = grow(alpha, width)
        self.image = Image.alpha_composite(_flat(self.large, colour, contour), self.image)

    def done(self) -> NDArray[np.uint8]:
        """``(h, w, 4)`` straight RGBA at the real size."""
        large = np.asarray(self.image, np.float32)
        premultiplied = np.concatenate([large[..., :3] * (large[..., 3:] / 255), large[..., 3:]], axis=-1)
        small = cv2.resize(premultiplied, self.size, interpolation=cv2.INTER_AREA)
        alpha = small[..., 3:]
        colour = np.divide(small[..., :3] * 255, alpha, out=np.zeros_like(small[..., :3]), where=alpha > 0)
        straight = np.concatenate([colour, alpha], axis=-1)
        result: NDArray[np.uint8] = np.clip(np.round(straight), 0, 255).astype(np.uint8)
        return result


def grow(mask: Image.Image, width: float) -> Image.Image:
    """A mask made larger all round (smaller where negative), with round corners."""
    reach = round(abs(width) * SCALE)
    box = mask.getbbox()
    if box is None:
        return mask
    box = (
        max(0, box[0] - reach),
        max(0, box[1] - reach),
        min(mask.width, box[2] + reach),
        min(mask.height, box[3] + reach),
    )
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    work: Any = cv2.dilate if width > 0 else cv2.erode
    part = work(np.asarray(mask.crop(box)), kernel, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    grown = Image.new("L", mask.size, 0)
    grown.paste(Image.fromarray(part), box[:2])
    return grown


def both(first: Image.Image, second: Image.Image) -> Image.Image:
    """Where both masks are."""
    return ImageChops.multiply(first, second)


def without(first: Image.Image, second: Image.Image) -> Image.Image:
    """The first mask less the second."""
    return ImageChops.subtract(first, second)


def _flat(size: tuple[int, int], colour: Colour, mask: Image.Image) -> Image.Image:
    layer = Image.new("RGBA", size, (*colour, OPAQUE))
    layer.putalpha(mask)
    return layer
