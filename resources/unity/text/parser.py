"""Parse one document's body into nodes with spans.

Reads the YAML that Unity writes and its hand edits: block mappings and sequences, flow mappings and
sequences, plain, quoted and block scalars over any number of lines. Tags, anchors, aliases and ``?`` keys
inside a document are no part of that and are refused, so nothing can expand. Depth is limited.
"""

from __future__ import annotations

import re

from resources.unity.text import scalars
from resources.unity.text.documents import line_of
from resources.unity.text.errors import TextFault
from resources.unity.text.nodes import Entry, Mapping, Node, Scalar, Sequence, Style

MAX_DEPTH = 100
LINE = re.compile(rb"( *)([^\r\n]*)(?:\r\n|\n|\r|\Z)")
#: a key and its colon, at the place where a node may begin
KEY = re.compile(
    rb"(?:'((?:[^'\r\n]|'')*)'|\"((?:[^\"\\\r\n]|\\.)*)\""
    rb"|([^\s'\"{}\[\]|>&*!%@`#,?-](?:[^:\r\n#]|:(?![ \r\n]|\Z)|(?<! )#)*?"
    rb"|[?:-](?![ \r\n]|\Z)(?:[^:\r\n#]|:(?![ \r\n]|\Z)|(?<! )#)*?))"
    rb" ?:(?=[ \t\r\n]|\Z)"
)
SINGLE = re.compile(rb"'(?:[^']|'')*'")
DOUBLE = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
FLOW_PLAIN = re.compile(
    rb"(?:[^\s,\[\]{}:#]|:(?=[^\s,\[\]{}])|(?<=\S)#)+"
    rb"(?:\s+(?:[^\s,\[\]{}:#]|:(?=[^\s,\[\]{}])|(?<=\S)#)+)*"
)
SPACE = re.compile(rb"\s*")
REST = re.compile(rb"[ \t]*(?:(?<=[ \t])#[^\r\n]*)?(?=\r|\n|\Z)")
#: what cannot begin a plain scalar
FORBIDDEN = frozenset(b"&*!%@`,]}#")
SPECIAL = frozenset(b"{['\"|>&*!%@`,]}#")


def parse(data: bytes, start: int, end: int) -> Node:
    """The root node of the body ``data[start:end]``; raises ``TextFault`` (``text.syntax``)."""
    return _Parser(data, start, end).root()


