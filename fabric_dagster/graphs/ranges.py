"""Version ranges such as ``>=2021.3,<6001``: comma-separated comparators over dotted numbers."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Version = tuple[int, ...]

MAX_COMPARATORS = 8
PARTS = 4

_COMPARATOR = re.compile(r"(>=|<=|==|!=|>|<)[ ]*((?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){0,3})")
#: What applications call themselves: dotted numbers, then a stage such as Unity's ``f1`` or ``b3``.
_VERSION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9}){0,3})(?:[a-z+-].*)?", re.DOTALL)

_OPERATORS: Mapping[str, Callable[[Version, Version], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class VersionRange:
    """A conjunction of comparators."""

    text: str
    comparators: tuple[tuple[str, Version], ...]

    def holds(self, version: str) -> bool:
        """Whether ``version`` lies in the range; a version that cannot be read lies in none.

        Missing parts count as zero and a stage suffix is left out: ``2021.3.45f1`` is 2021.3.45.
        """
        read = _VERSION.fullmatch(version)
        return read is not None and self._holds(_dotted(read[1]))

    def _holds(self, version: Version) -> bool:
        return all(_OPERATORS[sign](version, bound) for sign, bound in self.comparators)

    @property
    def empty(self) -> bool:
        """Whether no version at all lies in the range."""
        # The smallest version of a range is 0, or a bound, or what comes right after a bound.
        bounds = [bound for _, bound in self.comparators]
        return not any(self._holds(version) for version in [(), *bounds, *map(_next, bounds)])


def _next(version: Version) -> Version:
    padded = version + (0,) * (PARTS - len(version))
    return (*padded[:-1], padded[-1] + 1)


def _dotted(text: str) -> Version:
    parts = [int(part) for part in text.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def parse_range(text: str) -> VersionRange:
    """Read a range. Raises ``ValueError`` saying what is wrong with it."""
    pieces = [piece.strip(" ") for piece in text.split(",")]
    if len(pieces) > MAX_COMPARATORS:
        msg = f"more than {MAX_COMPARATORS} comparators"
        raise ValueError(msg)
    comparators = []
    for piece in pieces:
        match = _COMPARATOR.fullmatch(piece)
        if match is None:
            msg = f"{piece!r} is no comparator such as >=2021.3"
            raise ValueError(msg)
        comparators.append((match[1], _dotted(match[2])))
    if len(set(comparators)) < len(comparators):
        msg = "a comparator stands twice"
        raise ValueError(msg)
    found = VersionRange(text, tuple(comparators))
    if found.empty:
        msg = "no version lies in it"
        raise ValueError(msg)
    return found
