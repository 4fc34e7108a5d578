"""What people who do this job report of other tools, each with a small file and the right value.

One test a row of the table of public reports; the name of each says the symptom that is not there.
"""

from __future__ import annotations

import io
import struct
import tracemalloc

import numpy as np
import pytest
from comp_builders import with_comps
from effect_builders import stroke, with_effects
from photoshop_builders import (
    as_artboard,
    deepen,
    layer_pixels,
    rename,
    small_cmyk,
    wide_gamut,
    with_flags,
    with_icc,
    with_pixels,
    with_twin,
)
from PIL import Image, ImageCms
from test_photoshop_export import exported, gradient, sixteen
from text_builders import FONT_NAME, small_font, with_text
from warp_builders import with_warp

from fabric_dagster.capabilities.photoshop_shared import ExportPreset
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import OperationFailed
from resources.photoshop.address import matches, path_of, resolve
from resources.photoshop.compose import merged_planes
from resources.photoshop.document import build
from resources.photoshop.edit import Session
from resources.photoshop.png import encode_png
from resources.photoshop.provider import _refuse_twins
from resources.photoshop.psd.container import Container, Header, parse
from resources.photoshop.psd.layers import LayerInfo
from resources.photoshop.psd.limits import Limits
from resources.photoshop.sample_art import placeholder
from resources.photoshop.smartobjects import placement
from resources.photoshop.type.fonts import FontBook

OPEN = "photoshop.open_duplicate@1"
ART, LABEL, RIBBON = 3, 11, 10


@pytest.fixture
def run(tmp_path):
    """Run operations on a document: the saved bytes, the facts and what was exported."""
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts" / "f.ttf").write_bytes(small_font())

    def do(data: bytes, *operations: tuple[str, dict]) -> tuple[bytes, list[dict], dict[str, bytes]]:
        (tmp_path / "in.psd").write_bytes(data)
        names = {f"smart_object_uuid_{number}": f"new-{number}" for number in range(9)}
        session = Session(Limits(), names, FontBook([tmp_path / "fonts"], system=False))
        session.run(0, OPEN, {"source": str(tmp_path / "in.psd"), "copy": "out.psd"})
        facts = [
            session.run(number, f"photoshop.{name}@1", args)
            for number, (name, args) in enumerate(operations, 1)
        ]
        session.save(tmp_path)
        return (tmp_path / "out.psd").read_bytes(), facts, session.exports

    return do


@pytest.fixture
def contents(tmp_path) -> str:
    """A picture in the proportions of the template's placeholder: a red disc on blue."""
    y, x = np.mgrid[0:256, 0:256]
    disc = np.hypot(x - 128, y - 128) < 90
    pixels = np.where(disc[..., None], [220, 30, 40, 255], [20, 60, 200, 255]).astype(np.uint8)
    (tmp_path / "disc.png").write_bytes(encode_png(pixels))
    return str(tmp_path / "disc.png")


def layer_of(data: bytes, identifier: int):
    """One layer."""
    return next(layer for layer in build(parse(data)).walk() if layer.id == identifier)


def replaced(identifier: int, contents: str, **more) -> tuple[str, dict]:
    """A replacement."""
    return "replace_smart_object", {"layer": {"id": identifier}, "contents": contents, **more}


def test_a_replaced_smart_object_stays_where_it_is(run, template, contents):
    """EmilDohne/PhotoshopAPI#143: it does not jump to (0, 0)."""
    moved, _, _ = run(template, ("move_layer", {"layer": {"id": ART}, "dx": 37, "dy": 21}))
    data, _, _ = run(moved, replaced(ART, contents))
    quad = np.array(placement(layer_of(moved, ART).record).quad)
    corners = (*np.floor(quad.min(axis=0)), *np.ceil(quad.max(axis=0)))
    assert 1 >= max(abs(a - b) for a, b in zip(corners, layer_of(data, ART).bounds, strict=True))
    assert placement(layer_of(moved, ART).record).quad == placement(layer_of(data, ART).record).quad


