"""Small documents that the tests make themselves, and the corpus' index."""

from __future__ import annotations

import copy
import json
import os
import struct
from pathlib import Path

import numpy as np

from resources.photoshop.layer_pixels import write_pixels
from resources.photoshop.psd.codec import decode, encode, encode_rows
from resources.photoshop.psd.container import Container, parse
from resources.photoshop.psd.layers import Channel, LayerInfo
from resources.photoshop.psd.tagged import Block
from resources.photoshop.sample_blocks import layer_blocks, pascal_name

ROOT = Path(__file__).resolve().parents[3]
CORPUS = Path(os.environ.get("FABRIC_CORPUS", ROOT.parent / "shared" / "corpus")) / "psd"
ZIP_PREDICTED = 3


def corpus_entries() -> list[dict]:
    """Every file of the corpus that its index describes; empty where there is no corpus."""
    index = CORPUS / "index.json"
    if not index.is_file():
        return []
    entries = json.loads(index.read_text(encoding="utf-8"))
    return [entry for entry in entries if (CORPUS / entry["file"]).is_file()]


def is_broken(entry: dict) -> bool:
    """Whether the index calls the file broken."""
    return "broken" in entry["features"]


def rename(container: Container, identifier: int, name: str) -> None:
    """Give a layer another name, in both places."""
    assert container.layer_info
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    record.name = pascal_name(name)
    record.blocks = [b if b.key != b"luni" else layer_blocks(name, identifier)[0] for b in record.blocks]
    container.layer_info.touched = True


def with_twin(data: bytes, identifier: int, new_id: int, shift: int = 60) -> bytes:
    """The document with a second layer that shares the smart object of ``identifier``, moved right."""
    container = parse(data)
    info = container.layer_info
    assert info
    position = next(i for i, layer in enumerate(info.layers) if layer.id == identifier)
    twin = copy.deepcopy(info.layers[position])
    for block in twin.blocks:
        if block.key == b"lyid":
            block.data = struct.pack(">I", new_id)
    twin.left, twin.right = twin.left + shift, twin.right + shift
    info.layers.insert(position + 1, twin)
    info.touched = True
    moved = parse(container.dump())
    return move_quad(moved, new_id, shift).dump()


def move_quad(container: Container, identifier: int, shift: float) -> Container:
    """Move a smart object's recorded quad right."""
    from psd_tools.psd.tagged_blocks import PlacedLayerData, SmartObjectLayerData

    assert container.layer_info
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    block, old = record.block(b"SoLd"), record.block(b"PlLd")
    assert block
    assert old
    data = SmartObjectLayerData.frombytes(block.data)
    for key in (b"Trnf", b"nonAffineTransform"):
        for position in range(0, 8, 2):
            data.data[key][position].value += shift
    block.data = data.tobytes()
    older = PlacedLayerData.frombytes(old.data)
    older.transform = tuple(v + (shift if i % 2 == 0 else 0) for i, v in enumerate(older.transform))
    old.data = older.tobytes()
    container.layer_info.touched = True
    return container


def deepen(data: bytes) -> bytes:
    """The document with 16 bits, its layers in an ``Lr16`` block as Photoshop keeps them."""
    container = parse(data)
    info = container.layer_info
    assert info
    header = container.header
    for layer in info.layers:
        width, height = layer.right - layer.left, layer.bottom - layer.top
        for channel in layer.channels:
            samples = decode(channel.data, width, height, 8, 1, "test").astype(np.uint16) * 257
            kind = ZIP_PREDICTED if width else 0
            channel.data = encode(samples, kind, 1)
    from resources.photoshop.compose import merged_planes

    planes = merged_planes(container).astype(np.uint16) * 257
    header.depth = 16
    container.image = encode_rows(planes.reshape(-1, header.width), container.compression, 1)
    info.touched = True
    container.blocks.insert(0, Block(b"8BIM", b"Lr16", info.dump(psb=False)))
    container.plain_layers = LayerInfo(0, [], absent=True)
    return container.dump()


def with_icc(data: bytes, icc: bytes | None) -> bytes:
    """The document with another ICC profile, or none."""
    container = parse(data)
    resource = container.resource(1039)
    assert resource
    if icc is None:
        container.resources.remove(resource)
    else:
        resource.replace(icc)
    return container.dump()


