"""What several Photoshop capabilities declare in common: layer addresses, export presets, failure codes."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field, model_validator

from fabric_dagster.capabilities.base import FailureCode
from fabric_dagster.contracts.base import Contract

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_SIDE: Final = 30_000


class LayerAddress(Contract):
    r"""One layer, by ``path`` or by ``id``.

    A path is names from the top level down, joined by ``/``; ``\/`` is a slash within a name and ``\\`` a
    backslash. A path that several layers fit is refused with their ids.
    """

    path: str | None = Field(default=None, min_length=1, max_length=4096)
    id: int | None = Field(default=None, ge=0, le=2**32 - 1)

    @model_validator(mode="after")
    def _one_of_both(self) -> LayerAddress:
        if (self.path is None) == (self.id is None):
            msg = "give either a path or an id"
            raise ValueError(msg)
        return self


class ExportPreset(Contract):
    """An export, as data. All lengths are pixels of the exported picture.

    ``area``: the whole canvas, cut to what is not transparent, or one artboard's rectangle (the layer that
    the export names, or the only artboard). Size, in one of three ways or none: ``longest`` side, an exact
    ``width`` and ``height`` (the picture fits inside, centred, never stretched), or ``percent``.
    ``padding``: transparent pixels on every side, within an exact size. ``multiple`` and ``power_of_two``:
    sides are rounded up, transparent. ``depth``: bits a channel, 8, 16, or those of the document; 16 are
    drawn at 16 throughout or refused. ``profile``: convert to sRGB, or keep the document's colours and
    embed its profile. ``broken_profile``: refuse a document whose ICC profile can't be read, or take its
    colours as sRGB.
    """

    area: Literal["canvas", "content", "artboard"] = "canvas"
    longest: int | None = Field(default=None, ge=1, le=MAX_SIDE)
    width: int | None = Field(default=None, ge=1, le=MAX_SIDE)
    height: int | None = Field(default=None, ge=1, le=MAX_SIDE)
    percent: int | None = Field(default=None, ge=1, le=1000)
    padding: int = Field(default=0, ge=0, le=4096)
    multiple: int = Field(default=1, ge=1, le=64)
    power_of_two: bool = False
    depth: Literal[8, 16, "document"] = 8
    profile: Literal["srgb", "embed"] = "srgb"
    broken_profile: Literal["refuse", "srgb"] = "refuse"

    @model_validator(mode="after")
    def _one_size(self) -> ExportPreset:
        exact = self.width is not None or self.height is not None
        if sum((self.longest is not None, exact, self.percent is not None)) > 1:
            msg = "give longest, or width and height, or percent"
            raise ValueError(msg)
        if (self.width is None) != (self.height is None):
            msg = "give width and height together"
            raise ValueError(msg)
        if exact and 2 * self.padding >= min(self.width or 0, self.height or 0):
            msg = "the padding leaves no room in this size"
            raise ValueError(msg)
        return self


#: the presets that a plan may name
PRESETS: Final[Mapping[str, ExportPreset]] = MappingProxyType(
    {
        "canvas": ExportPreset(),
        "canvas_16": ExportPreset(depth=16),
        "content": ExportPreset(area="content"),
        "artboard": ExportPreset(area="artboard"),
        "half": ExportPreset(percent=50),
        "double": ExportPreset(percent=200),
        "icon_512": ExportPreset(width=512, height=512),
        "icon_256": ExportPreset(width=256, height=256),
        "icon_128": ExportPreset(width=128, height=128),
        "sprite": ExportPreset(area="content", padding=2, multiple=4),
        "texture": ExportPreset(power_of_two=True),
    }
)

AGAIN: Final = "take an undamaged copy of the file, or save it again in Photoshop"

#: ways in which a running Photoshop may fail, whatever it is asked
LIVE_FAILURES: Final = (
    FailureCode("capability_unavailable", "pack", False, "use a provider that serves it"),
    FailureCode("photoshop.not_connected", "operator", True, "start Photoshop and connect the plugin"),
    FailureCode("photoshop.busy", "operator", True, "end what Photoshop is doing, then run it again"),
    FailureCode("photoshop.cancelled", "operator", False, "run it again and let it finish"),
    FailureCode("photoshop.host_failed", "operator", False, "look at Photoshop, then run it again"),
    FailureCode("photoshop.save_failed", "operator", True, "make room on the disk, then run it again"),
    FailureCode("photoshop.request_refused", "photoshop", False, "install the plugin of this version"),
    FailureCode("photoshop.result_differs", "photoshop", False, "report this: nothing was delivered"),
    FailureCode("photoshop.uncertain", "operator", False, "look at Photoshop, then resolve the request"),
)

#: ways in which every operation on a document may fail
DOCUMENT_FAILURES: Final = (
    *LIVE_FAILURES,
    FailureCode("psd.truncated", "operator", False, AGAIN),
    FailureCode("psd.not_a_psd", "operator", False, "give a PSD or PSB file"),
    FailureCode("psd.bad_version", "operator", False, AGAIN),
    FailureCode("psd.bad_channels", "operator", False, AGAIN),
    FailureCode("psd.bad_dimensions", "operator", False, AGAIN),
    FailureCode("psd.bad_depth", "operator", False, AGAIN),
    FailureCode("psd.bad_mode", "operator", False, AGAIN),
    FailureCode("psd.bad_resource", "operator", False, AGAIN),
    FailureCode("psd.bad_block", "operator", False, AGAIN),
    FailureCode("psd.bad_layer", "operator", False, AGAIN),
    FailureCode("psd.bad_rectangle", "operator", False, AGAIN),
    FailureCode("psd.bad_channel", "operator", False, AGAIN),
    FailureCode("psd.bad_compression", "operator", False, AGAIN),
    FailureCode("psd.bad_descriptor", "operator", False, AGAIN),
    FailureCode("psd.too_large", "operator", False, "use a smaller file or raise the limit"),
    FailureCode("psd.too_many_pixels", "operator", False, "use a smaller canvas or raise the limit"),
    FailureCode("psd.too_many_layers", "operator", False, "merge layers or raise the limit"),
    FailureCode("psd.nested_too_deep", "operator", False, "flatten nested groups"),
    FailureCode("photoshop.file_unavailable", "operator", True, "check the path and its permissions"),
    FailureCode("photoshop.time_limit", "operator", True, "raise the limit or use a smaller document"),
    FailureCode("photoshop.memory_limit", "operator", True, "raise the limit or use a smaller document"),
    FailureCode("photoshop.worker_died", "operator", True, "try once more; the document may be hostile"),
    FailureCode("photoshop.engine_failed", "operator", False, AGAIN),
    FailureCode("photoshop.output_twice", "pack", False, "give every result a name of its own"),
    FailureCode("photoshop.no_document", "pack", False, "open a duplicate before the first edit"),
    FailureCode("path.unsafe", "pack", False, "give plain relative paths under the delivery folder"),
    FailureCode("path.symlink", "operator", False, "replace the link by a real folder or file"),
    FailureCode("photoshop.source_changed", "operator", True, "let nobody save the template meanwhile"),
)

#: #rrggbb, in the document's own colours
COLOUR: Final = r"^#[0-9a-fA-F]{6}$"
_REMOVE_LOCK: Final = "unlock the layer in the template"

#: ways in which an operation on one layer may fail
LAYER_FAILURES: Final = (
    FailureCode("photoshop.layer_not_found", "pack", False, "correct the role map for this template"),
    FailureCode("photoshop.layer_ambiguous", "pack", False, "address the layer by its id"),
)

#: ways in which an edit of one layer may fail
EDIT_FAILURES: Final = (
    FailureCode("photoshop.layer_locked", "operator", False, _REMOVE_LOCK),
    FailureCode(
        "photoshop.layer_kind", "pack", False, "address a layer of a kind that this operation serves"
    ),
)

#: ways in which drawing text may fail
TEXT_FAILURES: Final = (
    FailureCode(
        "photoshop.font_missing", "operator", True, "put the font's file into the home's fonts folder"
    ),
    FailureCode(
        "photoshop.glyph_missing", "pack", True, "use characters that the layer's font has, or another font"
    ),
    FailureCode("photoshop.text_overflow", "pack", True, "shorten the text, or enlarge the layer's box"),
    FailureCode("photoshop.text_vertical", "operator", False, "set the layer's text horizontally"),
    FailureCode("photoshop.text_warped", "operator", False, "remove the warp of the layer's text"),
    FailureCode("photoshop.text_on_path", "operator", False, "use point or paragraph text"),
    FailureCode("photoshop.text_unreadable", "operator", False, "set the text once more in Photoshop"),
    FailureCode("photoshop.text_style", "operator", False, "use a plain fill for the layer's text"),
)

#: ways in which a save may fail
SAVE_FAILURES: Final = (
    FailureCode(
        "photoshop.unexpected_change", "photoshop", False, "report the template: nothing was written"
    ),
    FailureCode("photoshop.unsupported_mode", "pack", False, "use an RGB template of 8 or 16 bits"),
    FailureCode("photoshop.not_rewritable", "operator", False, AGAIN),
)

#: ways in which colours may refuse to convert
PROFILE_FAILURES: Final = (
    FailureCode("photoshop.profile_broken", "operator", False, "assign a valid profile in Photoshop"),
    FailureCode("photoshop.profile_unsupported", "operator", False, "convert the file to RGB in Photoshop"),
)
