"""The fenced block: finding it by its first line, and reading it strictly, with every fault at once.

Rules kept here:

* Exactly one code block of the description begins with ``fabric:``; what the editor says about its language
  or title means nothing. Blank lines before it, CRLF and trailing spaces carry no meaning.
* Reading never repairs. A block that is off is read on, with the odd characters blanked or line by line,
  only to name its other faults too; it stays refused.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field, replace
from typing import Any

from fabric_dagster.documents import Source, load_yaml
from fabric_dagster.errors import Fault, InvalidDocument
from fabric_dagster.tickets.blocks import Block
from fabric_dagster.tickets.characters import cleaned, quoted, refused, title_of
from fabric_dagster.tickets.issue import Issue

MARKER = "fabric"
MAX_CHARACTERS = 16_384
MAX_FAULTS = 100
REFERENCE = re.compile(r"[A-Z][A-Za-z0-9]{2,79}@[1-9][0-9]{0,8}")
#: generous on purpose: a marker that an editor spoiled is named, not overlooked.
_MARKER_LINE = re.compile(r"\s*[\"'\u2018-\u201f]?fabric[\"'\u2018-\u201f]?\s*[:\uff1a]", re.IGNORECASE)
_MARKDOWN_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n\s*fabric[ \t]*:", re.MULTILINE | re.IGNORECASE)
_PAIR = re.compile(r"([^\s#:{}\[\]&*!|>@`,?-][^:#]*?) *:(?: +(.*?))? *")
_ODD_VALUE = re.compile(r"[&*!|>{\[]")
_NEEDED = "put one code block into the description whose first line is 'fabric: NAME@MAJOR'"


@dataclass
class Fence:
    """The one block of an issue as it was read.

    ``tainted`` keys stand on lines already complained of; of ``spoiled`` ones the very spelling was. After
    the value of a ``commented`` key stands a ``#`` that YAML reads as the beginning of a comment.
    """

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    tainted: set[str] = field(default_factory=set)
    spoiled: set[str] = field(default_factory=set)
    commented: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)

    def where(self, key: str | None = None) -> str:
        """``FILE:block:LINE`` of ``key``, or the block."""
        line = self.lines.get(key or MARKER)
        return f"{self.name}:{line}" if line else self.name

    @property
    def reference(self) -> str | None:
        """The graph that the block names, where it names one well."""
        named = self.values.get(MARKER)
        return named if isinstance(named, str) and REFERENCE.fullmatch(named) else None


def open_fence(issue: Issue) -> Fence:
    """Find and read the one block of ``issue``; its faults are in the result, not raised.

    Raises ``InvalidDocument`` (``ticket.no_block``, ``ticket.two_blocks``, ``ticket.too_large``) only
    where there is no one block to read.
    """
    block = _the_block(issue)
    fence = Fence(f"{issue.name}:block")
    if len(block.text) > MAX_CHARACTERS:
        raise InvalidDocument(
            "ticket.too_large",
            f"the block has {len(block.text)} characters; at most {MAX_CHARACTERS} are read",
            where=fence.name,
            mend="a block holds a handful of short lines",
        )
    for kind in block.foreign:
        fence.faults.append(
            Fault(
                "ticket.foreign_node",
                f"the block holds a {kind} node, which is no text",
                fence.name,
                "replace it by plain text",
                kind,
            )
        )
    lines = block.text.split("\n")
    _characters(fence, lines)
    _read(fence, [cleaned(line) for line in lines])
    _marker(fence)
    return fence


def _the_block(issue: Issue) -> Block:
    found = [block for block in issue.blocks if _MARKER_LINE.match(_first_line(block.text))]
    if len(found) > 1:
        numbers = " and ".join(str(block.number) for block in found)
        raise InvalidDocument(
            "ticket.two_blocks",
            f"code blocks {numbers} of the description both begin with 'fabric:'",
            where=issue.name,
            mend="keep exactly one; put other runs into tickets of their own",
            value=" / ".join(_first_line(block.text).strip() for block in found),
        )
    if found:
        return found[0]
    mend = _NEEDED
    later = [b for b in issue.blocks if any(_MARKER_LINE.match(line) for line in b.text.split("\n"))]
    if later:
        hint = f"code block {later[0].number} has the line, but not as its first"
    elif _MARKDOWN_FENCE.search(issue.prose):
        hint = "the line stands between Markdown's ``` marks, which Jira's wiki markup does not read"
        mend = "write {code} above and below it instead, each on a line of its own"
    elif _MARKER_LINE.search(issue.prose):
        hint = "the line stands in the prose, or in a code block that is not closed: neither is read"
    else:
        hint = f"the description has {len(issue.blocks)} code blocks"
    raise InvalidDocument(
        "ticket.no_block", f"the issue holds no fabric block; {hint}", where=issue.name, mend=mend
    )


def _first_line(text: str) -> str:
    """The first line that holds anything, with what cannot be seen blanked."""
    return next((line for line in map(cleaned, text.split("\n")) if line.strip()), "")


def _characters(fence: Fence, lines: list[str]) -> None:
    """One fault for each kind of bad character on each line, and for quotes around a value."""
    for number, line in enumerate(lines, 1):
        where = f"{fence.name}:{number}"
        key, value = _pair(cleaned(line))
        named = f"key {key!r}: " if key else ""
        shown = line.partition(":")[2].strip(" ") if key else line
        for index, code, mend in refused(line):
            if line.index(line[index]) == index:
                what = f"{named}{title_of(line[index])} stands at column {index + 1}"
                fence.faults.append(Fault(code, what, where, mend, shown))
            if index < line.find(":"):
                fence.spoiled.add(key)
        for part in (key, value):
            if quote := quoted(part):
                what = f"{named}typographic quotes, {title_of(quote)}, stand around it"
                mend = "remove them, or type straight quotes"
                fence.faults.append(Fault("ticket.typographic_quotes", what, where, mend, part))
        if quoted(key):
            fence.spoiled.add(key)
        if " #" in value and value[:1] not in {"'", '"'}:
            fence.commented.add(key)


def _pair(line: str) -> tuple[str, str]:
    """Key and value of a cleaned ``key: value`` line; both empty where it is none."""
    pair = _PAIR.fullmatch(line.strip())
    return (pair[1], pair[2] or "") if pair else ("", "")


def _read(fence: Fence, lines: list[str]) -> None:
    """Read the mapping; where YAML refuses, go on line by line to find what else is wrong."""
    bad_lines = {_line_of(fault) for fault in fence.faults}
    try:
        source = _mapping(lines, fence.name)
        fence.values = source.value
        fence.lines = {str(path[0]): line for path, line in source.lines.items() if len(path) == 1}
    except InvalidDocument as refused_by_yaml:
        more = [_named(fault, lines) for fault in _own_faults(refused_by_yaml, fence, lines, bad_lines)]
        fence.faults.extend(more)
        bad_lines |= {_line_of(fault) for fault in more}
        _read_lines(fence, lines)
    for key, line in fence.lines.items():
        last = min((other - 1 for other in fence.lines.values() if other > line), default=line)
        if bad_lines & set(range(line, last + 1)):
            fence.tainted.add(key)


def _own_faults(
    first: InvalidDocument, fence: Fence, lines: list[str], bad_lines: set[int]
) -> tuple[Fault, ...]:
    """YAML's faults without those that only follow from lines which are complained of already."""
    if not bad_lines or any(fault.code != "yaml.syntax" for fault in first.faults):
        return first.faults
    try:
        _mapping(["" if number in bad_lines else line for number, line in enumerate(lines, 1)], fence.name)
    except InvalidDocument as second:
        return second.faults
    return ()


