"""Validation: each rule has its fault, each fault has its line, and all are told at once."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.capabilities import registry as registry_module
from fabric_dagster.capabilities.base import Arguments, Capability, feed
from fabric_dagster.documents import load_yaml
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.graphs.check import check_graph
from fabric_dagster.graphs.compile import compile_graph
from fabric_dagster.graphs.rules import closure, structure, surface, values
from fabric_dagster.graphs.seal import seal_graph
from fabric_dagster.graphs.source import parse_graph
from fabric_dagster.graphs.validate import validate_graph

HERE = Path(__file__).parent
BAD = sorted(HERE.glob("bad/*.yaml"))
GOOD = (HERE / "good.yaml").read_text(encoding="utf-8")

#: what to replace in good.yaml, by what → the one code that must come of it, and the value it must name.
EDITS = {
    "reserved_id": ("input", ("{id: brief,", "{id: input,"), ("needs: [brief]", "needs: [input]")),
    "duplicate_need": ("open", ("needs: [open]", "needs: [open, open]")),
    "bad_ref": ("png", ("{$ref: export.png}", "{$ref: png}")),
    "unknown_ref_source": ("exporter.png", ("{$ref: export.png}", "{$ref: exporter.png}")),
    "unknown_output": ("export.jpg", ("{$ref: export.png}", "{$ref: export.jpg}")),
    "optional_feeds_required": (
        "input.note",
        ("{$ref: decision.preset}, out", "{$ref: decision.preset}, note: {a: {$ref: input.note}}, out"),
    ),
    "bad_argument": ("7", ("out: icon.png", "out: 7")),
    "outputs_closed": ("x", ("    needs: [open]\n", "    needs: [open]\n    outputs: {x: png}\n")),
    "bad_output_name": ("Best", ("{template: psd", "{Best: psd, template: psd")),
    "unknown_type": ("pdf", ("{template: psd", "{manual: pdf, template: psd")),
    "brief_not_first": (
        "decision",
        ("{id: brief,", "{id: brief, needs: [decision],"),
        ("needs: [brief]", "needs: []"),
    ),
    "before_brief": ("decision", ("    needs: [brief]\n", "")),
    "brief_count": (
        "brief, early",
        ("nodes:\n", "nodes:\n  - {id: early, capability: fabric.ticket_brief@1}\n"),
    ),
    "unknown_effect": ("disk.format", ("unity.meta.write]", "unity.meta.write, disk.format]")),
    "duplicate_effect": ("artifact.seal", ("unity.meta.write]", "unity.meta.write, artifact.seal]")),
    "validator_unknown_node": (
        "exports",
        ("after: export}", "after: export}\n  - {id: a@1, after: exports}"),
    ),
    "validator_on_control": ("handoff", ("after: export}", "after: export}\n  - {id: a@1, after: handoff}")),
    "recovery_unknown_node": ("start", ("resume: open", "resume: start")),
    "recovery_unknown_failure": ("unity.dimensions", ("on: photoshop.worker_died", "on: unity.dimensions")),
    "recovery_not_above": ("import", ("resume: open", "resume: import")),
    "duplicate_recovery": (
        "photoshop.worker_died",
        (
            "attempts: 2}",
            "attempts: 2}\n  - {on: photoshop.worker_died, at: open, resume: open, attempts: 1}",
        ),
    ),
    "join_on_control": ("any", ("needs: [import]}", "needs: [import, handoff], join: any}")),
    "join_of_one_partition": (
        "export, open",
        ("needs: [handoff]\n", "needs: [export, open]\n    join: any\n"),
    ),
    "ref_any_outside_join": ("any.artifact", ("{$ref: handoff.artifact}", "{$ref: any.artifact}")),
    "bad_owner": ("live ops", ("[team:live-ops-art]", "[live ops]")),
    "duplicate_owner": ("team:a", ("[team:live-ops-art]", "[team:a, team:a]")),
    "unknown_application": ("blender", ("{photoshop:", '{blender: ">=4", photoshop:')),
    "missing_range": ("unity", (', unity: ">=2021.3,<6001"', "")),
    "bad_input_name": ("fabric", ("  note: {", "  fabric: {type: text}\n  note: {")),
    "idle_limit": ("x+", ("  note: {", "  art: {type: picture, pattern: x+}\n  note: {")),
    "empty_limits": ("50", ("required: false, max", "required: false, min_length: 50, max")),
}


def edited(*edits: tuple[str, str]) -> bytes:
    """good.yaml with each edit made once."""
    text = GOOD
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text.encode()


def faults(data: bytes, registry):
    """Everything that is wrong with ``data``."""
    try:
        check_graph(data, "graph.yaml", registry)
    except InvalidDocument as error:
        return list(error.faults)
    return []


def test_good_graph_has_no_fault(registry):
    """The graph that the bad ones are made from is valid."""
    assert faults(GOOD.encode(), registry) == []


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_graph_is_refused_for_its_fault(path, registry):
    """A bad graph is refused with the codes that its first line promises, each with file and line."""
    data = path.read_bytes()
    expected = set(data.split(b"\n", 1)[0].decode().removeprefix("# expects: ").split())
    found = faults(data, registry)
    assert expected <= {fault.code for fault in found}
    if path.stem not in {"several_faults", "duplicate_node"}:
        assert expected == {fault.code for fault in found}
    assert all(re.fullmatch(r"graph\.yaml:[0-9]+", fault.where) for fault in found)


@pytest.mark.parametrize("code", EDITS)
def test_each_rule_names_code_line_and_value(code, registry):
    """One edit of the good graph brings one code, at the edited place, with the value that is off."""
    value, *edits = EDITS[code]
    data = edited(*edits)
    (fault,) = [fault for fault in faults(data, registry) if fault.code == f"graph.{code}"]
    assert value == fault.value
    line = data.decode().splitlines()[int(fault.where.rpartition(":")[2]) - 1]
    changed = set(data.decode().splitlines()) - set(GOOD.splitlines())
    if code not in {"before_brief", "brief_count"}:  # these point at what stands, not at what lacks
        assert line in changed
    assert fault.mend or code == "bad_argument"


def test_every_code_of_the_rules_is_proven_here():
    """No rule goes untested: each code in the rules' source has an edit, a bad graph or a test of its own."""
    source = "".join(
        Path(module.__file__).read_text(encoding="utf-8") for module in (closure, structure, surface, values)
    )
    calls = re.findall(r"case\.fault\(\s*(?:\([^()]*\)|[^,()]+(?:\([^()]*\))?),\s*f?\"([a-z_{}]+)\"", source)
    codes = {code for code in calls if "{" not in code} | {"brief_count", "verdict_count"}
    files = {
        code.removeprefix("graph.") for path in BAD for code in path.read_text("utf-8").split("\n")[0].split()
    }
    own = {"ref_uncertain", "too_large"}
    assert len(codes) > 40
    assert set() == codes - EDITS.keys() - files - own


