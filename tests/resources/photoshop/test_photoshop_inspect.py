"""The semantic document tells what Photoshop's panels show, and what to beware of."""

from __future__ import annotations

import json

import pytest
from comp_builders import with_comps
from effect_builders import shadow, stroke, with_effects
from photoshop_builders import (
    CORPUS,
    as_artboard,
    corpus_entries,
    is_broken,
    rename,
    with_flags,
    with_icc,
    with_twin,
)
from test_photoshop_apply import run
from test_photoshop_export import exported
from text_builders import with_text, with_words

from resources.photoshop.export import alpha_bounds
from resources.photoshop.inspect import inspect
from resources.photoshop.psd.container import parse

GOOD = [entry for entry in corpus_entries() if not is_broken(entry)]


def seen(data: bytes, roles=None) -> dict:
    """Inspect bytes."""
    return inspect(parse(data), data, roles)


def flat(layers: list[dict]) -> dict[int, dict]:
    """Every layer by id."""
    found = {}
    for layer in layers:
        found[layer["id"]] = layer
        found |= flat(layer.get("children", []))
    return found


@pytest.mark.parametrize("entry", GOOD, ids=[entry["file"] for entry in GOOD])
def test_every_readable_file_is_told_as_json(entry):
    """Size, mode, depth and layer count agree with the corpus' index; the rest is JSON."""
    found = seen((CORPUS / entry["file"]).read_bytes())
    json.dumps(found)
    mode, _, _ = entry["mode"].partition("/")
    assert (entry["width"], entry["height"], entry["depth"]) == (
        found["width"],
        found["height"],
        found["depth"],
    )
    assert mode.lower() == found["mode"]
    hazards = {hazard["code"] for hazard in found["hazards"]}
    for feature, hazard in (
        ("smartfilter", "smart_filters"),
        ("nopreview", "merged_image_missing"),
        ("so:external", "linked_file"),
    ):
        if feature in entry["features"]:
            assert hazard in hazards
    for feature, kind in (
        ("kind:type", "text"),
        ("kind:smartobject", "smart_object"),
        ("kind:group", "group"),
        ("kind:artboard", "artboard"),
    ):
        assert (feature in entry["features"]) == (kind in found["counts"])


def test_the_sample_template_is_told_whole(template):
    """Groups, smart object, text, guides and profile of the sample."""
    found = seen(template, {"art": "Art/Art"})
    layers = flat(found["layers"])
    smart = layers[3]["smart_object"]
    assert ("embedded", "placeholder.png", "png", 512.0, None, False) == (
        smart["kind"], smart["name"], smart["format"], smart["width"], smart["warp"], smart["filters"],
    )  # fmt: skip
    assert {"contents": "OFFER", "fonts": ["Aileron-Regular"], "sizes": [46.0]} == {
        key: layers[11]["text"][key] for key in ("contents", "fonts", "sizes")
    }
    assert [40.0, 256.0, 472.0] == [g["at"] for g in found["guides"] if g["direction"] == "vertical"]
    assert {"art": {"id": 3, "path": "Art/Art"}} == found["roles"]
    assert ["Aileron-Regular"] == found["fonts"]
    assert found["profile"]["readable"]
    assert found["merged_image"] == {"real": True, "compression": "rle", "transparency": True}
    assert [] == found["hazards"]


def test_visibility_is_seen_through_parents(template):
    """A visible layer in a hidden group is not shown."""
    note = flat(seen(template)["layers"])[14]
    assert (True, False) == (note["visible"], note["shown"])


def test_locks_are_named(template):
    """Lock bits have names."""
    layers = flat(seen(with_flags(template, 3, locks=0b101))["layers"])
    assert ["transparency", "position"] == layers[3]["locks"]


def test_duplicate_names_and_broken_profiles_are_hazards(template):
    """What makes an operation refuse is said before it is tried."""
    container = parse(template)
    rename(container, 2, "Art")
    codes = {hazard["code"] for hazard in seen(with_icc(container.dump(), b"nonsense"))["hazards"]}
    assert {"duplicate_name", "profile_broken"} == codes


