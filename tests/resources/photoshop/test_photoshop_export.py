"""Exports: what is visible, in sRGB, without fringes, in the preset's size, the same bytes each time."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from photoshop_builders import CORPUS, corpus_entries, deepen, is_broken, wide_gamut, with_flags, with_icc
from PIL import Image

from fabric_dagster.capabilities.photoshop_shared import PRESETS, ExportPreset
from fabric_dagster.errors import FabricError, OperationFailed
from resources.photoshop.address import resolve
from resources.photoshop.document import build
from resources.photoshop.edit import preset_of
from resources.photoshop.export import alpha_bounds, bleed, export_png
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
