"""Split a file into its documents.

Rules kept here: a document starts at a line ``--- !u!CLASS &ID``, optionally ``stripped``; a file without
such a line (a ``.meta``, ``ProjectVersion.txt``) is one document with the id ``"0"``. A BOM and the ``%``
directives belong to no document. What is no text of Unity's (binary, LFS pointer, merge conflict) is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from resources.unity.text.errors import TextFault

BOM = b"\xef\xbb\xbf"
HEADER = re.compile(rb"--- !u!(\d+) &(-?\d+)( stripped)?[ \t]*(?=\r?\n|\Z)")
ENDS = frozenset({b" ", b"\n", b"\r", b""})
CONFLICT = re.compile(rb"(?:\A|(?<=\n))(?:<{7}|>{7}|\|{7}) ")


@dataclass(frozen=True, slots=True)
class DocumentSpan:
    """Where a document lies: its header line from ``start``, its body from ``body`` to ``end``."""

    class_id: int
    file_id: str
    stripped: bool
    start: int
    body: int
    end: int


def refuse_foreign(data: bytes) -> None:
    """Raise ``TextFault`` where ``data`` is no text that Unity wrote."""
    if data.startswith(b"version https://git-lfs.github.com/spec"):
        raise TextFault("text.lfs_pointer", "it is a Git LFS pointer, not the file", mend="run git lfs pull")
    at = data.find(b"\0")
    if at >= 0:
        raise TextFault(
            "text.binary",
            "it holds NUL bytes: a binary asset",
            where=f"byte {at}",
            mend="set Asset Serialization to Force Text and save the project",
        )
    # Searched for plainly first: almost no file has them and the anchored pattern is slow.
    if b"<<<<<<< " in data or b">>>>>>> " in data:
        mark = CONFLICT.search(data)
        if mark is not None:
            raise TextFault(
                "text.merge_conflict",
                "it holds merge-conflict markers",
                where=line_of(data, mark.start()),
                mend="resolve the conflict first",
            )


def line_of(data: bytes, offset: int) -> str:
    """``line N`` of an offset, for people."""
    return f"line {data.count(10, 0, offset) + 1}"


def split(data: bytes) -> tuple[DocumentSpan, ...]:
    """The documents of a file in order."""
    marks = _marks(data)
    if not marks:
        start = len(BOM) if data.startswith(BOM) else 0
        while data.startswith(b"%", start):
            start = data.find(b"\n", start) + 1 or len(data)
        return (DocumentSpan(0, "0", stripped=False, start=start, body=start, end=len(data)),)
    spans = []
    for start, end in zip(marks, [*marks[1:], len(data)], strict=True):
        header = HEADER.match(data, start)
        if header is None:
            raise TextFault(
                "text.header",
                "a document header is not of the form '--- !u!CLASS &ID'",
                where=line_of(data, start),
                value=data[start : start + 80].partition(b"\n")[0].decode("utf-8", "replace"),
            )
        body = data.find(b"\n", header.end(), end) + 1 or end
        spans.append(
            DocumentSpan(int(header[1]), header[2].decode(), header[3] is not None, start, body, end)
        )
    return tuple(spans)


def _marks(data: bytes) -> list[int]:
    """Where a line is a document's header: ``---`` and a blank, at the start of a line."""
    first = len(BOM) if data.startswith(BOM) else 0
    found = [first] if data.startswith(b"---", first) and data[first + 3 : first + 4] in ENDS else []
    at = data.find(b"\n---")
    while at >= 0:
        if data[at + 4 : at + 5] in ENDS:
            found.append(at + 1)
        at = data.find(b"\n---", at + 4)
    return found
