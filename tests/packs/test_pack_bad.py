"""Bad packs: each is the good one with one declared fault, and is refused for exactly that."""

import os

import pytest

from fabric_dagster.errors import InvalidDocument
from fabric_dagster.intelligence import load_pack
from fabric_dagster.intelligence.catalog import load_catalog

GRAPH = "graphs/create_offer_icon_and_integrate.yaml"
BUNDLE = "A bundle uses the square template `offer_icon.psd`"

#: fault → (old text, new text, code, words of the line that is named)
EDITS = {
    "YAML is broken": ("name: offers", "name: [offers", "yaml.syntax", None),
    "an anchor": ("title: Offers", "title: &t Offers", "yaml.anchor", "title: &t"),
    "a duplicate key": ("title: Offers", "title: Offers\ntitle: Deals", "yaml.duplicate_key", "title: Deals"),
    "an unknown key": ("owners:", "owner: x\nowners:", "document.unknown_key", "owner: x"),
    "a missing key": ("title: Offers\n", "", "document.missing_key", None),
    "a version that is none": ("version: 1.0.0", "version: '1.0'", "document.bad_value", "version: '1.0'"),
    "another folder's name": ("name: offers", "name: deals", "pack.name_mismatch", "name: deals"),
    "a range that is none": ('">=1,<2"', '"1.x"', "pack.bad_range", 'photoshop: "1.x"'),
    "an empty range": ('">=1,<2"', '">=2,<1"', "pack.bad_range", 'photoshop: ">=2,<1"'),
    "a category that is no id": ("  offer.daily:", "  Offer Daily:", None, None),
    "a template that climbs": (
        "file: offer_icon.psd",
        "file: ../offer_icon.psd",
        "pack.bad_template",
        "../offer_icon",
    ),
    "a role that addresses nothing": (
        "art: {path: Art/Art}",
        "art: {name: Art}",
        "pack.bad_layer",
        "art: {name: Art}",
    ),
    "a role that addresses twice": (
        "art: {path: Art/Art}",
        "art: {path: A, id: 3}",
        "pack.bad_layer",
        "art: {path: A,",
    ),
    "a preset that is none": ("    width: 384", "    widht: 384", "pack.bad_preset", "widht"),
    "a preset of half a size": ("    width: 384\n", "", "pack.bad_preset", "icon_384x256:"),
    "a profile of a wrong type": (
        "max_texture_size: 512",
        "max_texture_size: 500",
        "pack.bad_profile",
        "size: 500",
    ),
    "an unknown graph": ("Integrate@1\n", "Integrate@2\n", "pack.unknown_graph", "Integrate@2"),
    "an unknown input": ("{category: offer.single}", "{kind: single}", None, None),
    "an unknown category": (
        "{category: offer.single}",
        "{category: offer.solo}",
        "pack.unknown_category",
        "offer.solo",
    ),
    "an unknown template": (
        "template: offer_icon\n",
        "template: offer\n",
        "pack.unknown_template",
        "template: offer\n",
    ),
    "an unknown preset": ("preset: icon_256\n", "preset: icon_1\n", "pack.unknown_preset", "preset: icon_1"),
    "an unknown profile": (
        "profile: offer_icon\n",
        "profile: icon\n",
        "pack.unknown_profile",
        "profile: icon\n",
    ),
    "a preset that the profile refuses": (
        "preset: icon_256\n",
        "preset: icon_384x256\n",
        "pack.preset_misfits",
        "preset: icon_384x256\n",
    ),
    "an unknown role": (
        "art_layer: role:art",
        "art_layer: role:picture",
        "pack.unknown_role",
        "role:picture",
    ),
    "a role that is none": (
        "art_layer: role:art",
        "art_layer: Art/Art",
        "pack.unknown_role",
        "art_layer: Art/Art",
    ),
    "an output that is not decided": ("      preset: icon_256\n", "", "pack.undecided_output", "decide:"),
    "an output that nobody asks for": (
        "      preset: icon_256\n",
        "      preset: icon_256\n      size: big\n",
        "pack.unknown_output",
        "size: big",
    ),
    "an unknown placeholder": ("{offer_id}.png", "{offer}.png", "pack.unknown_placeholder", "{offer}.png"),
    "a placeholder of an optional input": (
        "{offer_id}.png",
        "{badge}.png",
        "pack.unknown_placeholder",
        "{badge}.png",
    ),
    "a path filled from text": ("{offer_id}.png", "{title}.png", "pack.unsafe_placeholder", "{title}.png"),
    "a brace alone": ("{offer_id}.png", "{offer_id.png", "pack.bad_placeholder", "{offer_id.png"),
    "a path that climbs": ("Assets/Art/Offers/", "Assets/../Offers/", "pack.bad_path", "Assets/../Offers"),
    "a path elsewhere": ("Assets/Art/Offers/", "Library/Offers/", "pack.bad_path", "Library/Offers"),
    "rules with one id": ("id: bundle_icon", "id: single_icon", "pack.duplicate_rule", None),
    "rules that overlap": (
        "{category: offer.single}",
        "{offer_id: starter_pack}",
        "pack.rules_overlap",
        None,
    ),
    "a quote that does not stand": (
        BUNDLE,
        "A bundle uses the round template",
        "pack.evidence_missing",
        "the round",
    ),
    "a quote cut within a word": (BUNDLE, "bundle uses the square templ", "pack.evidence_missing", "templ\n"),
    "a citation of nothing": (
        f"citation: offer_icons\n        quote: {BUNDLE}",
        f"citation: icons\n        quote: {BUNDLE}",
        "pack.unknown_citation",
        "citation: icons",
    ),
    "no evidence": ("    evidence:\n", "    evidence: []\n    was:\n", None, None),
    "a digest of another text": ("digest: sha256:", "digest: sha256:0000", "document.bad_value", None),
    "a text elsewhere": (
        "file: sop/offer-icons.md",
        "file: ../offer-icons.md",
        "pack.bad_citation",
        "../offer-icons",
    ),
    "a text that is not there": (
        "file: sop/offer-icons.md",
        "file: sop/x.md",
        "pack.missing_sop",
        "sop/x.md",
    ),
    "a check that nobody binds": ("safe_area@1", "safe_aera@1", "pack.unbound_check", "safe_aera"),
    "an unknown failure": ("fabric.no_rule:", "fabric.no_rules:", "pack.unknown_failure", "fabric.no_rules"),
}

