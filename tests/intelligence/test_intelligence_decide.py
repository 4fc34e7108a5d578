"""Decisions: one rule, its evidence word for word, each value what its type says; or nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabric_dagster.contracts.expert_pack import Evidence
from fabric_dagster.contracts.ticket import Ticket
from fabric_dagster.errors import OperationFailed
from fabric_dagster.intelligence import decide, load_pack
from fabric_dagster.intelligence.evidence import holds
from fabric_dagster.intelligence.targets import existing_outputs, project_rules

REFERENCE = "CreateOfferIconAndIntegrate@1"
OFFERS = load_pack(Path(__file__).parents[2] / "packs" / "offers")


def ticket(**inputs):
    """A ticket with these inputs beside the good ones."""
    good = {"offer_id": "starter_pack", "category": "offer.bundle", "art": "attachment:a.png", "title": "A"}
    return Ticket(schema_="fabric.ticket.v1", key="OFFER-1", graph=REFERENCE, inputs={**good, **inputs})


def changed(**update):
    """The pack with parts of its contract replaced."""
    return replace(OFFERS, pack=OFFERS.pack.model_copy(update=update))


def code_of(pack, asked=None):
    """The code with which nothing is decided."""
    with pytest.raises(OperationFailed) as caught:
        decide(pack, REFERENCE, asked or ticket())
    assert caught.value.faults[0].mend
    return caught.value.code


def test_decision():
    """Template, layer, preset, profile and paths come out as what they stand for."""
    decision = decide(OFFERS, REFERENCE, ticket())
    assert ("bundle_icon", "offer_icon.psd") == (decision.rule, decision.template)
    assert {
        "template": "offer_icon.psd",
        "art_layer": {"path": "Art/Art"},
        "preset": {"width": 256, "height": 256},
        "destination": "Assets/Art/Offers/starter_pack.png",
        "profile": OFFERS.pack.profiles["offer_icon"],
        "offer_asset": "Assets/Data/Offers/starter_pack.asset",
    } == decision.values
    assert {"destination": ("offer_id",), "offer_asset": ("offer_id",)} == decision.sources
    assert decision.evidence


def test_values_are_the_nodes_outputs():
    """What is decided is exactly what the graph's node declares."""
    graph = OFFERS.graphs[REFERENCE].graph
    node = next(node for node in graph.nodes if node.id == "asset_decision")
    for category in OFFERS.pack.taxonomy:
        assert node.outputs.keys() == decide(OFFERS, REFERENCE, ticket(category=category)).values.keys()


def test_no_rule():
    """A case without a rule is not guessed."""
    assert "fabric.no_rule" == code_of(changed(rules=()))
    assert "fabric.no_rule" == code_of(OFFERS, ticket(category="offer.unheard_of"))


def test_ambiguous_rule():
    """Two rules that claim one ticket decide nothing, even where they agree."""
    rule = OFFERS.pack.rules[1]
    assert "fabric.ambiguous_rule" == code_of(changed(rules=(rule, rule.model_copy(update={"id": "again"}))))


@pytest.mark.parametrize("sops", [{}, {"offer_icons": "other words", "shop_integration": "other words"}])
def test_evidence_missing(sops):
    """A rule whose text is gone, or says something else, decides nothing."""
    assert "fabric.evidence_missing" == code_of(replace(OFFERS, sops=sops))


def test_decided_path_stays_under_assets():
    """Whatever an input holds, a decided path cannot leave the project's assets."""
    for value in ("../../etc", "a/../../b", "", "a\0b", "a:b"):
        assert "fabric.out_of_scope" == code_of(OFFERS, ticket(offer_id=value or "/"))


def test_an_input_cannot_spell_a_placeholder():
    """Values are filled in once: a brace in a title or id is text."""
    pack = changed(
        rules=(OFFERS.pack.rules[1].model_copy(update={"when": {}}),),
    )
    decision = decide(pack, REFERENCE, ticket(offer_id="{title}"))
    assert "Assets/Art/Offers/{title}.png" == decision.values["destination"]


def test_existing_outputs():
    """The asset that properties are set on must be there; the destination need not."""
    assert ("offer_asset",) == existing_outputs(OFFERS.graphs[REFERENCE].graph)


@pytest.mark.parametrize(
    ("inputs", "there", "keys"),
    [
        ({"offer_id": "starter_pack", "category": "offer.bundle"}, "starter_pack", []),
        ({"offer_id": "starter_pack", "category": "offer.bundle"}, "another", ["offer_id"]),
        ({"offer_id": "starter_pack"}, "another", ["offer_id"]),
        ({"category": "offer.bundle"}, "another", []),
        ({"offer_id": "starter_pack", "category": "unheard of"}, "another", []),
        ({}, "another", []),
    ],
)
def test_project_rules(inputs, there, keys):
    """An offer that the project lacks is complained of, whatever else of the ticket is still unknown."""
    path = f"Assets/Data/Offers/{there}.asset"
    look = project_rules(OFFERS, OFFERS.graphs[REFERENCE].graph, path.__eq__)
    assert keys == [key for key, _, _, _ in look(inputs)]


TEXT = "One two  three,\n\tfour. **Five** six-seven eight."


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("One two three", True),
        ("three, four.", True),
        ("two\nthree", True),
        ("**Five** six-seven", True),
        ("Five** six", True),
        ("six-seven eight.", True),
        ("one two three", False),
        ("wo three, fo", False),
        ("three, fou", False),
        ("Five six-seven", False),
        ("eight. nine", False),
    ],
)
def test_quotes(quote, expected):
    """Whitespace is folded; case, marks and the borders of words are not."""
    assert expected == holds(Evidence(citation="c", quote=quote), {"c": TEXT})


@given(st.lists(st.text("abc.", min_size=3, max_size=6), min_size=6, max_size=20), st.data())
def test_any_run_of_words_holds(words, data):
    """Any run of whole words holds, however either side is wrapped; with one word replaced it does not."""
    start = data.draw(st.integers(0, len(words) - 4))
    run = words[start : start + 4]
    gaps = st.sampled_from([" ", "\n", "  ", "\t\n"])
    text = "".join(word + data.draw(gaps) for word in words)
    quote = "".join(word + data.draw(gaps) for word in run)
    assert holds(Evidence(citation="c", quote=quote), {"c": text})
    assert not holds(Evidence(citation="c", quote=" ".join([*run[:2], "xxx", *run[3:]])), {"c": text})
