"""Warps of smart objects: custom meshes and quilts are drawn, everything else is refused by name.

Rules kept here (found by experiment):

* The quad maps the bounding box of the mesh's *control points*, not ``bounds``; the points are projected
  first and the surface is drawn between the projected ones (the other order is off by four times as much).
* A mesh is a grid of cubic Bezier patches that share their edges: ``3 n + 1`` points a side. Patches cut
  the contents evenly, or at the quilt's slices.
* A mesh whose points lie where an unwarped one has them is no warp.
* When the contents change size, ``bounds``, mesh and quilt slices scale with them.
* The mesh is drawn as small triangles: each destination pixel gets the contents' coordinates under it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cv2
import numpy as np

from resources.photoshop.raster import (
    Picture,
    Points,
    check_quad,
    homography,
    in_bands,
    project,
    rectangle,
    reduced,
)

CUSTOM = "warpCustom"
ORDER = 4
SUPERSAMPLES = 3
#: what no contents coordinate can be: a pixel that no triangle covers
NOWHERE = -1e6
#: about how many destination samples a triangle's side spans
CELL = 14
MOST_CELLS = 48
FLAT = 1e-4
MOST_POINTS = 150 * 150


def mesh_of(warp: dict[str, Any]) -> Points | None:
    """``(rows, columns, 2)`` control points in contents' pixels, or ``None`` if it is no mesh."""
    points = (warp.get("customEnvelopeWarp") or {}).get("meshPoints") or {}
    across, down = points.get("Hrzn") or (), points.get("Vrtc") or ()
    rows, columns = int(warp.get("deformNumRows") or ORDER), int(warp.get("deformNumCols") or ORDER)
    fits = len(across) == len(down) == rows * columns and 0 < rows * columns <= MOST_POINTS
    if not fits or (rows - 1) % 3 or (columns - 1) % 3 or min(rows, columns) < ORDER:
        return None
    return np.stack([np.asarray(across, float), np.asarray(down, float)], axis=-1).reshape(rows, columns, 2)


def slices_of(warp: dict[str, Any], patches: tuple[int, int], bounds: Points) -> tuple[Points, Points]:
    """Where the contents are cut into patches: x of columns and y of rows, ends at the bounds."""
    found = []
    for axis, key in ((0, "quiltSliceX"), (1, "quiltSliceY")):
        low, high = bounds[0, axis], bounds[2, axis]
        count = patches[1 - axis]
        cuts = ((warp.get("customEnvelopeWarp") or {}).get(key) or {}).get(key) or ()
        if len(cuts) == count + 1:
            found.append(np.concatenate([[low], np.clip(cuts[1:-1], low, high), [high]]))
        else:
            found.append(np.linspace(low, high, count + 1))
    return found[0], found[1]


