"""Exports: what is visible, in sRGB, without fringes, in the preset's size, the same bytes each time."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from photoshop_builders import (
    CORPUS,
    as_artboard,
    corpus_entries,
    deepen,
    is_broken,
    wide_gamut,
    with_flags,
    with_icc,
    with_pixels,
)
from PIL import Image

from fabric_dagster.capabilities.photoshop_shared import PRESETS, ExportPreset
from fabric_dagster.errors import FabricError, OperationFailed
from resources.photoshop.address import resolve
from resources.photoshop.document import build
from resources.photoshop.export import alpha_bounds, bleed, export_png
from resources.photoshop.operations import preset_of
from resources.photoshop.png import encode_png, verify_png
from resources.photoshop.psd.container import parse


def exported(data: bytes, preset: ExportPreset | None = None, layer=None):
    """Pixels and facts."""
    document = build(parse(data))
    chosen = resolve(document, layer) if layer else None
    png, facts = export_png(document, data, preset or ExportPreset(), chosen)
    return np.asarray(Image.open(io.BytesIO(png))), facts, png


def test_an_export_is_deterministic_and_tagged(template):
    """Two exports are one; the file has an sRGB chunk, no time and no text."""
    _, facts, first = exported(template)
    _, _, second = exported(template)
    assert first == second
    assert b"sRGB" in first[:64]
    assert not any(chunk in first for chunk in (b"tIME", b"tEXt", b"iTXt"))
    assert ("RGBA", "sRGB", 512, 512) == (
        facts["mode"],
        facts["colour_space"],
        facts["width"],
        facts["height"],
    )


def test_hidden_layers_and_visible_ones_in_hidden_groups_stay_out(template):
    """The magenta note in the hidden group is nowhere; hiding a group takes its layers out."""
    pixels, _, _ = exported(template)
    cyan = (pixels[..., :3] == (0, 255, 255)).all(axis=-1)
    assert not cyan.any()
    without, _, _ = exported(with_flags(template, 13, hidden=True))
    assert (pixels != without).any(axis=-1)[400:480].any()


@pytest.mark.parametrize(
    ("preset", "size"),
    [
        ("canvas", (512, 512)),
        ("half", (256, 256)),
        ("icon_128", (128, 128)),
        ("content", (497, 492)),
        ("sprite", (504, 496)),
    ],
)
def test_presets_give_their_sizes(template, preset, size):
    """Names stand for data; sizes are exact."""
    pixels, facts, _ = exported(template, preset_of(preset))
    assert size == (pixels.shape[1], pixels.shape[0]) == (facts["width"], facts["height"])


def test_trimming_says_where_the_picture_was(template):
    """The canvas position of a trimmed picture is kept as its origin."""
    whole, _, _ = exported(template)
    cut, facts, _ = exported(template, PRESETS["content"])
    left, top = facts["canvas_origin"]["left"], facts["canvas_origin"]["top"]
    assert np.array_equal(whole[top : top + cut.shape[0], left : left + cut.shape[1], 3], cut[..., 3])


def test_an_exact_frame_pads_and_never_stretches(wide_template):
    """A wide document in a square frame stands in the middle, whole."""
    pixels, facts, _ = exported(wide_template, ExportPreset(width=300, height=300, padding=10))
    assert (300, 300) == pixels.shape[:2]
    left, top, right, bottom = alpha_bounds(pixels)
    assert left >= 10
    assert right <= 290
    assert (right - left) / (bottom - top) == pytest.approx(753 / 492, abs=0.02)
    assert facts["alpha_bounds"] == {"left": left, "top": top, "right": right, "bottom": bottom}


def test_no_fringe_shows_when_an_edge_is_scaled():
    """A red disc over transparent white: scaled bilinearly by an engine, its rim stays red."""
    y, x = np.mgrid[0:64, 0:64]
    alpha = np.clip(24 - np.hypot(x - 32, y - 32), 0, 1)
    pixels = np.full((64, 64, 4), 255, np.uint8)
    pixels[alpha > 0, 1:3] = 0
    pixels[..., 3] = np.round(alpha * 255)
    bled = bleed(pixels)
    assert (bled[..., :3] == (255, 0, 0)).all()
    assert np.array_equal(pixels[..., 3], bled[..., 3])
    assert np.array_equal(pixels[alpha > 0], bled[alpha > 0])


def test_wide_gamut_colours_become_srgb(template):
    """The same numbers under a wide profile are a stronger red in sRGB; embedding keeps them."""
    document = with_icc(template, wide_gamut())
    plain, _, _ = exported(template)
    converted, _, _ = exported(document)
    embedded, facts, png = exported(document, ExportPreset(profile="embed"))
    ribbon = plain[440, 200].astype(int)
    assert converted[440, 200, 0] >= ribbon[0]
    assert not np.array_equal(plain, converted)
    assert np.array_equal(plain, embedded)
    assert facts["colour_space"] == "Test wide RGB"
    at = png.index(b"iCCP") + 4 + len(b"ICC Profile\0\0")
    assert zlib.decompressobj().decompress(png[at:]) == wide_gamut()


def test_a_broken_profile_is_refused_unless_the_preset_says(template):
    """No silent fallback; the preset may take the colours as sRGB."""
    document = with_icc(template, b"nonsense" * 40)
    with pytest.raises(OperationFailed) as caught:
        exported(document)
    assert caught.value.code == "photoshop.profile_broken"
    pixels, _, _ = exported(document, ExportPreset(broken_profile="srgb"))
    assert np.array_equal(exported(template)[0], pixels)


def test_a_profile_whose_name_holds_no_characters_is_still_used(template):
    """Only the name is lost: the colours are those of the same profile with a name."""
    nameless = wide_gamut().replace(b"Test wide RGB", b"Test\x90wide RGB")
    assert np.array_equal(
        exported(with_icc(template, wide_gamut()))[0], exported(with_icc(template, nameless))[0]
    )


def test_a_flat_lab_picture_is_opaque():
    """White, black, red and green in Lab come out as themselves, with nothing transparent."""
    header = struct.pack(">4sH6xHIIHH", b"8BPS", 1, 3, 1, 4, 8, 9)
    lightness, a, b = bytes([255, 0, 138, 224]), bytes([128, 128, 209, 49]), bytes([128, 128, 198, 209])
    pixels, _, _ = exported(header + bytes(12) + bytes(2) + lightness + a + b)
    expected = [[255, 255, 255, 255], [0, 0, 0, 255], [251, 5, 4, 255], [13, 254, 14, 255]]
    assert np.abs(np.array([expected]) - pixels.astype(int)).max() <= 2


def test_an_untagged_document_is_srgb(template):
    """No profile means sRGB."""
    assert np.array_equal(exported(template)[0], exported(with_icc(template, None))[0])


def test_a_sixteen_bit_document_exports(template):
    """Its picture is the 8-bit one, within rounding."""
    first, second = exported(template)[0].astype(int), exported(deepen(template))[0].astype(int)
    assert np.abs(first - second).max() <= 2


def test_one_layer_alone(template):
    """A group is exported without what is around it; a hidden one is refused."""
    pixels, _, _ = exported(template, layer={"path": "Text"})
    left, top, right, bottom = alpha_bounds(pixels)
    assert top >= 380
    with pytest.raises(OperationFailed) as caught:
        exported(template, layer={"path": "Notes/Safe area"})
    assert caught.value.code == "photoshop.nothing_visible"
    assert (left, right, bottom) == (39, 474, 487)


def test_an_unknown_preset_lists_what_there_is():
    """The mend names the built-in presets."""
    with pytest.raises(OperationFailed) as caught:
        preset_of("huge")
    assert "icon_512" in caught.value.faults[0].mend


@pytest.mark.parametrize("shape", [(5, 7, 4), (1, 1, 3), (300, 40, 1), (64, 64, 2)])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_png_of_any_shape_reads_back(shape, kind):
    """Gray, colour, with and without alpha, 8 and 16 bits."""
    if shape[2] == 2 and kind is np.uint16:
        pytest.skip("no reader here keeps 16-bit gray with alpha apart")
    pixels = np.random.default_rng(7).integers(0, np.iinfo(kind).max, shape).astype(kind)
    verify_png(encode_png(pixels), pixels)


def test_every_readable_file_exports_or_is_refused_by_name(corpus):
    """All modes and depths: a picture of the canvas' size, or a declared code."""
    from fabric_dagster.capabilities.photoshop_export_png import CAPABILITY

    declared = {failure.code for failure in CAPABILITY.failures}
    refused = {}
    for entry in corpus_entries():
        if is_broken(entry):
            continue
        try:
            pixels, _, _ = exported((corpus / entry["file"]).read_bytes())
        except FabricError as error:
            refused[entry["file"]] = error.code
        else:
            assert (entry["height"], entry["width"], 4) == pixels.shape
    assert set(refused.values()) <= declared
    assert len(refused) < 12
    assert CORPUS == corpus


