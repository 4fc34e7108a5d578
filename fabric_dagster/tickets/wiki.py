"""Code blocks of Jira wiki markup: ``{code}`` and ``{noformat}``, with or without parameters.

A block ends at the next bare tag of its own kind, exactly as Jira ends it: text that itself holds the tag
splits the block, and the ticket is refused for what is then missing. A tag that is never closed opens no
block; an escaped one (a backslash or a second brace before it) is text.
"""

from __future__ import annotations

import re

from fabric_dagster.tickets.blocks import Block, unix_lines

_OPEN = re.compile(r"(?<![\\{])\{(code|noformat)(?::[^}\n]*)?\}")
_CLOSE = {kind: re.compile(rf"(?<![\\{{])\{{{kind}\}}") for kind in ("code", "noformat")}


def wiki_blocks(text: str) -> tuple[tuple[Block, ...], str]:
    """The code blocks in reading order, and the other text."""
    text = unix_lines(text)
    blocks: list[Block] = []
    prose: list[str] = []
    unclosed: set[str] = set()
    at = looked = 0
    while opened := _OPEN.search(text, looked):
        kind = opened[1]
        closed = None if kind in unclosed else _CLOSE[kind].search(text, opened.end())
        if closed is None:
            unclosed.add(kind)  # nor is any later one
            looked = opened.end()
            continue
        prose.append(text[at : opened.start()])
        inside = text[opened.end() : closed.start()]
        first, newline, rest = inside.partition("\n")
        blocks.append(Block(len(blocks) + 1, rest if newline and not first.strip(" ") else inside))
        at = looked = closed.end()
    prose.append(text[at:])
    return tuple(blocks), "\n".join(prose)
