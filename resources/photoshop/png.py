"""PNG files, written so that equal pixels give equal bytes, and read back to be believed.

Straight alpha, 8 or 16 bits, an ``sRGB`` chunk (or the profile itself as ``iCCP``), no time, no text.
Every row takes the filter with the least sum of absolute differences. 8 bits go through Pillow's encoder,
which is quick; 16 bits, which it has not, through ours.
"""

from __future__ import annotations

import io
import os
import struct
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabric_dagster.errors import OperationFailed

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
PERCEPTUAL = b"\0"
#: a third of the time of level 6, for a twentieth more bytes
LEVEL = 4
#: rows are filtered in bands of about this size, so that memory stays bounded
BAND_BYTES = 1 << 22


def encode_png(pixels: NDArray[np.uint8 | np.uint16], icc: bytes | None = None) -> bytes:
    """``(h, w, 1...4)`` straight samples as a PNG; without ``icc`` they are sRGB and tagged so."""
    height, width, channels = pixels.shape
    depth = pixels.dtype.itemsize * 8
    header = struct.pack(">IIBBBBB", width, height, depth, COLOUR_TYPES[channels], 0, 0, 0)
    if icc is None:
        colours = _chunk(b"sRGB", PERCEPTUAL)
    else:
        colours = _chunk(b"iCCP", b"ICC Profile\0\0" + zlib.compress(icc, LEVEL))
    data = _compressed(pixels) if depth == 8 else zlib.compress(_filtered(pixels), LEVEL)  # noqa: PLR2004
    return SIGNATURE + _chunk(b"IHDR", header) + colours + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _compressed(pixels: NDArray[np.uint8 | np.uint16]) -> bytes:
    """Pillow's filtered and deflated rows, which are the same for the same pixels and version."""
    from PIL import Image

    stream = io.BytesIO()
    shaped = pixels[..., 0] if pixels.shape[2] == 1 else pixels
    Image.fromarray(np.ascontiguousarray(shaped)).save(stream, "PNG", compress_level=LEVEL)
    data, at, parts = stream.getvalue(), len(SIGNATURE), []
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IDAT":
            parts.append(data[at + 8 : at + 8 + size])
        at += 12 + size
    return b"".join(parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _filtered(pixels: NDArray[np.uint8 | np.uint16]) -> bytes:
    """Rows with their filter bytes: None, Sub, Up, Average or Paeth, whichever leaves least."""
    height, width, channels = pixels.shape
    step = channels * pixels.dtype.itemsize
    raw = np.frombuffer(pixels.astype(pixels.dtype.newbyteorder(">")).tobytes(), np.uint8)
    rows = raw.reshape(height, width * step)
    band = max(1, BAND_BYTES // (width * step))
    before = np.zeros((1, width * step), np.uint8)
    parts = []
    for start in range(0, height, band):
        parts.append(_filter_band(rows[start : start + band], before, step))
        before = rows[start + band - 1 : start + band]
    return b"".join(parts)


def _filter_band(part: NDArray[np.uint8], before: NDArray[np.uint8], step: int) -> bytes:
    """Some rows, filtered; ``before`` is the row above them."""
    rows = part.astype(np.int16)
    left = np.zeros_like(rows)
    left[:, step:] = rows[:, :-step]
    up = np.concatenate([before.astype(np.int16), rows[:-1]])
    corner = np.zeros_like(rows)
    corner[:, step:] = up[:, :-step]
    guess = left + up - corner
    to_left, to_up, to_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
    paeth = np.where(
        (to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner)
    )
    tries = np.stack([rows, rows - left, rows - up, rows - (left + up) // 2, rows - paeth]).astype(np.uint8)
    best = np.abs(tries.astype(np.int8).astype(np.int16)).sum(axis=2, dtype=np.int64).argmin(axis=0)
    chosen = tries[best, np.arange(len(rows))]
    return np.concatenate([best[:, None].astype(np.uint8), chosen], axis=1).tobytes()


def write_png(path: Path, pixels: NDArray[np.uint8 | np.uint16], icc: bytes | None = None) -> bytes:
    """Encode, check by decoding, write in one step; returns the bytes.

    Raises ``photoshop.export_mismatch`` if what was encoded does not decode to the same pixels.
    """
    data = encode_png(pixels, icc)
    verify_png(data, pixels)
    write_atomically(path, data)
    return data


def verify_png(data: bytes, pixels: NDArray[np.uint8 | np.uint16]) -> None:
    """Decode ``data`` with an independent reader and compare every sample."""
    import cv2
    from PIL import Image

    if pixels.dtype == np.uint8:
        back = np.asarray(Image.open(io.BytesIO(data)))
        back = back[..., None] if back.ndim == 2 else back  # noqa: PLR2004 - gray has no channel axis
    else:
        back = np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED))
        back = back[..., None] if back.ndim == 2 else back  # noqa: PLR2004 - as above
        order = {3: [2, 1, 0], 4: [2, 1, 0, 3]}.get(back.shape[2])
        back = back[..., order] if order else back
    if not np.array_equal(back, pixels):
        raise OperationFailed(
            "photoshop.export_mismatch",
            "the exported PNG does not read back as the pixels that were written",
            mend="report this: the export must be exact",
        )


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` beside ``path``, flush it to the disk, and put it in place in one step."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if os.name == "posix":
            temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
