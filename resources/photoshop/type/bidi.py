"""The order in which characters of both directions are seen: the implicit part of Unicode's algorithm.

Rules kept here (Unicode Standard Annex 9, rules P2, P3, W1 to W7, N1, N2, I1, I2, L1 and L2): explicit
embeddings and isolates are treated as if they were not there, and brackets are not paired.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

NEUTRAL: Final = {"B", "S", "WS", "ON", "BN", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
STRONG: Final = {"L", "R"}


def base_level(text: str) -> int:
    """0 where the first strong character runs left to right (or there is none), else 1."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in {"L", "R", "AL"}:
            return int(kind != "L")
    return 0


def levels(text: str, base: int) -> list[int]:
    """The embedding level of each character of one paragraph; odd ones run right to left."""
    original = [unicodedata.bidirectional(character) for character in text]
    kinds = _weak(original, "R" if base else "L")
    kinds = _neutral(kinds, "R" if base else "L")
    found = []
    for kind in kinds:
        if base % 2 == 0:
            found.append(base + {"L": 0, "R": 1}.get(kind, 2))
        else:
            found.append(base + int(kind != "R"))
    return _trailing(original, found, base)


def _weak(original: Sequence[str], edge: str) -> list[str]:
    """Rules W1 to W7: marks, numbers and their separators."""
    kinds = list(original)
    before = edge
    for at, kind in enumerate(kinds):
        if kind == "NSM":
            kinds[at] = before
        before = kinds[at]
    kinds = ["R" if kind == "AL" else kind for kind in _after_strong(kinds, edge, "AL", "AN")]
    for at in range(1, len(kinds) - 1):
        around = {kinds[at - 1], kinds[at + 1]}
        if kinds[at] in {"ES", "CS"} and around == {"EN"}:
            kinds[at] = "EN"
        elif kinds[at] == "CS" and around == {"AN"}:
            kinds[at] = "AN"
    kinds = _beside_numbers(_beside_numbers(kinds)[::-1])[::-1]
    kinds = ["ON" if kind in {"ES", "ET", "CS"} else kind for kind in kinds]
    return _after_strong(kinds, edge, "L", "L")


def _after_strong(kinds: Sequence[str], edge: str, strong: str, becomes: str) -> list[str]:
    """European numbers whose last strong character is ``strong`` become another kind (W2, W7)."""
    done, last = [], edge
    for kind in kinds:
        last = kind if kind in {"L", "R", "AL"} else last
        done.append(becomes if kind == "EN" and last == strong else kind)
    return done


def _beside_numbers(kinds: Sequence[str]) -> list[str]:
    """Terminators such as currency signs right after a number belong to it (W5)."""
    done: list[str] = []
    for kind in kinds:
        done.append("EN" if kind == "ET" and done and done[-1] == "EN" else kind)
    return done


def _neutral(kinds: list[str], edge: str) -> list[str]:
    """Rules N1 and N2: neutrals between the same direction take it, others the paragraph's."""
    done = list(kinds)
    at = 0
    while at < len(done):
        if done[at] not in NEUTRAL:
            at += 1
            continue
        end = at
        while end < len(done) and done[end] in NEUTRAL:
            end += 1
        left = _direction(done[at - 1]) if at else edge
        right = _direction(done[end]) if end < len(done) else edge
        done[at:end] = [left if left == right else edge] * (end - at)
        at = end
    return done


def _direction(kind: str) -> str:
    """Numbers count as right to left beside neutrals."""
    return kind if kind in STRONG else "R"


def _trailing(original: Sequence[str], found: list[int], base: int) -> list[int]:
    """Rule L1: white space at the end of a line has the paragraph's level."""
    for at in range(len(found) - 1, -1, -1):
        if original[at] not in {"WS", "S", "B", "BN"}:
            break
        found[at] = base
    return found


def runs(levels_of: Sequence[int]) -> list[tuple[int, int, int]]:
    """(start, end, level) of each stretch of one level, in reading order of the text."""
    found: list[tuple[int, int, int]] = []
    for at, level in enumerate(levels_of):
        if found and found[-1][2] == level:
            found[-1] = (found[-1][0], at + 1, level)
        else:
            found.append((at, at + 1, level))
    return found


def visual(order: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The same stretches from left to right (rule L2)."""
    if not order:
        return []
    done = list(order)
    highest = max(level for _, _, level in done)
    lowest_odd = min((level for _, _, level in done if level % 2), default=highest + 1)
    for level in range(highest, lowest_odd - 1, -1):
        at = 0
        while at < len(done):
            end = at
            while end < len(done) and done[end][2] >= level:
                end += 1
            if end > at:
                done[at:end] = reversed(done[at:end])
            at = max(end, at + 1)
    return done
