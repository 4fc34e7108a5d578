"""Replacing contents: the right pixels, only the meant blocks, and refusals by name."""

from __future__ import annotations

import io

import numpy as np
import pytest
from photoshop_builders import (
    CORPUS,
    corpus_entries,
    deepen,
    is_broken,
    layer_pixels,
    to_psb,
    wide_gamut,
    with_flags,
    with_icc,
    with_pixels,
    with_twin,
)
from PIL import Image

from fabric_dagster.errors import FabricError, OperationFailed
from resources.photoshop.blockdiff import diff
from resources.photoshop.compose import composite, merged_planes
from resources.photoshop.document import build
from resources.photoshop.edit import Session
from resources.photoshop.png import encode_png
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.smartobjects import links, placement

OPEN, REPLACE = "photoshop.open_duplicate@1", "photoshop.replace_smart_object@1"
UUID = "11111111-2222-4333-8444-555555555555"


def replaced(folder, document: bytes, contents: bytes, layer, *, scope="layer", name="new.png"):
    """The edited document's container, the save's report and the operation's facts."""
    (folder / "t.psd").write_bytes(document)
    (folder / name).write_bytes(contents)
    session = Session(Limits(), {"smart_object_uuid_1": UUID})
    session.run(0, OPEN, {"source": str(folder / "t.psd"), "copy": "out.psd"})
    args = {"layer": layer, "contents": str(folder / name), "scope": scope}
    facts = session.run(1, REPLACE, args)
    (report,) = session.save(folder)
    assert document == (folder / "t.psd").read_bytes()
    return parse((folder / "out.psd").read_bytes()), report, facts


def flat_png(colour, size=(64, 64), icc: bytes | None = None) -> bytes:
    """A picture of one colour."""
    image = Image.new("RGBA", size, colour)
    stream = io.BytesIO()
    image.save(stream, "PNG", icc_profile=icc)
    return stream.getvalue()


def test_only_the_meant_blocks_differ(tmp_path, template, art):
    """The link, the layer's pixels and rectangle, and the previews; nothing else."""
    _, report, _ = replaced(tmp_path, template, art, {"path": "Art/Art"})
    assert {
        "global/lnk2", "layer/3/channel/-1", "layer/3/channel/0", "layer/3/channel/1", "layer/3/channel/2",
        "layer/3/rectangle", "merged_image", "resource/1036",
    } == {change["block"] for change in report["changes"]}  # fmt: skip


def test_the_new_contents_are_stored_and_shown(tmp_path, template, art):
    """The link holds the given bytes, and merged image and composite agree with the layers."""
    container, _, _ = replaced(tmp_path, template, art, {"path": "Art/Art"})
    (link,) = links(container).values()
    assert art == link.item.data
    assert (link.name, link.item.filetype) == ("new.png", b"png ")
    picture = composite(container, container.dump()).pixels
    alpha = picture[..., 3:] / 255
    over_white = picture[..., :3] * alpha + 255 * (1 - alpha)
    assert np.abs(np.moveaxis(merged_planes(container)[:3], 0, -1) - over_white).max() <= 1


def test_putting_the_same_contents_back_changes_nothing_visible(tmp_path, wide_template):
    """The original contents give the original pixels, in perspective too."""
    (link,) = links(parse(wide_template)).values()
    original = link.item.data
    container, report, _ = replaced(tmp_path, wide_template, original, {"id": 3}, name="placeholder.png")
    assert [] == report["changes"]
    assert wide_template == container.dump()


def test_larger_contents_fill_the_same_quad(tmp_path, template, art):
    """Twice the size: the same corners are kept, size and warp bounds follow, the picture is the same."""
    image = Image.open(io.BytesIO(art))
    stream = io.BytesIO()
    image.resize((1024, 1024), Image.Resampling.BICUBIC).save(stream, "PNG")
    small, _, _ = replaced(tmp_path, template, art, {"id": 3})
    large, report, _ = replaced(tmp_path, template, stream.getvalue(), {"id": 3})
    assert {"layer/3/block/SoLd", "layer/3/block/PlLd"} <= {c["block"] for c in report["changes"]}
    record = next(layer for layer in large.layer_info.layers if layer.id == 3)
    placed = placement(record)
    assert (1024.0, 1024.0) == placed.size
    assert placed.facts["warp"]["bounds"]["Rght"] == 1024.0
    before = placement(next(layer for layer in small.layer_info.layers if layer.id == 3))
    assert before.quad == placed.quad
    first, second = (composite(each, each.dump()).pixels for each in (small, large))
    assert np.abs(first.astype(int) - second).mean() < 1.5


def test_other_proportions_are_fitted_inside_and_recorded(tmp_path, template):
    """A tall picture stands in the middle of the placed square; the quad recorded is its own."""
    container, _, _ = replaced(tmp_path, template, flat_png("red", (100, 200)), {"id": 3})
    record = next(layer for layer in container.layer_info.layers if layer.id == 3)
    quad = np.array(placement(record).quad)
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    assert np.allclose([178, 356, 178, 356], sides, atol=0.01)
    assert np.allclose([256, 232], quad.mean(axis=0), atol=0.01)


