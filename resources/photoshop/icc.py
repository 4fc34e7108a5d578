"""Matrix profiles without rounding: from one RGB space to another in floats, for 16 bits.

The colour library that Pillow carries works at 8 bits. Profiles of three curves and a matrix (those of
displays, cameras' working spaces and sRGB) are simple enough to be computed: linear light by the source's
curves, its matrix to the connection space, the target's inverse matrix, its inverse curves. Their black is
nothing, so black point compensation changes nothing. Profiles with tables are left to the library.

Source: ICC.1:2010, 8.3 (three-component matrix-based profiles), 10.5 (curves), 10.15 (parametric curves).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAD: Final = 128
MOST_TAGS: Final = 200
STEPS: Final = 65536
#: parameters of each kind of parametric curve
PARAMETERS: Final = (1, 3, 4, 5, 7)


@dataclass(frozen=True)
class Matrix:
    """A profile's curves (65536 steps of linear light each) and its 3 x 3 matrix to XYZ of D50."""

    curves: NDArray[Any]
    matrix: NDArray[Any]


@lru_cache(maxsize=16)
def matrix_of(icc: bytes) -> Matrix | None:
    """The profile as curves and matrix, or ``None`` where it is none of that kind or is broken."""
    if len(icc) < HEAD + 4 or icc[16:20] != b"RGB " or icc[20:24] != b"XYZ ":
        return None
    try:
        tags = _tags(icc)
        if b"A2B0" in tags or b"A2B1" in tags:
            return None
        columns = [_xyz(tags[key]) for key in (b"rXYZ", b"gXYZ", b"bXYZ")]
        curves = [_curve(tags[key]) for key in (b"rTRC", b"gTRC", b"bTRC")]
    except (KeyError, ValueError, struct.error):
        return None
    matrix = np.asarray(columns, float).T
    if any(curve is None for curve in curves) or abs(float(np.linalg.det(matrix))) < 1e-6:  # noqa: PLR2004
        return None
    return Matrix(np.stack([np.asarray(curve) for curve in curves]), matrix)


def convert(rgb: NDArray[np.float32], source: Matrix, target: Matrix) -> NDArray[np.float32]:
    """Straight RGB ``(h, w, 3)`` in 0…1 from ``source`` to ``target``; out of gamut is clipped."""
    steps = np.linspace(0, 1, STEPS)
    light = np.stack(
        [np.interp(np.clip(rgb[..., plane], 0, 1), steps, source.curves[plane]) for plane in range(3)],
        axis=-1,
    )
    linear = np.clip(light @ (np.linalg.inv(target.matrix) @ source.matrix).T, 0, 1)
    planes = [np.interp(linear[..., plane], target.curves[plane], steps) for plane in range(3)]
    return np.stack(planes, axis=-1).astype(np.float32)


def _tags(icc: bytes) -> dict[bytes, bytes]:
    count = struct.unpack(">I", icc[HEAD : HEAD + 4])[0]
    found = {}
    for number in range(min(count, MOST_TAGS)):
        at = HEAD + 4 + 12 * number
        key, offset, size = struct.unpack(">4sII", icc[at : at + 12])
        found[key] = icc[offset : offset + size]
    return found


def _xyz(tag: bytes) -> list[float]:
    return [value / 65536 for value in struct.unpack(">3i", tag[8:20])]


def _curve(tag: bytes) -> NDArray[Any] | None:
    """Linear light at 65536 even steps, never falling; ``None`` for curves that can't be inverted."""
    steps = np.linspace(0, 1, STEPS)
    if tag[:4] == b"curv":
        count = struct.unpack(">I", tag[8:12])[0]
        if count == 0:
            return steps
        values = np.frombuffer(tag, ">u2", count, 12).astype(float)
        made = steps ** (values[0] / 256) if count == 1 else np.interp(
            steps, np.linspace(0, 1, count), values / 65535
        )  # fmt: skip
    elif tag[:4] == b"para":
        made = _parametric(tag, steps)
    else:
        return None
    rising = np.maximum.accumulate(np.clip(made, 0, 1))
    return rising if rising[-1] > rising[0] else None


def _parametric(tag: bytes, x: NDArray[Any]) -> NDArray[Any]:
    kind = struct.unpack(">H", tag[8:10])[0]
    if kind >= len(PARAMETERS):
        msg = "an unknown parametric curve"
        raise ValueError(msg)
    count = PARAMETERS[kind]
    found = [value / 65536 for value in struct.unpack(f">{count}i", tag[12 : 12 + 4 * count])]
    g, a, b, c, d, e, f = found + [0.0] * (7 - count)
    if kind == 0:
        return np.asarray(x**g)
    curved = np.clip(a * x + b, 0, None) ** g
    if kind == 1:
        return np.asarray(np.where(x >= -b / a, curved, 0.0))
    if kind == 2:  # noqa: PLR2004 - the standard's number
        return np.asarray(np.where(x >= -b / a, curved + c, c))
    low = c * x + (f if kind == 4 else 0.0)  # noqa: PLR2004 - as above
    return np.asarray(np.where(x >= d, curved + e, low))
