"""``photoshop.align_layer@1``: a layer against the canvas, its artboard or the guides."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import (
    DOCUMENT_FAILURES,
    EDIT_FAILURES,
    LAYER_FAILURES,
    SAVE_FAILURES,
    LayerAddress,
)


class AlignLayer(Arguments):
    """``to``: the canvas, the artboard around the layer, or the outermost guides of each direction.

    ``margin``: pixels kept from the side that it is aligned to.
    """

    layer: LayerAddress = feed("layer")
    to: Literal["canvas", "artboard", "guides"] = "canvas"
    horizontal: Literal["left", "center", "right"] | None = None
    vertical: Literal["top", "middle", "bottom"] | None = None
    margin: int = feed("literal", default=0, ge=0, le=4096)

    @model_validator(mode="after")
    def _a_direction(self) -> AlignLayer:
        if self.horizontal is None and self.vertical is None:
            msg = "give horizontal or vertical"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="photoshop.align_layer@1",
    application="photoshop",
    summary="Align a layer or group to the canvas, its artboard or the outermost guides.",
    arguments=AlignLayer,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=(
        "neither the layer nor anything in it is locked in place",
        "there is an artboard around it, or a guide to align to, where those are asked for",
    ),
    postconditions=(
        "the layer's bounds touch what they are aligned to, to the pixel",
        "only places of the layer and what is in it, and the previews differ",
    ),
    failures=(
        *DOCUMENT_FAILURES,
        *LAYER_FAILURES,
        *EDIT_FAILURES,
        *SAVE_FAILURES,
        FailureCode("photoshop.layer_empty", "pack", False, "address a layer that has pixels"),
        FailureCode("photoshop.guide_missing", "operator", False, "draw the guides in the template"),
        FailureCode("photoshop.artboard_missing", "pack", False, "align to the canvas instead"),
    ),
)
