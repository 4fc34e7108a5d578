"""The expectation picture: the ticket's art in the template, drawn by a renderer of its own, simpler one.

Independent of the Photoshop hands on purpose: it takes the template's stored layer rasters, draws the art
through the smart object's quad by one supersampled homography, blends plainly, and converts colours.

Rules kept here:

* What it cannot draw (effects, adjustments, warps, other blend modes) makes the expectation unjudgeable;
  it never guesses.
* Pictures here are premultiplied ``(h, w, 4)`` float32 in the document's colour space until the end.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from fabric_dagster.validators.base import Unjudgeable
from fabric_dagster.validators.kernels import document as documents
from fabric_dagster.validators.kernels import pictures, png

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fabric_dagster.contracts.ticket import TicketFile
    from fabric_dagster.validators.kernels.document import PsdDocument, Quad
    from fabric_dagster.validators.kernels.pictures import Picture

SUPERSAMPLES = 3
#: pixels of the contents on either side below which proportions count as the same
SAME_PROPORTIONS = 0.25
LARGEST_SIDE = 16_000
HALF = 0.5

#: blend mode → f(below, above) on straight colours; the commonest two are in ``_blend`` itself
BLENDS: dict[str, Callable[[Any, Any], Any]] = {
    "MULTIPLY": lambda below, above: below * above,
    "DARKEN": np.minimum,
    "LIGHTEN": np.maximum,
    "LINEAR_DODGE": lambda below, above: np.minimum(below + above, 1),
    "OVERLAY": lambda below, above: np.where(
        below <= HALF,
        2 * below * above,
        1 - 2 * (1 - below) * (1 - above),
    ),
}


@dataclass(frozen=True)
class Patch:
    """A premultiplied picture and the document position of its top left pixel."""

    picture: Picture
    left: int
    top: int


NOTHING = Patch(np.zeros((0, 0, 4), np.float32), 0, 0)


class _Renderer:
    def __init__(self, document: PsdDocument, replaced: Mapping[int, Patch]) -> None:
        self.document = document
        self.replaced = replaced
        self.width, self.height = document.size

    def draw(self, layers: Any, canvas: Picture) -> None:  # noqa: ANN401 - psd_tools layers, bottom to top
        stack = list(layers)
        at = 0
        while at < len(stack):
            base, clipped = stack[at], []
            at += 1
            while at < len(stack) and stack[at].clipping:
                clipped.append(stack[at])
                at += 1
            if not base.visible:
                continue
            through = base.is_group() and base.blend_mode.name == "PASS_THROUGH"
            if through and base.opacity == 255 and not clipped and base.mask is None:  # noqa: PLR2004 - full
                self._effects(base)
                self.draw(base, canvas)
                continue
            patch = self._alone(base)
            if clipped:
                patch = Patch(patch.picture.copy(), patch.left, patch.top)
            for layer in clipped:
                if layer.visible:
                    self._clip(patch, layer)
            self._blend(canvas, patch, base)

    def _alone(self, layer: Any) -> Patch:  # noqa: ANN401 - a psd_tools layer
        """One layer or group by itself, with its mask, without its opacity."""
        self._effects(layer)
        if layer.is_group():
            canvas = np.zeros((self.height, self.width, 4), np.float32)
            self.draw(layer, canvas)
            patch = Patch(canvas, 0, 0)
        else:
            patch = self._raster(layer)
        mask = self._mask(layer, patch)
        return patch if mask is None else Patch(patch.picture * mask, patch.left, patch.top)

    def _raster(self, layer: Any) -> Patch:  # noqa: ANN401 - a psd_tools layer
        if layer.layer_id in self.replaced:
            return self.replaced[layer.layer_id]
        key = layer._record  # noqa: SLF001 - the identity of a layer within its document
        if (known := self.document.rasters.get(id(key))) is None:
            known = self.document.rasters[id(key)] = self._decoded(layer)
        return known

    def _decoded(self, layer: Any) -> Patch:  # noqa: ANN401 - a psd_tools layer
        if layer.kind not in {"pixel", "type", "smartobject", "shape"}:
            raise self._undrawn(layer, f"a {layer.kind} layer")
        stored = documents.decoded(layer.numpy, self.document.where)
        if stored is None or not stored.size:
            if layer.kind == "shape":
                raise self._undrawn(layer, "a shape without pixels")
            return NOTHING
        if stored.shape[2] == 3:  # noqa: PLR2004 - no transparency
            stored = np.concatenate([stored, np.ones((*stored.shape[:2], 1), np.float32)], axis=-1)
        return Patch(pictures.multiplied(np.asarray(stored, np.float32)), layer.left, layer.top)

    def _mask(self, layer: Any, patch: Patch) -> Picture | None:  # noqa: ANN401 - a psd_tools layer
        """The layer's mask over the patch, or ``None``."""
        if layer.has_vector_mask() and layer.kind != "shape":
            raise self._undrawn(layer, "a vector mask")
        mask = layer.mask
        if mask is None or mask.disabled:
            return None
        plane = np.full((*patch.picture.shape[:2], 1), mask.background_color / 255, np.float32)
        stored = documents.decoded(lambda: layer.numpy("mask", real_mask=False), self.document.where)
        if stored is not None and stored.size:
            place(
                plane, np.asarray(stored[..., :1], np.float32), mask.left - patch.left, mask.top - patch.top
            )
        return plane

    def _clip(self, base: Patch, layer: Any) -> None:  # noqa: ANN401 - a psd_tools layer
        """Blend ``layer`` onto ``base`` where that is, in place."""
        alpha = base.picture[..., 3:].copy()
        solid = np.concatenate([pictures.straight(base.picture)[..., :3], np.ones_like(alpha)], axis=-1)
        above = self._alone(layer)
        shifted = Patch(above.picture, above.left - base.left, above.top - base.top)
        self._blend(solid, shifted, layer)
        base.picture[...] = solid * alpha
        base.picture[..., 3:] = alpha

    def _blend(self, canvas: Picture, patch: Patch, layer: Any) -> None:  # noqa: ANN401 - a psd_tools layer
        """Blend ``patch`` onto the premultiplied ``canvas`` in place (W3C Compositing, formula 5.4)."""
        mode = "NORMAL" if layer.blend_mode.name == "PASS_THROUGH" else layer.blend_mode.name
        if mode not in {"NORMAL", "SCREEN", *BLENDS}:
            raise self._undrawn(layer, f"the blend mode {mode.lower()}")
        cut = cropped(patch, canvas.shape[1], canvas.shape[0])
        high, wide = cut.picture.shape[:2]
        if not high or not wide:
            return
        below = canvas[cut.top : cut.top + high, cut.left : cut.left + wide]
        share = (layer.opacity / 255) * fill_of(layer)
        above = cut.picture if share == 1 else cut.picture * np.float32(share)
        alpha = above[..., 3:]
        if mode == "NORMAL":
            below *= 1 - alpha
            below += above
            return
        if mode == "SCREEN":
            below += above * (1 - below)
            return
        under = below[..., 3:]
        mixed = BLENDS[mode](pictures.straight(below)[..., :3], pictures.straight(above)[..., :3])
        colour = (1 - under) * above[..., :3] + (1 - alpha) * below[..., :3] + alpha * under * mixed
        below[..., 3:] = alpha + under * (1 - alpha)
        below[..., :3] = colour

    def _effects(self, layer: Any) -> None:  # noqa: ANN401 - a psd_tools layer
        if documents.shows_effects(layer):
            raise self._undrawn(layer, "layer effects")
        if layer.kind == "artboard":
            raise self._undrawn(layer, "an artboard")

    def _undrawn(self, layer: Any, what: str) -> Unjudgeable:  # noqa: ANN401 - a psd_tools layer
        where = f"{self.document.where}: {documents.label(layer)}"
        return Unjudgeable("what the simple renderer draws", what, where)


