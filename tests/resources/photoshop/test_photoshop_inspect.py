"""The semantic document tells what Photoshop's panels show, and what to beware of."""

from __future__ import annotations

import json

import pytest
from photoshop_builders import CORPUS, corpus_entries, is_broken, rename, with_flags, with_icc

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
