"""The text engine on real projects: equal to PyYAML where it reads, to Unity where it writes."""

import hashlib
import json
import random
from itertools import pairwise

import pytest
import yaml

from resources.unity.text import TextFault, UnityFile, apply, set_value
from resources.unity.text.documents import split
from resources.unity.text.edits import encode_at, kind_of
from resources.unity.text.file import plain
from resources.unity.text.nodes import Mapping, Scalar
from resources.unity.text.paths import Found
from resources.unity.text.references import flow_map

TEXTS = {
    ".meta",
    ".asset",
    ".prefab",
    ".unity",
    ".mat",
    ".anim",
    ".controller",
    ".spriteatlas",
    ".spriteatlasv2",
    ".preset",
}
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
#: written by a package's own JSON-like writer, not by Unity's serializer
FOREIGN_WRITERS = {"XRSettings.asset"}


def texts(corpus):
    """Every text asset with its bytes; binary ones are told apart by their NUL bytes."""
    for path in sorted(corpus.rglob("*")):
        if path.suffix in TEXTS and path.is_file():
            data = path.read_bytes()
            if b"\0" not in data:
                yield path, data


def nodes(node):
    """A node and all below it."""
    yield node
    members = [e.value for e in node.entries] if isinstance(node, Mapping) else getattr(node, "items", [])
    for member in members:
        yield from nodes(member)


def leaves(value, path=""):
    """Every property path of a parsed document with its text, as Unity writes paths."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}.Array.data[{index}]")
    else:
        yield path, value


@pytest.mark.slow
def test_every_document_parses_to_the_tree_that_pyyaml_reads(corpus):
    """All documents of all projects, every scalar as text."""
    count = 0
    for path, data in texts(corpus):
        file = UnityFile(data)
        for span in file.documents:
            count += 1
            expected = yaml.load(data[span.body : span.end], LOADER)  # noqa: S506 - BaseLoader makes texts only
            assert plain(data, file.root(span)) == (expected or ""), f"{path} &{span.file_id}"
    assert count > 6000


@pytest.mark.slow
def test_every_scalar_and_flow_mapping_is_written_as_unity_wrote_it(corpus):
    """Decode, encode again: the same bytes, folds included."""
    scalars = maps = 0
    for path, data in texts(corpus):
        if path.name in FOREIGN_WRITERS:
            continue
        file = UnityFile(data)
        for span in file.documents:
            for node in nodes(file.root(span)):
                if isinstance(node, Scalar) and node.style != "empty":
                    scalars += 1
                    text = plain(data, node)
                    written = encode_at(file, node.start, node.column, text, flow=node.flow)
                    assert written == data[node.start : node.end], path
                elif isinstance(node, Mapping) and node.flow and node.entries:
                    if not all(isinstance(entry.value, Scalar) for entry in node.entries):
                        continue
                    maps += 1
                    parts = [data[e.start : e.value.end].decode() for e in node.entries]
                    column = node.start - data.rfind(b"\n", 0, node.start) - 1
                    written = flow_map(
                        parts,
                        column,
                        node.column + 2,
                        file.newline_at(node.start),
                        one_line=file.one_line_maps,
                    )
                    assert written == data[node.start : node.end], path
    assert scalars > 100_000
    assert maps > 30_000


def test_every_edit_case_gives_the_stated_bytes_and_undoes(corpus):
    """144 edits in six projects of Unity 2019 to 6000."""
    count = 0
    for listing in sorted(corpus.glob("*/edit_cases.json")):
        settings = listing.parent / "ProjectSettings/EditorSettings.asset"
        one_line = settings.is_file() and b"m_SerializeInlineMappingsOnOneLine: 1" in settings.read_bytes()
        for case in json.loads(listing.read_text(encoding="utf-8")):
            count += 1
            data = (listing.parent / case["file"]).read_bytes()
            assert hashlib.sha256(data).hexdigest() == case["before_sha256"]
            file = UnityFile(data, one_line_maps=one_line)
            (splice,) = set_value(file, case["doc_fileID"], case["path"], case["value"])
            edited = apply(data, [splice])
            assert hashlib.sha256(edited).hexdigest() == case["after_sha256"], case
            back = type(splice)(
                splice.start, splice.start + len(splice.text), data[splice.start : splice.end]
            )
            assert apply(edited, [back]) == data
    assert count >= 144


@pytest.mark.slow
def test_random_edits_change_exactly_one_value_of_the_tree(corpus):
    """Seeded edits of scalars all over: PyYAML reads the new value there, and the old ones elsewhere."""
    chosen = random.Random(20)  # noqa: S311 - a seeded sample
    pool = chosen.sample(list(texts(corpus)), 250)
    words = [
        "Sale",
        "it's 5 o'clock",
        "Größe: 3",
        "#hash",
        "a: b",
        " edge",
        "two\nlines",
        "tab\there",
        "",
        "\u201cquoted\u201d",
        "x" * 90 + " y",
    ]
    done = 0
    for path, data in pool:
        if path.name in FOREIGN_WRITERS:
            continue
        file = UnityFile(data)
        for span in chosen.sample(file.documents, min(3, len(file.documents))):
            before = plain(data, file.content(span))
            candidates = [item for item in leaves(before) if item[0]] if isinstance(before, dict) else []
            for target, old in chosen.sample(candidates, min(4, len(candidates))):
                try:
                    found = file.find(span.file_id, target)
                except TextFault:
                    continue  # a duplicated key or document, refused by design
                kind = kind_of(data, found)
                value = {"integer": "7", "decimal": "0.25", "guid": "ab" * 16}.get(kind) or chosen.choice(
                    words
                )
                edited = apply(data, set_value(file, span.file_id, target, value))
                after = UnityFile(edited)
                got = after.span(span.file_id)
                tree = yaml.load(edited[got.body : got.end], LOADER)  # noqa: S506 - BaseLoader makes texts only
                tree = tree if span.class_id == 0 else next(iter(tree.values()))
                expected = {p: t for p, t in leaves(before) if p != target} | {target: value}
                assert dict(leaves(tree)) == expected, (path, target, value, old)
                done += 1
    assert done > 1000


def test_splitting_keeps_every_byte(corpus):
    """Documents lie end to end: what they leave out is the head of the file."""
    for path, data in texts(corpus):
        spans = split(data)
        assert all(one.end == two.start for one, two in pairwise(spans)), path
        assert spans[-1].end == len(data)


def test_a_scalar_of_the_middle_of_a_list_is_a_found_node(corpus):
    """``kind_of`` tells references from numbers on real metas."""
    path = next(p for p in sorted(corpus.rglob("*.png.meta")))
    file = UnityFile(path.read_bytes())
    assert kind_of(file.data, file.find("0", "guid")) == "guid"
    assert kind_of(file.data, Found(file.find("0", "TextureImporter").node, "x", ())) == "mapping"
