"""The picture that a document shows, from its layers, and the previews written from it.

Rules kept here: the engine is chosen by colour mode as measured (psdparse for RGB and gray of 8 and 16
bits, psd-tools otherwise and where psdparse can't open a file); psdparse is never asked for Lab, CMYK or
32 bits, which it draws wrong without saying so.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fabric_dagster.errors import OperationFailed
from resources.photoshop import parsed
from resources.photoshop.colour import describe
from resources.photoshop.document import ADJUSTMENTS
from resources.photoshop.psd.codec import NATIVE, encode_rows
from resources.photoshop.psd.container import COLOUR_CHANNELS, MODES, RAW, RLE, Container
from resources.photoshop.psd.layers import HIDDEN_FLAG, LayerInfo

if TYPE_CHECKING:
    from numpy.typing import NDArray

THUMBNAILS = (1036, 1033)
ICC, VERSION_INFO = 1039, 1057
DISSOLVE = b"diss"
THUMBNAIL_SIDE = 160
JPEG_QUALITY = 85
FAST_MODES = {"rgb", "grayscale"}
FAST_DEPTHS = {8, 16}
#: the adjustments that psd-tools draws
DRAWN_SLOWLY = {b"levl", b"curv", b"brit", b"nvrt", b"hue2", b"expA", b"mixr", b"thrs", b"post"}
EIGHT = 8
#: rows that are blended at once
BAND = 256
#: how far two engines may differ and still have drawn the same: mean, and all but a thousandth, of 255
AGREED_MEAN, AGREED_SHARE, AGREED_MOST = 0.75, 0.999, 2.0


@dataclass(frozen=True, slots=True)
class Picture:
    """What a document shows: ``(h, w, 4)`` straight RGBA, its profile (``None``: sRGB), and what is missing.

    ``gaps`` counts what the engine could not draw, by name; empty where the picture is whole.
    """

    pixels: NDArray[np.uint8]
    profile: bytes | None
    gaps: dict[str, int]


def composite(container: Container, data: bytes) -> Picture:
    """Draw ``container`` (whose bytes are ``data``) from its visible layers.

    RGB and gray come in the document's own colour space; everything else converted to sRGB. A file without
    layers is its merged image.
    """
    header = container.header
    opened = parsed.load(data) if is_fast(container) else None
    if opened is None:
        return Picture(_slow(container, data), None, {})
    info = container.layer_info
    gaps: dict[str, int] = {}
    if info and info.layers:
        flat, stats = opened.composite()
        gaps = {name: int(count) for name, count in sorted(stats.items()) if count}
        dissolved = sum(layer.blend == DISSOLVE and not layer.flags & HIDDEN_FLAG for layer in info.layers)
        gaps |= {"dissolve": dissolved} if dissolved else {}
    else:
        flat = opened.merged_image()
    profile = container.resource(ICC)
    if info and _slow_is_better(container, info) and (drawn := _unconverted(data)) is not None:
        return Picture(drawn, profile.data if profile else None, {})
    return Picture(_rgba(flat, header.width, header.height), profile.data if profile else None, gaps)


def is_fast(container: Container) -> bool:
    """Whether psdparse draws this mode and depth right."""
    return MODES[container.header.mode] in FAST_MODES and container.header.depth in FAST_DEPTHS


def _slow_is_better(container: Container, info: LayerInfo) -> bool:
    """Whether psd-tools draws this document nearer to Photoshop, as measured, and can draw all of it.

    psdparse is off where levels adjust a grayscale document, and where an adjustment is clipped to a layer.
    """
    from resources.photoshop.effects import read_effects

    shown = [layer for layer in info.layers if not layer.flags & HIDDEN_FLAG]
    kinds = {block.key for layer in shown for block in layer.blocks} & ADJUSTMENTS.keys()
    gray_levels = MODES[container.header.mode] == "grayscale" and b"levl" in kinds
    clipped = any(layer.clipping and any(b.key in ADJUSTMENTS for b in layer.blocks) for layer in shown)
    if not (gray_levels or clipped) or kinds - DRAWN_SLOWLY:
        return False
    return not any(effect["enabled"] for layer in shown for effect in read_effects(layer))


def _unconverted(data: bytes) -> NDArray[np.uint8] | None:
    """What psd-tools draws in the document's own colours, or ``None`` where it cannot."""
    import warnings

    from psd_tools import PSDImage

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            drawn: Any = PSDImage.open(io.BytesIO(data)).composite(ignore_preview=True, apply_icc=False)
        except (ImportError, NotImplementedError, ValueError, OSError):
            return None
    return None if drawn is None else np.asarray(drawn.convert("RGBA"))


def _rgba(bgra: bytes, width: int, height: int) -> NDArray[np.uint8]:
    import cv2

    pixels = np.frombuffer(bgra, np.uint8).reshape(height, width, 4)
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGRA2RGBA), np.uint8)


