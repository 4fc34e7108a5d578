"""Replace the contents of an embedded smart object and draw its layer again.

How new contents fit: contents of the same size land on the same corners. Desktop Photoshop keeps the scale
when the size differs, so the layer grows or shrinks (loonghao/photoshop-python-api#174: "the size of it gets
way bigger"); Adobe's Photoshop API fits them into the place of the old ones and keeps their proportions
(AdobeDocs/photoshop-api-docs#52). A pipeline wants the second: contents of any size fill the placed quad when
their proportions are the same, and are otherwise fitted inside it, whole and centred, through the same
projection; the recorded quad is then the one that they really cover. Through a warp, other proportions are
refused: there the mesh has no inside to fit into.

Rules kept here: the linked item is cloned under a new uuid when other layers show it and the scope is one
layer; blocks are edited only if they could be written back unchanged; masks, effects, clipping and blending
are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fabric_dagster.errors import OperationFailed
from resources.photoshop.address import path_of
from resources.photoshop.arranging import new_box
from resources.photoshop.blockdiff import layer_keys
from resources.photoshop.contents import CREATORS, FILE_TYPES, Contents, decode
from resources.photoshop.layer_pixels import (
    described,
    pixel_blocks,
    quantised,
    refuse_locked,
    require_rgb,
    write_picture,
    write_pixels,
)
from resources.photoshop.masks import resize_mask
from resources.photoshop.raster import (
    Points,
    homography,
    place,
    project,
    rectangle,
    trimmed,
)
from resources.photoshop.reproduction import error_of, original, prove
from resources.photoshop.smartobjects import (
    Link,
    Placement,
    links,
    not_rewritable,
    placement,
    prove_rewritable,
    write_links,
)
from resources.photoshop.warp import place_warped, scale_warp, warp_refusal

if TYPE_CHECKING:
    from resources.photoshop.document import Document, Layer
    from resources.photoshop.psd.limits import Limits

#: contents whose proportions differ by less than half a pixel fill the quad
HALF_PIXEL: Final = 0.5
AFFINE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Target:
    """One layer that will show the new contents."""

    layer: Layer
    placed: Placement


def replace_contents(
    document: Document,
    layer: Layer,
    data: bytes,
    name: str,
    *,
    shared: bool,
    uuid: str,
    limits: Limits,
    unproven: bool = False,
) -> tuple[list[str], dict[str, Any]]:
    """Put ``data`` into the smart object of ``layer``; ``uuid`` names the item if it must be cloned.

    ``unproven`` allows it also where the present contents can't be drawn as Photoshop drew them.
    Returns the block patterns that may differ now, and facts. Raises the capability's failures; the
    document is untouched then.
    """
    header = document.container.header
    require_rgb(document)
    linked = links(document.container)
    first = target_of(layer, linked)
    link = linked[first.placed.uuid]
    users = [
        other
        for other in document.walk()
        if other.kind == "smart_object" and _shows(other, first.placed.uuid)
    ]
    targets = [target_of(user, linked) for user in users] if shared else [first]
    contents = decode(data, name, document.icc, limits)
    prove_rewritable(link.block.data, link.items.tobytes(), "the linked files", path_of(layer))
    errors = [
        error_of(document, target.layer, target.placed, link, limits)
        if unproven
        else prove(document, target.layer, target.placed, link, limits)
        for target in targets
    ]
    drawn = [_draw(target, contents, header.depth) for target in targets]
    cloned = not shared and len(users) > 1
    for target, picture in zip(targets, drawn, strict=True):
        write_pixels(target.layer.record, picture.samples, picture.left, picture.top, header.version)
        _put_placement(target, picture.quad, contents.size, uuid if cloned else None)
    _put_contents(link, contents, uuid if cloned else None)
    names = layer_keys(document.container.layer_info.layers) if document.container.layer_info else []
    meant = [f"global/{link.block.key.decode('latin-1').strip()}*"]
    for target in targets:
        key = names[target.layer.index]
        meant += [f"layer/{key}/block/SoL[dE]", f"layer/{key}/block/PlLd", *pixel_blocks(key)]
    facts = {
        "layers": [target.layer.id for target in targets],
        "contents": {
            "name": name,
            "format": contents.format,
            "width": contents.size[0],
            "height": contents.size[1],
        },
        "uuid": uuid if cloned else first.placed.uuid,
        "cloned": cloned,
        "shared_by": len(users),
        # What drawing the contents that were there came to, of 255: how far the new ones may be off.
        "original_error": ["unknown" if error is None else f"{error:.3f}" for error in errors],
    }
    return meant, facts


def _shows(layer: Layer, uuid: str) -> bool:
    placed = placement(layer.record)
    return placed is not None and placed.uuid == uuid


def target_of(layer: Layer, linked: dict[str, Link]) -> Target:
    """The layer as one whose contents can be replaced, or the refusal by name."""
    placed = placement(layer.record) if layer.kind == "smart_object" else None
    path = path_of(layer)

    def refuse(code: str, what: str, mend: str) -> OperationFailed:
        return OperationFailed(f"photoshop.{code}", what, where=f"layer {path!r} (id {layer.id})", mend=mend)

    if placed is None:
        raise refuse(
            "not_a_smart_object",
            f"this is a {layer.kind.replace('_', ' ')} layer, not a smart object with placement data",
            "address a smart-object layer",
        )
    refuse_locked(layer, "pixels")
    if placed.filtered:
        raise refuse("smart_filters", "it carries smart filters, which can't be drawn here", "rasterise them")
    link = linked.get(placed.uuid)
    if link is None or (link.kind == "embedded" and not link.item.data):
        raise refuse("link_missing", "its contents are not in the file", "place it again in Photoshop")
    if link.kind != "embedded":
        raise refuse(
            "linked_object", f"its contents are the outside file {link.name!r}", "embed it in Photoshop"
        )
    if link.format in {"svg", "pdf", "ai", "eps"}:
        raise refuse(
            "contents_format",
            f"it holds {link.format.upper()} artwork, which pixels can't replace faithfully",
            "place a PNG, PSD or PSB in the template",
        )
    why = warp_refusal(placed.warp)
    if why:
        raise refuse("warp_unsupported", why, "use a custom warp, or none")
    if len(placed.quad) != 4 or not all(placed.size):  # noqa: PLR2004 - corners
        raise refuse("quad_unsupported", "it records no placement", "place it again in Photoshop")
    return Target(layer, placed)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A layer's new raster: straight samples, position, and the quad that it covers."""

    samples: np.ndarray
    left: int
    top: int
    quad: Points


