"""What several validators derive from the evidence, each once per verdict: documents, export, expectation."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import cv2
import numpy as np

from fabric_dagster.validators.base import Params
from fabric_dagster.validators.kernels import expectation as drawing
from fabric_dagster.validators.kernels import pictures, png
from fabric_dagster.validators.kernels.document import PsdDocument, contents_size, open_document, quad_of
from fabric_dagster.validators.kernels.frame import Frame, frame_of, framed, read_preset
from fabric_dagster.validators.kernels.project import Tree, read_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fabric_dagster.capabilities.photoshop_shared import ExportPreset
    from fabric_dagster.contracts.ticket import TicketFile
    from fabric_dagster.validators.kernels.document import Quad
    from fabric_dagster.validators.kernels.pictures import Picture
    from fabric_dagster.validators.view import Actual, EvidenceView

Value = TypeVar("Value")


class PictureNames(Params):
    """Where the picture's parts are found; a graph with other names gives them in the pack's ``checks``."""

    #: the ticket's input that is the art; by default its only picture.
    art: str | None = None
    #: decided values: the layer that takes the art, and the export preset.
    layer: str = "art_layer"
    preset: str = "preset"
    #: artifact names; by default the last ``*.png`` and the last ``*.document``.
    export: str | None = None
    document: str | None = None


class ProjectNames(PictureNames):
    """Where the project's parts are found."""

    #: decided values: the picture's path, the importer profile, the asset that refers to the picture.
    destination: str = "destination"
    profile: str = "profile"
    asset: str = "offer_asset"
    #: decided paths of assets that the run creates, ``asset`` among them where it is new.
    created: tuple[str, ...] = ()
    #: decided paths of further assets that the run edits → the properties that may change.
    edited: dict[str, tuple[str, ...]] = {}  # noqa: RUF012 - pydantic copies defaults


@dataclass(frozen=True)
class Expected:
    """The export as it should be, and what of it is not the art; straight RGBA, sRGB unless embedded."""

    picture: Picture
    without_art: Picture
    frame: Frame
    preset: ExportPreset
    #: the art's corners on the canvas
    quad: Quad

    @property
    def border(self) -> NDArray[np.bool_]:
        """The pixels on the outline of the art's placement: there every renderer softens its own way."""
        corners = np.asarray([self.frame.point(x, y) for x, y in self.quad]) - 0.5
        mask = np.zeros((self.frame.size[1], self.frame.size[0]), np.uint8)
        points = np.round(corners * (1 << FRACTION)).astype(np.int32)
        cv2.polylines(mask, [points], isClosed=True, color=1, thickness=BORDER, shift=FRACTION)
        return mask.astype(bool)


#: what follows from bytes alone, by their digests: the next ticket has the same template
_KEPT: OrderedDict[tuple[str, ...], Any] = OrderedDict()
MOST_KEPT = 12
#: width in pixels of the outline that is not compared, and bits of a corner's fraction
BORDER, FRACTION = 3, 4


def _kept(key: tuple[str, ...], make: Callable[[], Value]) -> Value:
    if key in _KEPT:
        _KEPT.move_to_end(key)
    else:
        _KEPT[key] = make()
        if len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
    return cast("Value", _KEPT[key])


def template_document(view: EvidenceView) -> PsdDocument:
    """The source template."""
    actual = view.template()
    return _kept(("template", actual.name, actual.digest), lambda: open_document(actual))


def copied_document(view: EvidenceView, names: PictureNames) -> PsdDocument:
    """The edited copy."""
    actual = view.artifact(("document",), names.document)
    return view.once(f"document:{actual.name}", lambda: open_document(actual))


def exported(view: EvidenceView, names: PictureNames) -> Actual:
    """The exported PNG: the artifact itself, or the sealed one where the evidence holds that too."""
    return view.artifact(("png", "artifact"), names.export)


def pixels_of(view: EvidenceView, actual: Actual) -> Picture:
    """A PNG's pixels in 0…1."""
    return view.once(
        f"pixels:{actual.digest}", lambda: pictures.as_float(png.decode(actual.data, actual.name))
    )


def preset_of(view: EvidenceView, names: PictureNames) -> ExportPreset:
    """The decided export preset."""
    return read_preset(view.decided(names.preset), names.preset)


def expected_export(view: EvidenceView, names: PictureNames) -> Expected:
    """The expectation: the ticket's art in the source template, exported; by the simple renderer."""
    key = json.dumps([names.art, names.layer, names.preset])
    return view.once(f"expected:{key}", lambda: _expected(view, names))


def project_tree(view: EvidenceView) -> Tree:
    """The project as it is now."""
    return view.once("tree", lambda: read_tree(view.project))


def _expected(view: EvidenceView, names: PictureNames) -> Expected:
    template = template_document(view)
    source, (fact, data) = view.template().digest, view.art(names.art)
    address, preset = address_of(view.decided(names.layer)), preset_of(view, names)
    drawn = (source, json.dumps(address, sort_keys=True), preset.model_dump_json())
    bare = _kept(("bare", *drawn), lambda: _bare(template, address, preset))
    return _kept(
        ("expected", *drawn, data.digest), lambda: _drawn(template, address, preset, fact, data, bare)
    )


def _bare(template: PsdDocument, address: dict[str, Any], preset: ExportPreset) -> Picture:
    """The template with nothing in the art's layer."""
    return _shown(template, {template.layer(address).layer_id: drawing.NOTHING}, preset)


def _drawn(
    template: PsdDocument,
    address: dict[str, Any],
    preset: ExportPreset,
    fact: TicketFile,
    data: Actual,
    bare: Picture,
) -> Expected:
    layer = template.layer(address)
    art = drawing.art_picture(fact, data.data, template.icc)
    size = (art.shape[1], art.shape[0])
    quad = drawing.fitted(quad_of(layer, template.where), contents_size(layer), size)
    placed = drawing.through_quad(art, quad, *template.size)
    whole = _shown(template, {layer.layer_id: placed}, preset)
    frame = frame_of(preset, whole)
    return Expected(framed(whole, frame), framed(bare, frame), frame, preset, quad)


def _shown(template: PsdDocument, replaced: dict[int, drawing.Patch], preset: ExportPreset) -> Picture:
    straight = pictures.straight(drawing.render(template, replaced))
    if preset.profile == "srgb":
        straight[..., :3] = drawing.converted(straight[..., :3], template.icc, None, template.where)
    return straight


def address_of(value: Any) -> dict[str, Any]:  # noqa: ANN401 - a decided layer
    """A decided layer as an address."""
    return dict(value) if isinstance(value, dict) else {"path": str(value)}
