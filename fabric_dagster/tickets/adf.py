"""Code blocks of an Atlassian document (ADF), wherever they are nested.

The walk is a loop, not a recursion, and reads at most ``MAX_NODES`` nodes. Marks and attributes mean
nothing: an editor sets them freely. A hard break within a block is a line break.
Source: Atlassian's ADF JSON schema v1 (``codeBlock_node``).
"""

from __future__ import annotations

from typing import Any

from fabric_dagster.errors import InvalidDocument
from fabric_dagster.tickets.blocks import Block, unix_lines

MAX_NODES = 100_000
_LEAVES = {"hardBreak": "\n"}
#: a tuple, since a hostile type need not be hashable
_APART = ("paragraph", "heading")


def adf_blocks(document: dict[str, Any]) -> tuple[tuple[Block, ...], str]:
    """The code blocks in reading order, and the other text. Raises ``ticket.bad_adf``."""
    blocks: list[Block] = []
    prose: list[str] = []
    waiting: list[Any] = [document]
    read = 0
    while waiting:
        node = waiting.pop()
        read += 1
        if read > MAX_NODES:
            raise _bad(f"the description has more than {MAX_NODES} nodes", "split the ticket")
        if not isinstance(node, dict):
            raise _bad("a node of the description is no object", "fetch the issue again")
        if node.get("type") == "codeBlock":
            blocks.append(_block(node, len(blocks) + 1))
            continue
        if node.get("type") == "text":
            prose.append(_text(node))
        children = _children(node)
        if children and node.get("type") in _APART:
            prose.append("\n")
        waiting.extend(reversed(children))
    return tuple(blocks), "".join(prose)


def _block(node: dict[str, Any], number: int) -> Block:
    parts: list[str] = []
    foreign: list[str] = []
    for child in _children(node):
        kind = child.get("type") if isinstance(child, dict) else None
        if kind == "text":
            parts.append(_text(child))
        elif isinstance(kind, str) and kind in _LEAVES:
            parts.append(_LEAVES[kind])
        else:
            foreign.append(str(kind))
    return Block(number, unix_lines("".join(parts)), tuple(foreign))


def _children(node: dict[str, Any]) -> list[Any]:
    content = node.get("content")
    if content is None:
        return []
    if not isinstance(content, list):
        raise _bad("a node's content is no list", "fetch the issue again")
    return content


def _text(node: dict[str, Any]) -> str:
    text = node.get("text")
    if not isinstance(text, str):
        raise _bad("a text node of the description holds no text", "fetch the issue again")
    return text


def _bad(what: str, mend: str) -> InvalidDocument:
    return InvalidDocument("ticket.bad_adf", what, mend=mend)
