"""Every operation does what it says, changes only the blocks that it names, and refuses by name."""

from __future__ import annotations

import io
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from comp_builders import null, with_comps
from effect_builders import shadow, stroke, with_effects
from photoshop_builders import (
    as_artboard,
    deepen,
    layer_pixels,
    wide_gamut,
    with_flags,
    with_icc,
    with_mask,
    with_pixels,
    with_solid,
)
from PIL import Image
from psd_tools.psd import descriptor as d
from psd_tools.terminology import Unit
from text_builders import rasterised, with_text

from fabric_dagster.capabilities.registry import capability, failure_codes
from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import OperationFailed
from resources.photoshop import operations
from resources.photoshop.blockdiff import diff
from resources.photoshop.compose import composite
from resources.photoshop.document import build
from resources.photoshop.edit import Session
from resources.photoshop.effects import read_effects
from resources.photoshop.masks import read_mask
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.smartobjects import placement

OPEN = "photoshop.open_duplicate@1"
PREVIEWS = {"merged_image", "resource/1036"}
LABEL, RIBBON, ART, SHINE = 11, 10, 3, 7


@pytest.fixture
def run(tmp_path):
    """Run operations (capability's short name, arguments) on a document: its bytes, and the facts."""

    def do(data: bytes, *operations: tuple[str, dict]) -> tuple[bytes, list[dict]]:
        (tmp_path / "in.psd").write_bytes(data)
        session = Session(Limits(), {})
        session.run(0, OPEN, {"source": str(tmp_path / "in.psd"), "copy": "out.psd"})
        facts = []
        for number, (name, args) in enumerate(operations, 1):
            declared = capability(f"photoshop.{name}@1")
            checked = declared.arguments.model_validate(args).body()
            try:
                facts.append(session.run(number, declared.id, checked))
            except OperationFailed as error:
                if error.code not in {failure.code for failure in declared.failures}:
                    pytest.fail(f"{declared.id} does not declare {error.code}")
                raise
        session.save(tmp_path)
        return (tmp_path / "out.psd").read_bytes(), facts

    return do


def changed(before: bytes, after: bytes) -> set[str]:
    """Keys of the blocks that differ."""
    return {change.key for change in diff(parse(before), parse(after))}


def layer_of(data: bytes, identifier: int):
    """One layer of a document."""
    return next(layer for layer in build(parse(data)).walk() if layer.id == identifier)


def shown(data: bytes) -> np.ndarray:
    """What the document shows."""
    return composite(parse(data), data).pixels


# -- place and size


def test_move_keeps_the_pixels_and_moves_the_placement(run, template):
    """A smart object's quad goes with it; moving back gives the first bytes."""
    data, (facts,) = run(template, ("move_layer", {"layer": {"id": ART}, "dx": 10, "dy": -20}))
    quads = [np.array(placement(layer_of(d, ART).record).quad) for d in (template, data)]
    assert np.allclose(quads[0] + [10, -20], quads[1])
    assert {"dx": 10, "dy": -20} == facts["moved"]
    assert {"layer/3/rectangle", "layer/3/block/SoLd", "layer/3/block/PlLd", *PREVIEWS} == changed(
        template, data
    )
    back, _ = run(data, ("move_layer", {"layer": {"id": ART}, "left": 97, "top": 73}))
    assert template == back


def test_move_takes_a_group_with_all_that_is_in_it(run, template):
    """Text transform, reference point and rectangles; the picture is the same, elsewhere."""
    data, _ = run(template, ("move_layer", {"layer": {"path": "Text"}, "top": 372}))
    assert -20 == layer_of(data, LABEL).bounds[1] - layer_of(template, LABEL).bounds[1]
    before, after = (layer_of(d, LABEL).record.block(b"TySh").data for d in (template, data))
    x, y = struct.unpack(">2d", before[34:50])
    assert (x, y - 20) == struct.unpack(">2d", after[34:50])
    assert np.array_equal(layer_pixels(parse(template), LABEL)[0], layer_pixels(parse(data), LABEL)[0])


def test_a_linked_mask_moves_and_an_unlinked_one_stays(run, template):
    """Bit 0 of its flags says that it stays."""
    for flags, expected in ((0, 30), (1, 20)):
        data, _ = run(
            with_mask(template, SHINE, np.full((9, 9), 255, np.uint8), 20, 20, flags=flags),
            ("move_layer", {"layer": {"id": SHINE}, "dx": 10}),
        )
        assert expected == read_mask(layer_of(data, SHINE), parse(data).header).left


