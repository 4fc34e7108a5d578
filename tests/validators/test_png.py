"""PNG files taken apart: every byte counts, and nothing makes the reader crash."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from faults import chunks, joined
from hypothesis import given, settings
from hypothesis import strategies as st

from fabric_dagster.validators.base import Unjudgeable
from fabric_dagster.validators.kernels import png
from resources.photoshop.png import encode_png

PICTURE = np.arange(7 * 5 * 4, dtype=np.uint8).reshape(5, 7, 4)
SOUND = encode_png(PICTURE)


def made(width: int, height: int, depth: int, colour: int, data: bytes, lacing: int = 0) -> bytes:
    """A PNG of raw, filtered rows."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, lacing)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(data)), (b"IEND", b"")]
    if colour == 3:
        parts.insert(1, (b"PLTE", bytes(range(6))))
    return joined(parts)


@given(
    st.sampled_from([np.uint8, np.uint16]),
    st.integers(1, 4),
    st.integers(1, 9),
    st.integers(1, 9),
    st.randoms(use_true_random=False),
)
def test_pixels_come_back(kind: type, channels: int, width: int, height: int, random: object) -> None:
    """Grey, grey with alpha, RGB and RGBA of 8 and 16 bits decode to the samples that went in."""
    largest = np.iinfo(kind).max
    samples = [random.randint(0, largest) for _ in range(width * height * channels)]
    picture = np.array(samples, kind).reshape(height, width, channels)

    decoded = png.decode(encode_png(picture), "picture")

    colours = picture[..., : 1 if channels < 3 else 3]
    alpha = picture[..., -1] if channels in {2, 4} else np.full((height, width), largest, kind)
    assert decoded.dtype == kind
    assert np.array_equal(np.broadcast_to(colours, (height, width, 3)), decoded[..., :3])
    assert np.array_equal(alpha, decoded[..., 3])


@given(st.integers(0, len(SOUND) - 1), st.integers(1, 255))
def test_any_changed_byte_is_a_fault(at: int, change: int) -> None:
    """Signature, lengths, types, data and checksums: no byte of a PNG can change unseen."""
    harmed = SOUND[:at] + bytes([SOUND[at] ^ change]) + SOUND[at + 1 :]

    assert png.examine(harmed).faults != []


@given(st.integers(0, len(SOUND) - 1))
def test_any_truncation_is_a_fault(length: int) -> None:
    """A file that ends early is no picture."""
    assert png.examine(SOUND[:length]).faults != []


@settings(max_examples=200)
@given(st.binary(max_size=200), st.booleans())
def test_nothing_makes_it_crash(data: bytes, signed: bool) -> None:
    """Whatever the bytes are, the answer is a list of faults."""
    assert isinstance(png.examine((png.SIGNATURE if signed else b"") + data).faults, list)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (SOUND + b"x", "1 bytes after the end"),
        (made(2, 1, 8, 0, b"\0\1\2\3"), "inflates to 4 bytes"),
        (made(2, 1, 8, 0, b"\0\1"), "inflates to 2 bytes"),
        (made(2, 1, 8, 0, b"\5\1\2"), "a filter that PNG does not define"),
        (made(100_000, 100_000, 8, 6, b""), "more than 64000000 pixels"),
        (made(2, 1, 3, 0, b"\0\1\2"), "not one that PNG defines"),
        (made(0, 1, 8, 0, b"\0"), "not one that PNG defines"),
        (joined([chunks(SOUND)[0], *chunks(SOUND)]), "a second IHDR"),
        (joined([chunks(SOUND)[0], (b"ABCD", b""), *chunks(SOUND)[1:]]), "unknown critical chunk"),
        (joined([chunks(SOUND)[0], (b"IDAT", b"nonsense"), (b"IEND", b"")]), "does not inflate"),
        (joined(chunks(SOUND)[1:]), "first chunk is no header"),
    ],
)
def test_faults_are_named(data: bytes, fault: str) -> None:
    """Each says what is wrong; the pixels of such a file are never decoded."""
    assert any(fault in found for found in png.examine(data).faults), png.examine(data).faults
    with pytest.raises(Unjudgeable):
        png.decode(data, "picture")


def test_a_bomb_costs_nothing() -> None:
    """A small picture whose data inflates to much more is given up at its own size."""
    bomb = made(1, 1, 8, 0, bytes(50 << 20))

    assert png.examine(bomb).faults != []


def test_a_palette_and_passes_decode() -> None:
    """Palettes are looked up; an interlaced picture's passes are all accounted for."""
    assert [[0, 1, 2, 255], [3, 4, 5, 255]] == png.decode(made(2, 1, 8, 3, b"\0\0\1"), "p")[0].tolist()
    rows = b"".join(
        b"\0" + PICTURE[y, x::dx].tobytes()
        for x, y0, dx, dy in png.ADAM7
        for y in range(y0, 5, dy)
        if PICTURE[y, x::dx].size
    )

    assert np.array_equal(PICTURE, png.decode(made(7, 5, 8, 6, rows, 1), "p"))


@pytest.mark.parametrize(
    "chunk", [b"", b"name", b"name\0\1zip", b"name\0\0nonsense", b"\0\0" + zlib.compress(b"x")]
)
def test_a_damaged_profile_is_named(chunk: bytes) -> None:
    """An iCCP chunk that cannot be read is no missing profile."""
    data = joined([chunks(SOUND)[0], (b"iCCP", chunk), *chunks(SOUND)[2:]])

    with pytest.raises(Unjudgeable):
        png.profile(png.examine(data))
