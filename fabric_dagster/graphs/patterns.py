"""Whether a regular expression of a graph is one that a ticket's value can be matched against safely.

Python's engine backtracks: ``(a+)+`` takes years on forty characters. So a pattern is refused unless its
cost can be bounded from its text alone: a group in which anything varies is not repeated (save the common
list ``(_[a-z0-9]+)*``, which has one reading only), nothing refers back, and the ways in which the repeats
can share the longest allowed value stay below ``MAX_WAYS``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_PATTERN = 200
MAX_COUNT = 1_000
MAX_WAYS = 10_000_000

Problem = tuple[str, str]

_TOKEN = re.compile(
    r"(?P<back>\\[1-9]|\(\?P=|\(\?\()"
    r"|(?P<atom>\\.|\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<open>\((?:\?(?:P<\w+>|<?[=!]|[a-zA-Z-]*:|>))?)"
    r"|(?P<close>\))"
    r"|(?P<bar>\|)"
    r"|(?P<repeat>(?:[*+?]|\{(?P<low>\d*)(?P<to>,?)(?P<high>\d*)\})[?+]?)"
    r"|(?P<plain>.)",
    re.DOTALL,
)
#: A list item: a separator that the class after it cannot match, so that a text splits in one way only.
_ITEM = re.compile(r"\((?:\?:)?(?:[_/ -]|\\[.\-/])\[(?:a-z|A-Z|0-9)+\](?:[+*]|\{\d+(?:,\d*)?\})?\)")


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where an atom or a group begins, and what stood before it."""

    place: int
    varied: int
    ways: int


def pattern_problem(pattern: str, max_length: int) -> Problem | None:
    """What is wrong with ``pattern`` for values of up to ``max_length`` characters, and its mend."""
    if len(pattern) > MAX_PATTERN:
        return f"a pattern has at most {MAX_PATTERN} characters", "shorten it"
    if not pattern.isprintable():
        return "a pattern has printable characters only", "write escapes such as \\t"
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as fault:
        return f"this is no regular expression: {fault}", "mend it"
    return _Costs(pattern, max_length).problem()


class _Costs:
    """Walks a pattern once and counts in how many ways it can match one value."""

    def __init__(self, pattern: str, max_length: int) -> None:
        self.pattern = pattern
        self.max_length = max_length
        self.ways = 1
        self.varied = 0  # repeats and alternatives so far
        self.groups: list[_Mark] = []
        self.last = _Mark(0, 0, 1)

    def problem(self) -> Problem | None:
        """The first reason to refuse the pattern."""
        for token in _TOKEN.finditer(self.pattern):
            if token["back"]:
                return "a pattern may not refer back to what a group matched", "write it out"
            if token["repeat"]:
                if problem := self.repeat(token):
                    return problem
            else:
                self.step(token)
        if self.ways > MAX_WAYS:
            return (
                "the repeats of this pattern can share a long value in too many ways",
                "use fewer open repeats, or a smaller max_length",
            )
        return None

    def step(self, token: re.Match[str]) -> None:
        """Take an atom, a bracket or a bar."""
        mark = _Mark(token.start(), self.varied, self.ways)
        if token["open"]:
            self.groups.append(mark)
        elif token["close"]:
            self.last = self.groups.pop()
        elif token["bar"]:
            self.ways *= 2
            self.varied += 1
        else:
            self.last = mark

    def repeat(self, token: re.Match[str]) -> Problem | None:
        """Take a repeat of the last atom or group."""
        low, high = _counts(token)
        if max(low, high or 0) > MAX_COUNT:
            return f"a repeat counts to {MAX_COUNT} at most", "lower it"
        if self.varied > self.last.varied and (high is None or high > 1):
            if not _ITEM.fullmatch(self.pattern[self.last.place : token.start()]):
                return (
                    "a group in which something varies is repeated, which can take forever to match",
                    "repeat plain characters and classes, or a list such as (_[a-z0-9]+)*",
                )
            self.ways = self.last.ways
        most = self.max_length if high is None else min(high, self.max_length)
        spread = most - min(low, self.max_length) + 1
        self.ways *= spread
        self.varied += spread > 1
        return None


def _counts(repeat: re.Match[str]) -> tuple[int, int | None]:
    """Least and most of a repeat; no most where it is open."""
    sign = repeat["repeat"][0]
    if sign != "{":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
    low = int(repeat["low"] or 0)
    if not repeat["to"]:
        return low, low
    return low, int(repeat["high"]) if repeat["high"] else None
