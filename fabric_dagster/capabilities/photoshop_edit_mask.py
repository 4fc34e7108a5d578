"""``photoshop.edit_mask@1``: a layer mask that is there."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import (
    DOCUMENT_FAILURES,
    EDIT_FAILURES,
    LAYER_FAILURES,
    MAX_SIDE,
    SAVE_FAILURES,
    LayerAddress,
)


class EditMask(Arguments):
    """``action`` on the layer's mask; ``fill`` sets ``value`` (0 hides, 255 shows) in a rectangle.

    The rectangle is ``left``, ``top``, ``width``, ``height`` in document pixels; without one the whole
    mask is filled.
    """

    layer: LayerAddress = feed("layer")
    action: Literal["enable", "disable", "invert", "fill"]
    value: int | None = feed("literal", default=None, ge=0, le=255)
    left: int | None = feed("literal", default=None, ge=-MAX_SIDE, le=MAX_SIDE)
    top: int | None = feed("literal", default=None, ge=-MAX_SIDE, le=MAX_SIDE)
    width: int | None = feed("literal", default=None, ge=1, le=MAX_SIDE)
    height: int | None = feed("literal", default=None, ge=1, le=MAX_SIDE)

    @model_validator(mode="after")
    def _fits_its_action(self) -> EditMask:
        sides = (self.left, self.top, self.width, self.height)
        given = [side is not None for side in sides]
        if any(given) and not all(given):
            msg = "give left, top, width and height together"
            raise ValueError(msg)
        if (self.action == "fill") != (self.value is not None) or (any(given) and self.action != "fill"):
            msg = "a value and a rectangle belong to fill, and fill needs a value"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="photoshop.edit_mask@1",
    application="photoshop",
    summary="Switch a layer mask on or off, invert it, or fill a rectangle of it.",
    arguments=EditMask,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("the layer has a mask and is not locked", "the document has 8 or 16 bits"),
    postconditions=("only the layer's mask and the previews differ",),
    failures=(
        *DOCUMENT_FAILURES,
        *LAYER_FAILURES,
        *EDIT_FAILURES,
        *SAVE_FAILURES,
        FailureCode("photoshop.mask_missing", "pack", False, "add a layer mask in the template"),
    ),
)
