"""Characters that editors leave behind in a block, each named with its place.

A block holds printable text, plain spaces and line breaks. Everything that looks like those and is not
(non-breaking spaces, tabs, zero-width characters, direction marks, typographic quotes around a value) is
refused by name: what it was meant to be is for the author to say. Zero-width joiners stay where writing
needs them, between two characters beyond ASCII.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: quotes that never begin or end a plain value, and those that may stand for an apostrophe.
_QUOTES = frozenset(
    "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u2018\u201a\u201b\u301d\u301e\u301f\uff02\u300c\u300d\u300e\u300f"
)
_APOSTROPHES = frozenset("\u2019\u2032\u2033\uff07`\u00b4")
_JOINERS = frozenset("\u200c\u200d")
_CONTROLS = {"\t": "a TAB", "\0": "a NUL", "\x1b": "an ESCAPE", "\x7f": "a DELETE", "\x85": "a NEXT LINE"}
_ASCII_END = 0x7F

#: category of a character → (code, mend).
_REFUSED: dict[str, tuple[str, str]] = {
    "Cc": ("ticket.control_character", "remove it"),
    "Cf": ("ticket.invisible_character", "remove it; type the text again without formatting"),
    "Co": ("ticket.bad_character", "remove it"),
    "Cs": ("ticket.bad_character", "remove it"),
    "Zl": ("ticket.bad_character", "use a plain line break"),
    "Zp": ("ticket.bad_character", "use a plain line break"),
    "Zs": ("ticket.odd_space", "use a plain space"),
}


def refused(text: str) -> Iterator[tuple[int, str, str]]:
    """(index, code, mend) of every character of one line that a block may not hold."""
    for index, character in enumerate(text):
        if character == "\t":
            yield index, "ticket.tab", "use spaces"
        elif character == "\ufffd":
            yield index, "ticket.bad_character", "the text was damaged on its way; type it again"
        elif _is_no_character(character):
            yield index, "ticket.bad_character", "remove it"
        elif character == " " or (character in _JOINERS and _joins(text, index)):
            continue
        elif rule := _REFUSED.get(unicodedata.category(character)):
            yield index, *rule


def _is_no_character(character: str) -> bool:
    """Unicode's noncharacters. What is merely unassigned may be an emoji newer than this Python."""
    code = ord(character)
    return 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE  # noqa: PLR2004 - Unicode 23.7


def _joins(text: str, index: int) -> bool:
    around = text[index - 1 : index] + text[index + 1 : index + 2]
    return len(around) == 2 and all(ord(c) > _ASCII_END for c in around)  # noqa: PLR2004 - both neighbours


def title_of(character: str) -> str:
    """The character's name for people, such as ``a NO-BREAK SPACE (U+00A0)``."""
    named = _CONTROLS.get(character)
    if named is None:
        name = unicodedata.name(character, "character without a name")
        named = f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
    return f"{named} (U+{ord(character):04X})"


def quoted(value: str) -> str | None:
    """The typographic quote that stands around ``value`` (or at one end, unpaired), or ``None``."""
    text = value.strip()
    if not text:
        return None
    first, last = text[0], text[-1]
    either = _QUOTES | _APOSTROPHES
    if len(text) > 1 and first in either and last in either:
        return first
    if sum(c in _QUOTES for c in text) % 2 == 0:
        return None
    return first if first in _QUOTES else last if last in _QUOTES else None


def cleaned(text: str) -> str:
    """``text`` as it looks: without what cannot be seen, and every other refused character as a space.

    Only to find what else is wrong with it; a cleaned text is never accepted.
    """
    spots = {index: code for index, code, _ in refused(text)}
    if not spots:
        return text
    gone = {index for index, code in spots.items() if code == "ticket.invisible_character"}
    return "".join(" " if i in spots else c for i, c in enumerate(text) if i not in gone)
