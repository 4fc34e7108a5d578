"""``photoshop.set_visibility@1``: one layer's eye."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, feed
from fabric_dagster.capabilities.photoshop_shared import (
    DOCUMENT_FAILURES,
    LAYER_FAILURES,
    SAVE_FAILURES,
    LayerAddress,
)


class SetVisibility(Arguments):
    """Show or hide ``layer``."""

    layer: LayerAddress = feed("layer")
    visible: bool = feed("literal")


CAPABILITY = Capability(
    id="photoshop.set_visibility@1",
    application="photoshop",
    summary="Show or hide a layer or group; the previews follow.",
    arguments=SetVisibility,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("the document is RGB or gray of 8 or 16 bits",),
    postconditions=("only the layer's flag and the previews differ",),
    failures=(*DOCUMENT_FAILURES, *LAYER_FAILURES, *SAVE_FAILURES),
)
