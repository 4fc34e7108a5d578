"""From a document to a PNG by a preset: what is visible, in sRGB, straight alpha, the same bytes each time.

Rules kept here: resampling works on premultiplied colour; colour is bled under transparent pixels from
their nearest visible neighbour, so that filtering in an engine shows no fringe; ``facts`` are integers and
text, fit for a digest; ``not_drawn`` counts what the engine left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import OperationFailed
from resources.photoshop import colour
from resources.photoshop.address import path_of
from resources.photoshop.artboards import artboard_for
from resources.photoshop.compose import composite, composite_deep, narrowed
from resources.photoshop.png import encode_png, verify_png
from resources.photoshop.raster import premultiplied, resample, straightened

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.capabilities.photoshop_shared import ExportPreset
    from resources.photoshop.compose import Picture
    from resources.photoshop.document import Document, Layer

    Samples = np.ndarray[Any, np.dtype[np.uint8 | np.uint16]]

#: colour of a pixel whose alpha is below an eighth is too coarse to bleed from
SOLID = 8
SIXTEEN = 16
MAX_PIXELS = 400_000_000


def export_png(
    document: Document,
    data: bytes,
    preset: ExportPreset,
    layer: Layer | None = None,
    shown: Callable[[], Picture] | None = None,
) -> tuple[bytes, dict[str, Any]]:
    """The PNG of ``document`` (whose bytes are ``data``), or of one ``layer`` alone, and facts about it.

    ``shown`` gives what the document shows where it has been drawn already.
    """
    area = None
    if preset.area == "artboard":
        layer, area = artboard_for(document, layer)
    pixels, profile, gaps = _drawn(document, data, preset, layer, shown)
    if area is not None:
        pixels = area.cut(pixels)
    if not pixels[..., 3].any():
        raise OperationFailed(
            "photoshop.nothing_visible",
            "nothing that is visible is to be exported",
            where=path_of(layer) if layer else "",
            mend="show a layer, or export another one",
        )
    pixels, embedded, space = _coloured(pixels, profile, preset)
    middle = pixels.shape[1] / 2, pixels.shape[0] / 2
    origin = (area.left, area.top) if area is not None else (0, 0)
    if preset.area == "content":
        left, top, right, bottom = alpha_bounds(pixels)
        pixels, origin = pixels[top:bottom, left:right], (left, top)
        middle = middle[0] - left, middle[1] - top
    before = pixels.shape
    pixels = _sized(pixels, preset)
    scale = pixels.shape[1] / before[1], pixels.shape[0] / before[0]
    pixels, inset = _framed(pixels, preset)
    pixels = bleed(pixels)
    png = encode_png(pixels, embedded)
    verify_png(png, pixels)
    height, width = pixels.shape[:2]
    return png, {
        "width": width,
        "height": height,
        "mode": "RGBA",
        "depth": pixels.dtype.itemsize * 8,
        "colour_space": space,
        "alpha_bounds": dict(zip(("left", "top", "right", "bottom"), alpha_bounds(pixels), strict=True)),
        "canvas_origin": {"left": origin[0], "top": origin[1]},
        # Where the middle of the canvas (or artboard) lies: a sprite's pivot, from the bottom left.
        "pivot": {
            "x": f"{(middle[0] * scale[0] + inset[0]) / width:.6f}",
            "y": f"{1 - (middle[1] * scale[1] + inset[1]) / height:.6f}",
        },
        "scale": f"{scale[0]:.6f}",
        "not_drawn": gaps,
        "digest": digest_bytes(png),
    }


def _drawn(
    document: Document,
    data: bytes,
    preset: ExportPreset,
    layer: Layer | None,
    shown: Callable[[], Picture] | None,
) -> tuple[Samples, bytes | None, dict[str, int]]:
    """Straight samples at the depth that the preset asks for, their profile, and what is missing."""
    container = document.container
    header = container.header
    depth = preset.depth if preset.depth != "document" else (16 if header.depth == SIXTEEN else 8)
    if layer is None:
        picture = shown() if shown else composite(container, data)
        pixels: Samples = picture.pixels if depth != SIXTEEN else composite_deep(container, data, picture)
        return pixels, picture.profile, picture.gaps
    pixels, gaps = isolated(document, layer, deep=depth == SIXTEEN)
    return pixels, document.icc, gaps


def isolated(document: Document, layer: Layer, *, deep: bool = False) -> tuple[Samples, dict[str, int]]:
    """One layer or group alone on the canvas, with its own effects, cut by its clip base if it has one."""
    if not layer.shown:
        raise OperationFailed(
            "photoshop.nothing_visible",
            "the layer is hidden, by itself or by a group around it",
            where=path_of(layer),
            mend="show it first",
        )
    pixels, gaps = _alone(document, layer, deep=deep)
    if layer.clip_base is not None:
        mask, _ = _alone(document, layer.clip_base, deep=deep)
        full = int(np.iinfo(pixels.dtype).max)
        share = pixels[..., 3].astype(np.uint32) * mask[..., 3]
        pixels = pixels.copy()
        pixels[..., 3] = ((share + full // 2) // full).astype(pixels.dtype)
    return pixels, gaps


def _alone(document: Document, layer: Layer, *, deep: bool) -> tuple[Samples, dict[str, int]]:
    narrow = narrowed(document.container, _lineage(layer), unclip=layer.index)
    data = narrow.dump()
    picture = composite(narrow, data)
    return (composite_deep(narrow, data, picture) if deep else picture.pixels), picture.gaps


def _lineage(layer: Layer) -> set[int]:
    """Record indices of a layer, everything in it and every group around it."""
    found = {each.index for each in layer.walk()}
    above = layer.parent
    while above is not None:
        found.add(above.index)
        above = above.parent
    return found


def _coloured(
    pixels: Samples, profile: bytes | None, preset: ExportPreset
) -> tuple[Samples, bytes | None, str]:
    """Pixels in the space the preset asks for, the profile to embed, and the space's name."""
    if profile is not None and colour.describe(profile)[1] and preset.broken_profile == "srgb":
        return pixels, None, "sRGB"
    if preset.profile == "embed" and profile is not None:
        name, fault = colour.describe(profile)
        if not fault:
            return pixels, profile, name
    if colour.same_space(profile, None):
        return pixels, None, "sRGB"
    rgb: Any = np.ascontiguousarray(pixels[..., :3])
    if rgb.dtype == np.uint16:
        fine = colour.convert((rgb / np.float32(65535)).astype(np.float32), profile, None, "the document")
        rgb = np.round(np.clip(fine, 0, 1) * 65535).astype(np.uint16)
    else:
        rgb = colour.convert(rgb, profile, None, "the document")
    return np.concatenate([rgb, pixels[..., 3:]], axis=-1), None, "sRGB"


