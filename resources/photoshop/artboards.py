"""Artboards: their rectangle and background, and a picture cut to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabric_dagster.errors import OperationFailed
from resources.photoshop.address import path_of
from resources.photoshop.descriptors import plain
from resources.photoshop.document import ARTBOARDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from resources.photoshop.document import Document, Layer

#: background colours by Photoshop's number; 3 is transparent, 4 the artboard's own
BACKGROUNDS = {1: (255.0, 255.0, 255.0), 2: (0.0, 0.0, 0.0)}
OWN = 4


@dataclass(frozen=True, slots=True)
class Artboard:
    """A rectangle in document pixels, and its background (``None``: transparent)."""

    left: int
    top: int
    right: int
    bottom: int
    background: tuple[float, float, float] | None

    def cut(self, pixels: NDArray[Any]) -> NDArray[Any]:
        """Straight RGBA of the canvas, cut to the rectangle and laid on the background."""
        full = int(np.iinfo(pixels.dtype).max)
        height, width = pixels.shape[:2]
        made = np.zeros((self.bottom - self.top, self.right - self.left, 4), pixels.dtype)
        left, top = max(0, self.left), max(0, self.top)
        part = pixels[top : min(height, self.bottom), left : min(width, self.right)]
        made[top - self.top :, left - self.left :][: part.shape[0], : part.shape[1]] = part
        if self.background is None:
            return made
        alpha = made[..., 3:].astype(np.float32) / full
        under = np.asarray(self.background, np.float32) / 255 * full
        made[..., :3] = np.round(made[..., :3] * alpha + under * (1 - alpha)).astype(pixels.dtype)
        made[..., 3] = full
        return made


def artboard_of(layer: Layer) -> Artboard | None:
    """The artboard that a layer is, or ``None`` for other layers and unreadable ones."""
    from psd_tools.psd.descriptor import DescriptorBlock

    block = layer.record.block(*ARTBOARDS)
    if layer.kind != "artboard" or block is None:
        return None
    try:
        found = plain(DescriptorBlock.frombytes(block.data))
        box = found["artboardRect"]
        sides = [round(float(box[key])) for key in ("Left", "Top", "Rght", "Btom")]
        kind = int(found.get("artboardBackgroundType", 1))
        own = found.get("Clr") or {}
        colour = tuple(float(own.get(key, 255)) for key in ("Rd", "Grn", "Bl")) if kind == OWN else None
    except Exception:  # a hostile descriptor raises anything  # noqa: BLE001
        return None
    background = (colour[0], colour[1], colour[2]) if colour else BACKGROUNDS.get(kind)
    if sides[0] >= sides[2] or sides[1] >= sides[3]:
        return None
    return Artboard(sides[0], sides[1], sides[2], sides[3], background)


def artboard_for(document: Document, layer: Layer | None) -> tuple[Layer, Artboard]:
    """The artboard that an export names, or the document's only one.

    Raises ``photoshop.artboard_missing``, ``photoshop.nothing_visible`` for a hidden one.
    """
    boards = [(each, found) for each in document.walk() if (found := artboard_of(each)) is not None]
    chosen = boards if layer is None else [pair for pair in boards if pair[0] is layer]
    if len(chosen) == 1:
        return chosen[0]
    listed = "; ".join(f"id {each.id}: {path_of(each)}" for each, _ in boards[:8])
    raise OperationFailed(
        "photoshop.artboard_missing",
        "the document has no artboard" if not boards
        else "this layer is no artboard" if layer is not None else f"it has {len(boards)} artboards",
        where=path_of(layer) if layer is not None else "",
        mend=f"name one of: {listed}" if boards else "export the canvas",
    )  # fmt: skip