def sixteen(png: bytes) -> np.ndarray:
    """All 16 bits of a PNG, as RGBA."""
    import cv2

    return cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)[..., [2, 1, 0, 3]]


def gradient(step: int = 16) -> np.ndarray:
    """A row of 512 values, ``step`` of 65535 apart, 512 rows high, opaque."""
    row = (np.arange(512, dtype=np.uint16) * step)[None, :, None]
    colours = np.broadcast_to(row, (512, 512, 3))
    return np.concatenate([colours, np.full((512, 512, 1), 65535, np.uint16)], axis=-1)


def test_sixteen_bits_are_drawn_at_sixteen_bits(template):
    """Steps of a sixteenth of an 8-bit step come out as they lie in the layer."""
    data = with_pixels(deepen(template), 11, gradient(), 0, 0)
    pixels = sixteen(exported(data, ExportPreset(depth=16))[2])
    assert pixels.dtype == np.uint16
    assert 1 >= np.abs(pixels[100, :, 0].astype(int) - gradient()[0, :, 0].astype(int)).max()
    assert 8 == exported(data)[1]["depth"]
    assert 16 == exported(data, ExportPreset(depth="document"))[1]["depth"]


def test_sixteen_bits_convert_without_rounding(template):
    """A wide profile to sRGB in 16 bits: more than 8 bits' worth of values, near the 8-bit conversion."""
    data = with_icc(with_pixels(deepen(template), 11, gradient(step=100), 0, 0), wide_gamut())
    fine = sixteen(exported(data, ExportPreset(depth=16))[2])
    coarse, _, _ = exported(data)
    assert 300 < len(np.unique(fine[100, :, 0]))
    assert 2 >= np.abs(fine[100, :, 0] / 257 - coarse[100, :, 0]).max()


