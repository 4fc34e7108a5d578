"""What a picture really is, by its bytes: PNG, PSD or PSB, whole and within limits.

Rules kept here: the name proves nothing; limits are checked on the header before anything is inflated; a
PNG is walked chunk by chunk with its checksums, and its pixels are inflated piecewise and counted against
what the header promises, so that neither a truncated file nor a decompression bomb passes.
Sources: PNG (Third Edition) 5, 7, 9, 11; Adobe Photoshop File Formats, "File header section".
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fabric_dagster.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterator

Format = Literal["png", "psd", "psb"]

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PSD_SIGNATURE = b"8BPS"
#: colour type → (samples a pixel, allowed bit depths)
_PNG_TYPES = {
    0: (1, {1, 2, 4, 8, 16}),
    2: (3, {8, 16}),
    3: (1, {1, 2, 4, 8}),
    4: (2, {8, 16}),
    6: (4, {8, 16}),
}
_PALETTE = 3
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_LAST_FILTER = 4
_PIECE = 1 << 18
_PSD_HEADER = 26
_PSD_MODES = frozenset({0, 1, 2, 3, 4, 7, 8, 9})
_PSD_MAX_CHANNELS = 56
_PSD_VERSIONS: dict[int, tuple[Format, int, int]] = {1: ("psd", 30_000, 4), 2: ("psb", 300_000, 8)}


@dataclass(frozen=True, slots=True)
class PictureFacts:
    """Format by bytes; width and height in pixels."""

    format: Format
    width: int
    height: int


def recognise(data: bytes) -> PictureFacts:
    """Format and size from the header alone. Raises ``ticket.file_format`` or ``ticket.file_damaged``."""
    if data.startswith(PNG_SIGNATURE):
        return _png_header(data)
    if data.startswith(PSD_SIGNATURE):
        return _psd_header(data)
    raise _refuse("file_format", "the file is neither PNG nor PSD", "export it as PNG or save it as PSD")


def prove_whole(data: bytes, facts: PictureFacts) -> None:
    """Raise ``ticket.file_damaged`` unless all of the file is there and consistent."""
    if facts.format == "png":
        _prove_png(data)
    else:
        _prove_psd(data, facts)


def _png_header(data: bytes) -> PictureFacts:
    if len(data) < 33 or data[8:16] != b"\0\0\0\rIHDR":  # noqa: PLR2004 - signature and one IHDR chunk
        raise _damaged("its first chunk is no header")
    width, height = _number(data, 16, 4), _number(data, 20, 4)
    depth, kind, compression, filtering, interlace = data[24:29]
    if not (0 < width < 1 << 31 and 0 < height < 1 << 31):
        raise _damaged("its header gives no size")
    if (
        kind not in _PNG_TYPES
        or depth not in _PNG_TYPES[kind][1]
        or compression
        or filtering
        or interlace > 1
    ):
        raise _damaged("its header names an unknown pixel format")
    return PictureFacts("png", width, height)


def _prove_png(data: bytes) -> None:
    chunks = list(_chunks(data))
    kinds = [kind for kind, _ in chunks]
    if kinds.count(b"IHDR") != 1 or b"IDAT" not in kinds:
        raise _damaged("it needs one header and pixels")
    first, pieces = kinds.index(b"IDAT"), [body for kind, body in chunks if kind == b"IDAT"]
    if set(kinds[first : first + len(pieces)]) != {b"IDAT"}:
        raise _damaged("its pixel chunks are not in one piece")
    if data[25] == _PALETTE and kinds[:first].count(b"PLTE") != 1:
        raise _damaged("its palette is missing or stands in the wrong place")
    _prove_pixels(data, pieces)


def _chunks(data: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """(kind, body) of every chunk; the checksums hold and the end is the end."""
    at, view, kind = len(PNG_SIGNATURE), memoryview(data), b""
    while kind != b"IEND":
        if len(data) < at + 12 or (end := at + 12 + _number(data, at, 4)) > len(data):
            raise _damaged("it ends within a chunk")
        kind = data[at + 4 : at + 8]
        if zlib.crc32(view[at + 4 : end - 4]) != _number(data, end - 4, 4):
            raise _damaged(f"the checksum of chunk {kind!r} at byte {at} is wrong")
        yield kind, view[at + 8 : end - 4]
        at = end
    if at != len(data):
        raise _damaged(f"{len(data) - at} bytes follow its end")


def _rows(data: bytes) -> Iterator[tuple[int, int]]:
    """(bytes a row with its filter byte, number of rows) of each pass."""
    width, height, bits = _number(data, 16, 4), _number(data, 20, 4), data[24] * _PNG_TYPES[data[25]][0]
    for x, y, dx, dy in _ADAM7 if data[28] else ((0, 0, 1, 1),):
        columns, rows = (width - x + dx - 1) // dx, (height - y + dy - 1) // dy
        if columns > 0 and rows > 0:
            yield 1 + (columns * bits + 7) // 8, rows


def _prove_pixels(data: bytes, pieces: list[memoryview]) -> None:
    """Inflate piecewise; every row must begin with a known filter and nothing may be left over."""
    plan = list(_rows(data))
    expected = sum(size * rows for size, rows in plan)
    starts = _row_starts(plan)
    seen, start = 0, next(starts, None)
    try:
        for out in _inflated(pieces):
            while start is not None and start < seen + len(out):
                if out[start - seen] > _LAST_FILTER:
                    raise _damaged("a row of pixels has an unknown filter")
                start = next(starts, None)
            seen += len(out)
            if seen > expected:
                raise _damaged("it holds more pixels than its header promises")
    except zlib.error:
        raise _damaged("its pixels do not inflate") from None
    if seen != expected:
        raise _damaged("it holds fewer pixels than its header promises")


def _inflated(pieces: list[memoryview]) -> Iterator[bytes]:
    """The inflated stream in pieces of at most ``_PIECE`` bytes; it must end where the data ends."""
    inflater = zlib.decompressobj()
    for piece in pieces:
        waiting: bytes | memoryview = piece
        while waiting and not inflater.eof:
            yield inflater.decompress(waiting, _PIECE)
            waiting = inflater.unconsumed_tail
        if inflater.eof and (waiting or inflater.unused_data):
            raise _damaged("data follows its pixels")
    while not inflater.eof:  # what the window still holds
        out = inflater.decompress(b"", _PIECE)
        if not out:
            raise _damaged("its pixels end too early")
        yield out


def _row_starts(plan: list[tuple[int, int]]) -> Iterator[int]:
    base = 0
    for size, rows in plan:
        yield from range(base, base + size * rows, size)
        base += size * rows


def _psd_header(data: bytes) -> PictureFacts:
    version = _number(data, 4, 2)
    if len(data) < _PSD_HEADER or version not in _PSD_VERSIONS or any(data[6:12]):
        raise _damaged("its header is not Photoshop's")
    name, longest, _ = _PSD_VERSIONS[version]
    channels, height, width = _number(data, 12, 2), _number(data, 14, 4), _number(data, 18, 4)
    depth, mode = _number(data, 22, 2), _number(data, 24, 2)
    if not (1 <= channels <= _PSD_MAX_CHANNELS and depth in {1, 8, 16, 32} and mode in _PSD_MODES):
        raise _damaged("its header names an unknown pixel format")
    if not (1 <= width <= longest and 1 <= height <= longest):
        raise _damaged("its header gives no size")
    return PictureFacts(name, width, height)


def _prove_psd(data: bytes, facts: PictureFacts) -> None:
    """The sections follow one another within the file, and the merged image is all there."""
    wide = _PSD_VERSIONS[_number(data, 4, 2)][2]
    at = _PSD_HEADER
    for title, size in (("colour mode", 4), ("resources", 4), ("layers", wide)):
        if at + size > len(data):
            raise _damaged(f"it ends before its {title} section")
        at += size + _number(data, at, size)
    if at + 2 > len(data):
        raise _damaged("it ends before its merged image")
    compression, at = _number(data, at, 2), at + 2
    rows = _number(data, 12, 2) * facts.height
    row = (facts.width * _number(data, 22, 2) + 7) // 8
    if compression == 0:
        needed = rows * row
    elif compression == 1:
        entry = wide // 2
        table = data[at : at + rows * entry]
        counts = (_number(table, i, entry) for i in range(0, len(table), entry))
        needed = rows * entry + sum(counts)
    else:
        needed = 1
    if compression > 3 or at + needed > len(data):  # noqa: PLR2004 - raw, RLE, ZIP, ZIP with prediction
        raise _damaged("its merged image is not all there")


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")


def _damaged(why: str) -> InvalidDocument:
    return _refuse(
        "file_damaged", f"the picture is damaged: {why}", "export it again and attach the new file"
    )


def _refuse(code: str, what: str, mend: str) -> InvalidDocument:
    return InvalidDocument(f"ticket.{code}", what, mend=mend)
