"""``photoshop.export_png@1``: what the document shows, as a PNG."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import (
    DOCUMENT_FAILURES,
    LAYER_FAILURES,
    PROFILE_FAILURES,
    ExportPreset,
    LayerAddress,
)


class ExportPng(Arguments):
    """``preset`` is the name of a built-in preset or the preset itself; ``out`` a path in the delivery.

    ``layer``: one layer or group alone, with its clip base and effects; with the area ``artboard`` it is
    the artboard.
    """

    preset: str | ExportPreset = feed("preset", default="canvas")
    out: str = feed("relative_path", pattern=r"\.png$", max_length=240)
    layer: LayerAddress | None = feed("layer", default=None)


CAPABILITY = Capability(
    id="photoshop.export_png@1",
    application="photoshop",
    summary="Export what is visible as a PNG: straight alpha without fringes, sRGB, deterministic bytes.",
    arguments=ExportPng,
    outputs={"png": "png"},
    effects=frozenset({"photoshop.export.write"}),
    preconditions=("the document's ICC profile can be read, or the preset says what to do",),
    postconditions=(
        "the file decodes to the pixels that were written",
        "size and area are the preset's",
        "nothing hidden is in it",
    ),
    failures=(
        *DOCUMENT_FAILURES,
        *LAYER_FAILURES,
        *PROFILE_FAILURES,
        FailureCode("photoshop.preset_unknown", "pack", False, "name a built-in preset or give one inline"),
        FailureCode("photoshop.nothing_visible", "pack", False, "export something that is visible"),
        FailureCode("photoshop.unsupported_mode", "pack", False, "use a document that can be drawn"),
        FailureCode("photoshop.depth_unsupported", "pack", False, "export 8 bits"),
        FailureCode("photoshop.artboard_missing", "pack", False, "name an artboard, or export the canvas"),
        FailureCode("photoshop.export_mismatch", "photoshop", False, "report this: the export must be exact"),
    ),
)
