"""Pixels of a smart object: contents through its quad, resampled as near to Photoshop as measured.

Pictures are ``(h, w, 4)`` float32, *premultiplied*, 0…1. A pixel's centre is at +0.5; a raster is
returned with the document position of its top left pixel.

Upright quads: separable cubic, sharper where it makes smaller ("bicubic automatic"), transparent outside the
contents, so that Photoshop's soft borders come out. Colour is filtered premultiplied: Photoshop itself lets
the colour hidden under transparent pixels into soft edges, which shows as a fringe, and is not copied here.
Other quads: bicubic at twice the size from contents reduced by area, edges by exact coverage, then
averaged down. Re-rendering the original contents of the corpus decides between such choices.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fabric_dagster.errors import OperationFailed

Picture = NDArray[np.float32]
Points = NDArray[np.float64]
SUPERSAMPLES = 2
#: samples of a band that is drawn at once
BAND_SAMPLES = 1 << 22
CENTRE = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
#: parameters of the cubic kernel: as measured where contents get smaller; the usual one where larger
SHARPER, SMOOTH = -1.5, -0.5
SNAP = 1e-6
FLAT = 1e-9
MAX_SIDE = 32_000


def homography(corners: Points, onto: Points) -> Points:
    """The 3 x 3 projective map of four points onto four points.

    Raises ``photoshop.quad_unsupported`` where there is none (three on a line).
    """
    rows, values = [], []
    for (x, y), (u, v) in zip(corners, onto, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    try:
        solved = np.linalg.solve(np.asarray(rows, float), np.asarray(values, float))
    except np.linalg.LinAlgError:
        raise bad_quad("it is degenerate") from None
    return np.append(solved, 1).reshape(3, 3)


def project(matrix: Points, points: Points) -> Points:
    """Map ``(n, 2)`` points."""
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T
    mapped: Points = homogeneous[:, :2] / homogeneous[:, 2:]
    return mapped


def rectangle(left: float, top: float, right: float, bottom: float) -> Points:
    """Corners in the order of a quad: top left, top right, bottom right, bottom left."""
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], float)


def check_quad(quad: Points) -> None:
    """Refuse quads that no rectangle is seen as: degenerate, crossed, not convex, out of bounds."""
    if quad.shape != (4, 2) or not np.isfinite(quad).all():
        raise bad_quad("it has not four corners")
    if np.ptp(quad, axis=0).max() > MAX_SIDE or np.abs(quad).max() > 8 * MAX_SIDE:
        raise bad_quad("it is too large")
    edges = np.roll(quad, -1, axis=0) - quad
    after = np.roll(edges, -1, axis=0)
    turns = edges[:, 0] * after[:, 1] - edges[:, 1] * after[:, 0]
    if not (np.all(turns > FLAT) or np.all(turns < -FLAT)):
        raise bad_quad("it is crossed, degenerate or not convex")


def bad_quad(why: str) -> OperationFailed:
    """The refusal of a placement that can't be drawn."""
    return OperationFailed(
        "photoshop.quad_unsupported",
        f"the smart object's quad can't be drawn: {why}",
        mend="place the smart object again in Photoshop",
    )


def is_upright(quad: Points) -> bool:
    """Whether its sides run along the axes (mirrored ones too, quarter turns not)."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = quad
    return bool(max(abs(y0 - y1), abs(y2 - y3), abs(x1 - x2), abs(x3 - x0)) < SNAP)


def place(contents: Picture, quad: Points) -> tuple[Picture, int, int]:
    """Draw ``contents`` through ``quad``: (raster, left, top)."""
    check_quad(quad)
    return _upright(contents, quad) if is_upright(quad) else _projected(contents, quad)


def _box(quad: Points) -> tuple[int, int, int, int]:
    left, top = np.floor(quad.min(axis=0) + SNAP).astype(int)
    right, bottom = np.ceil(quad.max(axis=0) - SNAP).astype(int)
    return int(left), int(top), max(int(right), int(left) + 1), max(int(bottom), int(top) + 1)


def _upright(contents: Picture, quad: Points) -> tuple[Picture, int, int]:
    if quad[1, 0] < quad[0, 0]:
        contents = contents[:, ::-1]
    if quad[3, 1] < quad[0, 1]:
        contents = contents[::-1]
    (x0, y0), (x1, y1) = quad.min(axis=0), quad.max(axis=0)
    left, top, right, bottom = _box(quad)
    rows = _cubic_rows(contents, y0, y1, top, bottom)
    drawn = _cubic_rows(rows.transpose(1, 0, 2), x0, x1, left, right).transpose(1, 0, 2)
    return valid(drawn), left, top


def _cubic_rows(picture: Picture, start: float, stop: float, first: int, last: int) -> Picture:
    """Rows ``first`` to ``last`` of a picture whose rows span ``start`` to ``stop``, by a cubic kernel."""
    count = picture.shape[0]
    step = count / (stop - start)
    reach = max(1.0, step)
    sharpness = SHARPER if step > 1 + SNAP else SMOOTH
    out = np.zeros((last - first, *picture.shape[1:]), np.float32)
    for row in range(first, last):
        centre = (row + 0.5 - start) * step
        low, high = int(np.floor(centre - 2 * reach)), int(np.ceil(centre + 2 * reach)) + 1
        taps = np.arange(low, high)
        weights = _cubic((taps + 0.5 - centre) / reach, sharpness)
        weights /= weights.sum()
        # Taps outside the contents meet transparency: they weigh, and add nothing.
        inside = (taps >= 0) & (taps < count)
        used = taps[inside]
        if len(used):
            share = weights[inside].astype(np.float32)
            out[row - first] = np.tensordot(share, picture[used[0] : used[-1] + 1], axes=1)
    return out


def _cubic(x: Points, a: float) -> Points:
    """Keys' cubic convolution kernel with parameter ``a``."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))  # noqa: PLR2004 - the kernel's reach


