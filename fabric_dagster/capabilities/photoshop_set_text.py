"""``photoshop.set_text@1``: other words in a text layer, drawn again in its own font."""

from __future__ import annotations

from typing import Literal

from fabric_dagster.capabilities.base import Arguments, Capability, feed
from fabric_dagster.capabilities.photoshop_shared import (
    DOCUMENT_FAILURES,
    EDIT_FAILURES,
    LAYER_FAILURES,
    SAVE_FAILURES,
    TEXT_FAILURES,
    LayerAddress,
)


class SetText(Arguments):
    r"""``text`` may hold line breaks (``\n``), no other control characters.

    ``overflow`` is about paragraph text that its box does not hold: refuse it, or let it be cut off as
    Photoshop does. Point text has no box and never overflows.
    """

    layer: LayerAddress = feed("layer")
    text: str = feed(
        "text", min_length=1, max_length=4000, pattern=r"^[^\x00-\x09\x0b-\x1f\x7f\x80-\x9f\u2028\u2029]*$"
    )
    overflow: Literal["refuse", "cut"] = "refuse"


CAPABILITY = Capability(
    id="photoshop.set_text@1",
    application="photoshop",
    summary="Set a text layer's words and draw them again, headlessly, in the layer's own font and style.",
    arguments=SetText,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=(
        "the layer is horizontal, unwarped point or paragraph text and not locked",
        "the document is RGB of 8 or 16 bits",
        "its font is there under its exact PostScript name and has every character",
    ),
    postconditions=(
        "the layer's text blocks hold the words, in the style of the first run",
        "only the text blocks, the layer's pixels and rectangle and the previews differ",
        "the facts say that the layer was redrawn headlessly, with which font file",
    ),
    failures=(*DOCUMENT_FAILURES, *LAYER_FAILURES, *EDIT_FAILURES, *SAVE_FAILURES, *TEXT_FAILURES),
)
