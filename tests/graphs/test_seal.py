"""Sealing: order means nothing, every byte of meaning does."""

from __future__ import annotations

import copy
import dataclasses
import json
import time

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.documents import load_yaml
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.graphs.compile import compile_graph
from fabric_dagster.graphs.seal import seal_graph
from fabric_dagster.graphs.source import parse_graph

QUIET = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
#: lists whose order carries no meaning.
SETS = ("owners", "effects", "nodes", "validators", "recovery", "needs")


def plain(value, key=""):
    """An independent reading of what a document means: keys and sets sorted, defaults left as they are."""
    if isinstance(value, dict):
        return {name: plain(item, name) for name, item in sorted(value.items())}
    if isinstance(value, list):
        items = [plain(item) for item in value]
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True)) if key in SETS else items
    return value


def shuffled(value, random, key=""):
    """The same document with keys and sets in another order."""
    if isinstance(value, dict):
        items = [(name, shuffled(item, random, name)) for name, item in value.items()]
        random.shuffle(items)
        return dict(items)
    if isinstance(value, list):
        items = [shuffled(item, random) for item in value]
        if key in SETS:
            random.shuffle(items)
        return items
    return value


@given(random=st.randoms(use_true_random=False), flow=st.sampled_from([True, False, None]))
@QUIET
def test_any_order_and_any_style_seal_to_the_same_digest(good_bytes, registry, random, flow):
    """Nodes, edges, keys, comments and YAML's block or flow style carry no meaning."""
    document = load_yaml(good_bytes, "a").value
    again = yaml.safe_dump(shuffled(document, random), sort_keys=False, default_flow_style=flow)
    first = seal_graph(parse_graph(good_bytes, "a"), registry)
    second = seal_graph(parse_graph(f"# another comment\n{again}".encode(), "b"), registry)
    assert first == second
    assert compile_graph(first, registry) == compile_graph(second, registry)


def neighbour(byte):
    """Another byte of the same kind, so that many changed documents stay valid."""
    for low, high in (b"az", b"AZ", b"09"):
        if low <= byte <= high:
            return low + (byte - low + 1) % (high - low + 1)
    return ord("x")


def test_one_changed_byte_is_another_digest_exactly_where_it_changes_meaning(good_bytes, registry):
    """Any byte that is changed makes no valid graph, or another digest, or means the same."""
    original = parse_graph(good_bytes, "graph")
    meaning, digest = plain(original.graph.body()), seal_graph(original, registry).digest
    outcomes = {"invalid": 0, "same": 0, "other": 0}
    for place, byte in enumerate(good_bytes):
        data = good_bytes[:place] + bytes([neighbour(byte)]) + good_bytes[place + 1 :]
        try:
            other = parse_graph(data, "graph")
            sealed = seal_graph(other, registry)
        except InvalidDocument:
            outcomes["invalid"] += 1
            continue
        same = plain(other.graph.body()) == meaning
        outcomes["same" if same else "other"] += 1
        assert same == (sealed.digest == digest), place
    assert outcomes["other"] > 100


def leaves(value, path=()):
    """Every scalar of a document, by path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(item, (*path, place))
    else:
        yield path, value


def test_every_leaf_of_the_body_is_sealed(good, registry):
    """Another title, description, limit, argument or attempt count: each alone is another graph."""
    base = seal_graph(good, registry)
    seen = {base.digest}
    changed = 0
    for path, value in leaves(good.graph.body()):
        body = copy.deepcopy(good.graph.body())
        part = body
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = (
            (not value) if isinstance(value, bool) else value + (1 if isinstance(value, int) else "x")
        )
        try:
            sealed = seal_graph(parse_graph(json.dumps(body).encode(), "g"), registry)
        except InvalidDocument:
            continue
        changed += 1
        assert sealed.digest not in seen, path
        seen.add(sealed.digest)
    assert changed > 20


def test_a_changed_capability_changes_the_graph_and_only_its_own_nodes(good, registry):
    """The digest of each bound capability is sealed in; a node is stale only through what it is made of."""
    base = seal_graph(good, registry)
    bound = registry["photoshop.export_png@1"]
    other = registry | {bound.id: dataclasses.replace(bound, postconditions=("something else",))}
    sealed = seal_graph(good, other)
    assert sealed.digest != base.digest
    changed = {name for name, digest in sealed.node_digests.items() if digest != base.node_digests[name]}
    assert {"export"} == changed


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"title: A picture", b"title: The picture", set()),
        (b"copy: icon.psd", b"copy: work.psd", {"open"}),
        (b"png_valid@1", b"png_valid@2", {"export"}),
        (b"after: import}", b"after: import}\n  - {id: extra@1, after: export, blocking: false}", {"export"}),
        (b"{template: psd,", b"{extra: psd, template: psd,", {"decision"}),
        (b"attempts: 2", b"attempts: 3", set()),
    ],
)
def test_a_nodes_digest_covers_its_own_work_and_no_prose(good, good_bytes, registry, old, new, expected):
    """A node's code version follows its capability, arguments, outputs and validators."""
    base = seal_graph(good, registry)
    sealed = seal_graph(parse_graph(good_bytes.replace(old, new), "g"), registry)
    assert base.digest != sealed.digest
    changed = {name for name, digest in sealed.node_digests.items() if digest != base.node_digests[name]}
    assert expected == changed


def test_registering_what_the_graph_does_not_bind_changes_nothing(good, registry):
    """A new capability beside those that are bound leaves the seal as it is."""
    fewer = {name: item for name, item in registry.items() if name != "unity.undo_transaction@1"}
    assert seal_graph(good, registry) == seal_graph(good, fewer)


def test_an_invalid_graph_is_not_sealed(good_bytes, registry):
    """Sealing raises with every fault of the graph."""
    data = good_bytes.replace(b"needs: [open]", b"needs: [shut]").replace(b"out: icon.png", b"out: 7")
    with pytest.raises(InvalidDocument) as caught:
        seal_graph(parse_graph(data, "g"), registry)
    assert {"graph.unknown_need", "graph.bad_argument"} <= {fault.code for fault in caught.value.faults}


@pytest.mark.slow
def test_a_thousand_graphs_of_ten_nodes_compile_within_seconds(offer_bytes, registry):
    """Parsing, sealing and compiling 1,000 graphs of ten nodes takes seconds of one core."""
    texts = [
        offer_bytes.replace(b"CreateOfferIconAndIntegrate", f"Made{number}Graph".encode()).replace(
            b"icon.psd", f"icon_{number}.psd".encode()
        )
        for number in range(1000)
    ]
    begun = time.process_time()
    digests = {compile_graph(seal_graph(parse_graph(text, "g"), registry), registry).digest for text in texts}
    spent = time.process_time() - begun
    assert len(digests) == 1000
    assert spent < 20  # measured: 2.1 s; the rest is for slow and busy machines
