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
from resources.photoshop.compose import Picture, composite, composite_only
from resources.photoshop.png import encode_png, verify_png
from resources.photoshop.raster import premultiplied, resample, straightened

if TYPE_CHECKING:
    from fabric_dagster.capabilities.photoshop_shared import ExportPreset
    from resources.photoshop.document import Document, Layer

    Bytes = np.ndarray[Any, np.dtype[np.uint8]]

#: colour of a pixel whose alpha is below this is too coarse to bleed from
SOLID = 32
MAX_PIXELS = 400_000_000


def export_png(
    document: Document, data: bytes, preset: ExportPreset, layer: Layer | None = None
) -> tuple[bytes, dict[str, Any]]:
    """The PNG of ``document`` (whose bytes are ``data``), or of one ``layer`` alone, and facts about it."""
    picture = composite(document.container, data) if layer is None else isolated(document, data, layer)
    pixels, profile = picture.pixels, picture.profile
    if not pixels[..., 3].any():
        raise OperationFailed(
            "photoshop.nothing_visible",
            "nothing that is visible is to be exported",
            where=path_of(layer) if layer else "",
            mend="show a layer, or export another one",
        )
    pixels, embedded, space = _coloured(pixels, profile, preset)
    origin = (0, 0)
    if preset.area == "content":
        left, top, right, bottom = alpha_bounds(pixels)
        pixels, origin = pixels[top:bottom, left:right], (left, top)
    pixels = _framed(_sized(pixels, preset), preset)
    pixels = bleed(pixels)
    png = encode_png(pixels, embedded)
    verify_png(png, pixels)
    height, width = pixels.shape[:2]
    return png, {
        "width": width,
        "height": height,
        "mode": "RGBA",
        "depth": 8,
        "colour_space": space,
        "alpha_bounds": dict(zip(("left", "top", "right", "bottom"), alpha_bounds(pixels), strict=True)),
        "canvas_origin": {"left": origin[0], "top": origin[1]},
        "not_drawn": picture.gaps,
        "digest": digest_bytes(png),
    }


def isolated(document: Document, data: bytes, layer: Layer) -> Picture:
    """One layer or group alone on the canvas, with its own effects, cut by its clip base if it has one."""
    if not layer.shown:
        raise OperationFailed(
            "photoshop.nothing_visible",
            "the layer is hidden, by itself or by a group around it",
            where=path_of(layer),
            mend="show it first",
        )
    pixels = composite_only(document.container, data, _lineage(layer), unclip=layer.index)
    if layer.clip_base is not None:
        base = layer.clip_base
        mask = composite_only(document.container, data, _lineage(base), unclip=base.index)
        share = pixels[..., 3].astype(np.uint16) * mask[..., 3]
        pixels[..., 3] = ((share + 127) // 255).astype(np.uint8)
    return Picture(pixels, document.icc, {})


def _lineage(layer: Layer) -> set[int]:
    """Record indices of a layer, everything in it and every group around it."""
    found = {each.index for each in layer.walk()}
    above = layer.parent
    while above is not None:
        found.add(above.index)
        above = above.parent
    return found


def _coloured(pixels: Bytes, profile: bytes | None, preset: ExportPreset) -> tuple[Bytes, bytes | None, str]:
    """Pixels in the space the preset asks for, the profile to embed, and the space's name."""
    if profile is not None and colour.describe(profile)[1] and preset.broken_profile == "srgb":
        return pixels, None, "sRGB"
    if preset.profile == "embed" and profile is not None:
        name, fault = colour.describe(profile)
        if not fault:
            return pixels, profile, name
    rgb = colour.convert(np.ascontiguousarray(pixels[..., :3]), profile, None, "the document")
    return np.concatenate([rgb, pixels[..., 3:]], axis=-1), None, "sRGB"


def alpha_bounds(pixels: Bytes) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of what is not transparent."""
    rows, columns = np.flatnonzero(pixels[..., 3].any(axis=1)), np.flatnonzero(pixels[..., 3].any(axis=0))
    if not len(rows):
        return 0, 0, 0, 0
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _sized(pixels: Bytes, preset: ExportPreset) -> Bytes:
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
    drawn = resample(premultiplied((pixels / 255).astype(np.float32)), *size)
    return np.round(straightened(drawn) * 255).astype(np.uint8)


def _framed(pixels: Bytes, preset: ExportPreset) -> Bytes:
    """Add padding, the exact frame, and what the multiple needs; the picture stays in the middle."""
    height, width = pixels.shape[:2]
    wide = preset.width or width + 2 * preset.padding
    high = preset.height or height + 2 * preset.padding
    wide += -wide % preset.multiple
    high += -high % preset.multiple
    if (wide, high) == (width, height):
        return pixels
    left, top = (wide - width) // 2, (high - height) // 2
    framed = np.zeros((high, wide, 4), np.uint8)
    framed[top : top + height, left : left + width] = pixels
    return framed


def bleed(pixels: Bytes) -> Bytes:
    """Give every fully transparent pixel the colour of its nearest visible one; alpha stays."""
    import cv2

    alpha = pixels[..., 3]
    if alpha.all() or not alpha.any():
        return pixels
    seeds = alpha >= min(SOLID, int(alpha.max()))
    # Each zero pixel of the map gets a label of its own; others get the label of their nearest zero.
    _, labels = cv2.distanceTransformWithLabels(
        (~seeds).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL
    )
    table = np.zeros((int(labels.max()) + 1, 3), np.uint8)
    table[labels[seeds]] = pixels[seeds][:, :3]
    filled = pixels.copy()
    empty = alpha == 0
    filled[empty, :3] = table[labels[empty]]
    return filled
