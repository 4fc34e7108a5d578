"""What a document parses to: nodes that know their byte span in the file and nothing else.

``start`` and ``end`` are offsets into the whole file. ``column`` is the column that continuation lines of the
value count from: the column of the key or dash that owns it. Text is decoded only when somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Style = Literal["plain", "single", "double", "literal", "folded", "empty"]


@dataclass(slots=True)
class Scalar:
    """A scalar as it is written. An empty one has ``start == end``, where its text would go."""

    start: int
    end: int
    style: Style
    column: int
    flow: bool = False


@dataclass(slots=True)
class Entry:
    """A key of a mapping and its value; ``start`` is where the key begins."""

    key: str
    start: int
    value: Node


@dataclass(slots=True)
class Mapping:
    """A block mapping, or a flow one: ``{a: 1}``."""

    start: int
    end: int
    column: int
    flow: bool
    entries: list[Entry] = field(default_factory=list)

    def get(self, key: str) -> Node | None:
        """The value of ``key``, the last one where it is repeated, as YAML readers do."""
        return next((entry.value for entry in reversed(self.entries) if entry.key == key), None)


@dataclass(slots=True)
class Sequence:
    """A block sequence, or a flow one: ``[]``. ``dashes`` are the offsets of the items' dashes."""

    start: int
    end: int
    column: int
    flow: bool
    items: list[Node] = field(default_factory=list)
    dashes: list[int] = field(default_factory=list)


Node: TypeAlias = Scalar | Mapping | Sequence
