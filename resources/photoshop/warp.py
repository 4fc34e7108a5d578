"""Warps of smart objects: custom meshes and quilts are drawn, everything else is refused by name.

Rules kept here (found by experiment):

* The quad maps the bounding box of the mesh's *control points*, not ``bounds``.
* A mesh is a grid of cubic Bézier patches that share their edges: ``3 n + 1`` points a side.
* When the contents change size, ``bounds``, mesh and quilt slices scale with them.
"""

from __future__ import annotations

from typing import Any

CUSTOM = "warpCustom"
ORDER = 4


def warp_refusal(warp: dict[str, Any] | None) -> str:
    """Why this warp can't be drawn; empty if it can (or there is none)."""
    if warp is None:
        return ""
    style = str(warp.get("warpStyle"))
    if style != CUSTOM:
        return f"the warp style {style} can't be drawn here"
    if warp.get("uOrder") != ORDER or warp.get("vOrder") != ORDER:
        return "a warp mesh that is not cubic can't be drawn here"
    if not (warp.get("customEnvelopeWarp") or {}).get("meshPoints"):
        return "the warp has no mesh"
    return ""