def fitted_quad(quad: Points, old: tuple[float, float], new: tuple[int, int]) -> Points:
    """Where contents of size ``new`` go, within the ``quad`` that holds contents of size ``old``."""
    scale = min(old[0] / new[0], old[1] / new[1])
    width, height = new[0] * scale, new[1] * scale
    if abs(width - old[0]) < HALF_PIXEL and abs(height - old[1]) < HALF_PIXEL:
        return quad
    left, top = (old[0] - width) / 2, (old[1] - height) / 2
    matrix = homography(rectangle(0, 0, *old), quad)
    return project(matrix, rectangle(left, top, left + width, top + height))


def _draw(target: Target, contents: Contents, depth: int) -> Drawn:
    placed = target.placed
    quad: Points = np.asarray(placed.quad, float)
    if placed.warp is not None:
        across, down = placed.size[0] / contents.size[0], placed.size[1] / contents.size[1]
        if abs(across / down - 1) * max(contents.size) > HALF_PIXEL * 2:
            raise OperationFailed(
                "photoshop.warp_aspect",
                f"contents of {contents.size[0]} x {contents.size[1]} have other proportions than the warped "
                f"ones of {placed.size[0]:g} x {placed.size[1]:g}",
                where=f"layer {path_of(target.layer)!r} (id {target.layer.id})",
                mend="give contents of the same proportions",
            )
        picture, left, top = place_warped(contents.picture, quad, placed.warp, placed.size)
    else:
        quad = fitted_quad(quad, placed.size, contents.size)
        picture, left, top = place(contents.picture, quad)
    picture, left, top = trimmed(picture, left, top, depth)
    return Drawn(quantised(picture, depth), left, top, quad)