@pytest.mark.parametrize(
    ("args", "box"),
    [
        ({"to": "canvas", "horizontal": "left", "vertical": "top"}, (0, 0)),
        ({"to": "canvas", "horizontal": "right", "vertical": "bottom", "margin": 3}, (355, 473)),
        ({"to": "canvas", "horizontal": "center"}, (179, 413)),
        ({"to": "guides", "horizontal": "left", "vertical": "bottom"}, (40, 436)),
        ({"to": "guides", "horizontal": "right", "vertical": "top", "margin": 2}, (316, 42)),
    ],
)
def test_align(run, template, args, box):
    """Sides touch to the pixel; the outermost guides are the frame."""
    data, _ = run(template, ("align_layer", {"layer": {"id": LABEL}, **args}))
    assert box == layer_of(data, LABEL).bounds[:2]


def test_align_to_the_artboard_around_it(run, template):
    """Its rectangle, not the canvas."""
    data, _ = run(
        as_artboard(template, 13, (100, 300, 400, 500)),
        ("align_layer", {"layer": {"id": LABEL}, "to": "artboard", "horizontal": "left", "vertical": "top"}),
    )
    assert (100, 300) == layer_of(data, LABEL).bounds[:2]
    with pytest.raises(OperationFailed, match="artboard_missing"):
        run(template, ("align_layer", {"layer": {"id": LABEL}, "to": "artboard", "vertical": "top"}))


def test_align_without_guides_is_refused(run, template):
    """There is nothing to align to."""
    container = parse(template)
    container.resources = [item for item in container.resources if item.id != 1032]
    with pytest.raises(OperationFailed, match="guide_missing"):
        run(container.dump(), ("align_layer", {"layer": {"id": 1}, "to": "guides", "horizontal": "left"}))


def test_resize_a_pixel_layer_with_its_mask(run, template):
    """The anchor stays, the mask's rectangle scales with the layer."""
    masked = with_mask(template, SHINE, np.full((114, 432), 255, np.uint8), 40, 40)
    data, (facts,) = run(
        masked, ("resize_layer", {"layer": {"id": SHINE}, "percent": 50, "anchor": "top_left"})
    )
    assert {"left": 40, "top": 40, "right": 256, "bottom": 97} == facts["bounds"]
    assert (40, 40, 256, 97) == read_mask(layer_of(data, SHINE), parse(data).header).box


def test_resize_a_smart_object_draws_its_contents_again(run, template):
    """Half as large from the contents, not from the raster; the quad is recorded."""
    data, (facts,) = run(template, ("resize_layer", {"layer": {"id": ART}, "width": 159}))
    left, top, right, bottom = layer_of(data, ART).bounds
    assert 2 >= max(abs(right - left - 159), abs(bottom - top - 159))
    quads = [np.array(placement(layer_of(d, ART).record).quad) for d in (template, data)]
    assert np.allclose(np.ptp(quads[1], axis=0), np.ptp(quads[0], axis=0) / 2, atol=0.5)
    assert float(facts["original_error"]) < 1


def test_resize_of_text_and_of_nothing_is_refused(run, template):
    """By kind, and where there are no pixels."""
    with pytest.raises(OperationFailed, match="layer_kind"):
        run(template, ("resize_layer", {"layer": {"id": LABEL}, "percent": 50}))
    empty = with_pixels(template, SHINE, np.zeros((0, 0, 4), np.uint8), 0, 0)
    with pytest.raises(OperationFailed, match="layer_empty"):
        run(empty, ("resize_layer", {"layer": {"id": SHINE}, "percent": 50}))


def test_locks_are_kept(run, template):
    """Position locks forbid moving, full locks of a group what is in it; the eye is free."""
    with pytest.raises(OperationFailed, match="layer_locked"):
        run(with_flags(template, LABEL, locks=4), ("move_layer", {"layer": {"path": "Text"}, "dx": 1}))
    locked = with_flags(template, 13, locks=1 << 31)
    for name, args in (("move_layer", {"dx": 1}), ("fill_layer", {"color": "#000000"})):
        with pytest.raises(OperationFailed, match="layer_locked"):
            run(locked, (name, {"layer": {"id": RIBBON}, **args}))
    run(locked, ("set_visibility", {"layer": {"id": RIBBON}, "visible": False}))