@pytest.mark.parametrize("patches", [1, 2])
def test_warp_and_clipping_stay(run, tmp_path, template, patches):
    """EmilDohne/PhotoshopAPI#156: a warped (or quilted), clipped smart object stays warped and clipped."""
    source = with_flags(with_warp(template, ART, patches=patches), ART, clipping=1)
    # The placeholder in other colours and half as large: its shape through the same mesh.
    other = placeholder()
    other[..., :3] = 255 - other[..., :3]
    half = np.asarray(Image.fromarray(other).resize((256, 256), Image.Resampling.BOX))
    (tmp_path / "half.png").write_bytes(encode_png(half))
    data, _, _ = run(source, replaced(ART, str(tmp_path / "half.png")))
    layer = layer_of(data, ART)
    assert layer.record.clipping
    assert layer.clip_base is not None
    before, after = placement(layer_of(source, ART).record), placement(layer.record)
    assert before.warp["warpStyle"] == after.warp["warpStyle"] == "warpCustom"
    points = [w.warp["customEnvelopeWarp"]["meshPoints"]["Hrzn"] for w in (before, after)]
    assert np.allclose(np.asarray(points[0]) / 2, points[1])
    if patches > 1:
        cuts = [w.warp["customEnvelopeWarp"]["quiltSliceX"]["quiltSliceX"] for w in (before, after)]
        assert np.allclose(np.asarray(cuts[0]) / 2, cuts[1])
    covered = []
    for each in (source, data):
        alpha, left, top = layer_pixels(parse(each), ART)
        canvas = np.zeros((512, 512))
        canvas[top : top + alpha.shape[0], left : left + alpha.shape[1]] = alpha[..., 3]
        covered.append(canvas)
    assert 1 > np.abs(covered[0] - covered[1]).mean()


def test_the_merged_image_is_not_black_after_a_save(run, template):
    """EmilDohne/PhotoshopAPI#127: it shows what the layers show."""
    data, _, _ = run(template, ("move_layer", {"layer": {"id": LABEL}, "dx": 5}))
    planes = merged_planes(parse(data))
    pixels, _, _ = exported(data)
    opaque = pixels[..., 3] == 255
    assert planes[0][opaque].mean() > 50
    assert np.array_equal(pixels[opaque][:, 0], planes[0][opaque])


def test_an_export_shows_the_new_contents(run, template, contents):
    """Agamnentzar/ag-psd#241: not the old ones."""
    _, _, exports = run(
        template, replaced(ART, contents), ("export_png", {"preset": "canvas", "out": "a.png"})
    )
    pixels = np.asarray(Image.open(io.BytesIO(exports["a.png"])))
    assert 12 > np.abs(pixels[232, 256, :3].astype(int) - [220, 30, 40]).max()


def test_new_text_has_new_pixels(run, template):
    """Agamnentzar/ag-psd#88: the layer's picture follows the words."""
    data, _, _ = run(template, ("set_text", {"layer": {"id": LABEL}, "text": "SALE"}))
    again, _, _ = run(data, ("set_text", {"layer": {"id": LABEL}, "text": "OFFER"}))
    first, second = (layer_pixels(parse(d), LABEL)[0] for d in (data, again))
    assert first.shape != second.shape or not np.array_equal(first, second)


def test_a_missing_font_is_told_before_anything_changes(run, template):
    """Agamnentzar/ag-psd#55: by its exact name, instead of a layout in another font."""
    with pytest.raises(OperationFailed) as caught:
        run(
            with_text(template, LABEL, font="Unknown-Heavy"),
            ("set_text", {"layer": {"id": LABEL}, "text": "A"}),
        )
    fault = caught.value.faults[0]
    assert ("photoshop.font_missing", "Unknown-Heavy") == (fault.code, fault.value)


def test_font_size_follows_the_transform(run, template):
    """Agamnentzar/ag-psd#115: 20 pixels, scaled by 3, are drawn 42 high (letters of .7 em)."""
    source = with_text(template, LABEL, font=FONT_NAME, size=20, transform=(3, 0, 0, 3, 100, 200))
    _, (facts,), _ = run(source, ("set_text", {"layer": {"id": LABEL}, "text": "A"}))
    assert 42 == facts["bounds"]["bottom"] - facts["bounds"]["top"]


