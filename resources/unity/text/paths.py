"""Find a node by a property path as Unity writes it: ``m_Foo.Array.data[2].bar``.

Rules kept here:

* A key may hold dots, spaces and brackets (``<Range>k__BackingField``, ``Base Layer.Idle``): every reading of
  the path is tried, and more than one that fits is an error that lists them.
* A repeated key is refused: no reader agrees which one counts.
* A list of pairs may be addressed as Unity's serializer does (``data[3].second``), or by its key as the
  text shows it (``data[3]._MainTex``).
* A path that does not exist is reported with its nearest existing prefix and what stands there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resources.unity.text.errors import TextFault
from resources.unity.text.nodes import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from resources.unity.text.nodes import Node

ELEMENT = re.compile(r"Array\.data\[(0|[1-9][0-9]*)\](?:\.|\Z)")
SHOWN = 40


@dataclass(frozen=True, slots=True)
class Found:
    """Where a path led: the node, and the key that it is the value of (of the list, for an element)."""

    node: Node
    key: str
    #: the reading: the keys and indices that were followed
    steps: tuple[str, ...]


class _Search:
    def __init__(self, path: str) -> None:
        self.path = path
        self.found: list[Found] = []
        #: the deepest node that a prefix of the path reached, and that prefix
        self.deepest: tuple[int, Node | None] = (-1, None)

    def visit(self, node: Node, rest: str, key: str, steps: tuple[str, ...]) -> None:
        if not rest:
            self.found.append(Found(node, key, steps))
            return
        reached = len(self.path) - len(rest)
        if reached > self.deepest[0]:
            self.deepest = (reached, node)
        if isinstance(node, Sequence):
            match = ELEMENT.match(rest)
            if match and int(match[1]) < len(node.items):
                index = int(match[1])
                self.visit(node.items[index], rest[match.end() :], key, (*steps, f"[{index}]"))
        elif isinstance(node, Mapping):
            self._into_mapping(node, rest, steps)

    def _into_mapping(self, node: Mapping, rest: str, steps: tuple[str, ...]) -> None:
        matches = [e for e in node.entries if rest == e.key or rest.startswith(e.key + ".")]
        if not matches and len(node.entries) == 1 and re.match(r"second(?:\.|\Z)", rest):
            entry = node.entries[0]
            self.visit(entry.value, rest[len("second.") :], entry.key, (*steps, entry.key))
        for entry in matches:
            if sum(other.key == entry.key for other in matches) > 1:
                raise TextFault(
                    "path.duplicate_key",
                    f"the key {entry.key!r} occurs more than once here",
                    where=self.path,
                    mend="save the asset in the editor, which writes each key once",
                )
            self.visit(entry.value, rest[len(entry.key) + 1 :], entry.key, (*steps, entry.key))


def resolve(root: Node, path: str) -> Found:
    """The one node at ``path`` below ``root``; raises ``TextFault`` (``path.…``)."""
    if not path or path.endswith("."):
        raise TextFault("path.empty", "the property path is empty or ends with a dot", where=path)
    search = _Search(path)
    search.visit(root, path, "", ())
    if len(search.found) == 1:
        return search.found[0]
    if search.found:
        readings = tuple(" → ".join(found.steps) for found in search.found)
        raise TextFault(
            "path.ambiguous",
            "the property path fits several properties: " + "; ".join(readings),
            where=path,
            mend="the keys themselves hold dots; rename one of them",
            candidates=readings,
        )
    raise _missing(path, *search.deepest)


def _missing(path: str, reached: int, node: Node | None) -> TextFault:
    prefix = path[: max(reached, 0)].rstrip(".")
    here = f"at {prefix!r}" if prefix else "at the top"
    if isinstance(node, Mapping):
        keys = tuple(entry.key for entry in node.entries)
        listed = ", ".join(keys[:SHOWN]) + (", …" if len(keys) > SHOWN else "")
        mend = f"{here} there are: {listed}" if keys else f"{here} the mapping is empty"
        return TextFault("path.missing", "no such property", where=path, mend=mend, candidates=keys)
    if isinstance(node, Sequence):
        count = len(node.items)
        mend = (
            f"{here} stands a list of {count}: write Array.data[0] to Array.data[{count - 1}]"
            if count
            else f"{here} stands an empty list"
        )
    else:
        mend = f"{here} stands a plain value with nothing below it"
    return TextFault("path.missing", "no such property", where=path, mend=mend)


def describe(node: Node) -> str:
    """What kind of thing a node is, for people."""
    if isinstance(node, Mapping):
        return "a mapping of " + (", ".join(entry.key for entry in node.entries[:8]) or "nothing")
    if isinstance(node, Sequence):
        return f"a list of {len(node.items)}"
    return "an empty value" if isinstance(node, Scalar) and node.style == "empty" else "a value"
