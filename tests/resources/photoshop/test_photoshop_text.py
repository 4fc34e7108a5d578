"""``photoshop.set_text@1``: other words, drawn again in the layer's own font, and written in both places."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from photoshop_builders import CORPUS, corpus_entries, deepen, is_broken, layer_pixels, with_flags
from PIL import Image, ImageDraw, ImageFont
from text_builders import FONT_NAME, small_font, with_text, with_text_engine

from fabric_dagster.errors import FabricError, OperationFailed
from resources.photoshop import parsed
from resources.photoshop.blockdiff import diff
from resources.photoshop.edit import Session
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.type import bidi
from resources.photoshop.type.draw import draw
from resources.photoshop.type.fonts import FontBook
from resources.photoshop.type.layout import lay_out
from resources.photoshop.type.style import ParagraphStyle, Style, TextModel

OPEN, TEXT = "photoshop.open_duplicate@1", "photoshop.set_text@1"
LABEL = 11
BLACK = (0.0, 0.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> FontBook:
    """Only a font of the tests' own and the one that the program carries."""
    folder = tmp_path_factory.mktemp("fonts")
    (folder / "anything.ttf").write_bytes(small_font())
    return FontBook([folder], system=False)


def edited(tmp_path, data: bytes, text: str, book: FontBook, layer=None, **more) -> tuple[bytes, dict]:
    """Set the words of one layer through the session that plans run in; the saved bytes and the facts."""
    (tmp_path / "in.psd").write_bytes(data)
    session = Session(Limits(), {}, book)
    session.run(0, OPEN, {"source": str(tmp_path / "in.psd"), "copy": "out.psd"})
    facts = session.run(1, TEXT, {"layer": layer or {"id": LABEL}, "text": text, **more})
    session.save(tmp_path)
    return (tmp_path / "out.psd").read_bytes(), facts


def words(data: bytes, identifier: int = LABEL) -> str:
    """A layer's words as psdparse reads them."""
    opened = parsed.load(data)
    return next(layer.text["text"] for layer in opened.layers if layer.layer_id == identifier)


def test_words_and_pixels_change_and_nothing_else(tmp_path, template, book):
    """The text block, the layer's picture and the previews differ; the words read back; it is marked."""
    data, facts = edited(tmp_path, template, "SALE", book)
    assert "SALE\r" == words(data)
    assert {
        "layer/11/block/TySh", "layer/11/rectangle", "layer/11/channel/-1", "layer/11/channel/0",
        "layer/11/channel/1", "layer/11/channel/2", "merged_image", "resource/1036",
    } >= {change.key for change in diff(parse(template), parse(data))}  # fmt: skip
    assert ("headless", "Aileron-Regular", "built-in") == (
        facts["redrawn"], facts["font"]["name"], facts["font"]["file"],
    )  # fmt: skip
    assert not np.array_equal(layer_pixels(parse(template), LABEL)[0], layer_pixels(parse(data), LABEL)[0])


def test_the_raster_is_what_the_font_draws(tmp_path, template, book):
    """Against Pillow's own rasteriser in the same face: the same ink in the same place."""
    data, _ = edited(tmp_path, template, "HIM", book)
    pixels, left, top = layer_pixels(parse(data), LABEL)
    # Eight times as large and averaged down: there hinting moves nothing.
    face = ImageFont.truetype(io.BytesIO(ImageFont.load_default(46).font_bytes), 46 * 8)
    reference = Image.new("L", (512 * 8, 512 * 8), 0)
    # The tracking of 40 thousandths of an em comes after each letter; the block is centred on the anchor.
    x = 256 * 8 - (sum(face.getlength(letter) for letter in "HIM") + 3 * 46 * 8 * 0.04) / 2
    for letter in "HIM":
        at = (x, (430 + 46 * 0.36) * 8)
        ImageDraw.Draw(reference).text(at, letter, fill=255, font=face, anchor="ls")
        x += face.getlength(letter) + 46 * 8 * 0.04
    reference = reference.reduce(8)
    ours = np.zeros((512, 512))
    ours[top : top + pixels.shape[0], left : left + pixels.shape[1]] = pixels[..., 3]
    theirs = np.asarray(reference, float)
    assert 0.02 > abs(ours.sum() - theirs.sum()) / theirs.sum()
    assert 6 > np.abs(ours - theirs)[theirs > 0].mean()


