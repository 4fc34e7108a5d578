"""A picture is what its bytes are: whole, of the named format, and within the pack's limits."""

import struct
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.errors import InvalidDocument
from fabric_dagster.tickets.pictures import prove_whole, recognise

SETTINGS = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

FORMATS = [(kind, depth) for kind, depths in {
    0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)
}.items() for depth in depths]  # fmt: skip


@pytest.mark.parametrize(("kind", "depth"), FORMATS)
def test_every_png_format(desk, kind, depth):
    """All fifteen pixel formats of the standard pass, at a width that fills no byte."""
    desk.attach("coin.png", desk.png(33, 17, kind, depth))
    file = desk.ticket().files["art"]
    assert ("png", 33, 17) == (file.format, file.width, file.height)


def test_interlaced(desk):
    """Adam7's seven passes are counted, also where some are empty."""
    from io import BytesIO

    from PIL import Image

    for width, height in ((16, 16), (17, 33), (19, 16)):
        rows = sum(
            (1 + 4 * ((width - x + dx - 1) // dx)) * ((height - y + dy - 1) // dy)
            for x, y, dx, dy in (
                (0, 0, 8, 8),
                (4, 0, 8, 8),
                (0, 4, 4, 8),
                (2, 0, 4, 4),
                (0, 2, 2, 4),
                (1, 0, 2, 2),
                (0, 1, 1, 2),
            )
        )
        data = desk.png(width, height, interlace=1, pixels=b"\0" * rows)
        Image.open(BytesIO(data)).load()
        desk.attach("coin.png", data)
        assert width == desk.ticket().files["art"].width


def bombs(desk):
    """Name → bytes of pictures that are refused, and the code."""
    good = desk.png()
    cut = good.index(b"IDAT")
    return {
        "empty": (b"", "file_format"),
        "text": (b"not a picture", "file_format"),
        "JPEG": (b"\xff\xd8\xff\xe0" + b"\0" * 60, "file_format"),
        "PSD with a PNG's name": (desk.psd(), "file_format"),
        "signature only": (good[:8], "file_damaged"),
        "cut in the header": (good[:30], "file_damaged"),
        "cut in the pixels": (good[: cut + 10], "file_damaged"),
        "cut before the end": (good[:-12], "file_damaged"),
        "bytes after the end": (good + b"PK\x03\x04", "file_damaged"),
        "a flipped bit": (good[: cut + 8] + bytes([good[cut + 8] ^ 1]) + good[cut + 9 :], "file_damaged"),
        "fewer pixels than promised": (desk.png(pixels=b"\0" * 10), "file_damaged"),
        "more pixels than promised": (desk.png(pixels=b"\0" * (129 * 24 + 1)), "file_damaged"),
        "a bomb": (desk.png(pixels=b"\0" * 50_000_000), "file_damaged"),
        "an unknown filter": (desk.png(pixels=(b"\5" + b"\0" * 128) * 24), "file_damaged"),
        "no size": (desk.png(0, 0), "file_damaged"),
        "an unknown pixel format": (desk.png(kind=2).replace(b"\x08\x02", b"\x04\x02", 1), "file_damaged"),
        "too many pixels": (desk.png(20_000, 20_000, pixels=b""), "file_too_large"),
        "too small": (desk.png(8, 8), "file_too_small"),
        "no pixels": (good[:33] + desk.chunk(b"IEND", b""), "file_damaged"),
        "no zlib": (good[:33] + desk.chunk(b"IDAT", b"xxxx") + desk.chunk(b"IEND", b""), "file_damaged"),
        "pixels in two places": (
            good[:33] + desk.chunk(b"IDAT", zlib.compress(b"\0" * 129 * 24)) + desk.chunk(b"tEXt", b"a\0b")
            + desk.chunk(b"IDAT", b"") + desk.chunk(b"IEND", b""),
            "file_damaged",
        ),
        "no palette": (desk.png(kind=3).replace(b"PLTE", b"pLTE"), "file_damaged"),
    }  # fmt: skip


def test_bad_pictures(desk):
    """Each is refused for what it is, in little time and memory."""
    for name, (data, code) in bombs(desk).items():
        desk.attach("coin.png", data)
        assert [f"ticket.{code}"] == desk.codes(), name


def test_pixels_in_many_chunks(desk):
    """Encoders may cut the pixels anywhere, also into empty pieces."""
    good = desk.png()
    stream = zlib.compress((b"\0" + b"\x5a" * 128) * 24)
    pieces = [stream[:1], b"", stream[1:7], stream[7:]]
    body = b"".join(desk.chunk(b"IDAT", piece) for piece in pieces)
    desk.attach("coin.png", good[:33] + body + desk.chunk(b"IEND", b""))
    assert [] == desk.codes()


def test_size_limit(desk, monkeypatch):
    """A file larger than the pack allows is not read."""
    limits = desk.pack.pack.pictures.model_copy(update={"max_bytes": 50})
    small = desk.pack.pack.model_copy(update={"pictures": limits})
    monkeypatch.setattr(desk, "pack", type("P", (), {"pack": small}))
    assert ["ticket.file_too_large"] == desk.codes()


@pytest.mark.parametrize(
    ("name", "make", "codes"),
    [
        ("a.psd", lambda desk: desk.psd(), []),
        ("a.PNG", lambda desk: desk.png(), []),
        ("a.psb", lambda desk: desk.psd(version=2), ["ticket.file_format"]),
        ("a.psd", lambda desk: desk.psd(version=2), ["ticket.file_format"]),
        ("a.psd", lambda desk: desk.png(), ["ticket.file_format"]),
        ("a.jpg", lambda desk: desk.png(), ["ticket.file_format"]),
        ("png", lambda desk: desk.png(), ["ticket.file_format"]),
        ("a.psd", lambda desk: desk.psd()[:-1], ["ticket.file_damaged"]),
        ("a.psd", lambda desk: desk.psd()[:20], ["ticket.file_damaged"]),
        ("a.psd", lambda desk: desk.psd(version=3), ["ticket.file_damaged"]),
        ("a.psd", lambda desk: desk.psd(channels=57), ["ticket.file_damaged"]),
        ("a.psd", lambda desk: desk.psd(30_001, 16), ["ticket.file_damaged"]),
        ("a.psd", lambda desk: desk.psd(compression=9), ["ticket.file_damaged"]),
        ("a.psd", lambda desk: desk.psd()[:26] + b"\xff" * 12, ["ticket.file_damaged"]),
    ],
)
def test_names_and_formats(desk, name, make, codes):
    """The name's ending and the bytes must say the same, and be among the pack's formats."""
    desk.attach(name, make(desk))
    assert codes == desk.set(art=f"attachment:{name}")


def test_digest_follows_the_picture(desk):
    """One changed byte of the named picture is another ticket; a picture nobody names is nothing."""
    before = desk.ticket().digest
    desk.attach("other.png", desk.png(40, 40))
    assert before == desk.ticket().digest
    desk.attach("coin.png", desk.png(depth=16))
    assert before != desk.ticket().digest


@SETTINGS
@given(st.data())
def test_any_damage_is_answered(desk, data):
    """Bytes cut, flipped or repeated anywhere are refused with a code, or change nothing that counts."""
    for good in (desk.png(18, 17), desk.psd(18, 17)):
        spoiled = bytearray(good)
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, len(spoiled)))
            spoiled[at : at + data.draw(st.integers(0, 6))] = data.draw(st.binary(max_size=6))
        code = None
        try:
            prove_whole(bytes(spoiled), recognise(bytes(spoiled)))
        except InvalidDocument as fault:
            code = fault.code
        assert code in {None, "ticket.file_format", "ticket.file_damaged"}


def test_real_documents(corpus):
    """Every real PSD and PSB passes with its size; the broken ones, and only those, are refused."""
    files = [path for path in sorted((corpus / "psd").rglob("*")) if path.suffix in {".psd", ".psb"}]
    broken = [path.name for path in files if "__errors__" in path.name or "truncated" in path.name]
    refused = []
    for path in files:
        data = path.read_bytes()
        try:
            facts = recognise(data)
            prove_whole(data, facts)
        except InvalidDocument:
            refused.append(path.name)
        else:
            assert struct.unpack(">II", data[14:22]) == (facts.height, facts.width)
    assert broken == refused
