"""``photoshop.set_effect@1``: values of a layer effect that is there."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import (
    COLOUR,
    DOCUMENT_FAILURES,
    EDIT_FAILURES,
    LAYER_FAILURES,
    SAVE_FAILURES,
    LayerAddress,
)

EffectName = Literal[
    "drop_shadow", "inner_shadow", "outer_glow", "inner_glow", "bevel", "satin", "color_overlay",
    "gradient_overlay", "pattern_overlay", "stroke",
]  # fmt: skip
VALUES = ("enabled", "color", "opacity", "size", "distance", "angle")


class SetEffect(Arguments):
    """``effect`` of ``layer``; ``index`` tells apart several of a kind, from the top (0).

    ``color`` ``#rrggbb`` in the document's colours, ``opacity`` percent, ``size`` and ``distance`` pixels,
    ``angle`` degrees. What is not given stays.
    """

    layer: LayerAddress = feed("layer")
    effect: EffectName
    index: int = feed("literal", default=0, ge=0, le=15)
    enabled: bool | None = None
    color: str | None = feed("text", default=None, pattern=COLOUR)
    opacity: int | None = feed("literal", default=None, ge=0, le=100)
    size: int | None = feed("literal", default=None, ge=0, le=1000)
    distance: int | None = feed("literal", default=None, ge=0, le=30_000)
    angle: int | None = feed("literal", default=None, ge=-360, le=360)

    @model_validator(mode="after")
    def _a_value(self) -> SetEffect:
        if all(getattr(self, name) is None for name in VALUES):
            msg = f"give at least one of {', '.join(VALUES)}"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="photoshop.set_effect@1",
    application="photoshop",
    summary="Change values of a layer effect that the layer has; the previews follow.",
    arguments=SetEffect,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("the layer has this effect and is not locked", "the effect has these values"),
    postconditions=("the effect has the values", "only the layer's effects block and the previews differ"),
    failures=(
        *DOCUMENT_FAILURES,
        *LAYER_FAILURES,
        *EDIT_FAILURES,
        *SAVE_FAILURES,
        FailureCode("photoshop.effect_missing", "pack", False, "add the effect in the template, then set it"),
        FailureCode("photoshop.effect_value", "pack", False, "give only values that this effect has"),
    ),
)