def test_one_of_several_that_share_gets_a_clone(tmp_path, template):
    """Scope layer: the other layer keeps its contents and pixels; the new item has the plan's uuid."""
    document = with_twin(template, 3, 40)
    old, *_ = layer_pixels(parse(document), 40)
    container, report, facts = replaced(tmp_path, document, flat_png("blue", (512, 512)), {"id": 3})
    assert {UUID} < set(links(container))
    assert (True, UUID, 2) == (facts["cloned"], facts["uuid"], facts["shared_by"])
    assert np.array_equal(old, layer_pixels(container, 40)[0])
    assert not any(change["block"].startswith("layer/40/") for change in report["changes"])
    placed = placement(next(layer for layer in container.layer_info.layers if layer.id == 3))
    assert placed.uuid == UUID


def test_all_that_share_are_drawn_again(tmp_path, template):
    """Scope shared: one item, every layer follows."""
    document = with_twin(template, 3, 40)
    container, _, facts = replaced(
        tmp_path, document, flat_png("blue", (512, 512)), {"id": 3}, scope="shared"
    )
    assert ([40, 3], False) == (facts["layers"], facts["cloned"])
    assert len(links(container)) == 1
    first, left, _ = layer_pixels(container, 3)
    second, twin_left, _ = layer_pixels(container, 40)
    assert np.array_equal(first, second)
    assert left + 60 == twin_left


