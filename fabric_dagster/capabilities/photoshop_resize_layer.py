"""``photoshop.resize_layer@1``: another size of a pixel layer or smart object."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import (
    DOCUMENT_FAILURES,
    EDIT_FAILURES,
    LAYER_FAILURES,
    MAX_SIDE,
    PROFILE_FAILURES,
    SAVE_FAILURES,
    LayerAddress,
)


class ResizeLayer(Arguments):
    """To ``width`` and ``height`` pixels (of one alone the proportions follow), or by ``percent``.

    ``anchor`` is the point of the layer's bounds that stays where it is.
    """

    layer: LayerAddress = feed("layer")
    width: int | None = feed("literal", default=None, ge=1, le=MAX_SIDE)
    height: int | None = feed("literal", default=None, ge=1, le=MAX_SIDE)
    percent: int | None = feed("literal", default=None, ge=1, le=1000)
    anchor: Literal["center", "top_left", "top", "top_right", "left", "right", "bottom_left", "bottom",
                    "bottom_right"] = "center"  # fmt: skip

    @model_validator(mode="after")
    def _one_way(self) -> ResizeLayer:
        if (self.percent is not None) == (self.width is not None or self.height is not None):
            msg = "give width, height or both, or percent"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="photoshop.resize_layer@1",
    application="photoshop",
    summary="Resize a pixel layer (resampled) or a smart object (drawn again from its contents).",
    arguments=ResizeLayer,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=(
        "the layer is a pixel layer or an embedded smart object that can be drawn, and not locked",
        "the document is RGB of 8 or 16 bits",
    ),
    postconditions=(
        "the layer's bounds have the size, the anchor has not moved",
        "only its pixels, rectangle, mask, placement and the previews differ",
    ),
    failures=(
        *DOCUMENT_FAILURES,
        *LAYER_FAILURES,
        *EDIT_FAILURES,
        *SAVE_FAILURES,
        *PROFILE_FAILURES,
        FailureCode("photoshop.layer_empty", "pack", False, "address a layer that has pixels"),
        FailureCode("photoshop.smart_object_not_reproducible", "operator", False, "resize it in Photoshop"),
        FailureCode("photoshop.smart_filters", "operator", False, "rasterise the smart filters"),
        FailureCode("photoshop.linked_object", "operator", False, "embed the linked file in Photoshop"),
        FailureCode("photoshop.link_missing", "operator", False, "place the smart object again in Photoshop"),
        FailureCode("photoshop.warp_unsupported", "operator", False, "use a custom warp, or none"),
        FailureCode(
            "photoshop.quad_unsupported", "operator", False, "place the smart object again in Photoshop"
        ),
        FailureCode("photoshop.contents_format", "operator", False, "place a PNG, PSD or PSB"),
        FailureCode("photoshop.contents_broken", "operator", False, "place the contents again"),
        FailureCode("photoshop.contents_too_large", "operator", False, "place smaller contents"),
    ),
)
