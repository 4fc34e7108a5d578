"""Invalidation: what a changed digest takes down, and through what."""

from __future__ import annotations

import dataclasses

import pytest

from fabric_dagster.graphs.invalidate import Change, Standing, changes, grounds_of, invalidated
from fabric_dagster.graphs.seal import seal_graph
from fabric_dagster.graphs.source import parse_graph

KNOWN = {
    "knowledge": {"sop": "sha256:sop"},
    "validators": {"png_valid@1": "v1", "references_resolve@1": "v2", "idle@1": "v3"},
    "pack_files": {"pack.yaml": "sha256:pack"},
}


@pytest.fixture
def grounds(good, registry):
    """What the small graph stands on."""
    return grounds_of(seal_graph(good, registry), registry, **KNOWN)


def stack(grounds):
    """A graph, its certificate and two commissions."""
    return [
        Standing("graph", "graph", grounds),
        Standing("certificate", "certificate", {}, ("graph",)),
        Standing("commission", "commission", {"template": {"t.psd": "d1"}}, ("certificate",)),
        Standing("elsewhere", "commission", {"template": {"u.psd": "d2"}}),
    ]


NOW = {"template": {"t.psd": "d1", "u.psd": "d2"}}


def test_nothing_changed_takes_nothing_down(grounds):
    """On the same grounds everything stands."""
    assert changes(grounds, grounds) == ()
    assert invalidated(stack(grounds), {**grounds, **NOW}) == ()


def test_a_changed_capability_takes_down_graph_certificate_and_commission(good, registry, grounds):
    """One child capability's digest changes: all that stands on it falls, each saying why."""
    bound = registry["photoshop.export_png@1"]
    other = registry | {bound.id: dataclasses.replace(bound, postconditions=("another",))}
    now = grounds_of(seal_graph(good, other), other, **KNOWN)
    found = invalidated(stack(grounds), {**now, **NOW})
    assert [item.id for item in found] == ["certificate", "commission", "graph"]
    graph = found[2]
    assert [("capability", bound.id), ("graph", "ExportAndImport@1")] == [
        (change.kind, change.name) for change in graph.changes
    ]
    assert (found[0].through, found[1].through) == (("graph",), ("certificate",))
    assert found[1].changes == ()


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("compatibility", b">=1,<2", b">=1,<3"),
        ("recovery", b"attempts: 2", b"attempts: 1"),
        ("graph", b"title: A", b"title: The"),
    ],
)
def test_a_changed_part_of_the_graph_is_named(good_bytes, registry, grounds, kind, old, new):
    """Compatibility ranges and recovery policy are grounds of their own beside the graph's digest."""
    sealed = seal_graph(parse_graph(good_bytes.replace(old, new), "g"), registry)
    found = changes(grounds, grounds_of(sealed, registry, **KNOWN))
    assert kind in {change.kind for change in found}
    assert {change.kind for change in found} <= {kind, "graph"}


@pytest.mark.parametrize(
    ("part", "kind", "name"),
    [
        ("knowledge", "knowledge", "sop"),
        ("validators", "validator", "png_valid@1"),
        ("pack_files", "pack_file", "pack.yaml"),
    ],
)
def test_a_changed_or_lost_ground_is_named_with_both_sides(good, registry, grounds, part, kind, name):
    """A ground that is another now, or gone, is reported with what it was and what it is."""
    was = KNOWN[part][name]
    for value, expected in (({name: "other"}, "other"), ({}, None)):
        now = grounds_of(
            seal_graph(good, registry),
            registry,
            **{**KNOWN, part: {**{k: v for k, v in KNOWN[part].items() if k != name}, **value}},
        )
        assert (Change(kind, name, was, expected),) == changes(grounds, now)


def test_what_nobody_stood_on_takes_nothing_down(good, registry, grounds):
    """A validator that the graph does not bind, or a new file beside the known ones, changes nothing."""
    known = {**KNOWN, "validators": {**KNOWN["validators"], "idle@1": "changed"}}
    now = grounds_of(seal_graph(good, registry), registry, **known)
    assert changes(grounds, {**now, "pack_file": {**now["pack_file"], "new.yaml": "x"}}) == ()


def test_an_unvouched_standing_is_invalid(grounds):
    """A commission on a certificate that is not there stands on nothing."""
    (found,) = invalidated([Standing("c", "commission", {}, ("lost",))], grounds)
    assert (found.id, found.through) == ("c", ("lost",))


def test_a_change_reads_as_a_sentence():
    """The change is told to people with both sides."""
    assert str(Change("template", "t.psd", "d1", "d2")) == "template t.psd is d2, was d1"
    assert str(Change("template", "t.psd", "d1", None)) == "template t.psd is gone"