def test_sixteen_bits_stay_sixteen_bits(tmp_path, template):
    """A 16-bit document takes a 16-bit PNG at full depth; its preview follows."""
    value = 0x1234
    samples = np.full((512, 512, 4), 65535, np.uint16)
    samples[..., 0] = value
    container, report, _ = replaced(tmp_path, deepen(template), encode_png(samples), {"id": 3})
    pixels, _, _ = layer_pixels(container, 3)
    middle = pixels[pixels.shape[0] // 2, pixels.shape[1] // 2]
    assert [value, 65535, 65535, 65535] == pytest.approx(middle.tolist(), abs=2)
    assert merged_planes(container).dtype == np.uint16
    assert "merged_image" in {change["block"] for change in report["changes"]}


def test_a_psb_is_edited_as_a_psb(tmp_path, template, art):
    """Long lengths are kept; the pixels are those of the PSD."""
    large, report, _ = replaced(tmp_path, to_psb(template), art, {"id": 3})
    small, _, _ = replaced(tmp_path, template, art, {"id": 3})
    assert large.header.version == 2
    assert np.array_equal(layer_pixels(small, 3)[0], layer_pixels(large, 3)[0])
    assert np.array_equal(merged_planes(small), merged_planes(large))
    assert "global/lnk2" in {change["block"] for change in report["changes"]}


def test_psd_tools_opens_what_was_saved(tmp_path, template, art):
    """The independent reader finds the new contents and the refreshed picture."""
    from psd_tools import PSDImage

    container, _, _ = replaced(tmp_path, template, art, {"id": 3})
    image = PSDImage.open(io.BytesIO(container.dump()))
    layer = next(each for each in image.descendants() if each.layer_id == 3)
    assert (art, "new.png") == (layer.smart_object.data, layer.smart_object.filename)
    merged = np.asarray(image.topil().convert("RGBA")).astype(int)
    drawn = np.asarray(image.composite(ignore_preview=True).convert("RGBA"))
    assert np.abs(merged - drawn)[drawn[..., 3] == 255].mean() < 0.5


def test_colours_are_converted_into_the_documents_space(tmp_path, template):
    """A pure sRGB red becomes the wide space's red; a picture in that space is left as it is."""
    document = with_icc(template, wide_gamut())
    container, _, _ = replaced(tmp_path, document, flat_png((255, 0, 0, 255), (512, 512)), {"id": 3})
    pixels, _, _ = layer_pixels(container, 3)
    middle = pixels[pixels.shape[0] // 2, pixels.shape[1] // 2]
    # Known value of sRGB red in Adobe RGB (1998).
    assert [219, 0, 0, 255] == pytest.approx(middle.tolist(), abs=2)
    same, _, _ = replaced(
        tmp_path, document, flat_png((200, 20, 30, 255), (512, 512), wide_gamut()), {"id": 3}
    )
    pixels, _, _ = layer_pixels(same, 3)
    assert [200, 20, 30, 255] == pixels[pixels.shape[0] // 2, pixels.shape[1] // 2].tolist()


def test_a_psd_may_be_the_contents(tmp_path, template, wide_template):
    """What the placed PSD shows is drawn; the link says that it is one."""
    container, _, facts = replaced(tmp_path, template, wide_template, {"id": 3}, name="wide.psd")
    (link,) = links(container).values()
    assert ("psd", 768, 512) == tuple(facts["contents"][key] for key in ("format", "width", "height"))
    assert (b"8BPS", wide_template) == (link.item.filetype, link.item.data)


@pytest.mark.parametrize(
    ("prepare", "layer", "contents", "code"),
    [
        (lambda t: t, {"id": 2}, None, "photoshop.not_a_smart_object"),
        (lambda t: t, {"path": "Art"}, None, "photoshop.not_a_smart_object"),
        (lambda t: t, {"path": "Nothing"}, None, "photoshop.layer_not_found"),
        (lambda t: with_flags(t, 3, locks=1 << 31), {"id": 3}, None, "photoshop.layer_locked"),
        (lambda t: t, {"id": 3}, b"%PDF-1.4 art", "photoshop.contents_format"),
        (lambda t: t, {"id": 3}, b"<svg xmlns='http://www.w3.org/2000/svg'/>", "photoshop.contents_format"),
        (lambda t: t, {"id": 3}, b"GIF89a", "photoshop.contents_format"),
        (lambda t: t, {"id": 3}, b"\x89PNG\r\n\x1a\n" + bytes(40), "photoshop.contents_broken"),
        (lambda t: t, {"id": 3}, b"8BPS\0\1" + bytes(40), "photoshop.contents_broken"),
        (lambda t: with_icc(t, b"broken" * 30), {"id": 3}, None, "photoshop.profile_broken"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(tmp_path, template, art, prepare, layer, contents, code):
    """Each refusal has its code, names the operation, and nothing is written."""
    with pytest.raises(OperationFailed) as caught:
        replaced(tmp_path, prepare(template), contents or art, layer)
    assert code == caught.value.code
    assert "operations[1]" in caught.value.faults[0].where
    assert not (tmp_path / "out.psd").exists()


def test_a_smart_object_that_is_not_reproducible_is_refused(tmp_path, template, art):
    """Where the present contents would not come out as Photoshop drew them, new ones would not either."""
    other = with_pixels(template, 3, np.full((318, 318, 4), 128, np.uint8), 97, 73)
    with pytest.raises(OperationFailed) as caught:
        replaced(tmp_path, other, art, {"id": 3})
    assert "photoshop.smart_object_not_reproducible" == caught.value.code
    assert float(caught.value.faults[0].value) > 5
    empty = with_pixels(template, 3, np.zeros((0, 0, 4), np.uint8), 0, 0)
    with pytest.raises(OperationFailed) as caught:
        replaced(tmp_path, empty, art, {"id": 3})
    assert "unknown" == caught.value.faults[0].value
    (tmp_path / "t.psd").write_bytes(other)
    (tmp_path / "a.png").write_bytes(art)
    session = Session(Limits(), {"smart_object_uuid_1": "0"})
    session.run(0, OPEN, {"source": str(tmp_path / "t.psd"), "copy": "out.psd"})
    more = {"contents": str(tmp_path / "a.png"), "unproven": "allow"}
    facts = session.run(1, "photoshop.replace_smart_object@1", {"layer": {"id": 3}, **more})
    assert float(facts["original_error"][0]) > 5


def test_a_truncated_picture_is_refused(tmp_path, template, art):
    """Half a PNG is no PNG."""
    with pytest.raises(OperationFailed) as caught:
        replaced(tmp_path, template, art[: len(art) // 2], {"id": 3})
    assert caught.value.code == "photoshop.contents_broken"


def test_every_smart_object_of_the_corpus_is_replaced_or_refused(tmp_path, corpus, art):
    """Real documents: only meant blocks differ (the gate), everything else has a declared code."""
    from fabric_dagster.capabilities.photoshop_replace_smart_object import CAPABILITY

    declared = {failure.code for failure in CAPABILITY.failures}
    done, refused = 0, []
    for entry in corpus_entries():
        if is_broken(entry) or "kind:smartobject" not in entry["features"]:
            continue
        data = (CORPUS / entry["file"]).read_bytes()
        smart = [layer for layer in build(parse(data)).walk() if layer.kind == "smart_object"]
        for layer in smart[:4]:
            try:
                replaced(tmp_path, data, art, {"id": layer.id})
                done += 1
            except FabricError as error:
                refused.append(error.code)
    _ = corpus
    assert done > 10
    assert len(refused) > 5
    assert set(refused) <= declared


def test_toggling_visibility_twice_gives_the_first_bytes(tmp_path, template):
    """Hidden and shown again, the document is what it was, previews included."""
    (tmp_path / "t.psd").write_bytes(template)
    session = Session(Limits(), {})
    session.run(0, OPEN, {"source": str(tmp_path / "t.psd"), "copy": "out.psd"})
    address = {"path": "Text"}
    session.run(1, "photoshop.set_visibility@1", {"layer": address, "visible": False})
    hidden = session.current.data()
    blocks = {change.key for change in diff(parse(template), parse(hidden))}
    assert {"layer/13/look", "merged_image", "resource/1036"} == blocks
    session.run(2, "photoshop.set_visibility@1", {"layer": address, "visible": True})
    session.save(tmp_path)
    assert template == (tmp_path / "out.psd").read_bytes()