def _put_placement(target: Target, quad: Points, size: tuple[int, int], uuid: str | None) -> None:
    """Write size, quad, warp and uuid into ``SoLd`` and its older twin ``PlLd``, where they change."""
    placed, where = target.placed, path_of(target.layer)
    moved = not np.array_equal(quad, np.asarray(placed.quad, float))
    scale = size[0] / placed.size[0], size[1] / placed.size[1]
    if not (moved or scale != (1, 1) or uuid):
        return
    prove_rewritable(placed.block.data, placed.data.tobytes(), "the smart object", where)
    data = placed.data.data
    if uuid:
        data[b"Idnt"].value = uuid + "\0"
    data[b"Sz  "][b"Wdth"].value, data[b"Sz  "][b"Hght"].value = map(float, size)
    for key in (b"warp", b"quiltWarp"):
        if key in data:
            scale_warp(data[key], *scale)
    if moved:
        _write_corners(data, quad)
    placed.block.replace(placed.data.tobytes())
    _put_older(target, quad if moved else None, scale, uuid)


def _put_older(target: Target, quad: Points | None, scale: tuple[float, float], uuid: str | None) -> None:
    """The same in ``PlLd``, which older readers use."""
    from psd_tools.psd.tagged_blocks import PlacedLayerData

    block = target.layer.record.block(b"PlLd")
    if block is None:
        return
    try:
        older: Any = PlacedLayerData.frombytes(block.data)
        written = older.tobytes()
    except Exception as fault:  # a hostile descriptor raises anything
        raise not_rewritable("the older smart object block", path_of(target.layer)) from fault
    prove_rewritable(block.data, written, "the older smart object block", path_of(target.layer))
    if uuid:
        older.uuid = uuid.encode("ascii")
    scale_warp(older.warp, *scale)
    if quad is not None:
        older.transform = tuple(quad.reshape(-1).tolist())
    block.replace(older.tobytes())


def _write_corners(data: Any, quad: Points) -> None:  # noqa: ANN401 - a psd-tools descriptor
    """The real quad, and its affine part: itself, or the box around it."""
    affine = float(np.abs(quad[0] + quad[2] - quad[1] - quad[3]).max()) < AFFINE
    (left, top), (right, bottom) = quad.min(axis=0), quad.max(axis=0)
    around = quad if affine else rectangle(left, top, right, bottom)
    for key, corners in ((b"nonAffineTransform", quad), (b"Trnf", around)):
        if key in data:
            for item, value in zip(data[key], corners.reshape(-1).tolist(), strict=True):
                item.value = value


def _put_contents(link: Link, contents: Contents, uuid: str | None) -> None:
    """Change the linked item in place, or add a changed clone under ``uuid``."""
    import copy

    item = link.item
    if uuid:
        item = copy.deepcopy(item)
        item.uuid = uuid
        link.items.append(item)
    item.data = contents.data
    item.filename = contents.name + "\0"
    item.filetype = FILE_TYPES[contents.format]
    item.creator = CREATORS[contents.format]
    write_links(link)


def resize_smart_object(
    document: Document, layer: Layer, args: dict[str, Any], limits: Limits
) -> tuple[list[str], dict[str, Any]]:
    """Draw the layer's own contents again through its quad, scaled to the rectangle that ``args`` ask for.

    Raises the failures of ``photoshop.resize_layer@1``; the document is untouched then.
    """
    require_rgb(document)
    refuse_locked(layer, "pixels", "position")
    linked = links(document.container)
    target = target_of(layer, linked)
    link, placed = linked[target.placed.uuid], target.placed
    box, old = new_box(layer, args), layer.bounds
    error = prove(document, layer, placed, link, limits)
    contents = original(link, document, limits)
    if contents is None:  # proven just now
        raise not_rewritable("the smart object", described(layer))
    quad: Points = np.asarray(placed.quad, float)
    scale = (box[2] - box[0]) / (old[2] - old[0]), (box[3] - box[1]) / (old[3] - old[1])
    quad = (quad - old[:2]) * scale + box[:2]
    if placed.warp is not None:
        picture, left, top = place_warped(contents, quad, placed.warp, placed.size)
    else:
        picture, left, top = place(contents, quad)
    header = document.container.header
    write_picture(layer.record, picture, left, top, header)
    size = round(placed.size[0]), round(placed.size[1])
    _put_placement(target, quad, size, None)
    names = layer_keys(document.container.layer_info.layers) if document.container.layer_info else []
    key = names[layer.index]
    meant = [f"layer/{key}/block/SoL[dE]", f"layer/{key}/block/PlLd", *pixel_blocks(key)]
    meant += resize_mask(layer, key, header, old, box)
    sides = dict(zip(("left", "top", "right", "bottom"), layer.bounds, strict=True))
    return meant, {"bounds": sides, "original_error": f"{error:.3f}"}
