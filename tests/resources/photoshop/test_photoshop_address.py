"""Layers are found by path or id, whatever their names hold, or the error says what else fits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from photoshop_builders import rename

from fabric_dagster.errors import OperationFailed
from resources.photoshop.address import ambiguous, escape, matches, path_of, resolve, resolve_roles
from resources.photoshop.document import Document, Layer, build
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.layers import LayerRecord

NAMES = st.text(st.sampled_from("ab/\\.é 图"), min_size=1, max_size=4)
TREES = st.recursive(
    NAMES.map(lambda name: (name, [])),
    lambda inner: st.tuples(NAMES, st.lists(inner, max_size=3)),
    max_leaves=12,
)


def made(tree) -> Document:
    """A document of nothing but names."""
    count = iter(range(1000))

    def layer(node, parent):
        record = LayerRecord(0, 0, 0, 0, [], b"8BIM", b"norm", 255, 0, 0, 0, b"", b"", b"", [])
        here = Layer(next(count), record, node[0], "group" if node[1] else "pixel", parent)
        here.children = [layer(child, here) for child in node[1]]
        return here

    return Document(None, [layer(node, None) for node in tree])


@settings(deadline=None)
@given(st.lists(TREES, min_size=1, max_size=4))
def test_an_escaped_path_finds_its_layer(tree):
    """Each layer's own path always fits it; where it fits no other, it resolves to exactly that one."""
    document = made(tree)
    doubtful = ambiguous(document)
    for layer in document.walk():
        found = matches(document, path_of(layer))
        assert layer in found
        assert (len(found) > 1) == (layer.index in doubtful)
        if len(found) == 1:
            assert layer is resolve(document, {"path": path_of(layer)})


@settings(deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=3))
def test_plain_slashes_in_names_need_no_escape(names):
    """A name with slashes is found as it is written in the panel, if nothing else fits."""
    document = made([(names[0], [(name, []) for name in names[1:]])])
    for layer in document.walk():
        assert layer in matches(document, "/".join(layer.names))


def test_escaping_tells_a_slash_in_a_name_from_a_group():
    r"""``Black\/White`` is one name, ``Black/White`` may be either and is refused when both exist."""
    document = made([("Black/White", []), ("Black", [("White", [])])])
    assert document.roots[0] is resolve(document, {"path": r"Black\/White"})
    with pytest.raises(OperationFailed) as caught:
        resolve(document, {"path": "Black/White"})
    assert caught.value.code == "photoshop.layer_ambiguous"
    assert "Black\\/White" in caught.value.faults[0].mend


def test_repeated_names_are_listed_with_their_ids(template):
    """An ambiguous path is an error that lists the candidates with ids."""
    container = parse(template)
    rename(container, 2, "Art")
    document = build(parse(container.dump()))
    with pytest.raises(OperationFailed) as caught:
        resolve(document, {"path": "Art/Art"})
    assert "id 3: Art/Art" in caught.value.faults[0].mend
    assert "id 2: Art/Art" in caught.value.faults[0].mend
    assert resolve(document, {"id": 2}).name == "Art"


def test_roles_report_everything_that_is_wrong_at_once(template):
    """Missing and doubly used roles are one error with a fault each."""
    document = build(parse(template))
    found = resolve_roles(document, {"art": "Art/Art", "label": 11, "frame": {"path": "Frame"}})
    assert {"art": 3, "label": 11, "frame": 9} == {role: layer.id for role, layer in found.items()}
    with pytest.raises(OperationFailed) as caught:
        resolve_roles(document, {"art": "Art/Artt", "label": 99, "a": "Text", "b": {"id": 13}})
    assert [
        ("photoshop.layer_not_found", "role art"),
        ("photoshop.layer_not_found", "role label"),
        ("photoshop.role_shared", "role b"),
    ] == [(fault.code, fault.where) for fault in caught.value.faults]
    assert "'Art/Art'" in caught.value.faults[0].mend


def test_escape_is_undone_by_nothing_else():
    """Backslashes are doubled before slashes are escaped."""
    assert escape("a/b\\c") == "a\\/b\\\\c"
