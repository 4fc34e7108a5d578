"""``photoshop.move_layer@1``: another place for a layer or group."""

from __future__ import annotations

from pydantic import model_validator

from fabric_dagster.capabilities.base import Arguments, Capability, feed
from fabric_dagster.capabilities.photoshop_shared import (
    DOCUMENT_FAILURES,
    EDIT_FAILURES,
    LAYER_FAILURES,
    MAX_SIDE,
    SAVE_FAILURES,
    LayerAddress,
)


class MoveLayer(Arguments):
    """Pixels of the document: by ``dx`` and ``dy``, or so that its bounds begin at ``left`` or ``top``."""

    layer: LayerAddress = feed("layer")
    dx: int | None = feed("literal", default=None, ge=-MAX_SIDE, le=MAX_SIDE)
    dy: int | None = feed("literal", default=None, ge=-MAX_SIDE, le=MAX_SIDE)
    left: int | None = feed("literal", default=None, ge=-MAX_SIDE, le=MAX_SIDE)
    top: int | None = feed("literal", default=None, ge=-MAX_SIDE, le=MAX_SIDE)

    @model_validator(mode="after")
    def _one_way(self) -> MoveLayer:
        for by, to, names in ((self.dx, self.left, "dx or left"), (self.dy, self.top, "dy or top")):
            if by is not None and to is not None:
                msg = f"give {names}, not both"
                raise ValueError(msg)
        if all(value is None for value in (self.dx, self.dy, self.left, self.top)):
            msg = "give dx, dy, left or top"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="photoshop.move_layer@1",
    application="photoshop",
    summary="Move a layer or group with its linked masks, its text and its smart object's placement.",
    arguments=MoveLayer,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("neither the layer nor anything in it is locked in place",),
    postconditions=(
        "the layer's pixels are the same, elsewhere",
        "only places of the layer and what is in it, and the previews differ",
    ),
    failures=(*DOCUMENT_FAILURES, *LAYER_FAILURES, *EDIT_FAILURES, *SAVE_FAILURES),
)
