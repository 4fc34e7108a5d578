"""Joins: where one of several parents is enough, and what may then be referred to."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric_dagster.errors import InvalidDocument
from fabric_dagster.graphs.check import check_graph
from fabric_dagster.graphs.compile import compile_graph
from fabric_dagster.graphs.mermaid import mermaid
from fabric_dagster.graphs.order import topological
from fabric_dagster.graphs.partitions import partition
from fabric_dagster.graphs.plan import bind_plan
from fabric_dagster.graphs.seal import seal_graph

GOOD = (Path(__file__).parent / "good.yaml").read_text(encoding="utf-8")
BRANCH = """\
  - id: open_b
    capability: photoshop.open_duplicate@1
    needs: [decision]
    args: {source: {$ref: decision.template}, copy: icon_b.psd}
  - id: export_b
    capability: photoshop.export_png@1
    needs: [open_b]
    args: {preset: {$ref: decision.preset}, out: icon_b.png}
  - id: handoff_b
    capability: fabric.seal_handoff@1
    needs: [export_b]
    args: {artifact: {$ref: export_b.png}}
  - id: import
"""


def two_branches(*edits):
    """good.yaml with a second export, of which the import takes any; each edit made once."""
    text = GOOD
    for old, new in (
        ("  - id: import\n", BRANCH),
        ("needs: [handoff]\n", "needs: [handoff, handoff_b]\n    join: any\n"),
        ("{$ref: handoff.artifact}", "{$ref: any.artifact}"),
        ("after: export}", "after: export}\n  - {id: png_valid@1, after: export_b}"),
        *edits,
    ):
        assert old in text, old
        text = text.replace(old, new, 1)
    return text.encode()


def compiled(registry, *edits):
    """Checked, sealed and compiled."""
    return compile_graph(
        seal_graph(check_graph(two_branches(*edits), "g.yaml", registry), registry), registry
    )


def test_required_and_alternatives(registry):
    """A partition says which of its needs it cannot do without, and of which any one is enough."""
    graph = compiled(registry)
    part = graph.partition_of("import")
    assert (("handoff", "handoff_b"), (), (("handoff", "handoff_b"),)) == (
        part.needs,
        part.required,
        part.alternatives,
    )
    other = graph.partition_of("handoff_b")
    assert (("photoshop_2",), ()) == (other.required, other.alternatives)
    assert "handoff_b -- any --> import" in mermaid(graph)


def test_bound_from_the_one_that_serves(registry):
    """Binding asks for the serving parent of the join; validation has seen that each of them can serve."""
    asked = []

    def resolve(source, name):
        asked.append((source, name))
        return {"profile": {}, "destination": "Assets/a.png"}.get(name, "inputs/a.png")

    template = compiled(registry).partition_of("import").template
    bind_plan(template, resolve, run="sha256:" + "0" * 64, capabilities=registry)
    assert ("any:import", "artifact") in asked


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([("{$ref: any.artifact}", "{$ref: any.png}")], "graph.unknown_output"),
        ([("{$ref: any.artifact}", "{$ref: handoff.artifact}")], "graph.ref_uncertain"),
        ([("destination: {$ref: decision.destination}", "destination: {$ref: any.artifact}")],
         "graph.type_mismatch"),
        ([("needs: [handoff, handoff_b]", "needs: [handoff, export_b]")], "graph.unknown_output"),
    ],
)  # fmt: skip
def test_each_parent_must_be_able_to_serve(registry, edits, code):
    """What the join takes must come from each of its parents, of a type that fits, and sealed."""
    with pytest.raises(InvalidDocument) as found:
        compiled(registry, *edits)
    assert code in {fault.code for fault in found.value.faults}


def test_an_any_join_is_cut_from_its_parents():
    """Only what fails apart can be absorbed: a join and its parents are never one partition."""
    parents = {"a": (), "b": (), "j": ("a", "b"), "z": ("a", "j")}
    kinds = dict.fromkeys("abjz", "unity")
    found = partition(parents, kinds, topological(parents), frozenset({"j"}))
    of = {node: part.id for part in found for node in part.nodes}
    assert of["j"] not in {of["a"], of["b"]}
    assert 1 == len(partition(parents, kinds, topological(parents)))


def test_recovery_may_name_a_check(registry):
    """An edge names the check whose failure it follows; the verdict's node may name any of them."""
    edge = "  - {{on: {}, at: {}, resume: open, attempts: 1}}\n"
    last = "attempts: 2}\n"
    for on, at in (
        ("check.png_valid", "export"),
        ("check.sides_judged", "verdict"),
        ("check.png_valid", "verdict"),
    ):
        assert compiled(registry, (last, last + edge.format(on, at))).recovery
    for on, at in (("check.png_valid", "import"), ("fabric.verdict_failed", "verdict")):
        with pytest.raises(InvalidDocument) as found:
            compiled(registry, (last, last + edge.format(on, at)))
        assert {"graph.recovery_unknown_failure"} == {fault.code for fault in found.value.faults}


def test_recovery_may_name_how_the_supervisor_ends_a_task(registry):
    """A task over its budget fails with a code that no capability declares; it has an edge all the same."""
    edge = "  - {{on: {}, at: {}, resume: open, attempts: 1}}\n"
    last = "attempts: 2}\n"
    for on in ("photoshop.budget_exceeded", "photoshop.postcondition_failed"):
        assert compiled(registry, (last, last + edge.format(on, "export"))).recovery
    for on, at in (("unity.budget_exceeded", "export"), ("fabric.budget_exceeded", "verdict")):
        with pytest.raises(InvalidDocument) as found:
            compiled(registry, (last, last + edge.format(on, at)))
        assert {"graph.recovery_unknown_failure"} == {fault.code for fault in found.value.faults}