# -- colours


def test_fill_keeps_the_shape_or_covers_the_canvas(run, template):
    """Transparency is kept, or the whole canvas is one colour."""
    data, _ = run(template, ("fill_layer", {"layer": {"id": RIBBON}, "color": "#204060"}))
    pixels, _, _ = layer_pixels(parse(data), RIBBON)
    assert np.array_equal(layer_pixels(parse(template), RIBBON)[0][..., 3], pixels[..., 3])
    assert {(0x20, 0x40, 0x60)} == {tuple(p) for p in pixels[..., :3].reshape(-1, 3).tolist()}
    data, (facts,) = run(
        template, ("fill_layer", {"layer": {"id": RIBBON}, "color": "#ffffff", "keep_transparency": False})
    )
    assert {"left": 0, "top": 0, "right": 512, "bottom": 512} == facts["bounds"]


def test_fill_a_solid_fill_layer(run, template):
    """Its colour is its own data, not pixels."""
    source = with_solid(template, SHINE, (1, 2, 3))
    data, _ = run(source, ("fill_layer", {"layer": {"id": SHINE}, "color": "#FF0080"}))
    assert {"layer/7/block/SoCo", *PREVIEWS} >= changed(source, data)
    assert b"SoCo" in {b.key for b in layer_of(data, SHINE).record.blocks}
    assert not np.array_equal(shown(source), shown(data))
    with pytest.raises(OperationFailed, match="layer_kind"):
        run(template, ("fill_layer", {"layer": {"id": ART}, "color": "#000000"}))


def test_effect_values(run, template):
    """Each value lands in the effect, and only there; the picture follows."""
    source = with_effects(template, RIBBON, {b"DrSh": shadow(), b"FrFX": stroke()})
    wanted = {"color": "#ff0000", "opacity": 50, "size": 12, "distance": 9, "angle": -45}
    data, (facts,) = run(source, ("set_effect", {"layer": {"id": RIBBON}, "effect": "drop_shadow", **wanted}))
    now = {e["effect"]: e for e in read_effects(layer_of(data, RIBBON).record)}
    assert wanted == {key: now["drop_shadow"][key] for key in wanted}
    assert "#ff0000" == now["stroke"]["color"]
    assert {"layer/10/block/lfx2", *PREVIEWS} == changed(source, data)
    assert not np.array_equal(shown(source), shown(data))
    assert "50" == facts["opacity"]
    data, _ = run(
        source, ("set_effect", {"layer": {"id": RIBBON}, "effect": "stroke", "enabled": False, "size": 9})
    )
    assert (False, 9) == tuple(
        read_effects(layer_of(data, RIBBON).record)[-1][key] for key in ("enabled", "size")
    )


def test_one_of_several_effects(run, template):
    """The index counts within the kind; the block that holds several is the one that counts."""
    source = with_effects(
        template, RIBBON, {b"dropShadowMulti": [shadow(size=1), shadow(size=2)]}, key=b"lmfx"
    )
    data, _ = run(
        source, ("set_effect", {"layer": {"id": RIBBON}, "effect": "drop_shadow", "index": 1, "size": 7})
    )
    assert [1, 7] == [effect["size"] for effect in read_effects(layer_of(data, RIBBON).record)]


def test_effects_that_are_not_there_are_refused(run, template):
    """No such effect, or no such value of it."""
    with pytest.raises(OperationFailed, match="effect_missing"):
        run(template, ("set_effect", {"layer": {"id": RIBBON}, "effect": "stroke", "size": 1}))
    with pytest.raises(OperationFailed, match="effect_value"):
        run(
            with_effects(template, RIBBON, {b"FrFX": stroke()}),
            ("set_effect", {"layer": {"id": RIBBON}, "effect": "stroke", "distance": 1}),
        )


# -- masks


