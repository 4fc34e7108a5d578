"""The pack that comes with the project: its examples come to what it says, and it is as locked."""

import json

from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.graphs.validate import validate_graph
from fabric_dagster.intelligence.corpora import corpus_digest, load_corpus
from fabric_dagster.intelligence.examples import example_faults, judge
from fabric_dagster.intelligence.manifest import lock_faults

REFERENCE = "CreateOfferIconAndIntegrate@1"
SERVED = frozenset()


def test_locked(offers):
    """The lock is that of the files as they are; after an edit: `fabric pack lock`."""
    assert [] == lock_faults(offers.folder, offers.files)


def test_examples(offers):
    """Every example ticket and every case of the corpus comes to exactly what the pack says."""
    assert [] == example_faults(offers, SERVED)


def test_enough_examples(offers):
    """There are good tickets in both markups and at least twenty bad ones, each with its own faults."""
    tickets = [path for path in offers.files if path.startswith("tickets/") and path.endswith(".json")]
    good = [path for path in tickets if "/bad/" not in path]
    kinds = {type(json.loads((offers.folder / path).read_bytes())["fields"]["description"]) for path in good}
    assert {str, dict} == kinds
    outcomes = [tuple(judge(offers, REFERENCE, path, SERVED).codes) for path in tickets if path not in good]
    assert len(outcomes) >= 20
    assert all(outcomes)


def test_every_rule_has_a_case(offers):
    """The corpus decides by every rule once."""
    corpus = load_corpus(offers)
    decided = {case.expect.rule for case in corpus.cases} - {None}
    assert {rule.id for rule in offers.pack.rules} == decided
    assert corpus_digest(offers, corpus).startswith("sha256:")


def test_the_sample_projects_offers(offers):
    """The categories and offers that the documentation promises are there."""
    assert {"offer.single", "offer.bundle"} <= offers.pack.taxonomy.keys()
    tickets = [judge(offers, REFERENCE, f"tickets/OFFER-10{n}.json", SERVED).ticket for n in (1, 2, 3)]
    assert ["starter_pack", "daily_deal", "mega_bundle"] == [ticket.inputs["offer_id"] for ticket in tickets]


def test_graph_is_valid(offers):
    """The pack's graph has no fault against the registered capabilities."""
    assert [] == [fault for read in offers.graphs.values() for fault in validate_graph(read, capabilities())]


def test_templates_have_their_roles(offers, tmp_path):
    """Each role leads to a layer of the template that the project builds."""
    from psd_tools import PSDImage

    from resources.photoshop.sample import write_templates

    written = write_templates(tmp_path)
    for template in offers.pack.templates.values():
        document = PSDImage.open(written[template.file])
        for address in template.roles.values():
            layer = document
            for name in address["path"].split("/"):
                layer = next(child for child in layer if child.name == name)
        assert (
            "smartobject" == next(c for g in document if g.name == "Art" for c in g if c.name == "Art").kind
        )


def test_small_pictures(offers):
    """What is kept in the repository stays small."""
    sizes = {path: (offers.folder / path).stat().st_size for path in offers.files}
    assert max(sizes.values()) <= 60_000
    assert sum(sizes.values()) <= 600_000
