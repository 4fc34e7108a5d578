"""Is this a PNG, whole, and how large? Decided from the bytes, within limits, before anything trusts it."""

from __future__ import annotations

import binascii
import struct
import zlib
from typing import NamedTuple

from fabric_dagster.errors import OperationFailed

SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGEST_SIDE = 16384
#: channels a pixel by colour type
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
LARGEST_DATA = 2 << 30


class Picture(NamedTuple):
    """What the header says, once all of the file was proven."""

    width: int
    height: int
    alpha: bool


def read_png(data: bytes, where: str) -> Picture:
    """The measures of a PNG whose every chunk and all of whose data are intact.

    Raises ``OperationFailed`` (``unity.source_not_png``).
    """
    if not data.startswith(SIGNATURE):
        raise _not(where, "it does not begin as a PNG does")
    header = b""
    alpha = False
    inflate = zlib.decompressobj()
    length = 0
    at, last = len(SIGNATURE), b""
    while last != b"IEND":
        if at + 12 > len(data):
            raise _not(where, "it ends early")
        (size,) = struct.unpack_from(">I", data, at)
        last = data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        check = data[at + 8 + size : at + 12 + size]
        if len(check) < 4 or struct.unpack(">I", check)[0] != binascii.crc32(last + body):  # noqa: PLR2004 - a CRC
            raise _not(where, f"its {last.decode('latin-1')!r} chunk is damaged")
        if not header and last != b"IHDR":
            raise _not(where, "its header does not come first")
        if last == b"IHDR":
            header = body
        elif last == b"tRNS":
            alpha = True
        elif last == b"IDAT":
            length += _inflated(inflate, body, where)
        at += 12 + size
    return _measured(header, length, where, alpha=alpha, whole=inflate.eof)


def _inflated(inflate: zlib._Decompress, body: bytes, where: str) -> int:
    length = 0
    try:
        while body:
            length += len(inflate.decompress(body, 1 << 20))
            if length > LARGEST_DATA:
                raise _not(where, "its data is too large")
            body = inflate.unconsumed_tail
    except zlib.error:
        raise _not(where, "its data is damaged") from None
    return length


def _measured(header: bytes, length: int, where: str, *, alpha: bool, whole: bool) -> Picture:
    if len(header) != 13:  # noqa: PLR2004 - the size of IHDR
        raise _not(where, "its header is damaged")
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", header)
    if not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE) or colour not in CHANNELS:
        raise _not(where, f"it measures {width} x {height} with colour type {colour}")
    row = (width * depth * CHANNELS[colour] + 7) // 8 + 1
    if not whole or (not interlace and length != row * height):
        raise _not(where, "its data is incomplete")
    return Picture(width, height, alpha or colour in {4, 6})


def _not(where: str, why: str) -> OperationFailed:
    return OperationFailed(
        "unity.source_not_png",
        f"the source is no intact PNG: {why}",
        where=where,
        mend="export the picture as a PNG again",
    )