def test_edit_a_mask(run, template):
    """Off, inverted, filled: each reads back; nothing but the mask differs."""
    source = with_mask(template, SHINE, np.full((60, 80), 200, np.uint8), 100, 50)
    header = parse(source).header
    data, (facts,) = run(source, ("edit_mask", {"layer": {"id": SHINE}, "action": "disable"}))
    assert not facts["enabled"]
    assert {"layer/7/mask"} == changed(source, data) - PREVIEWS
    data, _ = run(source, ("edit_mask", {"layer": {"id": SHINE}, "action": "invert"}))
    mask = read_mask(layer_of(data, SHINE), header)
    assert (55, 255) == (mask.samples[0, 0], mask.outside)
    rectangle = {"left": 170, "top": 100, "width": 30, "height": 20}
    data, _ = run(source, ("edit_mask", {"layer": {"id": SHINE}, "action": "fill", "value": 9, **rectangle}))
    mask = read_mask(layer_of(data, SHINE), header)
    assert (100, 50, 200, 120) == mask.box
    assert (200, 9, 0) == (mask.samples[0, 0], mask.samples[55, 75], mask.samples[0, 99])
    with pytest.raises(OperationFailed, match="mask_missing"):
        run(template, ("edit_mask", {"layer": {"id": SHINE}, "action": "invert"}))


