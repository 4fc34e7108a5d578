"""Channel data to samples and back.

Rules kept here: decoding never yields more samples than the rectangle has; what can't be decoded raises
``psd.bad_channel`` (psd-tools would paint it black with a warning); encoding keeps the kind of
compression that was there, so an edited channel looks like its neighbours.
"""

from __future__ import annotations

import struct
import warnings
from typing import TYPE_CHECKING

import numpy as np

from fabric_dagster.errors import InvalidDocument

if TYPE_CHECKING:
    from numpy.typing import NDArray

TYPES = {8: ">u1", 16: ">u2", 32: ">f4"}
NATIVE = {8: np.uint8, 16: np.uint16, 32: np.float32}
RLE, ZIP = 1, 2


def decode(
    data: bytes, width: int, height: int, depth: int, version: int, where: str
) -> NDArray[np.uint8 | np.uint16 | np.float32]:
    """``(height, width)`` native samples of one channel, compression code included in ``data``."""
    from psd_tools.compression import PSDDecompressionWarning, decompress
    from psd_tools.constants import Compression

    if width <= 0 or height <= 0:
        return np.zeros((max(0, height), max(0, width)), NATIVE[depth])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PSDDecompressionWarning)
            kind = Compression(struct.unpack(">H", data[:2])[0])
            raw = decompress(data[2:], kind, width, height, depth, version)
        samples = np.frombuffer(raw, TYPES[depth]).reshape(height, width)
    except (ValueError, KeyError, struct.error, PSDDecompressionWarning) as fault:
        raise InvalidDocument(
            "psd.bad_channel",
            "a channel can't be decoded",
            where=where,
            mend="take an undamaged copy, or save it again in Photoshop",
        ) from fault
    return samples.astype(NATIVE[depth])


def encode(samples: NDArray[np.uint8 | np.uint16 | np.float32], kind: int, version: int) -> bytes:
    """Compression code and compressed rows of ``(h, w)`` native samples."""
    return struct.pack(">H", kind) + encode_rows(samples, kind, version)


def encode_rows(samples: NDArray[np.uint8 | np.uint16 | np.float32], kind: int, version: int) -> bytes:
    """Compressed rows alone, as the merged image has them (all channels below one another)."""
    from psd_tools.compression import compress
    from psd_tools.constants import Compression

    height, width = samples.shape
    depth = samples.dtype.itemsize * 8
    raw = samples.astype(TYPES[depth]).tobytes()
    if width == 0 or height == 0:
        return b""
    return compress(raw, Compression(kind), width, height, depth, version)