def test_cmyk_exports_in_the_right_colours():
    """psd-tools/psd-tools#237: through the embedded profile, never by inverting the inks."""
    profile = small_cmyk()
    ink = np.array([[[0, 200, 200, 0], [200, 0, 200, 0], [0, 0, 0, 128]]], np.uint8)
    data = flat_cmyk(ink, profile)
    pixels, facts, _ = exported(data)
    transform = ImageCms.buildTransform(
        ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"), "CMYK", "RGB",
        ImageCms.Intent.RELATIVE_COLORIMETRIC, ImageCms.Flags(0x2000),
    )  # fmt: skip
    right = np.asarray(transform.apply(Image.fromarray(ink, "CMYK")))
    assert 3 >= np.abs(pixels[..., :3].astype(int) - right).max()
    # Magenta and yellow are a red, cyan and yellow a green.
    assert 0 == pixels[0, 0, :3].argmax()
    assert 1 == pixels[0, 1, :3].argmax()
    assert "sRGB" == facts["colour_space"]


def test_a_wide_gamut_red_keeps_its_saturation(template):
    """psd-tools/psd-tools#445: converted to sRGB, or exported with its profile."""
    tone = np.broadcast_to(np.array([200, 60, 50, 255], np.uint8), (512, 512, 4))
    data = with_icc(with_pixels(template, LABEL, tone, 0, 0), wide_gamut())
    converted, _, _ = exported(data)
    assert converted[200, 200, 0] > 225
    embedded, facts, png = exported(data, ExportPreset(profile="embed"))
    assert (200, 60, 50) == tuple(embedded[200, 200, :3])
    assert "Test wide RGB" == facts["colour_space"]
    assert b"iCCP" in png[:64]


def test_an_invalid_profile_is_a_choice(template):
    """psd-tools/psd-tools#481: refused by name, or taken as sRGB where the preset says so."""
    data = with_icc(template, b"corrupt" * 20)
    with pytest.raises(OperationFailed, match="profile_broken"):
        exported(data)
    pixels, _, _ = exported(data, ExportPreset(broken_profile="srgb"))
    assert np.array_equal(exported(template)[0], pixels)


def test_sixteen_bits_come_out_as_sixteen(template):
    """psd-tools/psd-tools#250: neighbours that 8 bits can't tell apart stay apart."""
    data = with_pixels(deepen(template), LABEL, gradient(), 0, 0)
    row = sixteen(exported(data, ExportPreset(depth=16))[2])[100, :, 0]
    assert 500 < len(np.unique(row))


def test_toggling_visibility_corrupts_nothing(run, template):
    """psd-tools/psd-tools#333: twice is never, byte for byte."""
    data, _, _ = run(
        template,
        ("set_visibility", {"layer": {"path": "Art"}, "visible": False}),
        ("set_visibility", {"layer": {"path": "Art"}, "visible": True}),
    )
    assert template == data