@pytest.mark.parametrize("deep", [False, True])
def test_replace_a_mask_from_a_picture(run, tmp_path, template, deep):
    """The PNG's gray values are the mask, at the document's depth; the layer shows through it."""
    values = np.tile(np.arange(64, dtype=np.uint8) * 4, (32, 1))
    stream = io.BytesIO()
    Image.fromarray(values).save(stream, "PNG")
    (tmp_path / "mask.png").write_bytes(stream.getvalue())
    source = deepen(template) if deep else template
    args = {"layer": {"id": RIBBON}, "mask": str(tmp_path / "mask.png"), "left": 224, "top": 410}
    data, _ = run(source, ("replace_mask", args))
    mask = read_mask(layer_of(data, RIBBON), parse(data).header)
    assert (224, 410, 288, 442) == mask.box
    assert np.array_equal(values, mask.samples // 257 if deep else mask.samples)
    assert {"layer/10/mask", "layer/10/channel/-2", *PREVIEWS} == changed(source, data)


def test_a_mask_of_another_format_is_refused(run, tmp_path, template):
    """A mask comes from a PNG, whole."""
    for contents, code in ((b"GIF89a", "contents_format"), (b"\x89PNG\r\n\x1a\n123", "contents_broken")):
        (tmp_path / "mask.png").write_bytes(contents)
        with pytest.raises(OperationFailed, match=code):
            run(template, ("replace_mask", {"layer": {"id": RIBBON}, "mask": str(tmp_path / "mask.png")}))


# -- comps

A, B, C = 1001, 1002, 1003


def test_a_comp_is_everything_said_up_to_its_entry(run, template):
    """An entry says what differs from the one before; applying another one afterwards is right again."""
    source = with_comps(
        template,
        [(A, "First", 1), (B, "Second", 1), (C, "Third", 1)],
        {LABEL: [(A, {b"enab": True}), (B, {b"enab": False}), (C, {}), (0, {b"enab": True})]},
    )
    for name, visible in (("First", True), ("Second", False), ("Third", False)):
        data, _ = run(source, ("apply_layer_comp", {"comp": name}))
        assert visible == layer_of(data, LABEL).visible
    data, (_, last) = run(source, ("apply_layer_comp", {"comp": C}), ("apply_layer_comp", {"comp": "First"}))
    assert layer_of(data, LABEL).visible
    assert (A, [LABEL]) == (last["id"], last["changed"]["visibility"])


def test_a_comp_moves_layers_from_where_they_are(run, template):
    """Offsets count from a common place: from one comp to the next only the difference is moved."""
    source = with_comps(
        template,
        [(A, "Home", 2), (B, "Away", 2)],
        {ART: [(A, {}), (B, {b"Ofst": (30, -10)}), (0, {b"Ofst": (0, 0)})]},
    )
    home = layer_of(template, ART).bounds
    data, _ = run(source, ("apply_layer_comp", {"comp": "Away"}))
    assert (home[0] + 30, home[1] - 10) == layer_of(data, ART).bounds[:2]
    data, _ = run(source, ("apply_layer_comp", {"comp": "Away"}), ("apply_layer_comp", {"comp": "Away"}))
    assert (home[0] + 30, home[1] - 10) == layer_of(data, ART).bounds[:2]
    data, _ = run(source, ("apply_layer_comp", {"comp": "Away"}), ("apply_layer_comp", {"comp": "Home"}))
    assert home == layer_of(data, ART).bounds
    quads = [np.array(placement(layer_of(d, ART).record).quad) for d in (template, data)]
    assert np.allclose(quads[0], quads[1])


def test_a_comp_brings_back_an_appearance(run, template):
    """Blend mode, opacity and style as recorded, and no visibility where it records none."""
    options = null(
        [
            (b"Md  ", d.Enumerated(typeID=b"BlnM", enum=b"multiply")),
            (b"Opct", d.UnitFloat(unit=Unit.Percent, value=40.0)),
        ]
    )
    style = null([(b"masterFXSwitch", d.Bool(value=True)), (b"FrFX", stroke(tone=(0, 255, 0)))])
    source = with_comps(
        with_effects(template, RIBBON, {b"FrFX": stroke()}),
        [(A, "Green", 4)],
        {RIBBON: [(A, {b"enab": False, b"blendOptions": options, b"Lefx": style}), (0, {b"enab": True})]},
    )
    data, (facts,) = run(source, ("apply_layer_comp", {"comp": "Green"}))
    layer = layer_of(data, RIBBON)
    assert (b"mul ", 102, True) == (layer.record.blend, layer.record.opacity, layer.visible)
    assert "#00ff00" == read_effects(layer.record)[0]["color"]
    assert [RIBBON] == facts["changed"]["appearance"]
    assert {
        "layer/10/look", "layer/10/block/lfx2", "resource/1065", *PREVIEWS
    } == changed(source, data)  # fmt: skip


def test_comps_that_are_not_one_are_refused(run, template):
    """Unknown, or two of one name: the candidates are listed with their ids."""
    with pytest.raises(OperationFailed, match="comp_not_found"):
        run(template, ("apply_layer_comp", {"comp": "Nothing"}))
    twice = with_comps(template, [(A, "Same", 1), (B, "Same", 1)], {})
    with pytest.raises(OperationFailed, match="id 1002") as caught:
        run(twice, ("apply_layer_comp", {"comp": "Same"}))
    assert "photoshop.comp_ambiguous" == caught.value.code


# -- profiles, checkpoints, drift


def test_assigning_a_profile_changes_no_sample(run, tmp_path, template):
    """The numbers stay; what they mean changes."""
    (tmp_path / "wide.icc").write_bytes(wide_gamut())
    data, (facts,) = run(template, ("assign_profile", {"file": str(tmp_path / "wide.icc")}))
    assert "Test wide RGB" == facts["profile"]
    assert {"resource/1039"} == changed(template, data)
    data, _ = run(template, ("assign_profile", {"profile": "none"}))
    assert {"resource/1039", "resource/1041"} == changed(template, data)


@pytest.mark.parametrize("deep", [False, True])
def test_converting_keeps_the_colours(run, tmp_path, template, deep):
    """Out to a wide space and back: every visible colour within rounding, at both depths."""
    source = rasterised(deepen(template) if deep else template, LABEL)
    (tmp_path / "wide.icc").write_bytes(wide_gamut())
    there, _ = run(source, ("convert_profile", {"file": str(tmp_path / "wide.icc")}))
    assert not np.array_equal(layer_pixels(parse(source), RIBBON)[0], layer_pixels(parse(there), RIBBON)[0])
    back, _ = run(there, ("convert_profile", {"profile": "srgb"}))
    before, after = (layer_pixels(parse(d), RIBBON)[0].astype(int) for d in (source, back))
    opaque = before[..., 3] > 0
    assert (2 if not deep else 40) >= np.abs(before - after)[opaque].max()


def test_conversions_that_would_look_different_are_refused(run, tmp_path, template):
    """Text, effects and adjustments keep numbers."""
    (tmp_path / "wide.icc").write_bytes(wide_gamut())
    with pytest.raises(OperationFailed, match="conversion_unfaithful"):
        run(template, ("convert_profile", {"file": str(tmp_path / "wide.icc")}))
    (tmp_path / "bad.icc").write_bytes(b"nonsense" * 40)
    with pytest.raises(OperationFailed, match="profile_broken"):
        run(template, ("assign_profile", {"file": str(tmp_path / "bad.icc")}))
    with pytest.raises(OperationFailed, match="profile_broken"):
        run(with_icc(template, b"broken" * 30), ("convert_profile", {"profile": "srgb"}))


def test_a_checkpoint_brings_the_bytes_back(run, template):
    """Byte for byte, by the content's digest; what came after it is gone."""
    hide = ("set_visibility", {"layer": {"path": "Text"}, "visible": False})
    data, (first, _, second) = run(
        template, ("checkpoint", {"name": "start"}), hide, ("restore", {"name": "start"})
    )
    assert template == data
    assert digest_bytes(template) == first["digest"] == second["digest"]
    hidden, _ = run(template, hide)
    data, _ = run(
        template, hide, ("checkpoint", {"name": "hidden"}),
        ("fill_layer", {"layer": {"id": 1}, "color": "#ff0000"}), ("restore", {"name": "hidden"}),
    )  # fmt: skip
    assert hidden == data


def test_checkpoints_that_are_not_meant_are_refused(run, template):
    """Missing, made twice, or of another content."""
    with pytest.raises(OperationFailed, match="checkpoint_missing"):
        run(template, ("restore", {"name": "start"}))
    with pytest.raises(OperationFailed, match="checkpoint_exists"):
        run(template, ("checkpoint", {"name": "a"}), ("checkpoint", {"name": "a"}))
    with pytest.raises(OperationFailed, match="checkpoint_differs"):
        run(
            template,
            ("checkpoint", {"name": "a"}),
            ("restore", {"name": "a", "digest": "sha256:" + "0" * 64}),
        )


def test_a_template_that_drifted_is_refused(tmp_path, template):
    """Another digest, or roles without a layer: each of them named."""
    (tmp_path / "t.psd").write_bytes(template)
    args = {"source": str(tmp_path / "t.psd"), "copy": "out.psd"}
    roles = {"art": {"path": "Art/Art"}, "badge": {"path": "Badge"}, "logo": {"id": 99}}
    for more in ({"digest": "sha256:" + "0" * 64}, {"roles": roles}):
        with pytest.raises(OperationFailed) as caught:
            Session(Limits(), {}).run(0, OPEN, {**args, **more})
        assert {"photoshop.template_drift"} == {fault.code for fault in caught.value.faults}
    assert ["role badge", "role logo"] == [f.where.split(", ")[1] for f in caught.value.faults]
    Session(Limits(), {}).run(0, OPEN, {**args, "digest": digest_bytes(template), "roles": {"art": 3}})


def test_every_served_capability_has_its_operation():
    """What the provider promises is what the table holds, and every one is declared."""
    from resources.photoshop.operations import OPERATIONS
    from resources.photoshop.provider import SERVES

    assert SERVES == OPERATIONS.keys()
    for name in SERVES:
        declared = capability(name)
        assert declared.preconditions
        assert declared.postconditions
        assert all(failure.mend and failure.owner for failure in declared.failures)


def test_every_code_that_the_engine_raises_is_declared():
    """A failure that no capability declares would have no owner and no mend."""
    root = Path(operations.__file__).parent
    text = "".join(path.read_text(encoding="utf-8") for path in [*root.glob("*.py"), *root.glob("type/*.py")])
    raised = set(re.findall(r'"(photoshop\.[a-z_]+)"', text))
    # What the call's own words get wrong is told before any operation begins.
    words = {
        "photoshop.no_file", "photoshop.no_folder", "photoshop.out_is_source", "photoshop.out_is_folder",
        "photoshop.out_is_no_file", "photoshop.role_shared",
    }  # fmt: skip
    assert set() == raised - words - failure_codes().keys()


def test_absurd_text_is_refused_not_drawn(tmp_path, template):
    """Sizes that no document has, or that are no numbers."""
    for transform in ((1, 0, 0, 1, float("nan"), 0), (1e9, 0, 0, 1, 0, 0)):
        source = with_text(template, LABEL, transform=transform)
        (tmp_path / "in.psd").write_bytes(source)
        session = Session(Limits(), {})
        session.run(0, OPEN, {"source": str(tmp_path / "in.psd"), "copy": "out.psd"})
        with pytest.raises(OperationFailed, match="text_unreadable"):
            session.run(1, "photoshop.set_text@1", {"layer": {"id": LABEL}, "text": "A"})