def resample(
    picture: Picture, width: int, height: int, box: tuple[float, float, float, float] | None = None
) -> Picture:
    """Separable Lanczos of each plane, clipped to what a premultiplied picture may hold."""
    planes = [
        np.asarray(
            Image.fromarray(np.ascontiguousarray(picture[..., plane])).resize(
                (width, height), Image.Resampling.LANCZOS, box=box
            )
        )
        for plane in range(picture.shape[2])
    ]
    return valid(np.stack(planes, axis=-1))


def valid(picture: Picture) -> Picture:
    """Clip the overshoots of a filter: alpha to 0…1, colour to 0…alpha."""
    made = np.empty(picture.shape, np.float32)
    np.clip(picture[..., 3], 0, 1, out=made[..., 3])
    for plane in range(3):
        np.clip(picture[..., plane], 0, made[..., 3], out=made[..., plane])
    return made


def reduced(contents: Picture, width: float, height: float) -> Picture:
    """Contents averaged down to about ``width`` x ``height`` where they are larger."""
    high, wide = contents.shape[:2]
    size = (max(1, round(min(wide, width))), max(1, round(min(high, height))))
    if size == (wide, high):
        return contents
    return np.asarray(cv2.resize(contents, size, interpolation=cv2.INTER_AREA), np.float32)


def _projected(contents: Picture, quad: Points) -> tuple[Picture, int, int]:
    left, top, right, bottom = _box(quad)
    inner = (quad - [left, top]) * SUPERSAMPLES
    sides = np.linalg.norm(np.roll(inner, -1, axis=0) - inner, axis=1)
    source = reduced(contents, max(sides[0], sides[2]), max(sides[1], sides[3]))
    high, wide = source.shape[:2]
    border = 4
    bordered = cv2.copyMakeBorder(source, border, border, border, border, cv2.BORDER_REPLICATE)
    corners = rectangle(border, border, border + wide, border + high)

    def draw(first: int, rows: int, columns: int) -> Picture:
        shifted = inner - [0, first]
        matrix = np.linalg.inv(CENTRE) @ homography(corners, shifted) @ CENTRE
        drawn = cv2.warpPerspective(
            bordered, matrix, (columns, rows), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_CONSTANT
        )
        return np.asarray(drawn * coverage(shifted, columns, rows)[..., None], np.float32)

    return in_bands(right - left, bottom - top, SUPERSAMPLES, draw), left, top


def in_bands(width: int, height: int, samples: int, draw: Callable[[int, int, int], Picture]) -> Picture:
    """Draw ``samples`` times as large in bands of rows, average each down: memory stays bounded.

    ``draw`` takes the first row, the rows and the columns of a band, all in samples.
    """
    step = max(1, BAND_SAMPLES // (width * samples * samples))
    bands = []
    for first in range(0, height, step):
        rows = min(step, height - first)
        large = draw(first * samples, rows * samples, width * samples)
        bands.append(
            valid(np.asarray(cv2.resize(large, (width, rows), interpolation=cv2.INTER_AREA), np.float32))
        )
    return np.concatenate(bands)


def coverage(quad: Points, width: int, height: int) -> Picture:
    """``(height, width)`` share of each pixel that a convex quad covers, by distance to its sides."""
    x = (np.arange(width) + 0.5)[None, :]
    y = (np.arange(height) + 0.5)[:, None]
    following = np.roll(quad, -1, axis=0)
    area = np.sum(quad[:, 0] * following[:, 1] - following[:, 0] * quad[:, 1])
    share = np.ones((height, width), np.float32)
    for (x0, y0), (x1, y1) in zip(quad, following, strict=True):
        slope = np.sign(area) / np.hypot(x1 - x0, y1 - y0)
        down = ((x1 - x0) * slope * (y - y0)).astype(np.float32)
        across = ((y1 - y0) * slope * (x - x0)).astype(np.float32)
        np.minimum(share, np.clip(down - across + np.float32(0.5), 0, 1), out=share)
    return share


def premultiplied(straight: Picture) -> Picture:
    """Straight to premultiplied."""
    made = straight.copy()
    for plane in range(3):  # plane by plane is several times as quick as all three at once
        made[..., plane] *= straight[..., 3]
    return made


def straightened(picture: Picture) -> Picture:
    """Premultiplied to straight; colour under zero alpha is zero."""
    alpha = picture[..., 3]
    # Colour never exceeds alpha, so nothing over nothing stays nothing.
    divisor = np.where(alpha > 0, alpha, 1)
    made = picture.copy()
    for plane in range(3):
        made[..., plane] = np.where(alpha > 0, np.clip(picture[..., plane] / divisor, 0, 1), 0)
    return made


def trimmed(picture: Picture, left: int, top: int, depth: int) -> tuple[Picture, int, int]:
    """Cut to the pixels whose alpha is not zero at ``depth`` bits; an empty picture keeps nothing."""
    seen = picture[..., 3] >= 0.5 / ((1 << depth) - 1)
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    if not len(rows):
        return picture[:0, :0], left, top
    cut = picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return cut, left + int(columns[0]), top + int(rows[0])
