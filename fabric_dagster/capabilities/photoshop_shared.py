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
    """An export, as data.

    ``area``: the whole canvas, or cut to what is not transparent. Size, in one of three ways or none:
    ``longest`` side, an exact ``width`` and ``height`` (the picture fits inside, centred, never stretched),
    or ``percent``. ``padding``: transparent pixels on every side, within an exact size. ``multiple``: sides
    are rounded up to a multiple of it, transparent. ``profile``: convert to sRGB, or keep the document's
    colours and embed its profile. ``broken_profile``: refuse a document whose ICC profile can't be read, or
    take its colours as sRGB.
    """

    area: Literal["canvas", "content"] = "canvas"
    longest: int | None = Field(default=None, ge=1, le=MAX_SIDE)
    width: int | None = Field(default=None, ge=1, le=MAX_SIDE)
    height: int | None = Field(default=None, ge=1, le=MAX_SIDE)
    percent: int | None = Field(default=None, ge=1, le=1000)
    padding: int = Field(default=0, ge=0, le=4096)
    multiple: int = Field(default=1, ge=1, le=64)
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
        "content": ExportPreset(area="content"),
        "half": ExportPreset(percent=50),
        "double": ExportPreset(percent=200),
        "icon_512": ExportPreset(width=512, height=512),
        "icon_256": ExportPreset(width=256, height=256),
        "icon_128": ExportPreset(width=128, height=128),
        "sprite": ExportPreset(area="content", padding=2, multiple=4),
    }
)

AGAIN: Final = "take an undamaged copy of the file, or save it again in Photoshop"

#: ways in which every operation on a document may fail
DOCUMENT_FAILURES: Final = (
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

#: ways in which an operation on one layer may fail
LAYER_FAILURES: Final = (
    FailureCode("photoshop.layer_not_found", "pack", False, "correct the role map for this template"),
    FailureCode("photoshop.layer_ambiguous", "pack", False, "address the layer by its id"),
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