#: fault → codes, where one edit is several faults
SEVERAL = {
    "a category that is no id": ["pack.bad_category", "pack.unknown_category"],
    "an unknown input": [
        "pack.rules_overlap",
        "pack.rules_overlap",
        "pack.rules_overlap",
        "pack.unknown_input",
    ],
    "rules that overlap": ["pack.rules_overlap"] * 3,
    "no evidence": ["document.bad_value", "document.unknown_key"],
}


@pytest.mark.parametrize("case", EDITS)
def test_bad_pack(copy, case):
    """The declared fault is named with file and line, and nothing else is."""
    old, new, code, words = EDITS[case]
    copy.edit(old, new)
    faults = copy.faults()
    assert SEVERAL.get(case, [code]) == sorted(fault.code for fault in faults)
    for fault in faults:
        assert fault.where.startswith("offers/pack.yaml:")
        assert str(fault).isprintable()
    if words:
        assert copy.line(words.rstrip("\n")) in {fault.where for fault in faults} or "\n" in words


def test_good_copy(copy):
    """What is spoiled above is sound before."""
    assert [] == copy.codes()


def test_several_files_at_once(copy):
    """One look names the faults of all files."""
    copy.edit("preset: icon_256\n", "preset: icon_1\n")
    copy.edit("goal:", "gaol:", GRAPH)
    (copy.folder / "graphs" / "notes.txt").write_text("x", encoding="utf-8")
    codes = set(copy.codes())
    assert {"document.unknown_key", "document.missing_key", "pack.stray_file", "pack.unknown_graph"} <= codes


def test_changed_sop(copy):
    """A text that was edited after it was cited is named, and decides nothing."""
    copy.edit("Nobody edits one", "Anybody may edit one", "sop/offer-icons.md")
    assert ["pack.sop_drift"] == copy.codes()
    assert copy.line("digest:") == copy.faults()[0].where


def test_sop_that_is_not_text(copy):
    """A cited text is UTF-8."""
    from fabric_dagster.digests import digest_bytes

    data = b"\xff\xfe text"
    old = digest_bytes((copy.folder / "sop" / "offer-icons.md").read_bytes())
    (copy.folder / "sop" / "offer-icons.md").write_bytes(data)
    copy.edit(old, digest_bytes(data))
    assert "pack.bad_citation" in copy.codes()


def test_two_graphs_of_one_name(copy):
    """A reference names one graph."""
    (copy.folder / "graphs" / "again.yaml").write_bytes((copy.folder / GRAPH).read_bytes())
    assert ["pack.duplicate_graph"] == copy.codes()


def test_no_pack(tmp_path):
    """A folder without pack.yaml is none."""
    with pytest.raises(InvalidDocument) as caught:
        load_pack(tmp_path)
    assert "pack.missing" == caught.value.code


@pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege on Windows")
def test_links(copy, tmp_path):
    """A link in a pack is refused, whatever it leads to."""
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    (copy.folder / "sop" / "more.md").symlink_to(tmp_path / "secret")
    (copy.folder / "extra").symlink_to(tmp_path, target_is_directory=True)
    assert ["pack.link", "pack.link"] == copy.codes()


@pytest.mark.skipif(os.name == "nt", reason="Windows refuses these names itself")
def test_names(copy):
    """Names that clash on a colleague's disk, or that have no one spelling, are refused."""
    (copy.folder / "sop" / "Offer-Icons.md").write_text("x", encoding="utf-8")
    (copy.folder / "sop" / "\u00fcber.md").write_text("x", encoding="utf-8")
    codes = copy.codes()
    assert "pack.bad_name" in codes
    assert "pack.name_clash" in codes or 1 == len(codes)


def test_a_broken_pack_leaves_the_others(copy):
    """A catalogue holds what loads and says what does not."""
    second = copy.folder.parent / "deals"
    second.mkdir()
    (second / "pack.yaml").write_text("schema: [", encoding="utf-8")
    catalog = load_catalog([copy.folder.parent])
    assert (["offers"], ["deals"]) == (list(catalog.packs), list(catalog.broken))
    for name in ("CreateOfferIconAndIntegrate@1", "CreateOfferIconAndIntegrate"):
        assert "offers" == catalog.graph(name)[0].pack.name
    with pytest.raises(InvalidDocument) as caught:
        catalog.graph("Nothing@1")
    assert "deals" in caught.value.faults[0].mend
