"""Pictures that Photoshop saved, as the export capability promises them.

Rules kept here: a picture is decoded within limits and written anew (RGBA, 8 bits, colour bled under
transparent pixels, deterministic bytes), so that what is delivered depends on the pixels alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import OperationFailed
from resources.photoshop.export import alpha_bounds, bleed
from resources.photoshop.png import encode_png, verify_png, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    Pixels = np.ndarray[Any, np.dtype[np.uint8]]

MOST_BYTES: Final = 1 << 30
MOST_PIXELS: Final = 30_000 * 30_000
PNG: Final = b"\x89PNG\r\n\x1a\n"


def pixels_of(path: Path) -> Pixels:
    """Height x width x 4 bytes of a PNG file; ``photoshop.result_differs`` for what is none."""
    from PIL import Image

    try:
        with path.open("rb") as reader:
            is_png = reader.read(len(PNG)) == PNG
        if not is_png or path.stat().st_size > MOST_BYTES:
            raise _no_picture(path, "it is no PNG")
        with Image.open(path, formats=["PNG"]) as image:
            if image.width * image.height > MOST_PIXELS:
                raise _no_picture(path, "it is too large")
            return np.array(image.convert("RGBA"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as fault:
        raise _no_picture(path, type(fault).__name__) from fault


def normalise(path: Path, told: dict[str, Any]) -> dict[str, Any]:
    """Write the picture at ``path`` anew; its facts, from its pixels and not from what was ``told`` of it."""
    pixels = pixels_of(path)
    if not pixels[..., 3].any():
        raise OperationFailed(
            "photoshop.nothing_visible", "nothing that is visible was exported", where=path.name,
            mend="show a layer, or export another one",
        )  # fmt: skip
    bled = bleed(pixels)
    data = encode_png(bled, None)
    verify_png(data, bled)
    write_atomically(path, data)
    height, width = bled.shape[:2]
    return {
        "width": width,
        "height": height,
        "mode": "RGBA",
        "depth": 8,
        "colour_space": "sRGB",
        "alpha_bounds": dict(zip(("left", "top", "right", "bottom"), alpha_bounds(pixels), strict=True)),
        "canvas_origin": {"left": told["left"], "top": told["top"]},
        "not_drawn": {},
        "digest": digest_bytes(data),
    }


def _no_picture(path: Path, why: str) -> OperationFailed:
    return OperationFailed(
        "photoshop.result_differs", "what Photoshop saved is no picture", where=path.name, value=why,
        mend="nothing was delivered; look at Photoshop",
    )  # fmt: skip