def alpha_bounds(pixels: Samples) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of what is not transparent."""
    rows, columns = np.flatnonzero(pixels[..., 3].any(axis=1)), np.flatnonzero(pixels[..., 3].any(axis=0))
    if not len(rows):
        return 0, 0, 0, 0
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _sized(pixels: Samples, preset: ExportPreset) -> Samples:
    height, width = pixels.shape[:2]
    scale = 1.0
    if preset.percent:
        scale = preset.percent / 100
    elif preset.longest:
        scale = (preset.longest - 2 * preset.padding) / max(width, height)
    elif preset.width and preset.height:
        room = preset.width - 2 * preset.padding, preset.height - 2 * preset.padding
        scale = min(room[0] / width, room[1] / height)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    if size == (width, height):
        return pixels
    if size[0] * size[1] > MAX_PIXELS:
        raise OperationFailed(
            "psd.too_many_pixels",
            f"an export of {size[0]} x {size[1]} is too large",
            mend="use a smaller preset",
        )
    full = int(np.iinfo(pixels.dtype).max)
    drawn = resample(premultiplied((pixels / full).astype(np.float32)), *size)
    return np.round(straightened(drawn) * full).astype(pixels.dtype)


def _framed(pixels: Samples, preset: ExportPreset) -> tuple[Samples, tuple[int, int]]:
    """Add padding, the exact frame, and what multiple and power of two need; the picture stays in the middle.

    Also where its top left pixel is now.
    """
    height, width = pixels.shape[:2]
    sides = [preset.width or width + 2 * preset.padding, preset.height or height + 2 * preset.padding]
    wide, high = (_rounded_up(side, preset) for side in sides)
    if (wide, high) == (width, height):
        return pixels, (0, 0)
    if wide * high > MAX_PIXELS:
        raise OperationFailed(
            "psd.too_many_pixels", f"an export of {wide} x {high} is too large", mend="use a smaller preset"
        )
    left, top = (wide - width) // 2, (high - height) // 2
    framed = np.zeros((high, wide, 4), pixels.dtype)
    framed[top : top + height, left : left + width] = pixels
    return framed, (left, top)


def _rounded_up(side: int, preset: ExportPreset) -> int:
    if preset.power_of_two:
        side = 1 << (side - 1).bit_length()
    return side + -side % preset.multiple


def bleed(pixels: Samples) -> Samples:
    """Give every fully transparent pixel the colour of its nearest visible one; alpha stays."""
    import cv2

    alpha = pixels[..., 3]
    if alpha.all() or not alpha.any():
        return pixels
    seeds = alpha >= min(int(np.iinfo(alpha.dtype).max) // SOLID + 1, int(alpha.max()))
    # Each zero pixel of the map gets a label of its own; others get the label of their nearest zero.
    _, labels = cv2.distanceTransformWithLabels(
        (~seeds).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL
    )
    # A pixel is one number: several times as quick as four samples.
    whole = np.uint32 if pixels.dtype == np.uint8 else np.uint64
    filled = np.ascontiguousarray(pixels).copy()
    flat, nearest = filled.view(whole).reshape(-1), labels.reshape(-1)
    table = np.zeros(int(labels.max()) + 1, whole)
    sown = np.flatnonzero(seeds)
    table[nearest[sown]] = flat[sown]
    empty = np.flatnonzero(alpha == 0)
    flat[empty] = table[nearest[empty]]
    filled.reshape(-1, 4)[empty, 3] = 0
    return filled
