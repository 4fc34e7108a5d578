"""A Unity text file: bytes, split into documents at once, each parsed when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from resources.unity.text import scalars
from resources.unity.text.documents import DocumentSpan, refuse_foreign, split
from resources.unity.text.errors import TextFault
from resources.unity.text.nodes import Mapping, Scalar
from resources.unity.text.parser import parse
from resources.unity.text.paths import Found, resolve
from resources.unity.text.references import flows_on_one_line

if TYPE_CHECKING:
    from resources.unity.text.nodes import Node

Plain: TypeAlias = "str | list[Plain] | dict[str, Plain]"

MAX_BYTES = 256 << 20


class UnityFile:
    """One file's ``data``. Raises ``TextFault`` at once for what is no Unity text (``text.…``)."""

    def __init__(self, data: bytes, *, one_line_maps: bool | None = None) -> None:
        if len(data) > MAX_BYTES:
            raise TextFault("text.too_large", f"the file is larger than {MAX_BYTES >> 20} MiB")
        refuse_foreign(data)
        self.data = data
        self.documents: tuple[DocumentSpan, ...] = split(data)
        self._parsed: dict[int, Node] = {}
        self._default_one_line = bool(one_line_maps)

    @cached_property
    def one_line_maps(self) -> bool:
        """Whether flow mappings stay on one line: as the file does it, else as the project's setting says."""
        seen = flows_on_one_line(self.data)
        return self._default_one_line if seen is None else seen

    def newline_at(self, offset: int) -> bytes:
        """The line end of the line at ``offset``; for a last line without one, of the line before it."""
        at = self.data.find(b"\n", offset)
        if at < 0:
            at = self.data.rfind(b"\n")
        return b"\r\n" if at > 0 and self.data[at - 1] == ord("\r") else b"\n"

    def span(self, file_id: str) -> DocumentSpan:
        """The document ``file_id``; raises ``TextFault`` where there is none or more than one."""
        found = [span for span in self.documents if span.file_id == file_id]
        if len(found) == 1:
            return found[0]
        ids = tuple(span.file_id for span in self.documents)
        if found:
            raise TextFault(
                "document.duplicate",
                f"{len(found)} documents have the fileID {file_id}",
                where=f"&{file_id}",
                mend="save the asset in the editor",
            )
        shown = ", ".join(ids[:20]) + (", …" if len(ids) > 20 else "")  # noqa: PLR2004 - a readable line
        raise TextFault(
            "document.missing",
            f"no document has the fileID {file_id}",
            where=f"&{file_id}",
            mend=f"there are: {shown}",
            candidates=ids,
        )

    def root(self, span: DocumentSpan) -> Node:
        """The parsed body of a document, its type's key included."""
        node = self._parsed.get(span.start)
        if node is None:
            node = self._parsed[span.start] = parse(self.data, span.body, span.end)
        return node

    def content(self, span: DocumentSpan) -> Node:
        """What property paths of a document start at: below its type's key, or all of a ``.meta``."""
        root = self.root(span)
        if span.class_id and isinstance(root, Mapping) and len(root.entries) == 1:
            return root.entries[0].value
        return root

    def find(self, file_id: str, path: str) -> Found:
        """The node at a property path; raises ``TextFault`` (``document.…``, ``path.…``)."""
        return resolve(self.content(self.span(file_id)), path)

    def read(self, file_id: str, path: str) -> Plain:
        """The value at a property path: every scalar as text."""
        return plain(self.data, self.find(file_id, path).node)


def plain(data: bytes, node: Node) -> Plain:
    """A node as texts, lists and dictionaries; a repeated key keeps its last value."""
    if isinstance(node, Scalar):
        return scalars.decode(data, node)
    if isinstance(node, Mapping):
        return {entry.key: plain(data, entry.value) for entry in node.entries}
    return [plain(data, item) for item in node.items]