def test_both_text_blocks_hold_the_words(tmp_path, template, book):
    """Where the document has text engine data, they follow."""
    source = with_text_engine(template)
    data, facts = edited(tmp_path, source, "NEW", book)
    assert facts["text_engine_data"]
    assert ["NEW\r"] == [text.rstrip("\0") for text in parsed.load(data).text_engine_texts()]
    assert "NEW\r" == words(data)


def test_a_missing_font_is_named_exactly(tmp_path, template, book):
    """No face with this PostScript name: its exact name, nothing drawn, nothing written."""
    source = with_text(template, LABEL, font="Aileron-Bold")
    with pytest.raises(OperationFailed) as caught:
        edited(tmp_path, source, "SALE", book)
    (fault,) = caught.value.faults
    assert ("photoshop.font_missing", "Aileron-Bold") == (fault.code, fault.value)
    assert not (tmp_path / "out.psd").exists()


def test_a_font_is_found_by_its_own_name(tmp_path, template, book):
    """Never by its file's name."""
    _, facts = edited(tmp_path, with_text(template, LABEL, font=FONT_NAME), "AB", book)
    assert ("anything.ttf", FONT_NAME) == (facts["font"]["file"], facts["font"]["name"])


def test_a_character_that_the_font_has_not(tmp_path, template, book):
    """Refused with the character; no box is drawn."""
    with pytest.raises(OperationFailed) as caught:
        edited(tmp_path, with_text(template, LABEL, font=FONT_NAME), "AZ", book)
    assert ("photoshop.glyph_missing", "Z") == (caught.value.code, caught.value.faults[0].value)


@pytest.mark.parametrize("scale", [0.5, 2.0, 3.0])
def test_the_transform_is_applied_to_the_size(tmp_path, template, book, scale):
    """Text of 20 pixels that is scaled is drawn at its scaled size."""
    source = with_text(
        template, LABEL, font=FONT_NAME, size=20, align=0, transform=(scale, 0, 0, scale, 100, 200)
    )
    _, facts = edited(tmp_path, source, "A", book)
    bounds = facts["bounds"]
    # The test font's A is a block of 600 x 700 thousandths of an em on the baseline.
    assert (round(12 * scale), round(14 * scale)) == (
        bounds["right"] - bounds["left"], bounds["bottom"] - bounds["top"],
    )  # fmt: skip
    assert 200 == bounds["bottom"]


@pytest.mark.parametrize(("align", "left"), [(0, 100), (1, 58), (2, 79)])
def test_alignment(tmp_path, template, book, align, left):
    """Left, right and centred at the anchor; two letters of .7 em at 30 pixels."""
    source = with_text(
        template, LABEL, font=FONT_NAME, size=30, align=align, tracking=0, transform=(1, 0, 0, 1, 100, 200)
    )
    _, facts = edited(tmp_path, source, "AB", book)
    assert left == facts["bounds"]["left"]


def test_lines_follow_at_their_leading(tmp_path, template, book):
    """Automatic leading is 1.2 of the size; a fixed one is itself."""
    for leading, second in ((None, 200 + 60), (40, 200 + 40)):
        source = with_text(
            template, LABEL, font=FONT_NAME, size=50, leading=leading, transform=(1, 0, 0, 1, 100, 200)
        )
        _, facts = edited(tmp_path, source, "A\nA", book)
        assert (second, 2) == (facts["bounds"]["bottom"], facts["lines"])


def test_text_in_a_box_breaks_and_overflows(tmp_path, template, book):
    """Words wrap in the box; what it does not hold is measured and refused, or cut off on request."""
    source = with_text(
        template, LABEL, font=FONT_NAME, size=20, tracking=0, align=0, box=(0, 0, 100, 60),
        transform=(1, 0, 0, 1, 50, 50),
    )  # fmt: skip
    _, facts = edited(tmp_path, source, "AAAA BBBB", book)
    assert (2, 0, 50) == (facts["lines"], facts["overflow"], facts["bounds"]["top"])
    with pytest.raises(OperationFailed) as caught:
        edited(tmp_path, source, "AAAA BBBB AAAA BBBB", book)
    assert ("photoshop.text_overflow", "2") == (caught.value.code, caught.value.faults[0].value)
    _, facts = edited(tmp_path, source, "AAAA BBBB AAAA BBBB", book, overflow="cut")
    assert (4, 2) == (facts["lines"], facts["overflow"])


