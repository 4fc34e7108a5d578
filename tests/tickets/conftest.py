"""A good block, an issue around it, and the files that it names, all made here."""

from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path

import pytest

from fabric_dagster.errors import FabricError
from fabric_dagster.intelligence import load_pack
from fabric_dagster.tickets import TicketFiles, parse_ticket, read_issue

ROOT = Path(__file__).parents[2]
BODY = "offer_id: starter_pack\ncategory: offer.bundle\nart: attachment:coin.png\ntitle: Starter Pack\n"
BLOCK = f"fabric: CreateOfferIconAndIntegrate@1\n{BODY}"


def make_png(width=32, height=24, kind=6, depth=8, *, interlace=0, pixels=None, extra=b""):
    """A PNG by the letter of the standard, without a picture library."""
    bits = depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    row = b"\0" + b"\x5a" * ((width * bits + 7) // 8)
    raw = row * height if pixels is None else pixels
    palette = [(b"PLTE", bytes(range(256)) * 3)] if kind == 3 else []
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlace)),
        *palette,
        (b"IDAT", zlib.compress(raw)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(chunk, *zip(*chunks, strict=True))) + extra


def chunk(kind, body):
    """One PNG chunk with its checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def make_psd(width=32, height=24, version=1, *, channels=3, compression=0):
    """The least that is a PSD or PSB: a header, empty sections, a raw merged image."""
    wide = 4 if version == 1 else 8
    header = b"8BPS" + struct.pack(">H6xHIIHH", version, channels, height, width, 8, 3)
    sections = b"\0" * 4 + b"\0" * 4 + b"\0" * wide
    return header + sections + struct.pack(">H", compression) + b"\x80" * (width * height * channels)


def adf(*nodes):
    """An Atlassian document."""
    return {"version": 1, "type": "doc", "content": list(nodes)}


def code(text, **attrs):
    """A code block of ADF."""
    return {"type": "codeBlock", "attrs": attrs, "content": [{"type": "text", "text": text}]}


class Desk:
    """Files tickets in a folder of their own and says what comes of them."""

    def __init__(self, pack, folder):
        self.pack, self.folder = pack, folder
        self.graph = pack.graphs["CreateOfferIconAndIntegrate@1"].graph
        self.key = "OFFER-1"
        self.roots = ()
        self.served = frozenset()
        self.BLOCK, self.BODY = BLOCK, BODY
        self.adf, self.code, self.png, self.psd, self.chunk = adf, code, make_png, make_psd, chunk
        self.attach("coin.png", make_png())

    def attach(self, name, data):
        """Lay a file beside the issue."""
        path = self.folder / self.key / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

    def bytes(self, description, **fields):
        """The issue as JSON."""
        issue = {"key": self.key, "fields": {"summary": "s", "description": description, **fields}}
        return json.dumps(issue).encode()

    def issue(self, description, **fields):
        """The issue as it is read."""
        return read_issue(self.bytes(description, **fields), f"{self.key}.json")

    def ticket(self, block=BLOCK, description=None):
        """The ticket of a block, or of a whole description."""
        issue = self.issue(adf(code(block)) if description is None else description)
        files = TicketFiles(self.folder / self.key, self.roots)
        return parse_ticket(issue, self.graph, self.pack.pack, files, self.served)

    def faults(self, block=BLOCK, description=None):
        """Every fault; none for an accepted ticket."""
        try:
            self.ticket(block, description)
        except FabricError as error:
            return list(error.faults)
        return []

    def codes(self, block=BLOCK, description=None):
        """The codes, sorted."""
        return sorted(fault.code for fault in self.faults(block, description))

    def set(self, **values):
        """The good block's codes with ``values`` in place."""
        return self.codes(self.block(**values))

    def block(self, **values):
        """The good block with ``values`` in place or added."""
        lines = []
        for line in BLOCK.splitlines():
            key = line.partition(":")[0]
            lines.append(f"{key}: {values.pop(key)}" if key in values else line)
        lines += [f"{key}: {value}" for key, value in values.items()]
        return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def offers():
    """The pack that comes with the project."""
    return load_pack(ROOT / "packs" / "offers")


@pytest.fixture
def desk(offers, tmp_path):
    """An inbox with one attachment, ``coin.png``."""
    return Desk(offers, tmp_path)


@pytest.fixture(scope="session")
def corpus():
    """The folder of real files; tests that need it skip without it."""
    folder = Path(os.environ.get("FABRIC_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not folder.is_dir():
        pytest.skip("no corpus of real files here: set FABRIC_CORPUS")
    return folder
