"""The whole chain on the first graph of the pack: parse, validate, seal, partition, compile, bind."""

from fabric_dagster.graphs.compile import compile_graph
from fabric_dagster.graphs.plan import bind_plan
from fabric_dagster.graphs.seal import seal_graph
from fabric_dagster.graphs.validate import validate_graph

RUN = "sha256:" + "0" * 64


def test_offer_graph_is_cut_into_two_sealed_partitions(offer, registry):
    """Controls stand alone, Photoshop's and Unity's nodes are one partition each."""
    assert [] == validate_graph(offer, registry)
    compiled = compile_graph(seal_graph(offer, registry), registry)
    expected = [
        ("ticket_brief", ("ticket_brief",), ()),
        ("asset_decision", ("asset_decision",), ("ticket_brief",)),
        ("photoshop_1", ("open_template", "place_art", "export_icon"), ("asset_decision",)),
        ("icon_handoff", ("icon_handoff",), ("photoshop_1",)),
        ("unity_1", ("import_icon", "wire_icon", "set_title"), ("icon_handoff",)),
        ("verdict", ("verdict",), ("unity_1",)),
    ]
    assert expected == [(part.id, part.nodes, part.needs) for part in compiled.partitions]


def test_template_keeps_references_until_it_is_bound(offer, registry):
    """A sealed template holds ``$ref`` objects; binding puts the run's values there."""
    compiled = compile_graph(seal_graph(offer, registry), registry)
    template = compiled.partition_of("open_template").template
    assert {"source": {"$ref": "asset_decision.template"}, "copy": "icon.psd"} == template.operations[0].args
    values = {"template": "offer.psd", "art_layer": {"id": 7}, "preset": {"scale": 1}, "art": "art.png"}
    bound = bind_plan(template, lambda _, name: values[name], run=RUN, capabilities=registry)
    assert {"source": "offer.psd", "copy": "icon.psd"} == bound.operations[0].args
    assert {"layer": {"id": 7}, "contents": "art.png", "scope": "layer"} == bound.operations[1].args
    assert (compiled.digest, "photoshop_1", RUN) == (bound.graph, bound.partition, bound.run)
