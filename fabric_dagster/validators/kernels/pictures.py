"""Pictures and how far apart two of them are.

A picture is ``(h, w, 4)`` float32 straight RGBA in 0…1 in sRGB, unless a function says otherwise.

Rules kept here: colours count as they are seen, so differences are taken on pictures composited over
white and over black, the larger one wins (a difference that shows on either counts); ΔE is CIE 1976 under
D65; SSIM is Wang et al. 2004 with an 11-pixel Gaussian window (sigma 1.5) on luma.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Picture: TypeAlias = "NDArray[np.float32]"
Plane: TypeAlias = "NDArray[np.float32]"
Box: TypeAlias = "tuple[int, int, int, int]"

WINDOW, SIGMA = (11, 11), 1.5
C1, C2 = 0.01**2, 0.03**2
CHECKER = 8
SHOWN_HEIGHT = 384
LABEL = 22


def as_float(pixels: NDArray[np.uint8 | np.uint16]) -> Picture:
    """Samples of 8 or 16 bits as 0…1."""
    return (pixels / np.float32(np.iinfo(pixels.dtype).max)).astype(np.float32)


def as_bytes(picture: Picture) -> NDArray[np.uint8]:
    """0…1 as 8 bits, rounded."""
    return np.asarray(np.clip(picture * 255 + 0.5, 0, 255), np.uint8)


def over(picture: Picture, ground: float) -> NDArray[np.float32]:
    """RGB of ``picture`` over a grey ``ground`` in 0…1."""
    alpha = cv2.cvtColor(np.ascontiguousarray(picture[..., 3]), cv2.COLOR_GRAY2RGB)
    colours = cv2.multiply(cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGBA2RGB), alpha)
    return np.asarray(colours + np.float32(ground) * (1 - alpha), np.float32)


def lab(rgb: NDArray[np.float32]) -> NDArray[np.float32]:
    """CIE L*a*b* (D65) of sRGB."""
    return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2Lab), np.float32)


def delta_e(one: Picture, other: Picture) -> Plane:
    """ΔE*ab of each pixel: the larger of the differences seen over white and over black."""
    planes = []
    for ground in (0.0, 1.0):
        difference = lab(over(one, ground)) - lab(over(other, ground))
        planes.append(np.sqrt(np.einsum("ijk,ijk->ij", difference, difference)))
        if one[..., 3].min() == 1 and other[..., 3].min() == 1:
            break
    return np.asarray(np.maximum.reduce(planes), np.float32)


def ssim(one: Picture, other: Picture) -> Plane:
    """Structural similarity of each pixel, -1…1, over mid grey."""
    x = np.asarray(cv2.cvtColor(over(one, 0.5), cv2.COLOR_RGB2GRAY), np.float32)
    y = np.asarray(cv2.cvtColor(over(other, 0.5), cv2.COLOR_RGB2GRAY), np.float32)

    def blurred(plane: Plane) -> Plane:
        return np.asarray(cv2.GaussianBlur(plane, WINDOW, SIGMA, borderType=cv2.BORDER_REFLECT), np.float32)

    mean_x, mean_y = blurred(x), blurred(y)
    spread_x = blurred(x * x) - mean_x**2
    spread_y = blurred(y * y) - mean_y**2
    shared = blurred(x * y) - mean_x * mean_y
    upper = (2 * mean_x * mean_y + C1) * (2 * shared + C2)
    return np.asarray(upper / ((mean_x**2 + mean_y**2 + C1) * (spread_x + spread_y + C2)), np.float32)


def bounds(mask: NDArray[np.bool_]) -> Box | None:
    """Left, top, right, bottom (exclusive) of what is set; ``None`` where nothing is."""
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    if not columns.size:
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def resized(picture: Picture, width: int, height: int) -> Picture:
    """``picture`` at another size; premultiplied while resampling, so that hidden colours do not bleed."""
    if picture.shape[:2] == (height, width):
        return picture
    shrinking = width * height < picture.shape[0] * picture.shape[1]
    method = cv2.INTER_AREA if shrinking else cv2.INTER_CUBIC
    return straight(np.clip(cv2.resize(multiplied(picture), (width, height), interpolation=method), 0, 1))


def multiplied(picture: Picture) -> Picture:
    """Straight to premultiplied."""
    return _scaled(picture, picture[..., 3])


def straight(picture: Picture) -> Picture:
    """Premultiplied to straight, in 0…1; colours under no alpha at all stay black."""
    out = _scaled(picture, np.reciprocal(np.maximum(picture[..., 3], np.float32(1e-6))))
    return np.minimum(out, np.float32(1), out=out)


def _scaled(picture: Picture, factor: Plane) -> Picture:
    """Colours times ``factor``, alpha as it is; by OpenCV, which is several times quicker than slices."""
    if not picture.size:
        return picture.copy()
    factors = cv2.merge([factor, factor, factor, np.ones_like(factor)])
    return np.asarray(cv2.multiply(np.ascontiguousarray(picture), factors), np.float32)


def side_by_side(expected: Picture, found: Picture, factor: float = 8) -> NDArray[np.uint8]:
    """Expected, found and their difference ``factor`` times amplified, in a row, over a checkerboard."""
    height = max(expected.shape[0], found.shape[0])
    width = max(expected.shape[1], found.shape[1])
    one, other = _padded(expected, width, height), _padded(found, width, height)
    dark, light = np.abs(over(one, 0) - over(other, 0)), np.abs(over(one, 1) - over(other, 1))
    difference = np.asarray(np.maximum(dark, light), np.float32)
    panels = [_on_checkers(one), _on_checkers(other), np.clip(difference * factor, 0, 1)]
    scale = min(1.0, SHOWN_HEIGHT / height)
    shown = (max(1, round(width * scale)), max(1, round(height * scale)))
    named = []
    for title, panel in zip(("expected", "found", f"difference x{factor:g}"), panels, strict=True):
        picture = as_bytes(np.asarray(cv2.resize(panel, shown, interpolation=cv2.INTER_AREA), np.float32))
        head = np.full((LABEL, shown[0], 3), 24, np.uint8)
        cv2.putText(
            head, title, (6, LABEL - 7), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (235, 235, 235), 1, cv2.LINE_AA
        )
        named.append(np.vstack([head, picture]))
    gap = np.full((named[0].shape[0], 6, 3), 24, np.uint8)
    return np.hstack([named[0], gap, named[1], gap, named[2]])


def _padded(picture: Picture, width: int, height: int) -> Picture:
    out = np.zeros((height, width, 4), np.float32)
    out[: picture.shape[0], : picture.shape[1]] = picture
    return out


def _on_checkers(picture: Picture) -> NDArray[np.float32]:
    rows, columns = np.indices(picture.shape[:2]) // CHECKER
    ground = np.asarray(0.62 + 0.16 * ((rows + columns) % 2), np.float32)[..., np.newaxis]
    return np.asarray(picture[..., :3] * picture[..., 3:] + ground * (1 - picture[..., 3:]), np.float32)


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """``(h, w, 3 or 4)`` uint8 RGB(A) as PNG bytes, quickly rather than small."""
    code = cv2.COLOR_RGBA2BGRA if pixels.shape[2] == 4 else cv2.COLOR_RGB2BGR  # noqa: PLR2004 - channels
    done, data = cv2.imencode(".png", cv2.cvtColor(pixels, code), [cv2.IMWRITE_PNG_COMPRESSION, 1])
    if not done:
        msg = "OpenCV cannot encode the picture"
        raise ValueError(msg)
    return data.tobytes()