def is_identity(warp: dict[str, Any]) -> bool:
    """Whether a custom mesh bends nothing: every point where evenly cut contents have it."""
    mesh = mesh_of(warp)
    if mesh is None:
        return False
    bounds = _bounds(warp, mesh)
    rows, columns = mesh.shape[:2]
    cuts = slices_of(warp, ((rows - 1) // 3, (columns - 1) // 3), bounds)
    even = [_thirds(cut) for cut in cuts]
    flat = np.stack(np.meshgrid(even[0], even[1]), axis=-1)
    return bool(np.abs(mesh - flat).max() < FLAT * max(1.0, float(np.ptp(bounds))))


def _thirds(cuts: Points) -> Points:
    parts = [np.linspace(a, b, 4)[:-1] for a, b in pairwise(cuts)]
    return np.concatenate([*parts, cuts[-1:]])


def _bounds(warp: dict[str, Any], mesh: Points) -> Points:
    box = warp.get("bounds") or {}
    keys = ("Left", "Top", "Rght", "Btom")
    if all(key in box for key in keys):
        return rectangle(*(float(box[key]) for key in keys))
    low, high = mesh.reshape(-1, 2).min(axis=0), mesh.reshape(-1, 2).max(axis=0)
    return rectangle(*low, *high)


def warp_refusal(warp: dict[str, Any] | None) -> str:
    """Why this warp can't be drawn; empty if it can (or there is none)."""
    if warp is None:
        return ""
    style = str(warp.get("warpStyle"))
    if style != CUSTOM:
        return f"the warp style {style} can't be drawn here"
    if warp.get("uOrder") != ORDER or warp.get("vOrder") != ORDER:
        return "a warp mesh that is not cubic can't be drawn here"
    return "" if mesh_of(warp) is not None else "the warp's mesh is missing or uneven"


def place_warped(
    contents: Picture, quad: Points, warp: dict[str, Any], size: tuple[float, float]
) -> tuple[Picture, int, int]:
    """Draw ``contents`` through mesh and quad: (raster, left, top). ``size`` is what the mesh is for."""
    check_quad(quad)
    mesh = mesh_of(warp)
    if mesh is None:
        msg = "refused warps are not drawn"
        raise ValueError(msg)
    low, high = mesh.reshape(-1, 2).min(axis=0), mesh.reshape(-1, 2).max(axis=0)
    onto = homography(rectangle(*low, *high), quad)
    rows, columns = mesh.shape[:2]
    cuts = slices_of(warp, ((rows - 1) // 3, (columns - 1) // 3), _bounds(warp, mesh))
    grids = [
        (_patch(mesh[r : r + 4, c : c + 4], onto), cuts[0][c // 3 : c // 3 + 2], cuts[1][r // 3 : r // 3 + 2])
        for r in range(0, rows - 1, 3)
        for c in range(0, columns - 1, 3)
    ]
    every = np.concatenate([grid.reshape(-1, 2) for grid, _, _ in grids])
    left, top = np.floor(every.min(axis=0)).astype(int)
    right, bottom = np.ceil(every.max(axis=0)).astype(int)
    check_quad(rectangle(left, top, right, bottom))
    span = every.max(axis=0) - every.min(axis=0)
    source = reduced(contents, span[0] * SUPERSAMPLES, span[1] * SUPERSAMPLES)
    scale = np.float32(source.shape[1] / size[0]), np.float32(source.shape[0] / size[1])
    large = [((grid - [left, top]) * SUPERSAMPLES, across, down) for grid, across, down in grids]

    def draw(first: int, tall: int, wide: int) -> Picture:
        u, v = np.full((tall, wide), NOWHERE, np.float32), np.full((tall, wide), NOWHERE, np.float32)
        for grid, across, down in large:
            _paint(grid - [0, first], across, down, u, v)
        drawn = cv2.remap(
            source, u * scale[0] - 0.5, v * scale[1] - 0.5, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        )
        return np.asarray(drawn * (u > NOWHERE / 2)[..., None], np.float32)

    return in_bands(int(right - left), int(bottom - top), SUPERSAMPLES, draw), int(left), int(top)


def _bernstein(t: Points) -> Points:
    s = 1 - t
    return np.stack([s**3, 3 * s**2 * t, 3 * s * t**2, t**3], axis=1)


def _cells(points: Points) -> int:
    """How many cells a patch needs along its first axis."""
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=-1).sum(axis=0).max())
    return int(np.clip(np.ceil(length * SUPERSAMPLES / CELL), ORDER, MOST_CELLS))


def _patch(points: Points, onto: Points) -> Points:
    """``(n + 1, m + 1, 2)`` document positions of an even grid over one patch."""
    corners = project(onto, points.reshape(-1, 2)).reshape(4, 4, 2)
    n, m = _cells(corners), _cells(corners.transpose(1, 0, 2))
    down, across = _bernstein(np.linspace(0, 1, n + 1)), _bernstein(np.linspace(0, 1, m + 1))
    inside: Points = np.einsum("ai,ijk,bj->abk", down, corners, across)
    return inside


def _paint(grid: Points, across: Points, down: Points, u: Picture, v: Picture) -> None:
    """Fill the contents' coordinates under each cell of ``grid``, as two triangles."""
    rows, columns = grid.shape[:2]
    xs = np.linspace(across[0], across[1], columns)
    ys = np.linspace(down[0], down[1], rows)
    tall = u.shape[0]
    for r in range(rows - 1):
        if grid[r : r + 2, :, 1].max() < -1 or grid[r : r + 2, :, 1].min() > tall + 1:
            continue
        for c in range(columns - 1):
            a, b, d, e = grid[r, c], grid[r, c + 1], grid[r + 1, c], grid[r + 1, c + 1]
            left, right, high, low = xs[c], xs[c + 1], ys[r], ys[r + 1]
            _triangle((a, b, d), ((left, high), (right, high), (left, low)), u, v)
            _triangle((b, e, d), ((right, high), (right, low), (left, low)), u, v)


def _triangle(
    at: tuple[Points, Points, Points],
    source: tuple[tuple[float, float], ...],
    u: Picture,
    v: Picture,
) -> None:
    (x0, y0), (x1, y1), (x2, y2) = at
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if abs(area) < FLAT:
        return
    left, right = max(0, int(min(x0, x1, x2) - 0.5)), min(u.shape[1], int(max(x0, x1, x2) + 1.5))
    top, bottom = max(0, int(min(y0, y1, y2) - 0.5)), min(u.shape[0], int(max(y0, y1, y2) + 1.5))
    if left >= right or top >= bottom:
        return
    x = np.arange(left, right)[None, :] + 0.5 - x0
    y = np.arange(top, bottom)[:, None] + 0.5 - y0
    first = (x * (y2 - y0) - (x2 - x0) * y) / area
    second = ((x1 - x0) * y - x * (y1 - y0)) / area
    inside = (first >= -FLAT) & (second >= -FLAT) & (first + second <= 1 + FLAT)
    for plane, index in ((u, 0), (v, 1)):
        s0, s1, s2 = source[0][index], source[1][index], source[2][index]
        value = s0 + first * (s1 - s0) + second * (s2 - s0)
        part = plane[top:bottom, left:right]
        part[inside] = value[inside]


def scale_warp(warp: Any, across: float, down: float) -> None:  # noqa: ANN401 - a psd-tools descriptor
    """Scale a stored warp to contents of another size, in place."""
    bounds = warp.get(b"bounds")
    if bounds is not None:
        for key, factor in ((b"Left", across), (b"Rght", across), (b"Top ", down), (b"Btom", down)):
            if key in bounds:
                bounds[key].value *= factor
    mesh = warp.get(b"customEnvelopeWarp")
    if mesh is None:
        return
    points = mesh.get(b"meshPoints")
    if points is not None:
        _scale(points.get(b"Hrzn"), across)
        _scale(points.get(b"Vrtc"), down)
    for key, factor in ((b"quiltSliceX", across), (b"quiltSliceY", down)):
        slices = mesh.get(key)
        if slices is not None:
            _scale(slices.get(key), factor)


def _scale(numbers: Any, factor: float) -> None:  # noqa: ANN401 - a psd-tools value
    if numbers is not None:
        numbers.values = [value * factor for value in numbers.values]