def test_reference_past_an_any_join_must_stand_above_all_parents(registry):
    """What only one side of an ``any`` join has made may not be there: its value is refused."""
    data = edited(
        (
            "  - id: import\n",
            "  - {id: other, capability: fabric.asset_decision@1, needs: [export]}\n  - id: import\n",
        ),
        ("needs: [handoff]\n", "needs: [handoff, other]\n    join: any\n"),
    )
    assert [fault.code for fault in faults(data, registry)] == ["graph.ref_uncertain"]


def test_too_many_nodes_are_refused(registry):
    """A graph of more than 512 nodes is refused, and quickly."""
    more = "".join(
        f"  - {{id: n{i}, capability: fabric.asset_decision@1, needs: [brief]}}\n" for i in range(600)
    )
    found = faults(edited(("  - id: open\n", more + "  - id: open\n")), registry)
    assert [fault.code for fault in found] == ["graph.too_large"]


@pytest.mark.parametrize(
    ("argument", "code"),
    [
        ("{path: {$ref: input.offer_id}}", None),
        ("{path: [x, {$ref: input.offer_id}]}", None),
        ("[{$ref: decision.preset}]", None),
        ("{path: {$ref: decision.preset}}", "graph.type_mismatch"),
        ("{path: {$ref: input.nobody}}", "graph.unknown_input"),
        ("{path: {$ref: handoff.artifact}}", "graph.ref_not_above"),
        ("{path: {$ref: input.offer_id, default: x}}", "graph.bad_ref"),
    ],
)
def test_references_are_checked_at_any_depth(argument, code, registry):
    """A reference in a mapping or a list of an argument is held to the same rules."""
    found = faults(edited(("preset: {$ref: decision.preset}", f"preset: {argument}")), registry)
    assert (code is None and not found) or code in {fault.code for fault in found}


def test_a_reference_may_not_feed_a_literal_argument(registry):
    """An argument without a value type is written out in the graph, never fed by a ticket."""
    found = faults(edited(("out: icon.png", "out: {$ref: input.offer_id}")), registry)
    assert [fault.code for fault in found] == ["graph.type_mismatch"]


