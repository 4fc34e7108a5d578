"""``photoshop.replace_mask@1``: a layer mask from a picture."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import (
    DOCUMENT_FAILURES,
    EDIT_FAILURES,
    LAYER_FAILURES,
    MAX_SIDE,
    SAVE_FAILURES,
    LayerAddress,
)


class ReplaceMask(Arguments):
    """``mask`` is a PNG: its alpha where it has one, else its gray value (white shows).

    Its top left pixel lies at ``left``, ``top`` of the document; around it the mask hides.
    """

    layer: LayerAddress = feed("layer")
    mask: str = feed("picture", min_length=1, max_length=1024)
    left: int = feed("literal", default=0, ge=-MAX_SIDE, le=MAX_SIDE)
    top: int = feed("literal", default=0, ge=-MAX_SIDE, le=MAX_SIDE)


CAPABILITY = Capability(
    id="photoshop.replace_mask@1",
    application="photoshop",
    summary="Give a layer the mask that a PNG holds, in place of the one it has, if any.",
    arguments=ReplaceMask,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("the layer is not locked", "the document has 8 or 16 bits"),
    postconditions=("the mask's samples are the picture's", "only the layer's mask and the previews differ"),
    failures=(
        *DOCUMENT_FAILURES,
        *LAYER_FAILURES,
        *EDIT_FAILURES,
        *SAVE_FAILURES,
        FailureCode("photoshop.contents_format", "pack", True, "give a PNG"),
        FailureCode("photoshop.contents_broken", "pack", True, "give an undamaged picture"),
        FailureCode("photoshop.contents_too_large", "pack", True, "give a smaller picture"),
    ),
)