def fill_of(layer: Any) -> float:  # noqa: ANN401 - a psd_tools layer
    """Fill opacity in 0…1."""
    return float(getattr(layer, "fill_opacity", 255)) / 255


def render(document: PsdDocument, replaced: Mapping[int, Patch] | None = None) -> Picture:
    """``document`` drawn: premultiplied, in its own colours.

    ``replaced`` maps layer ids to what stands in for their rasters; ``NOTHING`` leaves one out.
    """
    if document.image.color_mode.name != "RGB":
        raise Unjudgeable("an RGB document", document.form, document.where)
    if not len(document.image):
        return pictures.multiplied(document.merged())
    renderer = _Renderer(document, replaced or {})
    canvas = np.zeros((renderer.height, renderer.width, 4), np.float32)
    renderer.draw(document.image, canvas)
    return canvas


def fitted(quad: Quad, old: tuple[float, float] | None, new: tuple[int, int]) -> Quad:
    """Where contents of size ``new`` belong in a quad that held contents of size ``old``.

    They fill it where the proportions are the same, else they lie in it whole and centred, seen through the
    same projection.
    """
    if old is None:
        return quad
    scale = min(old[0] / new[0], old[1] / new[1])
    inset = ((old[0] - new[0] * scale) / 2, (old[1] - new[1] * scale) / 2)
    if max(inset) < SAME_PROPORTIONS:
        return quad
    corners = [(0.0, 0.0), (old[0], 0.0), old, (0.0, old[1])]
    matrix = cv2.getPerspectiveTransform(np.asarray(corners, np.float32), np.asarray(quad, np.float32))
    left, top = inset
    inner = [(left, top), (old[0] - left, top), (old[0] - left, old[1] - top), (left, old[1] - top)]
    mapped = cv2.perspectiveTransform(np.asarray([inner], np.float64), matrix)[0]
    return tuple((float(x), float(y)) for x, y in mapped)


