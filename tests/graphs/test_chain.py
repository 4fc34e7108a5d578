"""The whole chain on a small graph: parse, validate, seal, partition, compile, bind."""

from __future__ import annotations

import pytest

from fabric_dagster.contracts.physical_plan import PlanInput
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.graphs.compile import compile_graph, workflow_name
from fabric_dagster.graphs.mermaid import mermaid
from fabric_dagster.graphs.plan import bind_plan
from fabric_dagster.graphs.seal import seal_graph

RUN = "sha256:" + "0" * 64
VALUES = {"template": "offer.psd", "preset": {"scale": 1}}


@pytest.fixture
def compiled(good, registry):
    """The small graph, compiled."""
    return compile_graph(seal_graph(good, registry), registry)


def test_the_graph_is_cut_into_controls_and_two_sealed_partitions(compiled):
    """Controls stand alone under their own names; Photoshop's and Unity's nodes are one partition each."""
    expected = [
        ("brief", "fabric", ("brief",), ()),
        ("decision", "fabric", ("decision",), ("brief",)),
        ("photoshop_1", "photoshop", ("open", "export"), ("decision",)),
        ("handoff", "fabric", ("handoff",), ("photoshop_1",)),
        ("unity_1", "unity", ("import",), ("handoff",)),
        ("verdict", "fabric", ("verdict",), ("unity_1",)),
    ]
    assert expected == [(p.id, p.application, p.nodes, p.needs) for p in compiled.partitions]


def test_a_partition_carries_what_a_specialist_is_asked(compiled):
    """Capabilities, effects, criteria and validators of a partition are those of its nodes."""
    part = compiled.partition_of("export")
    assert part.capabilities == ("photoshop.export_png@1", "photoshop.open_duplicate@1")
    assert part.effects == ("photoshop.document.write", "photoshop.export.write")
    expected = (
        "open: the source has its digest still",
        "export: the file opens again",
        "png_valid@1 passes after export",
    )
    assert expected == part.criteria
    assert [item.id for item in compiled.validators["photoshop_1"]] == ["png_valid@1"]
    assert compiled.validators["handoff"] == ()
    assert part.template.digest == part.template_digest
    assert compiled.partition_of("handoff").template is None


def test_a_template_keeps_references_until_it_is_bound(compiled, registry):
    """A sealed template holds ``$ref`` objects; binding puts the run's values there, and nothing else."""
    template = compiled.partition_of("open").template
    assert template.operations[0].args == {"source": {"$ref": "decision.template"}, "copy": "icon.psd"}
    files = [PlanInput(path="b", digest=RUN), PlanInput(path="a", digest=RUN)]
    bound = bind_plan(
        template,
        lambda source, name: VALUES[name] if source == "decision" else None,
        run=RUN,
        inputs=files,
        allocations={"guid": "7"},
        capabilities=registry,
    )
    assert bound.operations[0].args == {"source": "offer.psd", "copy": "icon.psd"}
    assert (compiled.digest, "photoshop_1", RUN) == (bound.graph, bound.partition, bound.run)
    assert [item.path for item in bound.inputs] == ["a", "b"]
    assert bound.allocations == {"guid": "7"}
    assert bound.digest != template.digest


def test_an_optional_input_that_is_left_out_leaves_its_argument_out(good_bytes, registry):
    """``None`` for an optional input takes the argument away instead of binding null."""
    from fabric_dagster.graphs.source import parse_graph

    data = good_bytes.replace(b"out: icon.png}", b"out: icon.png, note: {$ref: input.note}}")
    compiled = compile_graph(seal_graph(parse_graph(data, "g"), registry), registry)
    template = compiled.partition_of("export").template
    without = bind_plan(template, lambda _, name: VALUES.get(name), run=RUN, capabilities=registry)
    assert without.operations[1].args == {"preset": {"scale": 1}, "out": "icon.png"}
    given = bind_plan(template, lambda _, name: VALUES.get(name, "N"), run=RUN, capabilities=registry)
    assert given.operations[1].args["note"] == "N"


def test_binding_reports_every_bad_value_at_once(compiled, registry):
    """A missing value and one of a wrong type are told together, each with node and argument."""

    def resolve(_source, name):
        return {"preset": "not a mapping"}[name]

    with pytest.raises(InvalidDocument) as caught:
        bind_plan(compiled.partition_of("open").template, resolve, run=RUN, capabilities=registry)
    expected = [("plan.unresolved", "open.source"), ("plan.bad_argument", "export.preset")]
    assert expected == [(fault.code, fault.where) for fault in caught.value.faults]


def test_a_value_without_a_canonical_form_is_not_bound(compiled, registry):
    """A float has no digest, so a plan that holds one is refused before it is issued."""
    values = {**VALUES, "preset": {"scale": 0.5}}
    with pytest.raises(InvalidDocument) as caught:
        bind_plan(
            compiled.partition_of("open").template, lambda _, n: values[n], run=RUN, capabilities=registry
        )
    assert [fault.code for fault in caught.value.faults] == ["plan.bad_value"]


def test_a_bound_plan_may_not_name_an_unknown_capability(compiled):
    """Binding against a registry without the capability is refused."""
    with pytest.raises(InvalidDocument) as caught:
        bind_plan(compiled.partition_of("open").template, lambda _, n: VALUES[n], run=RUN, capabilities={})
    assert {"plan.unknown_capability"} == {fault.code for fault in caught.value.faults}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CreateOfferIconAndIntegrate", "create_offer_icon_and_integrate"),
        ("MakeUIIcon2D", "make_ui_icon2_d"),
        ("Abc", "abc"),
    ],
)
def test_workflow_names_are_snake_case(name, expected):
    """A graph's name becomes the first part of its asset keys."""
    assert expected == workflow_name(name)


def test_the_drawing_holds_partitions_edges_checks_and_recovery(compiled):
    """Mermaid shows a box for each sealed partition, its checks, each need and each recovery edge."""
    lines = [line.strip() for line in mermaid(compiled).splitlines()]
    assert lines[0] == "flowchart LR"
    assert 'subgraph photoshop_1["photoshop_1"]' in lines
    assert 'photoshop_1_checks{{"png_valid@1"}}' in lines
    assert "export --> handoff" in lines
    assert 'export -. "photoshop.worker_died, at most 2 times" .-> open' in lines