def with_flags(
    data: bytes,
    identifier: int,
    *,
    locks: int | None = None,
    hidden: bool | None = None,
    clipping: int | None = None,
) -> bytes:
    """The document with a layer locked, hidden or clipped."""
    container = parse(data)
    assert container.layer_info
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    if locks is not None:
        block = record.block(b"lspf")
        assert block
        block.data = struct.pack(">I", locks)
    if hidden is not None:
        record.flags = record.flags | 2 if hidden else record.flags & ~2
    if clipping is not None:
        record.clipping = clipping
    container.layer_info.touched = True
    return container.dump()


def layer_pixels(container: Container, identifier: int) -> tuple[np.ndarray, int, int]:
    """Straight samples ``(h, w, 4)`` of a layer, with its left and top."""
    assert container.layer_info
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    width, height = record.right - record.left, record.bottom - record.top
    header = container.header
    planes = {
        c.id: decode(c.data, width, height, header.depth, header.version, "test") for c in record.channels
    }
    return np.stack([planes[0], planes[1], planes[2], planes[-1]], axis=-1), record.left, record.top


def wide_gamut() -> bytes:
    """A matrix profile with Adobe RGB's primaries and a gamma of 2.2, made from numbers."""

    def fixed(value: float) -> bytes:
        return struct.pack(">i", round(value * 65536))

    def xyz(x: float, y: float, z: float) -> bytes:
        return b"XYZ " + bytes(4) + fixed(x) + fixed(y) + fixed(z)

    name = b"Test wide RGB\0"
    tags = {
        b"desc": b"desc" + bytes(4) + struct.pack(">I", len(name)) + name + bytes(78),
        b"cprt": b"text" + bytes(4) + b"none\0",
        b"wtpt": xyz(0.9642, 1.0, 0.8249),
        b"rXYZ": xyz(0.60974, 0.31111, 0.01947),
        b"gXYZ": xyz(0.20528, 0.62567, 0.06087),
        b"bXYZ": xyz(0.14919, 0.06322, 0.74457),
    }
    curve = b"curv" + bytes(4) + struct.pack(">IH", 1, round(2.2 * 256))
    for key in (b"rTRC", b"gTRC", b"bTRC"):
        tags[key] = curve
    offset = 128 + 4 + 12 * len(tags)
    table, body = b"", b""
    for key, value in tags.items():
        padded = value + bytes(-len(value) % 4)
        table += key + struct.pack(">II", offset + len(body), len(value))
        body += padded
    size = offset + len(body)
    head = struct.pack(">I4sI4s4s4s", size, b"    ", 0x02100000, b"mntr", b"RGB ", b"XYZ ")
    head += bytes(12) + b"acsp" + bytes(28) + fixed(0.9642) + fixed(1.0) + fixed(0.8249)
    return head + bytes(128 - len(head)) + struct.pack(">I", len(tags)) + table + body


def added_channel(container: Container, identifier: int, channel: int, data: bytes) -> None:
    """Add a raw channel to a layer."""
    assert container.layer_info
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    record.channels.append(Channel(channel, data))
    container.layer_info.touched = True


def to_psb(data: bytes) -> bytes:
    """The document as a PSB: longer lengths, everything else the same."""
    from resources.photoshop.compose import merged_planes

    container = parse(data)
    info = container.layer_info
    assert info
    planes = merged_planes(container)
    for layer in info.layers:
        width, height = layer.right - layer.left, layer.bottom - layer.top
        for channel in layer.channels:
            kind = int.from_bytes(channel.data[:2], "big")
            channel.data = encode(decode(channel.data, width, height, 8, 1, "test"), kind, 2)
    container.header.version = 2
    container.image = encode_rows(planes.reshape(-1, container.header.width), container.compression, 2)
    info.touched = True
    return container.dump()


