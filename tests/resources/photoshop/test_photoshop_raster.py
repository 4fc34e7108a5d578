"""Smart objects are drawn where an independent renderer draws them, and as Photoshop drew them."""

from __future__ import annotations

import contextlib
import statistics

import cv2
import numpy as np
import pytest
from photoshop_builders import CORPUS, corpus_entries, is_broken, layer_pixels

from fabric_dagster.errors import InvalidDocument, OperationFailed
from resources.photoshop import colour
from resources.photoshop.contents import raster_picture
from resources.photoshop.document import build
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.raster import (
    coverage,
    place,
    premultiplied,
    rectangle,
    straightened,
    trimmed,
)
from resources.photoshop.replace import fitted_quad
from resources.photoshop.smartobjects import links, placement
from resources.photoshop.warp import mesh_of, place_warped, warp_refusal

QUADS = {
    "turned": [[30, 12], [118, 30], [100, 118], [12, 100]],
    "perspective": [[20, 20], [120, 40], [100, 100], [30, 120]],
    "mirrored": [[118, 30], [30, 12], [12, 100], [100, 118]],
    "upright": [[10.5, 20.25], [100.5, 20.25], [100.5, 90.75], [10.5, 90.75]],
}


def card() -> np.ndarray:
    """Smooth colours with a soft hole, premultiplied."""
    y, x = np.mgrid[0:96, 0:120].astype(np.float32)
    hole = np.clip((np.hypot(x - 60, y - 48) - 20) / 8, 0, 1)
    return premultiplied(np.stack([x / 119, y / 95, 0.5 + 0 * x, hole], axis=-1).astype(np.float32))


