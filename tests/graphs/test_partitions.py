"""Partitioning against an oracle that tries every grouping of a small graph."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabric_dagster.graphs.order import ancestors, circle, guaranteed, topological
from fabric_dagster.graphs.partitions import partition

APPLICATIONS = ("fabric", "photoshop", "unity")


@st.composite
def graphs(draw, size=7):
    """A random DAG of up to ``size`` nodes with shuffled ids, and an application for each."""
    count = draw(st.integers(1, size))
    names = draw(st.permutations([f"n{i}" for i in range(count)]))
    parents = {
        name: tuple(draw(st.lists(st.sampled_from(names[:place]), max_size=3, unique=True)) if place else [])
        for place, name in enumerate(names)
    }
    return parents, {name: draw(st.sampled_from(APPLICATIONS)) for name in names}


def cut(parents, application):
    """The partitions of a graph."""
    return partition(parents, application, topological(parents))


def acyclic(parents, groups):
    """Whether the groups, seen as nodes, have an order."""
    of = {node: place for place, group in enumerate(groups) for node in group}
    above = {str(place): set() for place in range(len(groups))}
    for node, up in parents.items():
        above[str(of[node])] |= {str(of[parent]) for parent in up if of[parent] != of[node]}
    return len(topological({key: tuple(value) for key, value in above.items()})) == len(groups)


def convex(parents, group):
    """Whether no way between two nodes of ``group`` leads through a node outside of it."""
    above = ancestors(parents, topological(parents))
    members = set(group)
    return not any(
        node not in members and above[node] & members and any(node in above[low] for low in members)
        for node in parents
    )


def connected(parents, group):
    """Whether edges within ``group`` join all of it."""
    reached, members = {group[0]}, set(group)
    for _ in group:
        for node in group:
            joined = set(parents[node]) & members | {low for low in group if node in parents[low]}
            if joined & reached:
                reached.add(node)
    return reached == members


def groupings(nodes):
    """Every way to group ``nodes``."""
    if not nodes:
        yield []
        return
    first, *rest = nodes
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = [node for node in rest if node not in others]
            for tail in groupings(left):
                yield [[first, *others], *tail]


def oracle(parents, application):
    """The least number of groups in any valid grouping, by trying all of them."""
    controls = [[node] for node in parents if application[node] == "fabric"]
    best = len(parents)
    for grouping in groupings([node for node in parents if application[node] != "fabric"]):
        groups = controls + grouping
        if (
            len(groups) < best
            and all(len({application[node] for node in group}) == 1 for group in grouping)
            and all(connected(parents, group) for group in grouping)
            and acyclic(parents, groups)
        ):
            best = len(groups)
    return best


def whole(parents, application):
    """The groups that edges of one application join, cut nowhere."""
    groups = [[node] for node in parents]
    for node, up in parents.items():
        for parent in up:
            if application[node] == application[parent] != "fabric":
                first = next(group for group in groups if node in group)
                second = next(group for group in groups if parent in group)
                if first is not second:
                    first += second
                    groups.remove(second)
    return groups


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_partitions_are_pure_connected_convex_and_acyclic(graph):
    """Each partition holds one application, hangs together and lets no way lead out and in again."""
    parents, application = graph
    found = [part.nodes for part in cut(parents, application)]
    assert sorted(parents) == sorted(node for group in found for node in group)
    assert acyclic(parents, found)
    for part in cut(parents, application):
        assert {part.application} == {application[node] for node in part.nodes}
        assert convex(parents, part.nodes)
        assert connected(parents, part.nodes)
        assert part.application != "fabric" or (part.id,) == part.nodes


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_no_two_neighbours_could_still_be_merged(graph):
    """The cut is maximal: merging any two joined partitions of one application closes a circle."""
    parents, application = graph
    found = cut(parents, application)
    for first, second in combinations(found, 2):
        joined = [*first.nodes, *second.nodes]
        touching = any(set(parents[node]) & set(joined) - {node} for node in second.nodes) and connected(
            parents, joined
        )
        if first.application == second.application != "fabric" and touching:
            rest = [part.nodes for part in found if part not in {first, second}]
            assert not acyclic(parents, [*rest, joined])


@given(graphs(size=6))
@settings(max_examples=300, deadline=None)
def test_where_every_group_can_be_whole_it_is(graph):
    """No grouping has fewer partitions when no group has to be cut; never is one claimed that cannot be."""
    parents, application = graph
    found, least = len(cut(parents, application)), oracle(parents, application)
    assert least <= found
    groups = whole(parents, application)
    if acyclic(parents, groups):
        assert len(groups) == least == found


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_order_of_nodes_and_edges_means_nothing(graph, random):
    """The same nodes and edges in another order are cut the same, names and order of partitions included."""
    parents, application = graph
    items = list(parents.items())
    random.shuffle(items)
    shuffled = {node: tuple(random.sample(up, len(up))) for node, up in items}
    assert cut(parents, application) == cut(shuffled, application)


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_partitions_and_their_nodes_come_in_topological_order(graph):
    """Whatever a partition needs stands before it; so do the nodes within one."""
    parents, application = graph
    seen, done = set(), set()
    for part in cut(parents, application):
        assert set(part.needs) <= seen
        seen.add(part.id)
        for node in part.nodes:
            assert set(parents[node]) <= done
            done.add(node)


def chain(*kinds):
    """A chain of nodes a, b, c, … of the given applications."""
    names = "abcdefgh"[: len(kinds)]
    parents = {name: (names[place - 1],) if place else () for place, name in enumerate(names)}
    return parents, dict(zip(names, kinds, strict=True))


def test_photoshop_unity_photoshop_gives_three():
    """Going there and back cuts Photoshop in two, counted in the order of the work."""
    found = cut(*chain("photoshop", "photoshop", "unity", "photoshop"))
    expected = [("photoshop_1", ("a", "b")), ("unity_1", ("c",)), ("photoshop_2", ("d",))]
    assert expected == [(part.id, part.nodes) for part in found]


def test_work_that_must_be_cut_stays_with_what_came_earlier():
    """A side branch that could go with either half goes with the first."""
    parents = {"a": (), "side": ("a",), "u": ("a",), "z": ("side", "u")}
    kinds = {"a": "photoshop", "side": "photoshop", "u": "unity", "z": "photoshop"}
    expected = [("a", "side"), ("u",), ("z",)]
    assert expected == [part.nodes for part in cut(parents, kinds)]


def test_a_merge_that_was_refused_at_first_is_tried_again():
    """A shortcut over a node of the same application does not cut the group."""
    parents = {"a": (), "b": ("a",), "c": ("a", "b")}
    assert [part.nodes for part in cut(parents, dict.fromkeys("abc", "unity"))] == [("a", "b", "c")]


def test_independent_branches_are_partitions_of_their_own():
    """Two pieces of one application that no edge joins run and commit apart."""
    parents = {"brief": (), "left": ("brief",), "right": ("brief",)}
    found = cut(parents, {"brief": "fabric", "left": "photoshop", "right": "photoshop"})
    assert [part.id for part in found] == ["brief", "photoshop_1", "photoshop_2"]


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ({"a": (), "b": ("a",)}, ()),
        ({"a": ("a",)}, ("a",)),
        ({"x": (), "c": ("x", "b"), "b": ("a",), "a": ("c",), "z": ("c",)}, ("a", "b", "c")),
    ],
)
def test_a_circle_is_named_in_the_direction_of_the_work(parents, expected):
    """The circle is told once, from its smallest id on, without what hangs on it."""
    assert expected == circle(parents, topological(parents))


def test_only_what_all_sides_have_is_certain_past_an_any_join():
    """Past an ``any`` join the two sides are uncertain, what stands above both is not."""
    parents = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c"), "e": ("d",)}
    found = guaranteed(parents, topological(parents), frozenset({"d"}))
    assert ({"a"}, {"a", "d"}) == (set(found["d"]), set(found["e"]))
