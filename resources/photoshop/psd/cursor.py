"""A bounded big-endian reader that names the byte where a file breaks.

Rules kept here: no read passes the end of its window; every fault carries the absolute byte offset; a
window of a window keeps absolute offsets, so an error inside a layer's block points into the file.
"""

from __future__ import annotations

import struct
from typing import NoReturn

from fabric_dagster.errors import InvalidDocument


def broken(code: str, what: str, offset: int) -> InvalidDocument:
    """The one error of a damaged file: what is wrong, and at which byte."""
    return InvalidDocument(
        code, what, where=f"byte {offset}", mend="take an undamaged copy, or save it again in Photoshop"
    )


class Cursor:
    """A position within ``data[start:end]``; offsets are absolute."""

    __slots__ = ("at", "data", "end")

    def __init__(self, data: bytes, start: int = 0, end: int | None = None) -> None:
        """Look at ``data`` from ``start`` up to ``end`` (default: all)."""
        self.data = data
        self.at = start
        self.end = len(data) if end is None else end

    @property
    def left(self) -> int:
        """Bytes not yet read."""
        return self.end - self.at

    def take(self, count: int, what: str) -> bytes:
        """The next ``count`` bytes, which are ``what``; raises ``psd.truncated`` past the end."""
        if count < 0 or count > self.left:
            self.short(count, what)
        start = self.at
        self.at += count
        return self.data[start : self.at]

    def short(self, count: int, what: str) -> NoReturn:
        """Raise the error of a read past the end."""
        raise broken(
            "psd.truncated",
            f"the file is truncated or broken: {what} needs {count} bytes, {self.left} are left",
            self.at,
        )

    def unpack(self, layout: str, what: str) -> tuple[int, ...]:
        """Integers by a ``struct`` layout (without byte order)."""
        shape = struct.Struct(">" + layout)
        return shape.unpack(self.take(shape.size, what))

    def number(self, layout: str, what: str) -> int:
        """One integer."""
        return self.unpack(layout, what)[0]

    def window(self, count: int, what: str) -> Cursor:
        """A cursor over the next ``count`` bytes, which this one then has passed."""
        start = self.at
        self.take(count, what)
        return Cursor(self.data, start, self.at)

    def rest(self) -> bytes:
        """Everything that is left."""
        return self.take(self.left, "the rest")

    def peek(self, count: int) -> bytes:
        """Up to ``count`` bytes ahead, without moving."""
        return self.data[self.at : min(self.at + count, self.end)]