class _Parser:
    """One pass over the lines; ``self.at`` is the index of the next line that was not read."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data = data[:end] if end < len(data) else data
        self.end = end
        self.at = 0
        self.starts: list[int] = []
        self.indents: list[int] = []
        self.depth = 0
        starts, indents, comment = self.starts, self.indents, ord("#")
        for match in LINE.finditer(self.data, start):
            text = match[2]
            if not text or text.isspace():
                continue
            if text[0] == comment:
                continue
            starts.append(match.start())
            indents.append(len(match[1]))
        self.count = len(starts)

    def root(self) -> Node:
        if not self.count:
            return Scalar(self.end, self.end, "empty", 0)
        node = self._node(self.starts[0] + self.indents[0], -1)
        if self.at < self.count:
            raise self._wrong(self.starts[self.at], "this line does not belong to what stands above it")
        return node

    # -- block nodes

    def _node(self, pos: int, owner: int) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._wrong(pos, f"it is nested deeper than {MAX_DEPTH} levels")
        column = pos - self.starts[self.at]
        if self.data[pos] == ord("-") and self._dash(pos):
            node: Node = self._sequence(pos, column)
        else:
            key = KEY.match(self.data, pos)
            node = self._mapping(pos, column, key) if key else self._inline(pos, owner)
        self.depth -= 1
        return node

    def _dash(self, pos: int) -> bool:
        return self.data[pos : pos + 1] == b"-" and self.data[pos + 1 : pos + 2] in {b" ", b"\n", b"\r", b""}

    def _mapping(self, pos: int, column: int, key: re.Match[bytes] | None) -> Mapping:
        found = Mapping(pos, pos, column, flow=False)
        entries, data = found.entries, self.data
        while True:
            if key is None:
                raise self._wrong(pos, "expected 'key: value'")
            value = self._value(key.end(), column)
            entries.append(Entry(scalars.decode_key(key), pos, value))
            if self.at >= self.count or self.indents[self.at] < column:
                break
            pos = self.starts[self.at] + column
            if self.indents[self.at] > column or self._dash(pos):
                raise self._wrong(pos, "this line's indentation fits nothing above it")
            key = KEY.match(data, pos)
        found.end = entries[-1].value.end
        return found

    def _value(self, pos: int, column: int) -> Node:
        """The value after a key's colon at ``pos``."""
        data = self.data
        stop = self._text_from(pos)
        if stop < self.end and data[stop] not in b"\r\n#":
            return self._inline(stop, column)
        self.at += 1
        if self.at < self.count:
            indent = self.indents[self.at]
            here = self.starts[self.at] + indent
            if indent > column:
                return self._node(here, column)
            if indent == column and self._dash(here):
                return self._sequence(here, column)
        place = pos + 1 if data[pos : pos + 1] == b" " else pos
        return Scalar(place, place, "empty", column)

    def _sequence(self, pos: int, column: int) -> Sequence:
        found = Sequence(pos, pos, column, flow=False)
        while True:
            found.dashes.append(pos)
            stop = self._text_from(pos + 1)
            if stop < self.end and self.data[stop] not in b"\r\n#":
                found.items.append(self._node(stop, column))
            else:
                self.at += 1
                if self.at < self.count and self.indents[self.at] > column:
                    found.items.append(self._node(self.starts[self.at] + self.indents[self.at], column))
                else:
                    place = min(pos + 2, stop)
                    found.items.append(Scalar(place, place, "empty", column))
            if self.at >= self.count or self.indents[self.at] != column:
                break
            pos = self.starts[self.at] + column
            if not self._dash(pos):
                break
        found.end = found.items[-1].end
        return found

    def _text_from(self, pos: int) -> int:
        data, end = self.data, self.end
        while pos < end and data[pos] in b" \t":
            pos += 1
        return pos

    # -- values that start on a line with something before them

    def _inline(self, pos: int, column: int) -> Node:
        first = self.data[pos]
        if first not in SPECIAL:
            return self._plain(pos, column)
        if first in b"{[":
            node: Node = _Flow(self, column).node(pos)
        elif first in b"'\"":
            node = self._quoted(pos, column, flow=False)
        elif first in b"|>":
            return self._literal(pos, column)
        else:
            raise self._wrong(pos, f"a value cannot begin with {chr(first)!r} here")
        if REST.match(self.data, node.end) is None:
            raise self._wrong(node.end, "something follows the end of the value")
        self._skip_past(node.end)
        return node

    def _skip_past(self, pos: int) -> None:
        self.at += 1
        while self.at < self.count and self.starts[self.at] < pos:
            self.at += 1

    def _quoted(self, pos: int, column: int, *, flow: bool) -> Scalar:
        single = self.data[pos] == ord("'")
        match = (SINGLE if single else DOUBLE).match(self.data, pos)
        if match is None:
            raise self._wrong(pos, "a quoted text does not end")
        return Scalar(pos, match.end(), "single" if single else "double", column, flow)

    def _plain(self, pos: int, column: int) -> Scalar:
        end = self._plain_line(pos)
        self.at += 1
        while self.at < self.count and self.indents[self.at] > column:
            end = self._plain_line(self.starts[self.at] + self.indents[self.at])
            self.at += 1
        return Scalar(pos, end, "plain", column)

    def _plain_line(self, pos: int) -> int:
        """Where the plain text that begins at ``pos`` ends on its line."""
        data = self.data
        end = data.find(b"\n", pos)
        if end < 0:
            end = self.end
        text = data[pos:end]
        if b" #" in text:
            text = text[: text.index(b" #")]
        text = text.rstrip()
        if b": " in text or text.endswith(b":"):
            raise self._wrong(pos, "a plain text holds ': ', which begins another key")
        return pos + len(text)

    def _literal(self, pos: int, column: int) -> Scalar:
        style: Style = "literal" if self.data[pos] == ord("|") else "folded"
        end = self.data.find(b"\n", pos)
        self.at += 1
        while self.at < self.count and self.indents[self.at] > column:
            end = self.data.find(b"\n", self.starts[self.at])
            self.at += 1
        return Scalar(pos, self.end if end < 0 else end + 1, style, column)

    def _wrong(self, pos: int, what: str) -> TextFault:
        end = self.data.find(b"\n", pos)
        shown = self.data[pos : min(end if end >= 0 else self.end, pos + 80)]
        return TextFault(
            "text.syntax",
            what,
            where=line_of(self.data, pos),
            value=shown.decode("utf-8", "replace").rstrip(),
            mend="the file is not as Unity writes it; open and save it in the editor",
        )