def test_tiny_layers_on_a_large_canvas_need_little_memory():
    """psd-tools/psd-tools#244: reading a 20000 x 8000 canvas of tiny layers stays below its own pixels."""
    header = Header(1, 3, 8000, 20_000, 8, 3)
    rows = struct.pack(">H", 2 * ((20_000 + 127) // 128)) * (8000 * 3)
    row = b"\x81\xff" * ((20_000 + 127) // 128)
    big = Container(header, b"", [], b"", LayerInfo(0, [], absent=True), b"", [], b"", 1, rows + row * 24_000)
    data = big.dump()
    tracemalloc.start()
    document = build(parse(data))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 20_000 == document.container.header.width
    assert peak < 3 * len(data) < 20_000 * 8000


def test_hidden_layers_are_not_published(template):
    """ynput/OpenPype#688: a hidden child is in no export, alone or with its group."""
    hidden = with_flags(template, RIBBON, hidden=True)
    assert np.array_equal(
        exported(hidden, ExportPreset(), {"id": 13})[0][..., 3],
        exported(template, ExportPreset(), {"id": LABEL})[0][..., 3],
    )
    with pytest.raises(OperationFailed, match="nothing_visible"):
        exported(hidden, ExportPreset(), {"id": RIBBON})


def test_no_white_edges_around_alpha(template):
    """ynput/OpenPype#412: soft edges over transparent white keep the layer's own colour."""
    y, x = np.mgrid[0:512, 0:512]
    alpha = np.clip(255 - (np.hypot(x - 256, y - 256) - 100) * 12, 0, 255)
    pixels = np.full((512, 512, 4), 255, np.uint8)
    pixels[alpha > 0, :3] = (10, 120, 20)
    pixels[..., 3] = alpha
    data = with_pixels(template, LABEL, pixels, 0, 0)
    for preset in (ExportPreset(), ExportPreset(percent=50)):
        shown, _, _ = exported(data, preset, {"id": LABEL})
        assert 2 >= np.abs(shown[..., :3].astype(int) - [10, 120, 20]).max()


def test_a_visible_layer_in_a_hidden_group_is_not_exported(template):
    """antipalindrome/Photoshop-Export-Layers-to-Files-Fast#174: parents count."""
    note = layer_of(template, 14)
    assert (True, False) == (note.visible, note.shown)
    with pytest.raises(OperationFailed, match="nothing_visible"):
        exported(template, ExportPreset(), {"id": 14})


def test_the_source_is_never_saved_over(run, tmp_path, template):
    """antipalindrome/Photoshop-Export-Layers-to-Files-Fast#121: its bytes are proven unchanged."""
    (tmp_path / "in.psd").write_bytes(template)
    before = digest_file(tmp_path / "in.psd")
    run(template, ("set_visibility", {"layer": {"id": LABEL}, "visible": False}))
    assert before == digest_file(tmp_path / "in.psd")


def test_hidden_stroked_text_in_a_comp_has_its_bounds(run, template):
    """adobe-photoshop/generator-assets#398: shown by the comp, with the stroke's width around it."""
    source = with_flags(with_effects(template, LABEL, {b"FrFX": stroke(size=6)}), LABEL, hidden=True)
    source = with_comps(source, [(7, "Shown", 1)], {LABEL: [(7, {b"enab": True}), (0, {b"enab": False})]})
    data, _, _ = run(source, ("apply_layer_comp", {"comp": "Shown"}))
    _, facts, _ = exported(data, ExportPreset(), {"id": LABEL})
    left, top, right, bottom = layer_of(data, LABEL).bounds
    box = facts["alpha_bounds"]
    assert (left - 6, top - 6, right + 6, bottom + 6) == tuple(
        box[side] for side in ("left", "top", "right", "bottom")
    )


def test_same_names_do_not_overwrite_each_other(template):
    """adobe-photoshop/spaces-design#3609: two layers named icon are two, and two exports of one name none."""
    container = parse(template)
    for identifier in (6, 7):
        rename(container, identifier, "icon")
    document = build(parse(container.dump()))
    assert [7, 6] == [layer.id for layer in matches(document, "Frame/icon")]
    with pytest.raises(OperationFailed, match="layer_ambiguous"):
        resolve(document, {"path": "Frame/icon"})
    twins = [{"args": {"out": name}} for name in ("icon.png", "ICON.png")]
    with pytest.raises(OperationFailed, match="output_twice"):
        _refuse_twins(twins)


@pytest.mark.parametrize("name", ["Black/White", "Ms. Pac", "a\\b", "\u5927/\u5c0f.\u56fe"])
def test_slashes_and_dots_are_part_of_a_name(template, name):
    """photopea/photopea#7397, kamilburda/gimp-export-layers#109: no folder, nothing cut off."""
    container = parse(template)
    rename(container, LABEL, name)
    document = build(parse(container.dump()))
    layer = resolve(document, {"id": LABEL})
    assert name == layer.name
    assert LABEL == resolve(document, {"path": path_of(layer)}).id
    assert LABEL == resolve(document, {"path": f"Text/{name}"}).id or "\\" in name


def test_trimming_keeps_the_pivot(template):
    """ChemiKhazi/UnityPsdImporter#8: the canvas' middle stays known wherever the content lies."""
    _, facts, _ = exported(template, ExportPreset(area="content"), {"id": LABEL})
    left, top = facts["canvas_origin"]["left"], facts["canvas_origin"]["top"]
    x, y = float(facts["pivot"]["x"]) * facts["width"], (1 - float(facts["pivot"]["y"])) * facts["height"]
    assert (256, 256) == (round(x + left, 3), round(y + top, 3))


def test_one_artboard_is_not_the_whole_canvas(template):
    """loonghao/photoshop-python-api#399: its own rectangle, and nothing of the other one."""
    data = as_artboard(as_artboard(template, 13, (0, 380, 300, 500)), 9, (300, 0, 512, 380))
    pixels, facts, _ = exported(data, ExportPreset(area="artboard"), {"id": 13})
    assert (300, 120) == (facts["width"], facts["height"])
    alone, _, _ = exported(template, ExportPreset(), {"id": 13})
    assert np.array_equal(alone[380:500, 0:300, 3], pixels[..., 3])


def test_an_empty_layer_crashes_nothing(run, template):
    """meltingice/psd.js#294: 0 x 0 pixels are read, moved and exported around, and refused alone."""
    data = with_pixels(template, LABEL, np.zeros((0, 0, 4), np.uint8), 0, 0)
    assert (0, 0, 0, 0) == layer_of(data, LABEL).bounds
    exported(data)
    moved, _, _ = run(data, ("move_layer", {"layer": {"id": LABEL}, "dx": 9}))
    assert (0, 0, 0, 0) == layer_of(moved, LABEL).bounds
    with pytest.raises(OperationFailed, match="nothing_visible"):
        exported(data, ExportPreset(), {"id": LABEL})


def test_a_name_in_a_legacy_code_page_is_not_garbled(template):
    """chinedufn/psd#4: the Unicode name counts, not the Pascal one in GBK beside it."""
    container = parse(template)
    rename(container, LABEL, "\u56fe\u6807")
    record = next(layer for layer in container.layer_info.layers if layer.id == LABEL)
    raw = "\u56fe\u6807".encode("gbk")
    record.name = bytes([len(raw)]) + raw + bytes(-(len(raw) + 1) % 4)
    container.layer_info.touched = True
    assert "\u56fe\u6807" == layer_of(container.dump(), LABEL).name


def test_contents_that_several_layers_share(run, template, contents):
    """One linked item, two layers: both follow, or the other one keeps its own."""
    source = with_twin(template, ART, 40)
    both, (facts,), _ = run(source, replaced(ART, contents, scope="shared"))
    assert {ART, 40} == set(facts["layers"])
    one, (facts,), _ = run(source, replaced(ART, contents))
    assert facts["cloned"]
    old = layer_pixels(parse(source), 40)[0]
    assert np.array_equal(old, layer_pixels(parse(one), 40)[0])
    assert not np.array_equal(old, layer_pixels(parse(both), 40)[0])
    assert placeholder().shape == (512, 512, 4)


def flat_cmyk(ink: np.ndarray, profile: bytes) -> bytes:
    """A document without layers, of inks as PSD stores them: 255 is none."""
    from resources.photoshop.psd.codec import encode_rows
    from resources.photoshop.psd.container import Resource

    height, width = ink.shape[:2]
    planes = (255 - ink).transpose(2, 0, 1).reshape(height * 4, width)
    resources = []
    for number, data in ((1039, profile), (1057, struct.pack(">IB", 1, 1) + bytes(12))):
        resource = Resource(b"8BIM", number, b"\0\0", b"")
        resource.replace(data)
        resources.append(resource)
    made = Container(
        Header(1, 4, height, width, 8, 4),
        colour_data=b"",
        resources=resources,
        resources_tail=b"",
        plain_layers=LayerInfo(0, [], absent=True),
        global_mask=b"",
        blocks=[],
        section_tail=b"",
        compression=0,
        image=encode_rows(planes, 0, 1),
    )
    return made.dump()