def test_text_is_told_whole(template):
    """Runs, kind, frame, alignment, lines and what its box does not hold."""
    text = flat(seen(template)["layers"])[11]["text"]
    assert ("point", None, 1, 0, None) == tuple(
        text[key] for key in ("kind", "frame", "lines", "overflow", "refused")
    )
    assert ["center"] == text["alignment"]
    assert [("Aileron-Regular", 46.0, 40)] == [(r["font"], r["size"], r["tracking"]) for r in text["runs"]]
    boxed = with_text(template, 11, box=(0, 0, 90, 50), size=30)
    found = seen(with_words(boxed, 11, "OFFER OFFER"))
    text = flat(found["layers"])[11]["text"]
    assert ("box", [0.0, 0.0, 90.0, 50.0]) == (text["kind"], text["frame"])
    assert text["overflow"] >= 1
    assert "text_overflow" in {hazard["code"] for hazard in found["hazards"]}


def test_missing_fonts_are_told_with_their_layer(template):
    """By the exact PostScript name; nothing is measured without them."""
    found = seen(with_text(template, 11, font="Nowhere-Bold"))
    assert ["Nowhere-Bold"] == found["fonts_missing"]
    assert ["Text/Label"] == [h["where"] for h in found["hazards"] if h["code"] == "font_missing"]
    text = flat(found["layers"])[11]["text"]
    assert (None, "photoshop.font_missing") == (text["overflow"], text["refused"])


def test_smart_objects_tell_who_shares_them(template, wide_template):
    """Both layers of a shared one, the kind of transform, and what is inside of a document."""
    layers = flat(seen(with_twin(template, 3, 40))["layers"])
    assert {3, 40} == set(layers[3]["smart_object"]["shared_by"])
    assert "affine" == layers[3]["smart_object"]["transform"]
    assert "perspective" == flat(seen(wide_template)["layers"])[3]["smart_object"]["transform"]


def test_bounds_with_effects_hold_what_is_drawn(template):
    """At least what the engine draws, and nothing beyond it by more than the blur's own reach."""
    data = with_effects(template, 10, {b"DrSh": shadow(size=6, distance=9), b"FrFX": stroke(size=4)})
    layer = flat(seen(data)["layers"])[10]
    box, grown = layer["bounds"], layer["bounds_with_effects"]
    alone, _, _ = exported(data, None, {"id": 10})
    left, top, right, bottom = alpha_bounds(alone)
    assert grown["left"] <= left
    assert grown["top"] <= top
    assert grown["right"] >= right
    assert grown["bottom"] >= bottom
    # A stroke of 4 all around; a shadow of 6 that falls 9 down.
    assert (6, 4, 6, 15) == (
        box["left"] - grown["left"],
        box["top"] - grown["top"],
        grown["right"] - box["right"],
        grown["bottom"] - box["bottom"],
    )
    assert ["drop_shadow", "stroke"] == layer["effects"]


def test_comps_are_told_as_photoshop_shows_them(template):
    """What a comp says of a layer is everything said up to its entry."""
    data = with_comps(
        template, [(1, "A", 1), (2, "B", 3)], {11: [(1, {b"enab": False}), (2, {}), (0, {b"enab": True})]}
    )
    found = seen(data)
    assert [("A", True, False), ("B", True, True)] == [
        (comp["name"], comp["visibility"], comp["position"]) for comp in found["comps"]
    ]
    assert {"1": False, "2": False} == flat(found["layers"])[11]["comps"]


def test_artboards_are_told(template):
    """Rectangle and background."""
    layer = flat(seen(as_artboard(template, 13, (1, 2, 30, 40), background=1))["layers"])[13]
    assert {"left": 1, "top": 2, "right": 30, "bottom": 40, "background": [255.0, 255.0, 255.0]} == (
        layer["artboard"]
    )


def test_roles_of_a_pack(files, capsys):
    """The pack's role map for the template of this name; all that can't be found at once."""
    code, out, _ = run(capsys, "inspect", files / "icon.psd", "--pack", "offers", "--template", "offer_icon",
                       "--json")  # fmt: skip
    assert code == 0
    assert {"art": "Art/Art", "label": "Text/Label"} == {
        role: layer["path"] for role, layer in json.loads(out)["roles"].items()
    }
    container = parse((files / "icon.psd").read_bytes())
    rename(container, 2, "Art")
    rename(container, 11, "Words")
    (files / "icon.psd").write_bytes(container.dump())
    code, _, err = run(capsys, "inspect", files / "icon.psd", "--pack", "offers", "--template", "offer_icon")
    assert code == 1
    assert ["photoshop.layer_ambiguous", "photoshop.layer_not_found"] == [
        line.rsplit("[", 1)[1].rstrip("]") for line in err
    ]
    for words in (("--pack", "nothing"), ("--pack", "offers"), ("--template", "x")):
        assert run(capsys, "inspect", files / "icon.psd", *words)[0] == 2
