"""The independent renderer: right where it draws, and refusing where it does not."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from validator_world import built

from fabric_dagster.capabilities.photoshop_shared import ExportPreset
from fabric_dagster.validators.base import Unjudgeable
from fabric_dagster.validators.kernels import document as documents
from fabric_dagster.validators.kernels import expectation, pictures
from fabric_dagster.validators.kernels.frame import frame_of, framed
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.sample import TEMPLATES

CORPUS = Path(os.environ.get("FABRIC_CORPUS", Path(__file__).parents[3] / "shared" / "corpus")) / "psd"
SQUARE = ((10.0, 20.0), (50.0, 20.0), (50.0, 60.0), (10.0, 60.0))


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_sample_is_drawn_as_its_merged_image(name: str) -> None:
    """Within rounding, from its layers alone; and again from the contents of its smart object."""
    template = documents.PsdDocument(built(name), name)
    drawn = pictures.straight(expectation.render(template))
    assert pictures.delta_e(drawn, template.merged()).max() < 2

    layer = template.layer({"path": "Art/Art"})
    contents = template.links[documents.contents_uuid(layer)].data
    art = pictures.multiplied(pictures.as_float(expectation.png.decode(contents, "contents")))
    placed = expectation.through_quad(art, documents.quad_of(layer, name), *template.size)
    again = pictures.straight(expectation.render(template, {layer.layer_id: placed}))

    assert pictures.ssim(again, template.merged()).mean() > 0.998
    assert pictures.delta_e(again, template.merged()).mean() < 0.3


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus here (FABRIC_CORPUS)")
def test_a_real_document_is_drawn_as_photoshop_did_or_refused() -> None:
    """No file of the corpus crashes it, and what it draws equals the stored merged image."""
    drawn = 0
    for path in sorted(CORPUS.glob("*.ps[db]")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                document = documents.PsdDocument(path.read_bytes(), path.name)
                _ = document.layers(), document.resources(), document.global_blocks(), document.links
                picture = pictures.straight(expectation.render(document))
                merged = document.merged()
            except Unjudgeable:
                continue
        assert pictures.delta_e(picture, merged).mean() < 0.5, path.name
        drawn += 1

    assert drawn >= 8


def harmed(change: object) -> documents.PsdDocument:
    """The sample with one record changed."""
    container = parse(built("offer_icon.psd"), Limits())
    record = next(r for r in container.layer_info.layers if r.name[1:].startswith(b"Ribbon"))
    change(record)
    container.layer_info.touched = True
    return documents.PsdDocument(container.dump(), "harmed")


def test_a_blend_mode_that_it_does_not_know_is_refused() -> None:
    """The finding names layer and mode."""
    document = harmed(lambda record: setattr(record, "blend", b"diss"))

    with pytest.raises(Unjudgeable, match="dissolve"):
        expectation.render(document)


@pytest.mark.parametrize("mode", [b"mul ", b"scrn", b"dark", b"lite", b"lddg", b"over"])
@pytest.mark.parametrize("opacity", [255, 128])
def test_blend_modes_are_those_of_the_other_engine(mode: bytes, opacity: int) -> None:
    """psdparse, which the hands use, draws the same."""
    import psdparse

    def change(record: object) -> None:
        record.blend, record.opacity = mode, opacity

    document = harmed(change)
    parsed = psdparse.PSDFile()
    assert parsed.load_bytes(document.data)
    width, height = document.size
    flat = np.frombuffer(parsed.composite()[0], np.uint8).reshape(height, width, 4)[..., [2, 1, 0, 3]]

    drawn = pictures.straight(expectation.render(document))

    assert pictures.delta_e(drawn, pictures.as_float(np.ascontiguousarray(flat))).max() < 3


def test_hidden_layers_are_not_drawn() -> None:
    """Neither one that is hidden itself nor one in a hidden group."""
    plain = expectation.render(documents.PsdDocument(built("offer_icon.psd"), "plain"))
    without = expectation.render(harmed(lambda record: setattr(record, "flags", record.flags | 2)))

    assert np.abs(plain - without)[380:].max() > 0.2
    assert not np.abs(plain - without)[:380].any()


def test_what_is_no_document_is_refused() -> None:
    """Other bytes, and a damaged file."""
    for data in (b"", b"GIF89a", built("offer_icon.psd")[:5000]):
        with pytest.raises(Unjudgeable):
            documents.PsdDocument(data, "file")


def test_a_layer_is_found_by_path_or_id_or_not_at_all() -> None:
    """Never guessed."""
    document = documents.PsdDocument(built("offer_icon.psd"), "plain")
    layer = document.layer({"path": "Art/Art"})

    assert layer is document.layer({"id": layer.layer_id})
    for address in ({"path": "Art"}, {"id": 999}, {"path": "Nothing"}):
        if address == {"path": "Art"}:
            assert document.layer(address).is_group()
        else:
            with pytest.raises(Unjudgeable):
                document.layer(address)


def test_whole_pixels_come_through_a_quad_unchanged() -> None:
    """A square on whole pixels at the contents' own size is a copy."""
    art = np.random.default_rng(3).random((40, 40, 4)).astype(np.float32)
    art[..., 3] = 1

    patch = expectation.through_quad(art, SQUARE, 100, 100)
    canvas = np.zeros((100, 100, 4), np.float32)
    expectation.place(canvas, patch.picture, patch.left, patch.top)

    assert np.abs(canvas[21:59, 11:49] - art[1:-1, 1:-1]).mean() < 0.12
    assert not canvas[:19].any()
    assert np.isclose(canvas[..., 3].sum(), 1600, rtol=0.01)


@given(st.integers(20, 300), st.integers(20, 300))
def test_other_proportions_lie_whole_and_centred(width: int, height: int) -> None:
    """In a square: the longer side fills it, the shorter one is centred."""
    quad = np.array(expectation.fitted(SQUARE, (100.0, 100.0), (width, height)))

    wide, high = quad[2] - quad[0]
    assert np.allclose((30, 40), (quad[0] + quad[2]) / 2, atol=1e-3)
    assert np.isclose(max(wide, high), 40, atol=0.5)
    assert np.isclose(wide / high, width / height, rtol=0.02)


@pytest.mark.parametrize(
    ("preset", "size", "corner"),
    [
        ({}, (60, 40), (0, 0)),
        ({"percent": 50}, (30, 20), (0, 0)),
        ({"longest": 30}, (30, 20), (0, 0)),
        ({"longest": 34, "padding": 2}, (34, 24), (2, 2)),
        ({"width": 30, "height": 30}, (30, 30), (0, 5)),
        ({"width": 34, "height": 34, "padding": 2}, (34, 34), (2, 7)),
        ({"multiple": 16}, (64, 48), (2, 4)),
        ({"area": "content"}, (20, 10), (-10, -20)),
        ({"area": "content", "padding": 1, "multiple": 4}, (24, 12), (-8, -19)),
    ],
)
def test_the_frame_is_the_presets(
    preset: dict[str, object], size: tuple[int, int], corner: tuple[float, float]
) -> None:
    """Size of the export, and where the canvas' corner lies in it."""
    picture = np.zeros((40, 60, 4), np.float32)
    picture[20:30, 10:30] = 1

    frame = frame_of(ExportPreset.model_validate(preset), picture)

    assert (size, corner) == (frame.size, frame.point(0, 0))
    assert framed(picture, frame).shape == (size[1], size[0], 4)
