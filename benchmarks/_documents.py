"""Documents that benchmarks measure on: made here, the same at every run."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import cv2
import numpy as np

from resources.photoshop.png import encode_png
from resources.photoshop.psd.codec import encode, encode_rows
from resources.photoshop.psd.container import Container, Header
from resources.photoshop.psd.layers import Channel, LayerInfo, LayerRecord
from resources.photoshop.sample_blocks import layer_blocks, pascal_name

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SIDE, LAYERS = 4096, 12
RLE, RGB, EIGHT = 1, 3, 8
BLENDS = (b"norm", b"mul ", b"scrn", b"over", b"sLit", b"lite")


def large(path: Path) -> None:
    """4096 x 4096, 12 layers: a gradient, and soft or flat ellipses of half the side in several blend modes.

    Channels are RLE, as Photoshop writes them at 8 bits.
    """
    chance = np.random.default_rng(1)
    layers = [_layer(0, _gradient(), 0, 0)]
    for number in range(1, LAYERS):
        left, top = (int(value) for value in chance.integers(0, SIDE // 2, 2))
        layers.append(_layer(number, _ellipse(chance, soft=number % 2 == 0), left, top))
    blank = np.zeros((SIDE * 4, SIDE), np.uint8)
    made = Container(
        Header(1, 4, SIDE, SIDE, EIGHT, RGB), b"", [], b"", LayerInfo(-LAYERS, layers, touched=True), b"", [],
        b"", RLE, encode_rows(blank, RLE, 1),
    )  # fmt: skip
    path.write_bytes(made.dump())


def _gradient() -> NDArray[np.uint8]:
    ramp = np.linspace(0, 255, SIDE).astype(np.uint8)
    made = np.full((SIDE, SIDE, 4), 255, np.uint8)
    made[..., 0], made[..., 1], made[..., 2] = ramp[None, :], ramp[:, None], 120
    return made


def _ellipse(chance: np.random.Generator, *, soft: bool) -> NDArray[np.uint8]:
    side = SIDE // 2
    coarse = chance.integers(0, 256, (24, 24, 4), np.uint8)
    made = cv2.resize(coarse, (side, side), interpolation=cv2.INTER_CUBIC if soft else cv2.INTER_NEAREST)
    mask = np.zeros((side, side), np.uint8)
    cv2.ellipse(mask, (side // 2, side // 2), (side // 2 - 1, side * 2 // 5), 0, 0, 360, 255, -1, cv2.LINE_AA)
    made[..., 3] = np.minimum(made[..., 3] // 2 + 127, mask)
    made[made[..., 3] == 0] = 0
    return np.asarray(made, np.uint8)


def _layer(number: int, pixels: NDArray[np.uint8], left: int, top: int) -> LayerRecord:
    order = ((-1, 3), (0, 0), (1, 1), (2, 2))
    channels = [
        Channel(key, encode(np.ascontiguousarray(pixels[..., plane]), RLE, 1)) for key, plane in order
    ]
    name, ranges = f"Layer {number}", b"\0\0\xff\xff" * 10
    return LayerRecord(
        top, left, top + len(pixels), left + len(pixels), channels, b"8BIM", BLENDS[number % len(BLENDS)],
        255 - 8 * number, 0, 8, 0, b"", ranges, pascal_name(name), layer_blocks(name, number + 1),
    )  # fmt: skip


def arts(base: NDArray[np.uint8], folder: Path, count: int) -> list[str]:
    """``count`` pictures like ``base`` (RGBA), each with colours of its own; their paths."""
    chance = random.Random(1)  # noqa: S311 - the same pictures in every run
    made = []
    for number in range(count):
        other = base.copy()
        for plane in range(3):
            factor = chance.uniform(0.4, 1)
            other[..., plane] = np.round(base[..., plane] * factor)
        path = folder / f"art_{number}.png"
        path.write_bytes(encode_png(other))
        made.append(str(path))
    return made