def plain_render(contents: np.ndarray, quad: np.ndarray, width: int, height: int) -> np.ndarray:
    """The simplest thing: sixteen bilinear samples a pixel, mapped back by OpenCV's own solver."""
    high, wide = contents.shape[:2]
    forward = cv2.getPerspectiveTransform(
        rectangle(0, 0, wide, high).astype(np.float32), np.float32(quad).astype(np.float32)
    )
    back = np.linalg.inv(forward)
    total = np.zeros((height, width, 4))
    for dy in np.arange(4) / 4 + 0.125:
        for dx in np.arange(4) / 4 + 0.125:
            y, x = np.mgrid[0:height, 0:width]
            points = np.stack([x + dx, y + dy, np.ones_like(x + dx)], axis=-1) @ back.T
            u = (points[..., 0] / points[..., 2]).astype(np.float32)
            v = (points[..., 1] / points[..., 2]).astype(np.float32)
            inside = (u >= 0) & (u < wide) & (v >= 0) & (v < high)
            sampled = cv2.remap(contents, u - 0.5, v - 0.5, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            total += sampled * inside[..., None]
    return total / 16


@pytest.mark.parametrize("name", QUADS)
def test_a_quad_is_drawn_where_an_independent_renderer_draws_it(name):
    """Affine, perspective, mirrored and upright quads agree within a grey level on average."""
    quad = np.array(QUADS[name], float)
    picture, left, top = place(card(), quad)
    canvas = np.zeros((140, 140, 4))
    canvas[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    apart = np.abs(canvas - plain_render(card(), quad, 140, 140)) * 255
    assert apart.mean() < 1.0
    assert np.percentile(apart, 99) < 12


def test_contents_at_their_own_size_are_copied_exactly():
    """No resampling where there is nothing to resample, mirrored or not."""
    contents = card()
    picture, left, top = place(contents, rectangle(7, 9, 127, 105))
    assert (7, 9) == (left, top)
    assert np.array_equal(np.round(contents * 255), np.round(picture * 255))
    flipped, _, _ = place(contents, np.array([[127, 9], [7, 9], [7, 105], [127, 105]], float))
    assert np.array_equal(np.round(contents[:, ::-1] * 255), np.round(flipped * 255))


@pytest.mark.parametrize(
    "quad",
    [
        [[0, 0], [10, 10], [10, 0], [0, 10]],
        [[0, 0], [10, 0], [20, 0], [0, 10]],
        [[0, 0], [10, 0], [2, 2], [0, 10]],
        [[0, 0], [1e9, 0], [1e9, 10], [0, 10]],
        [[0, 0], [float("nan"), 0], [10, 10], [0, 10]],
    ],
    ids=["crossed", "on a line", "not convex", "huge", "no number"],
)
def test_a_quad_that_no_rectangle_is_seen_as_is_refused(quad):
    """Crossed, flat, dented, huge and absent corners are refused by name."""
    with pytest.raises(OperationFailed) as caught:
        place(card(), np.array(quad, float))
    assert caught.value.code == "photoshop.quad_unsupported"


def test_coverage_is_the_share_of_a_pixel():
    """Straight sides cover pixels by their distance."""
    share = coverage(rectangle(1.25, 1, 3, 3), 4, 4)
    assert [0.0, 0.75, 1.0, 0.0] == pytest.approx(share[1].tolist())


def test_contents_of_the_same_proportions_fill_the_quad():
    """Twice the pixels land on the same corners; others are fitted inside, centred."""
    quad = np.array(QUADS["turned"], float)
    assert np.array_equal(quad, fitted_quad(quad, (100, 50), (200, 100)))
    inner = fitted_quad(rectangle(0, 0, 100, 50), (100, 50), (30, 30))
    assert np.allclose(rectangle(25, 0, 75, 50), inner)


def test_trimming_keeps_what_is_seen():
    """Fully transparent borders go; an empty picture has no pixels."""
    picture = np.zeros((10, 12, 4), np.float32)
    assert (0, 0) == trimmed(picture, 5, 6, 8)[0].shape[:2]
    picture[2:4, 3:7, 3] = 1
    cut, left, top = trimmed(picture, 5, 6, 8)
    assert ((2, 4), 8, 8) == (cut.shape[:2], left, top)


def smart_layers():
    """Every embedded pixel smart object of the corpus that can be drawn."""
    for entry in corpus_entries():
        if is_broken(entry) or entry["mode"] != "RGB" or entry["depth"] != 8:
            continue
        container = parse((CORPUS / entry["file"]).read_bytes())
        linked = links(container)
        for layer in build(container).walk():
            placed = placement(layer.record) if layer.kind == "smart_object" else None
            link = linked.get(placed.uuid) if placed else None
            known = link is not None and link.format in {"png", "jpeg", "psd", "psb"}
            if known and not placed.filtered and not warp_refusal(placed.warp):
                yield entry["file"], container, layer, placed, link


def redrawn_error(container, layer, placed, link) -> float:
    """Mean difference, over white, of our raster from Photoshop's, of the original contents."""
    straight, profile = raster_picture(link.item.data, link.name, Limits())
    icc = container.resource(1039)
    rgb = colour.convert(np.ascontiguousarray(straight[..., :3]), profile, icc.data if icc else None, "test")
    contents = premultiplied(np.concatenate([rgb, straight[..., 3:]], axis=-1))
    quad = np.array(placed.quad)
    if placed.warp:
        picture, left, top = place_warped(contents, quad, placed.warp, placed.size)
    else:
        picture, left, top = place(contents, quad)
    reference, ref_left, ref_top = layer_pixels(container, layer.id)
    box_left, box_top = min(left, ref_left), min(top, ref_top)
    right = max(left + picture.shape[1], ref_left + reference.shape[1])
    bottom = max(top + picture.shape[0], ref_top + reference.shape[0])

    def over_white(straight, x, y):
        canvas = np.ones((bottom - box_top, right - box_left, 3))
        part = canvas[y - box_top :, x - box_left :][: straight.shape[0], : straight.shape[1]]
        part[:] = straight[..., :3] * straight[..., 3:] + 1 - straight[..., 3:]
        return canvas

    ours = over_white(straightened(picture), left, top)
    theirs = over_white(reference / 255, ref_left, ref_top)
    return float(np.abs(ours - theirs).mean() * 255)


@pytest.mark.slow
def test_original_contents_come_out_as_photoshop_drew_them(corpus):
    """Redrawing the corpus' own contents: each object within 5 grey levels, the median object within 1.5."""
    _ = corpus
    by_object: dict[tuple, list[float]] = {}
    warped = []
    for name, container, layer, placed, link in smart_layers():
        if layer_pixels_missing(layer):
            continue
        error = redrawn_error(container, layer, placed, link)
        key = (name, placed.uuid, "blend-modes" in name or layer.id)
        by_object.setdefault(key, []).append(error)
        if placed.warp:
            warped.append(error)
        assert error < 5, f"{name} {layer.name}: {error:.2f}"
    assert statistics.median(statistics.median(errors) for errors in by_object.values()) < 1.5
    assert statistics.median(warped) < 1.0


def layer_pixels_missing(layer) -> bool:
    """Whether a layer keeps no raster."""
    return layer.record.right <= layer.record.left or layer.record.channel(-1) is None


def test_a_mesh_without_bends_is_no_warp(corpus):
    """Photoshop writes an even mesh for plain placements; it is drawn as none."""
    container = parse((corpus / "psd-tools__psd_files__placedLayer.psd").read_bytes())
    layer = next(layer for layer in build(container).walk() if layer.kind == "smart_object")
    placed = placement(layer.record)
    assert placed.facts["warp"]["warpStyle"] == "warpCustom"
    assert placed.warp is None


def test_unknown_warps_are_refused_by_name():
    """Styles and meshes that can't be drawn say so."""
    assert "warpArc" in warp_refusal({"warpStyle": "warpArc"})
    assert "not cubic" in warp_refusal({"warpStyle": "warpCustom", "uOrder": 3, "vOrder": 4})
    bad = {"warpStyle": "warpCustom", "uOrder": 4, "vOrder": 4, "customEnvelopeWarp": {"meshPoints": {}}}
    assert "missing" in warp_refusal(bad)
    assert mesh_of(bad) is None
    assert warp_refusal(None) == ""


def test_faults_are_typed(corpus):
    """Reading smart objects of any readable file ends in data or a typed fault."""
    for entry in corpus_entries():
        if is_broken(entry):
            continue
        container = parse((corpus / entry["file"]).read_bytes())
        for layer in build(container).walk():
            with contextlib.suppress(InvalidDocument):
                placement(layer.record)
