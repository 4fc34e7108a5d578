"""Whether the words of the edited document can be read whole: no visible text reaches past its room.

The room is the canvas and, for paragraph text, the box that it is set in. Only this sees letters that are cut
or spilled: the picture is then as its layers say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from fabric_dagster.validators.base import Outcome, Validator
from fabric_dagster.validators.kernels import document as documents
from fabric_dagster.validators.kernels.derive import PictureNames, copied_document

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView

BOX = 1


class TextFits(PictureNames):
    """How strictly."""

    #: document pixels by which soft edges may reach past.
    tolerance: float = Field(default=1.0, ge=0)
    #: whether a document without visible text passes.
    may_be_none: bool = True


def judge(view: EvidenceView, params: TextFits) -> Outcome:
    """Compare the rectangle of each text's pixels with the room that it has."""
    outcome = Outcome()
    copied = copied_document(view, params)
    wide, high = copied.size
    texts = [layer for layer in copied.walk() if layer.kind == "type" and layer.is_visible()]
    outcome.must(
        texts or params.may_be_none, "text that shows", f"{len(texts)} text layers", f"{copied.where}, text"
    )
    for layer in texts:
        where = f"{copied.where}, {documents.label(layer)}"
        drawn = tuple(map(float, (layer.left, layer.top, layer.right, layer.bottom)))
        said = str(layer.text).strip()
        if said and (drawn[2] <= drawn[0] or drawn[3] <= drawn[1]):
            outcome.must(holds=False, expected="pixels of the words", found="none", where=where)
            continue
        _within(outcome, drawn, (0.0, 0.0, float(wide), float(high)), params.tolerance, f"{where}, canvas")
        if (box := box_of(layer)) is not None:
            _within(outcome, drawn, box, params.tolerance, f"{where}, its box")
    outcome.figures["texts"] = str(len(texts))
    return outcome


Box = tuple[float, ...]


def _within(outcome: Outcome, drawn: Box, room: Box, tolerance: float, where: str) -> None:
    over = max(room[0] - drawn[0], room[1] - drawn[1], drawn[2] - room[2], drawn[3] - room[3])
    shown = f"{over:.1f} px beyond it" if over > tolerance else "inside"
    wanted = f"within {room[0]:.0f},{room[1]:.0f} to {room[2]:.0f},{room[3]:.0f}"
    outcome.must(over <= tolerance, wanted, shown, where)


def box_of(layer: Any) -> Box | None:  # noqa: ANN401 - a psd_tools layer
    """The upright rectangle around a paragraph's box in the document; ``None`` for point text."""
    try:
        rendered = layer.engine_dict["Rendered"]["Shapes"]["Children"][0]
        cookie = rendered["Cookie"]["Photoshop"]
        if int(cookie["ShapeType"]) != BOX:
            return None
        left, top, right, bottom = (float(value) for value in cookie["BoxBounds"])
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    xx, xy, yx, yy, tx, ty = (float(value) for value in layer.transform)
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    xs = [xx * x + yx * y + tx for x, y in corners]
    ys = [xy * x + yy * y + ty for x, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


VALIDATOR = Validator(
    id="text_fits@1",
    summary="All text that shows lies within the canvas and its own box.",
    params=TextFits,
    judge=judge,
)
