"""``photoshop.apply_layer_comp@1``: a recorded state of all layers."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import DOCUMENT_FAILURES, LAYER_FAILURES, SAVE_FAILURES


class ApplyLayerComp(Arguments):
    """``comp`` is the name (exact, after NFC) or the id of a layer comp."""

    comp: str | int = feed("comp")


CAPABILITY = Capability(
    id="photoshop.apply_layer_comp@1",
    application="photoshop",
    summary="Apply a layer comp: visibility, position and appearance, as far as the comp records them.",
    arguments=ApplyLayerComp,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("the document has exactly one comp of this name or id",),
    postconditions=(
        "every layer that the comp records is as recorded",
        "only flags, places, styles, the last applied comp and the previews differ",
    ),
    failures=(
        *DOCUMENT_FAILURES,
        *LAYER_FAILURES,
        *SAVE_FAILURES,
        FailureCode("photoshop.comp_not_found", "pack", False, "correct the comp's name for this template"),
        FailureCode("photoshop.comp_ambiguous", "pack", False, "name the comp by its id"),
        FailureCode("photoshop.comp_unreadable", "operator", False, "record the comp again in Photoshop"),
        FailureCode(
            "photoshop.comp_unsupported",
            "operator",
            False,
            "record the comp without smart-object or text states",
        ),
    ),
)