def as_artboard(
    data: bytes, identifier: int, box: tuple[float, float, float, float], *, background: int = 3
) -> bytes:
    """The document with a group made an artboard: ``box`` left, top, right, bottom; 1 white, 3 clear."""
    from psd_tools.psd import descriptor as d

    container = parse(data)
    assert container.layer_info
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    keys = (b"Left", b"Top ", b"Rght", b"Btom")
    rect = d.Descriptor(
        name="\0", classID=b"classFloatRect", items=[(k, d.Double(v)) for k, v in zip(keys, box, strict=True)]
    )
    made = d.DescriptorBlock(
        version=16, name="\0", classID=b"artboard",
        items=[(b"artboardRect", rect), (b"artboardBackgroundType", d.Integer(background))],
    )  # fmt: skip
    record.blocks.append(Block(b"8BIM", b"artb", made.tobytes() + bytes(-len(made.tobytes()) % 4)))
    container.layer_info.touched = True
    return container.dump()


def with_pixels(
    data: bytes, identifier: int, samples: np.ndarray, left: int, top: int, *, clipping: int | None = None
) -> bytes:
    """The document with other straight samples ``(h, w, 4)`` in a layer, clipped to the one below or not."""
    container = parse(data)
    assert container.layer_info
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    write_pixels(record, samples, left, top, container.header.version)
    if clipping is not None:
        record.clipping = clipping
    container.layer_info.touched = True
    return container.dump()


def with_mask(
    data: bytes,
    identifier: int,
    samples: np.ndarray,
    left: int,
    top: int,
    *,
    flags: int = 0,
    outside: int = 0,
) -> bytes:
    """The document with a pixel mask on a layer."""
    container = parse(data)
    assert container.layer_info
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    height, width = samples.shape
    record.mask = struct.pack(">4iBB2x", top, left, top + height, left + width, outside, flags)
    record.channels.append(Channel(-2, encode(samples, 1, container.header.version)))
    container.layer_info.touched = True
    return container.dump()


def with_solid(data: bytes, identifier: int, tone: tuple[int, int, int]) -> bytes:
    """The document with a layer made a solid fill."""
    from psd_tools.psd import descriptor as d

    container = parse(data)
    assert container.layer_info
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    items = [(k, d.Double(float(v))) for k, v in zip((b"Rd  ", b"Grn ", b"Bl  "), tone, strict=True)]
    colour = d.Descriptor(name="\0", classID=b"RGBC", items=items)
    made = d.DescriptorBlock(version=16, name="\0", classID=b"null", items=[(b"Clr ", colour)]).tobytes()
    record.blocks.append(Block(b"8BIM", b"SoCo", made + bytes(-len(made) % 4)))
    record.top = record.left = record.bottom = record.right = 0
    for channel in record.channels:
        channel.data = b"\0\0"
    container.layer_info.touched = True
    return container.dump()


def small_cmyk() -> bytes:
    """A CMYK profile made from numbers: the 16 corners of the ink cube as Lab, between them linear."""
    from itertools import product

    from PIL import Image, ImageCms

    corners = []
    for c, m, y, k in product((0, 1), repeat=4):
        light = [round(255 * (1 - ink) * (1 - k)) for ink in (c, m, y)]
        lab = ImageCms.buildTransform(
            ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB",
            ImageCms.Intent.RELATIVE_COLORIMETRIC,
        ).apply(Image.new("RGB", (1, 1), tuple(light)))  # fmt: skip
        raw = np.asarray(lab).reshape(3).astype(int)
        corners += [raw[0], *((v + 128) % 256 for v in raw[1:])]
    straight = bytes(range(256))
    table = struct.pack(">4s4xBBBx9i", b"mft1", 4, 3, 2, 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    table += straight * 4 + bytes(corners) + straight * 3
    name = b"Test inks\0"
    tags = {
        b"desc": b"desc" + bytes(4) + struct.pack(">I", len(name)) + name + bytes(78),
        b"cprt": b"text" + bytes(4) + b"none\0",
        b"wtpt": b"XYZ " + bytes(4) + struct.pack(">3i", 63190, 65536, 54061),
        b"A2B0": table,
    }
    offset = 128 + 4 + 12 * len(tags)
    index, body = b"", b""
    for key, value in tags.items():
        index += key + struct.pack(">II", offset + len(body), len(value))
        body += value + bytes(-len(value) % 4)
    head = struct.pack(">I4sI4s4s4s", offset + len(body), b"    ", 0x02100000, b"prtr", b"CMYK", b"Lab ")
    head += bytes(12) + b"acsp" + bytes(28) + struct.pack(">3i", 63190, 65536, 54061)
    return head + bytes(128 - len(head)) + struct.pack(">I", len(tags)) + index + body