def test_a_circle_does_not_hide_other_faults(registry):
    """With a circle in the graph the other rules still say what they can."""
    data = edited(("needs: [decision]", "needs: [decision, handoff]"), ("out: icon.png", "out: 7"))
    assert {"graph.cycle", "graph.bad_argument"} == {fault.code for fault in faults(data, registry)}


def test_a_node_may_need_itself_only_as_a_circle(registry):
    """The shortest circle is named too."""
    (fault,) = faults(edited(("needs: [decision]", "needs: [decision, open]")), registry)
    assert (fault.code, fault.value) == ("graph.cycle", "open → open")


def test_faults_of_shape_do_not_hide_faults_of_meaning(registry):
    """A bad version, a bad id and an unknown key are told together with what the rules find."""
    data = edited(
        ("version: 1.2.0", "version: 1.2"),
        ("id: export\n", "id: Export\n"),
        ("needs: [export]", "needs: [Export]"),
        ("  - id: import\n", "  - id: import\n    color: red\n"),
        ("out: icon.png", "out: 7"),
    )
    found = {(fault.code, fault.value) for fault in faults(data, registry)}
    assert {
        ("document.bad_value", "1.2"),
        ("document.bad_value", "Export"),
        ("document.unknown_key", None),
        ("graph.bad_argument", "7"),
    } <= found
    assert not {code for code, _ in found} & {"graph.unknown_need", "graph.unknown_capability"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"nodes: 3",
        b"nodes: [1, 2]",
        b"a: &x 1",
        b"\xff",
        b"nodes: [{id: [], capability: {}}]",
        b"{",
    ],
)
def test_hostile_documents_are_refused_as_documents(data, registry):
    """Whatever is no graph at all is refused with faults, never with a crash."""
    with pytest.raises(InvalidDocument):
        check_graph(data, "graph.yaml", registry)


def test_arguments_of_a_model_with_aliases_and_own_rules(registry):
    """A rule over the whole argument model is not asked while a part of it is still to be fed."""

    class Pair(Arguments):
        low: int = feed("scalar", default=0)
        high: str = feed("psd")

        def model_post_init(self, _context):
            if self.low > 5:
                msg = "low is too high"
                raise ValueError(msg)

    own = registry | {"fabric.asset_decision@1": registry["fabric.asset_decision@1"]}
    own["photoshop.open_duplicate@1"] = Capability(
        "photoshop.open_duplicate@1", "photoshop", "Open.", Pair,
        effects=frozenset({"photoshop.document.write"}),
        failures=registry["photoshop.open_duplicate@1"].failures,
    )  # fmt: skip
    data = edited(
        ("source: {$ref: decision.template}, copy: icon.psd", "high: {$ref: decision.template}, low: 9")
    )
    assert faults(data, own) == []


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_graph_is_refused_for_the_same_fault_by_what_is_installed(path):
    """The bad graphs are bad for their own fault alone with the installed capabilities too."""
    expected = set(path.read_text("utf-8").split("\n", 1)[0].removeprefix("# expects: ").split())
    found = {fault.code for fault in faults(path.read_bytes(), registry_module.capabilities())}
    assert expected <= found
    assert found <= expected | {"graph.unsealed_handoff"}


def test_the_packs_own_graph_validates_with_the_installed_registry(offer_bytes):
    """The first graph of the pack ``offers`` is valid against what is installed."""
    graph = parse_graph(offer_bytes, "offer.yaml")
    installed = registry_module.capabilities()
    missing = {node.capability for node in graph.graph.nodes} - installed.keys()
    if missing:
        pytest.skip(f"not installed yet: {', '.join(sorted(missing))}")
    assert [str(fault) for fault in validate_graph(graph, installed)] == []


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["", "input", "open", "$ref", "a.b", "é", "x" * 300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "$ref", "é"]), inner),
    max_leaves=4,
)


@given(data=st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_document_with_junk_anywhere_is_valid_or_refused(data, registry):
    """Whatever stands in place of any part of a graph, the answer is a seal or faults, never a crash."""
    document = load_yaml(GOOD, "graph.yaml").value
    for _ in range(data.draw(st.integers(1, 3))):
        part, key = None, None
        value = document
        while isinstance(value, dict | list) and value and (part is None or data.draw(st.booleans())):
            part = value
            key = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
            value = part[key]
        part[key] = data.draw(junk)
    text = json.dumps(document).encode()
    if not faults(text, registry):
        graph = seal_graph(parse_graph(text, "graph.yaml"), registry)
        assert compile_graph(graph, registry).digest == graph.digest
