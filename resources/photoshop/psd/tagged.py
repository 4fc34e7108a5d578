"""Tagged blocks: ``8BIM`` + key + length + data, at the end of a layer record and of the layer section.

Padding is kept as found. Photoshop pads global blocks to 4 bytes outside the length and layers' blocks
to 2 or 4 inside it; other writers do neither, so the next signature decides.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from resources.photoshop.psd.cursor import Cursor, broken

SIGNATURES = (b"8BIM", b"8B64")
#: blocks whose length has 8 bytes in a PSB (Adobe's list and those that writers add to it)
LONG_KEYS = frozenset(
    b"LMsk Lr16 Lr32 Layr Mt16 Mt32 Mtrn Alph FMsk lnk2 lnk3 lnkE FEid FXid FELS PxSD pths extn extd cinf"
    b" artd".split()
)
ALIGNMENT = 4


@dataclass(slots=True)
class Block:
    """One tagged block; ``offset`` is where its data starts in the file it was read from."""

    signature: bytes
    key: bytes
    data: bytes
    pad: bytes = b""
    offset: int = 0

    def dump(self, *, psb: bool) -> bytes:
        """Signature, key, length, data, padding."""
        size = ">Q" if psb and self.key in LONG_KEYS else ">I"
        return self.signature + self.key + struct.pack(size, len(self.data)) + self.data + self.pad

    def replace(self, data: bytes) -> None:
        """Put other bytes in. A global block's padding is kept outside, as Photoshop does."""
        padded_outside = bool(self.pad) or len(self.data) % ALIGNMENT != 0
        self.data = data
        missing = -len(data) % ALIGNMENT
        if padded_outside:
            self.pad = bytes(missing)
        else:
            # Nothing shows how this writer pads: inside the length is right for every reader.
            self.data += bytes(missing)
            self.pad = b""


def read_blocks(cursor: Cursor, *, psb: bool) -> list[Block]:
    """Blocks up to the window's end. A short or empty (zeros) tail is left; anything else is refused."""
    found: list[Block] = []
    while cursor.left >= 12:  # noqa: PLR2004 - signature, key and length
        if cursor.peek(4) not in SIGNATURES:
            if cursor.peek(cursor.left).strip(b"\0"):
                raise broken(
                    "psd.bad_block", f"a tagged block starts with {cursor.peek(4)!r}, not 8BIM", cursor.at
                )
            break
        signature = cursor.take(4, "a block's signature")
        key = cursor.take(4, "a block's key")
        shown = key.decode("latin-1")
        long = psb and key in LONG_KEYS
        size = cursor.number("Q" if long else "I", f"the length of block {shown!r}")
        offset = cursor.at
        data = cursor.take(size, f"tagged block {shown!r}")
        found.append(Block(signature, key, data, _padding(cursor), offset))
    return found


def _padding(cursor: Cursor) -> bytes:
    """Up to three bytes before the next signature (or the window's end)."""
    for count in range(min(ALIGNMENT, cursor.left + 1)):
        ahead = cursor.data[cursor.at + count : cursor.at + count + 4]
        if (ahead in SIGNATURES and cursor.at + count + 4 <= cursor.end) or cursor.at + count == cursor.end:
            return cursor.take(count, "padding")
    return b""