def through_quad(art: Picture, quad: Quad, width: int, height: int) -> Patch:
    """Premultiplied ``art`` drawn through ``quad`` of a document: one homography, supersampled."""
    corners = np.asarray(quad, np.float32)
    left, top = (int(value) - 1 for value in np.floor(corners.min(axis=0)))
    right, bottom = (int(value) + 1 for value in np.ceil(corners.max(axis=0)))
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    if right <= left or bottom <= top:
        return NOTHING
    sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1) * SUPERSAMPLES
    wide = max(1, min(art.shape[1], round(float(max(sides[0], sides[2])))))
    high = max(1, min(art.shape[0], round(float(max(sides[1], sides[3])))))
    source = (
        art if art.shape[:2] == (high, wide) else cv2.resize(art, (wide, high), interpolation=cv2.INTER_AREA)
    )
    # Half a pixel: corners are pixel edges, cv2 counts pixel centres.
    source_corners = np.asarray([(0, 0), (wide, 0), (wide, high), (0, high)], np.float32) - np.float32(0.5)
    target_corners = (corners - np.asarray([left, top], np.float32)) * SUPERSAMPLES - np.float32(0.5)
    matrix = cv2.getPerspectiveTransform(source_corners, target_corners)
    size = ((right - left) * SUPERSAMPLES, (bottom - top) * SUPERSAMPLES)
    if max(size) > LARGEST_SIDE:
        raise Unjudgeable(f"a placement of at most {LARGEST_SIDE // SUPERSAMPLES} pixels", str(size), "quad")
    drawn = cv2.warpPerspective(source, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_CONSTANT)
    picture = cv2.resize(drawn, (right - left, bottom - top), interpolation=cv2.INTER_AREA)
    # A cubic overshoots at edges: no colour beyond its alpha, no alpha beyond one.
    alpha = np.clip(picture[..., 3:], 0, 1)
    colours = np.clip(picture[..., :3], 0, alpha)
    return Patch(np.concatenate([colours, alpha], axis=-1, dtype=np.float32), left, top)


def cropped(patch: Patch, width: int, height: int) -> Patch:
    """What of ``patch`` lies on a canvas of this size."""
    x0, y0 = max(patch.left, 0), max(patch.top, 0)
    x1 = max(x0, min(patch.left + patch.picture.shape[1], width))
    y1 = max(y0, min(patch.top + patch.picture.shape[0], height))
    return Patch(patch.picture[y0 - patch.top : y1 - patch.top, x0 - patch.left : x1 - patch.left], x0, y0)


def place(canvas: Picture, picture: Picture, left: int, top: int) -> None:
    """Copy ``picture`` to ``(left, top)`` of ``canvas``, cropped to it."""
    cut = cropped(Patch(picture, left, top), canvas.shape[1], canvas.shape[0])
    high, wide = cut.picture.shape[:2]
    if high and wide:
        canvas[cut.top : cut.top + high, cut.left : cut.left + wide] = cut.picture


def art_picture(fact: TicketFile, data: bytes, target: bytes | None) -> Picture:
    """The ticket's art, premultiplied, in the colours of the profile ``target`` (``None``: sRGB)."""
    where = f"ticket {fact.path}"
    if fact.format == "png":
        straight = pictures.as_float(png.decode(data, where))
        icc = png.profile(png.examine(data))
    else:
        document = documents.PsdDocument(data, where)
        straight, icc = _shown(document), document.icc
    straight[..., :3] = converted(straight[..., :3], icc, target, where)
    return pictures.multiplied(straight)


def _shown(document: PsdDocument) -> Picture:
    """What a PSD shows: its layers or, where these cannot be drawn here, the merged image beside them."""
    try:
        return pictures.straight(render(document))
    except Unjudgeable:
        return document.merged()


def converted(
    rgb: NDArray[np.float32], source: bytes | None, target: bytes | None, where: str
) -> NDArray[np.float32]:
    """Straight RGB from one profile to another, relative colorimetric with black point compensation."""
    from PIL import Image

    if source == target or (is_srgb(source) and is_srgb(target)):
        return rgb
    transform = _transform(source, target, where)
    return pictures.as_float(np.asarray(transform.apply(Image.fromarray(pictures.as_bytes(rgb)))))


@lru_cache(maxsize=64)
def is_srgb(icc: bytes | None) -> bool:
    """Whether a profile is sRGB by its name; an absent one counts as sRGB."""
    from PIL import ImageCms

    if icc is None:
        return True
    try:
        name = ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(icc)))
    except (OSError, ImageCms.PyCMSError, ValueError):
        return False
    return name.strip().lower().startswith("srgb") and "linear" not in name.lower()


@lru_cache(maxsize=16)
def _transform(source: bytes | None, target: bytes | None, where: str) -> Any:  # noqa: ANN401 - an ImageCms transform
    from PIL import ImageCms

    try:
        one, other = [
            ImageCms.ImageCmsProfile(io.BytesIO(icc) if icc is not None else ImageCms.createProfile("sRGB"))
            for icc in (source, target)
        ]
        return ImageCms.buildTransform(
            one,
            other,
            "RGB",
            "RGB",
            renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION,
        )
    except (OSError, ImageCms.PyCMSError, ValueError) as fault:
        raise Unjudgeable("readable RGB colour profiles", str(fault), where) from fault