def test_a_document_of_eight_bits_widens_exactly(template):
    """0 stays 0 and 255 becomes 65535."""
    eight, _, _ = exported(template)
    deep = sixteen(exported(template, ExportPreset(depth=16))[2])
    alpha = eight[..., 3] > 0
    assert np.array_equal(eight[alpha].astype(np.uint16) * 257, deep[alpha])


def test_sixteen_bits_that_no_engine_draws_are_refused(template):
    """An effect that only the 8-bit engine knows: refused by name, not exported from 8 bits."""
    from effect_builders import with_shadow

    with pytest.raises(OperationFailed) as caught:
        exported(with_shadow(deepen(template), 11, size=20, distance=30), ExportPreset(depth=16))
    assert "photoshop.depth_unsupported" == caught.value.code


def test_trim_keeps_the_pivot(template):
    """The canvas' middle, as a sprite's pivot, wherever the content lies, at any scale and padding."""
    _, facts, _ = exported(template, ExportPreset(area="content", padding=8), {"id": 11})
    box = facts["canvas_origin"]
    width, height = facts["width"], facts["height"]
    assert abs(float(facts["pivot"]["x"]) * width - 8 - (256 - box["left"])) < 0.001
    assert abs((1 - float(facts["pivot"]["y"])) * height - 8 - (256 - box["top"])) < 0.001
    _, half, _ = exported(template, ExportPreset(percent=50))
    assert {"x": "0.500000", "y": "0.500000"} == half["pivot"]


def test_one_artboard_is_cut_to_its_rectangle(template):
    """Its own size, its own layers, its background; two of them need a name."""
    data = as_artboard(template, 13, (100, 300, 400, 500), background=1)
    pixels, facts, _ = exported(data, ExportPreset(area="artboard"))
    assert ((200, 300, 4), {"left": 100, "top": 300}) == (pixels.shape, facts["canvas_origin"])
    assert (255, 255, 255, 255) == tuple(pixels[0, 0])
    two = as_artboard(data, 9, (0, 0, 50, 60))
    with pytest.raises(OperationFailed) as caught:
        exported(two, ExportPreset(area="artboard"))
    assert "photoshop.artboard_missing" == caught.value.code
    assert "id 9: Frame" in caught.value.faults[0].mend
    assert (60, 50, 4) == exported(two, ExportPreset(area="artboard"), {"id": 9})[0].shape


def test_sides_of_powers_of_two(template):
    """Rounded up, the picture in the middle."""
    _, facts, _ = exported(template, ExportPreset(area="content", power_of_two=True), {"id": 11})
    assert (256, 64) == (facts["width"], facts["height"])
    box = facts["alpha_bounds"]
    assert 1 >= abs(box["left"] - (256 - box["right"]))


def test_a_clipped_layer_alone_is_cut_by_its_base(template):
    """Its clip base's shape, not its colours."""
    red = np.broadcast_to(np.array([255, 0, 0, 255], np.uint8), (512, 512, 4))
    data = with_pixels(template, 11, red, 0, 0, clipping=1)
    pixels, _, _ = exported(data, ExportPreset(), {"id": 11})
    ribbon, _, _ = exported(template, ExportPreset(), {"id": 10})
    assert np.array_equal(ribbon[..., 3], pixels[..., 3])
    assert (255, 0, 0) == tuple(pixels[430, 256, :3])
