"""Seeded edits all over a set of files: each must read in PyYAML as meant, and be undone byte for byte."""

import random

import yaml

from resources.unity.text import (
    Splice,
    TextFault,
    UnityFile,
    apply,
    insert_item,
    move_item,
    remove_item,
    set_value,
)
from resources.unity.text.edits import kind_of
from resources.unity.text.file import plain
from resources.unity.text.nodes import Sequence
from resources.unity.text.paths import Found

LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
WORDS = (
    "Sale",
    "it's 5 o'clock",
    "Größe: 3",
    "#hash",
    "a: b",
    " edge",
    "two\nlines",
    "tab\there",
    "",
    "- dash",
    "\u201cquoted\u201d",
    "x" * 90 + " y",
    "many words " * 20,
)
REFERENCE = {"fileID": "21300000", "guid": "ab" * 16, "type": "3"}
#: how often a list is looked for: most values are scalars
LISTS = 0.8
VALUES = {"integer": "7", "decimal": "0.25", "guid": "ab" * 16, "reference": REFERENCE}


def run(pool, count, seed):
    """Make ``count`` edits in files of ``pool`` (name → bytes); how many of each kind were made."""
    chosen = random.Random(seed)  # noqa: S311 - a seeded sample
    names = sorted(pool)
    made = dict.fromkeys(("set", "insert", "remove", "move"), 0)
    tries = 0
    while sum(made.values()) < count:
        tries += 1
        assert tries < 40 * count, f"too few values can be edited: {made}"
        name = chosen.choice(names)
        kind = edit(name, pool[name], chosen)
        if kind is not None:
            made[kind] += 1
    return made


def edit(name, data, chosen):
    """One edit of ``data``; its kind, or ``None`` where what was drawn is refused by design."""
    file = UnityFile(data)
    span = chosen.choice(file.documents)
    before = plain(data, file.content(span))
    places = list(paths(before))
    if chosen.random() < LISTS:
        places = [place for place in places if isinstance(place[1], list) and place[1]]
    if not places or not isinstance(before, dict):
        return None
    target, old = chosen.choice(places)
    try:
        found = file.find(span.file_id, target)
        kind, splices, new = drawn(file, span.file_id, target, old, found, chosen)
    except TextFault:
        return None
    edited = apply(data, splices)
    after = UnityFile(edited)
    got = after.span(span.file_id)
    tree = yaml.load(edited[got.body : got.end], LOADER)  # noqa: S506 - BaseLoader makes texts only
    tree = tree if span.class_id == 0 else next(iter(tree.values()))
    assert put(before, target, new) == tree, (name, span.file_id, target, kind, new)
    assert apply(edited, inverse(data, splices)) == data, (name, target, kind)
    return kind


def drawn(file, file_id, target, old, found, chosen):
    """(kind, splices, the value that then stands at ``target``)."""
    data = file.data
    if isinstance(found.node, Sequence):
        kind = chosen.choice(["insert", "remove", "move"])
        if kind == "insert":
            items = found.node.items
            of = kind_of(data, Found(items[0], found.key, ())) if items else "text"
            value = VALUES.get(of) or chosen.choice(WORDS)
            at = chosen.randint(0, len(items))
            return kind, insert_item(file, file_id, target, at, value), [*old[:at], value, *old[at:]]
        at = chosen.randrange(len(old)) if old else 0
        if kind == "remove":
            return kind, remove_item(file, file_id, target, at), [*old[:at], *old[at + 1 :]]
        to = chosen.randrange(len(old)) if old else 0
        new = [*old[:at], *old[at + 1 :]]
        return kind, move_item(file, file_id, target, at, to), [*new[:to], *old[at : at + 1], *new[to:]]
    of = kind_of(data, found)
    if of in {"mapping", "list"}:
        raise TextFault("test.skip", "not a scalar")
    value = VALUES.get(of) or chosen.choice(WORDS)
    return "set", set_value(file, file_id, target, value), value


def paths(value, path=""):
    """Every property path with what stands there, lists included, as Unity writes paths."""
    if isinstance(value, dict):
        if path and value.keys() == REFERENCE.keys():
            yield path, value
        for key, item in value.items():
            yield from paths(item, f"{path}.{key}" if path else key)
    else:
        if path:
            yield path, value
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from paths(item, f"{path}.Array.data[{index}]")


def put(tree, target, new, path=""):
    """``tree`` with ``new`` at ``target``."""
    if path == target and path:
        return new
    if isinstance(tree, dict):
        return {k: put(v, target, new, f"{path}.{k}" if path else k) for k, v in tree.items()}
    if isinstance(tree, list):
        return [put(v, target, new, f"{path}.Array.data[{i}]") for i, v in enumerate(tree)]
    return tree


def inverse(data, splices):
    """The splices that take ``splices`` of ``data`` back."""
    back, shift = [], 0
    for item in sorted(splices, key=lambda splice: splice.start):
        start = item.start + shift
        back.append(Splice(start, start + len(item.text), data[item.start : item.end]))
        shift += len(item.text) - (item.end - item.start)
    return back
