"""``photoshop.replace_smart_object@1``: other contents in an embedded smart object, drawn again."""

from __future__ import annotations

from typing import Literal

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import (
    DOCUMENT_FAILURES,
    LAYER_FAILURES,
    PROFILE_FAILURES,
    SAVE_FAILURES,
    LayerAddress,
)


class ReplaceSmartObject(Arguments):
    """``contents`` is a PNG, PSD or PSB; ``scope`` whether layers that share the contents follow.

    Where drawing the *present* contents again differs from the layer's own raster by more than 5 of 255 in
    the mean, the new ones would look wrong too: refused, unless ``unproven`` is ``allow``.
    """

    layer: LayerAddress = feed("layer")
    contents: str = feed("picture", min_length=1, max_length=1024)
    scope: Literal["layer", "shared"] = "layer"
    unproven: Literal["refuse", "allow"] = "refuse"


_PLACE_AGAIN = "place the smart object again in Photoshop"

CAPABILITY = Capability(
    id="photoshop.replace_smart_object@1",
    application="photoshop",
    summary="Replace an embedded smart object's contents and draw the layer again through its transform.",
    arguments=ReplaceSmartObject,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=(
        "the layer is an embedded smart object without smart filters and not locked",
        "the document is RGB of 8 or 16 bits",
        "its warp, if any, is a custom mesh or quilt",
        "its present contents, drawn again, come within a mean error of 5 of what Photoshop drew",
    ),
    postconditions=(
        "the linked item holds the contents' bytes",
        "only the linked item, the placement, the layer's pixels and rectangle and the previews differ",
        "merged image and thumbnail show the new contents",
    ),
    failures=(
        *DOCUMENT_FAILURES,
        *LAYER_FAILURES,
        *SAVE_FAILURES,
        *PROFILE_FAILURES,
        FailureCode("photoshop.allocation_missing", "operator", True, "bind the plan again"),
        FailureCode("photoshop.not_a_smart_object", "pack", False, "correct the role map for this template"),
        FailureCode("photoshop.layer_locked", "operator", False, "unlock the layer in the template"),
        FailureCode("photoshop.smart_filters", "operator", False, "rasterise the smart filters"),
        FailureCode("photoshop.linked_object", "operator", False, "embed the linked file in Photoshop"),
        FailureCode("photoshop.link_missing", "operator", False, _PLACE_AGAIN),
        FailureCode("photoshop.warp_unsupported", "operator", False, "use a custom warp, or none"),
        FailureCode("photoshop.warp_aspect", "pack", True, "give contents of the same proportions"),
        FailureCode("photoshop.quad_unsupported", "operator", False, _PLACE_AGAIN),
        FailureCode(
            "photoshop.smart_object_not_reproducible",
            "operator",
            False,
            "replace it in Photoshop, or commission it with unproven: allow",
        ),
        FailureCode("photoshop.contents_format", "pack", True, "give a PNG, PSD or PSB"),
        FailureCode("photoshop.contents_broken", "pack", True, "give an undamaged picture"),
        FailureCode("photoshop.contents_too_large", "pack", True, "give a smaller picture"),
    ),
)