def narrowed(container: Container, shown: set[int], *, unclip: int) -> Container:
    """The document with only the records in ``shown`` visible, and ``unclip`` freed of its base.

    Raises ``photoshop.unsupported_mode`` where single layers can't be drawn.
    """
    import copy

    info = container.layer_info
    if not is_fast(container) or info is None:
        raise _unsupported("single layers can be drawn only in RGB and gray of 8 or 16 bits")
    layers = [copy.copy(layer) for layer in info.layers]
    for index, layer in enumerate(layers):
        if index not in shown:
            layer.flags |= HIDDEN_FLAG
    layers[unclip].clipping = 0
    made = copy.copy(container)
    other = replace(info, layers=layers, touched=True)
    if container.deep_layers is not None:
        # The block that holds them is written anew by the copy, so it needs one of its own.
        made.deep_layers, made.deep_block = other, copy.copy(container.deep_block)
        made.blocks = [made.deep_block if b is container.deep_block else b for b in container.blocks]  # type: ignore[misc]
    else:
        made.plain_layers = other
    return made


def composite_deep(container: Container, data: bytes, flat: Picture) -> NDArray[np.uint16]:
    """The same picture as ``flat`` (what ``composite`` gave), drawn at 16 bits: ``(h, w, 4)`` straight.

    psdparse draws at 8 bits. psd-tools draws in floats and lacks several effects and adjustments: its
    picture is taken where there are none of those and it agrees with the other engine's to rounding;
    elsewhere 16 bits are refused, ``photoshop.depth_unsupported``. Documents of 8 bits are widened, exactly.
    """
    import warnings

    from psd_tools import PSDImage
    from psd_tools.composite import composite as draw

    from resources.photoshop.effects import SOFT, read_effects

    if container.header.depth == EIGHT:
        return flat.pixels.astype(np.uint16) * 257
    info = container.layer_info
    if info is None or not info.layers:
        return _stored_deep(container)
    if not is_fast(container):
        raise _shallow("no engine draws this mode at 16 bits")
    shown = [layer for layer in info.layers if not layer.flags & HIDDEN_FLAG]
    soft = {e["effect"] for layer in shown for e in read_effects(layer) if e["enabled"]} & SOFT
    if soft:
        raise _shallow(f"only the 8-bit engine draws {', '.join(sorted(soft)).replace('_', ' ')}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            drawn = draw(PSDImage.open(io.BytesIO(data)), force=False, color=0.0, alpha=0.0)
        except (ImportError, NotImplementedError, ValueError, OSError) as fault:
            raise _shallow("it has layers that only the 8-bit engine draws") from fault
    colours, alpha = drawn[0], drawn[2]
    if colours.shape[2] == 1:
        colours = np.repeat(colours, 3, axis=2)
    fine = np.concatenate([np.where(alpha > 0, colours, 0), alpha], axis=-1).astype(np.float32)
    coarse = (flat.pixels / 255).astype(np.float32)
    differing = np.abs(np.subtract(_over_white(fine), _over_white(coarse))) * 255
    if differing.mean() > AGREED_MEAN or np.quantile(differing, AGREED_SHARE) > AGREED_MOST:
        raise _shallow("the engine that draws 16 bits does not come to what the other one draws")
    return np.round(np.clip(fine, 0, 1) * 65535).astype(np.uint16)


def _over_white(straight: NDArray[np.float32]) -> NDArray[np.float32]:
    alpha = straight[..., 3:]
    return straight[..., :3] * alpha + 1 - alpha


def _stored_deep(container: Container) -> NDArray[np.uint16]:
    """The merged image of a document of 16 bits without layers."""
    header = container.header
    planes = merged_planes(container)
    if not is_fast(container) or header.depth != 16:  # noqa: PLR2004 - bits
        raise _shallow("its merged image is not RGB or gray of 16 bits")
    count = COLOUR_CHANNELS[header.mode]
    colours = [planes[number if count > 1 else 0] for number in range(3)]
    opaque = np.full_like(planes[0], 65535)
    return np.stack([*colours, opaque], axis=-1).astype(np.uint16)


def _shallow(why: str) -> OperationFailed:
    return OperationFailed(
        "photoshop.depth_unsupported",
        f"this document can't be drawn at 16 bits here: {why}",
        mend="export 8 bits",
    )


def _slow(container: Container, data: bytes) -> NDArray[np.uint8]:
    """The stored merged image in sRGB where it is real and can't be stale, else what psd-tools draws.

    No operation edits a document of other than the fast modes: there it is what Photoshop drew.
    """
    import warnings

    from psd_tools import PSDImage

    profile = container.resource(ICC)
    if profile is not None and describe(profile.data)[1]:
        raise OperationFailed(
            "photoshop.profile_broken",
            "the ICC profile can't be read, and this mode has no colours without it",
            mend="assign a valid profile in Photoshop and save again",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image = PSDImage.open(io.BytesIO(data))
            stored = has_preview(container) and not is_fast(container)
            drawn: Any = image.topil() if stored else image.composite(ignore_preview=True)
        except (ImportError, NotImplementedError, ValueError, OSError) as fault:
            raise _unsupported("no engine here can draw its layers") from fault
    if drawn is None:
        raise _unsupported("no engine can draw it")
    # From Lab, Pillow's own way to RGBA leaves alpha at nothing.
    return np.asarray((drawn.convert("RGB") if drawn.mode == "LAB" else drawn).convert("RGBA"))


def has_preview(container: Container) -> bool:
    """Whether the file keeps a real merged image (else it is blank and says so)."""
    info = container.resource(VERSION_INFO)
    return not (info and len(info.data) > 4 and info.data[4] == 0)  # noqa: PLR2004 - its flag


def refresh_previews(container: Container, picture: NDArray[np.uint8]) -> None:
    """Write ``picture`` (what ``composite`` gave) as merged image and thumbnail, where there are any.

    Only RGB and gray of 8 and 16 bits; other modes raise ``photoshop.unsupported_mode``. Extra alpha
    and spot channels of the merged image are kept. 16-bit previews hold the 8-bit picture, scaled.
    """
    header = container.header
    if not is_fast(container):
        raise _unsupported("its merged image can't be written in this mode and depth")
    colours = COLOUR_CHANNELS[header.mode]
    # Photoshop stores the merged colours blended over white, transparency beside them.
    shown = _blended(picture)
    info = container.layer_info
    new = [shown[..., plane] for plane in range(colours)]
    if info and info.transparency_first and header.channels > colours:
        new.append(picture[..., 3])
    shape = (header.channels, header.height, header.width)
    # Only what is kept need be decoded.
    planes = np.empty(shape, NATIVE[header.depth]) if len(new) == shape[0] else merged_planes(container)
    for number, plane in enumerate(new):
        planes[number] = plane.astype(np.uint16) * 257 if header.depth == 16 else plane  # noqa: PLR2004
    kind = container.compression if container.compression in {RAW, RLE} else RLE
    stacked = planes.reshape(-1, header.width)
    container.compression = kind
    container.image = encode_rows(stacked, kind, header.version)
    thumbnail(container, shown)


def _blended(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Straight colours over white, in bands of rows so that memory stays bounded."""
    shown = np.ascontiguousarray(picture[..., :3])
    for start in range(0, len(picture), BAND):
        alpha = picture[start : start + BAND, :, 3:]
        if alpha.min() < 255:  # noqa: PLR2004 - opaque
            share = alpha.astype(np.float32) / 255
            over = shown[start : start + BAND] * share + 255 * (1 - share)
            shown[start : start + BAND] = np.round(over)
    return shown


def merged_planes(container: Container) -> NDArray[Any]:
    """``(channels, h, w)`` samples of the stored merged image."""
    from psd_tools.compression import decompress
    from psd_tools.constants import Compression

    header = container.header
    raw = decompress(
        container.image, Compression(container.compression), header.width,
        header.height * header.channels, header.depth, header.version,
    )  # fmt: skip
    samples = np.frombuffer(raw, {8: ">u1", 16: ">u2", 32: ">f4"}[header.depth])
    return samples.reshape(header.channels, header.height, header.width).astype(NATIVE[header.depth])


def thumbnail(container: Container, over_white: NDArray[np.uint8], *, make: bool = False) -> None:
    """Refresh the JPEG thumbnail from ``(h, w, 3)`` pixels, if there is one (or ``make``)."""
    import struct

    from PIL import Image

    found = next((r for r in map(container.resource, THUMBNAILS) if r is not None), None)
    if found is None and not make:
        return
    height, width = over_white.shape[:2]
    scale = min(1.0, THUMBNAIL_SIDE / max(width, height))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = Image.fromarray(over_white).resize(size, Image.Resampling.BOX)
    if found is not None and found.id == THUMBNAILS[1]:
        small = Image.fromarray(np.asarray(small)[..., ::-1].copy())  # the old resource keeps BGR
    stream = io.BytesIO()
    small.save(stream, "JPEG", quality=JPEG_QUALITY, dpi=(72, 72))
    jpeg = stream.getvalue()
    row = (size[0] * 24 + 31) // 32 * 4
    head = struct.pack(">6I2H", 1, size[0], size[1], row, row * size[1], len(jpeg), 24, 1)
    if found is not None:
        found.replace(head + jpeg)
        return
    from resources.photoshop.psd.container import Resource

    made = Resource(b"8BIM", THUMBNAILS[0], b"\0\0", b"")
    made.replace(head + jpeg)
    container.resources.append(made)


def _unsupported(why: str) -> OperationFailed:
    return OperationFailed(
        "photoshop.unsupported_mode",
        f"this document can't be drawn here: {why}",
        mend="convert it to RGB of 8 or 16 bits in Photoshop",
    )