def _named(fault: Fault, lines: list[str]) -> Fault:
    """A fault of YAML's with the key and value of its line."""
    line = _line_of(fault)
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    key, value = _pair(text)
    return replace(fault, what=f"key {key!r}: {fault.what}" if key else fault.what, value=value or text)


def _mapping(lines: list[str], name: str) -> Source:
    source = load_yaml("\n".join(lines), name)
    if not isinstance(source.value, dict):
        raise InvalidDocument(
            "yaml.syntax", "the block is no mapping", where=f"{name}:1", mend="write 'key: value' lines"
        )
    return source


def _read_lines(fence: Fence, lines: list[str]) -> None:
    for number, line in enumerate(textwrap.dedent("\n".join(lines)).split("\n"), 1):
        pair = _PAIR.fullmatch(line)
        if pair is None or pair[1] in {*fence.values, "<<"}:
            continue
        key, value = pair[1].strip("\"'"), pair[2] or ""
        fence.lines[key] = number
        fence.values[key] = value.strip("\"'")
        if not value or _ODD_VALUE.match(value):
            fence.tainted.add(key)


def _line_of(fault: Fault) -> int:
    tail = fault.where.rpartition(":")[2]
    return int(tail) if tail.isdigit() else 0


def _marker(fence: Fence) -> None:
    if fence.reference is None and MARKER not in fence.tainted:
        named = fence.values.get(MARKER)
        fence.faults.append(
            Fault(
                "ticket.bad_marker",
                "the first line does not name a graph and its major version",
                fence.where(),
                "write 'fabric: NAME@MAJOR', for example 'fabric: CreateOfferIconAndIntegrate@1'",
                None if named is None else str(named),
            )
        )
