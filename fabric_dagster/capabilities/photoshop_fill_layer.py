"""``photoshop.fill_layer@1``: one colour in a pixel, fill or shape layer."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, feed
from fabric_dagster.capabilities.photoshop_shared import (
    COLOUR,
    DOCUMENT_FAILURES,
    EDIT_FAILURES,
    LAYER_FAILURES,
    SAVE_FAILURES,
    LayerAddress,
)


class FillLayer(Arguments):
    """``color`` is ``#rrggbb`` in the document's colours.

    A pixel layer keeps its transparency (``keep_transparency``) or is filled over the whole canvas; a solid
    fill or shape layer takes the colour as its own.
    """

    layer: LayerAddress = feed("layer")
    color: str = feed("text", pattern=COLOUR)
    keep_transparency: bool = True


CAPABILITY = Capability(
    id="photoshop.fill_layer@1",
    application="photoshop",
    summary="Fill a pixel, solid fill or shape layer with one colour.",
    arguments=FillLayer,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=(
        "the layer is a pixel layer, a solid fill or a shape with one, and not locked",
        "the document is RGB of 8 or 16 bits",
    ),
    postconditions=("only the layer's pixels, rectangle or fill colour and the previews differ",),
    failures=(*DOCUMENT_FAILURES, *LAYER_FAILURES, *EDIT_FAILURES, *SAVE_FAILURES),
)