def test_sixteen_bits_hold_the_exact_colour(tmp_path, template, book):
    """A colour between two 8-bit ones survives in a 16-bit document."""
    source = with_text(deepen(template), LABEL, font=FONT_NAME, size=60, colour=(0.5, 0.25, 0.125))
    data, _ = edited(tmp_path, source, "A", book)
    pixels, _, _ = layer_pixels(parse(data), LABEL)
    solid = pixels[pixels[..., 3] == 65535]
    assert {tuple(round(v * 65535) for v in (0.5, 0.25, 0.125))} == {tuple(p[:3]) for p in solid.tolist()}


@pytest.mark.parametrize(
    ("prepare", "layer", "code"),
    [
        (lambda t: t, {"id": 3}, "photoshop.layer_kind"),
        (lambda t: with_flags(t, LABEL, locks=2), None, "photoshop.layer_locked"),
        (lambda t: with_flags(t, LABEL, locks=1 << 31), None, "photoshop.layer_locked"),
        (lambda t: with_text(t, LABEL, orientation="Vrtc"), None, "photoshop.text_vertical"),
        (lambda t: with_text(t, LABEL, warp="warpArc"), None, "photoshop.text_warped"),
        (lambda t: with_text(t, LABEL, shape=2), None, "photoshop.text_on_path"),
        (lambda t: with_text(t, LABEL, stroked=True), None, "photoshop.text_style"),
        (lambda t: with_text(t, LABEL, engine=b"<< /EngineDict [ >>"), None, "photoshop.text_unreadable"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(tmp_path, template, book, prepare, layer, code):
    """Each has a declared code, names the layer, and nothing is written."""
    from fabric_dagster.capabilities.photoshop_set_text import CAPABILITY

    with pytest.raises(OperationFailed) as caught:
        edited(tmp_path, prepare(template), "SALE", book, layer)
    assert code == caught.value.code
    assert code in {failure.code for failure in CAPABILITY.failures}
    assert "operations[1], layer " in caught.value.faults[0].where
    assert not (tmp_path / "out.psd").exists()


def test_right_to_left_words_run_right_to_left():
    """Hebrew letters are placed from the right; numbers within keep their order."""
    text = "\u05d0\u05d1 12 ab"
    found = bidi.levels(text, bidi.base_level(text))
    assert [1, 1, 1, 2, 2, 1, 2, 2] == found
    order = bidi.visual(bidi.runs(found))
    shown = "".join(text[a:b] if level % 2 == 0 else text[a:b][::-1] for a, b, level in order)
    assert "ab 12 \u05d1\u05d0" == shown


@given(st.text(alphabet="aA1 ,.\u05d0\u0627\u0661\u0300", max_size=30))
def test_every_character_keeps_its_place_in_the_order(text):
    """Whatever the directions, each character is shown exactly once."""
    found = bidi.levels(text, bidi.base_level(text))
    order = bidi.visual(bidi.runs(found))
    assert list(range(len(text))) == sorted(i for a, b, _ in order for i in range(a, b))


def test_equal_words_make_equal_pixels(book):
    """Nothing depends on time, chance or the system's text rendering."""
    model = TextModel("ABBA", ((4, Style(FONT_NAME, 33, BLACK)),), ((4, ParagraphStyle()),),
                      (1, 0.2, -0.1, 1, 9.3, 40.7), None)  # fmt: skip
    first, second = (draw(lay_out(model, book), model.transform, smooth=True, pixels=10**6) for _ in "ab")
    assert np.array_equal(first[0], second[0])
    assert first[1:] == second[1:]


def test_corpus_words_are_set_or_refused(tmp_path, corpus, book):
    """Real text layers: words read back and only meant blocks differ, or a declared code says why not."""
    from fabric_dagster.capabilities.photoshop_set_text import CAPABILITY

    _ = corpus
    declared = {failure.code for failure in CAPABILITY.failures}
    aliased = _Aliased(book)
    done, refused = 0, set()
    for entry in corpus_entries():
        if is_broken(entry) or "kind:type" not in entry["features"]:
            continue
        data = (CORPUS / entry["file"]).read_bytes()
        layers = [(layer.layer_id, layer.text) for layer in parsed.load(data).layers if layer.text]
        for identifier, _text in layers[:2]:
            try:
                made, _ = edited(tmp_path, data, "Ba", aliased, {"id": identifier}, overflow="cut")
            except FabricError as error:
                refused.add(error.code)
                continue
            assert "Ba\r" == words(made, identifier)
            done += 1
    assert done > 10
    assert refused <= declared


class _Aliased:
    """A book that has every font: the built-in face under any name."""

    def __init__(self, book: FontBook) -> None:
        self.book = book

    def find(self, _name: str):
        """The face that the program carries."""
        return self.book.find("Aileron-Regular")
