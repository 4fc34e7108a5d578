"""A code block of a description, whatever markup it came in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """The text inside one code block. ``number`` counts the description's blocks from 1."""

    number: int
    text: str
    #: types of nodes that a code block cannot hold (a mention, a card), as an editor may still put there.
    foreign: tuple[str, ...] = ()


def unix_lines(text: str) -> str:
    r"""``text`` with ``\r\n`` and lone ``\r`` as ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