class _Flow:
    """Flow values: their lines may break anywhere between tokens."""

    def __init__(self, parser: _Parser, column: int) -> None:
        self.parser = parser
        self.data = parser.data
        self.column = column

    def node(self, pos: int, depth: int = 0) -> Node:
        if depth > MAX_DEPTH:
            raise self.parser._wrong(pos, f"it is nested deeper than {MAX_DEPTH} levels")  # noqa: SLF001 - one parser in two classes
        first = self.data[pos : pos + 1]
        if first == b"{":
            return self._mapping(pos, depth)
        if first == b"[":
            return self._sequence(pos, depth)
        return self._scalar(pos)

    def _mapping(self, pos: int, depth: int) -> Mapping:
        found = Mapping(pos, pos, self.column, flow=True)
        pos = self._skip(pos + 1)
        while self._byte(pos) != b"}":
            key = self._scalar(pos)
            after = self._skip(key.end)
            value: Node = Scalar(key.end, key.end, "empty", self.column, flow=True)
            if self._byte(after) == b":":
                after = self._skip(after + 1)
                value = Scalar(after, after, "empty", self.column, flow=True)
                if self._byte(after) not in {b",", b"}"}:
                    value = self.node(after, depth + 1)
                    after = self._skip(value.end)
            found.entries.append(Entry(scalars.decode(self.data, key), pos, value))
            pos = self._next(after, b"}")
        found.end = pos + 1
        return found

    def _sequence(self, pos: int, depth: int) -> Sequence:
        found = Sequence(pos, pos, self.column, flow=True)
        pos = self._skip(pos + 1)
        while self._byte(pos) != b"]":
            item = self.node(pos, depth + 1)
            found.items.append(item)
            pos = self._next(self._skip(item.end), b"]")
        found.end = pos + 1
        return found

    def _next(self, pos: int, closing: bytes) -> int:
        """Past a comma, or at the closing bracket."""
        here = self._byte(pos)
        if here == b",":
            return self._skip(pos + 1)
        if here == closing:
            return pos
        raise self.parser._wrong(pos, f"expected ',' or {closing.decode()!r}")  # noqa: SLF001 - see node

    def _scalar(self, pos: int) -> Scalar:
        first = self._byte(pos)
        if first in {b"'", b'"'}:
            return self.parser._quoted(pos, self.column, flow=True)  # noqa: SLF001 - see node
        match = FLOW_PLAIN.match(self.data, pos)
        if match is None or first in {b"&", b"*", b"!", b"%", b"@", b"`", b"|", b">"}:
            raise self.parser._wrong(pos, "expected a value")  # noqa: SLF001 - see node
        return Scalar(pos, match.end(), "plain", self.column, flow=True)

    def _skip(self, pos: int) -> int:
        match = SPACE.match(self.data, pos)
        return match.end() if match else pos

    def _byte(self, pos: int) -> bytes:
        if pos >= self.parser.end:
            raise self.parser._wrong(pos, "a flow value does not end")  # noqa: SLF001 - see node
        return self.data[pos : pos + 1]
