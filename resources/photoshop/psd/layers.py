"""Layer records and their channels, as stored: bottom to top, group ends included.

A record that is not touched is written back byte for byte. Channel data is kept compressed; the codecs
are in ``codec.py``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from resources.photoshop.psd.cursor import Cursor, broken
from resources.photoshop.psd.limits import Limits
from resources.photoshop.psd.tagged import SIGNATURES, Block, read_blocks

TRANSPARENCY, USER_MASK, REAL_MASK = -1, -2, -3
HIDDEN_FLAG = 2
ZIP_PREDICTED = 3


@dataclass(slots=True)
class Channel:
    """One channel: ``data`` is the compression code and the compressed rows."""

    id: int
    data: bytes


@dataclass(slots=True)
class LayerRecord:
    """One layer, with raw mask, blending ranges and name, and its tagged blocks."""

    top: int
    left: int
    bottom: int
    right: int
    channels: list[Channel]
    signature: bytes
    blend: bytes
    opacity: int
    clipping: int
    flags: int
    filler: int
    mask: bytes
    ranges: bytes
    #: Pascal string with its padding
    name: bytes
    blocks: list[Block]
    tail: bytes = b""
    offset: int = field(default=0, compare=False)

    def block(self, *keys: bytes) -> Block | None:
        """The first tagged block with one of ``keys``."""
        return next((item for item in self.blocks if item.key in keys), None)

    @property
    def id(self) -> int | None:
        """The layer's id (``lyid``), unless the writer gave none."""
        block = self.block(b"lyid")
        return struct.unpack(">I", block.data[:4])[0] if block and len(block.data) >= 4 else None  # noqa: PLR2004

    @property
    def section(self) -> int:
        """``lsct``/``lsdk``: 0 a layer, 1 an open group, 2 a closed one, 3 the end of a group."""
        block = self.block(b"lsct", b"lsdk")
        return struct.unpack(">I", block.data[:4])[0] if block and len(block.data) >= 4 else 0  # noqa: PLR2004

    def channel(self, identifier: int) -> Channel | None:
        """The channel ``identifier`` (0… colour, -1 transparency, -2 mask, -3 real mask)."""
        return next((item for item in self.channels if item.id == identifier), None)

    def dump(self, *, psb: bool) -> bytes:
        """The record, without channel data."""
        size = "Q" if psb else "I"
        head = struct.pack(">4iH", self.top, self.left, self.bottom, self.right, len(self.channels))
        listed = b"".join(struct.pack(f">h{size}", c.id, len(c.data)) for c in self.channels)
        look = struct.pack(
            ">4s4s4B", self.signature, self.blend, self.opacity, self.clipping, self.flags, self.filler
        )
        extra = struct.pack(">I", len(self.mask)) + self.mask
        extra += struct.pack(">I", len(self.ranges)) + self.ranges + self.name
        extra += b"".join(block.dump(psb=psb) for block in self.blocks) + self.tail
        return head + listed + look + struct.pack(">I", len(extra)) + extra


@dataclass(slots=True)
class LayerInfo:
    """All layer records, then all channel data, then padding."""

    count: int
    layers: list[LayerRecord]
    tail: bytes = b""
    touched: bool = False
    #: only a length field of zero, not even a count
    absent: bool = False

    @property
    def transparency_first(self) -> bool:
        """Whether the merged image's first extra channel is its transparency."""
        return self.count < 0

    def dump(self, *, psb: bool) -> bytes:
        """The info without its length field."""
        count = -len(self.layers) if self.count < 0 else len(self.layers)
        body = struct.pack(">h", count)
        body += b"".join(layer.dump(psb=psb) for layer in self.layers)
        body += b"".join(channel.data for layer in self.layers for channel in layer.channels)
        if not self.touched:
            return body + self.tail
        return body + bytes(-len(body) % 4)

    def dump_with_length(self, *, psb: bool) -> bytes:
        """The info with its length field; an absent one is only the length."""
        body = b"" if self.absent else self.dump(psb=psb)
        return struct.pack(">Q" if psb else ">I", len(body)) + body


def read_layer_info(
    cursor: Cursor, depth: int, limits: Limits, *, psb: bool, bare: bool = False
) -> LayerInfo:
    """Layer info at ``cursor``; ``bare`` has no length field of its own (``Lr16``)."""
    if not bare:
        length = cursor.number("Q" if psb else "I", "the layer info's length")
        cursor = cursor.window(length, "the layer info")
    if not cursor.left:
        return LayerInfo(0, [], absent=True)
    start = cursor.at
    count = cursor.number("h", "the layer count")
    if abs(count) > limits.layers:
        raise broken("psd.too_many_layers", f"{abs(count)} layers pass the limit {limits.layers}", start)
    lengths: list[list[int]] = []
    layers = [_record(cursor, limits, lengths, psb=psb) for _ in range(abs(count))]
    _nesting(layers, limits)
    _area(layers, depth, limits)
    for number, (layer, sizes) in enumerate(zip(layers, lengths, strict=True)):
        for channel, size in zip(layer.channels, sizes, strict=True):
            what = f"channel {channel.id} of layer record {number}"
            kind = int.from_bytes(cursor.peek(2), "big") if size >= 2 else 0  # noqa: PLR2004 - the code's size
            if kind > ZIP_PREDICTED:
                raise broken("psd.bad_compression", f"the compression of {what} is {kind}", cursor.at)
            channel.data = cursor.take(size, what)
    return LayerInfo(count, layers, cursor.rest())


def _record(cursor: Cursor, limits: Limits, lengths: list[list[int]], *, psb: bool) -> LayerRecord:
    start = cursor.at
    top, left, bottom, right, count = cursor.unpack("4iH", "a layer record")
    if count > 56 + 3:
        raise broken("psd.bad_channels", f"a layer record names {count} channels", start + 16)
    # Some writers leave inverted rectangles on empty layers: those have no pixels.
    if max(0, bottom - top) * max(0, right - left) > limits.pixels:
        raise broken("psd.bad_rectangle", f"a layer's rectangle is {left},{top} to {right},{bottom}", start)
    channels, sizes = [], []
    for _ in range(count):
        identifier, size = cursor.unpack("hQ" if psb else "hI", "a channel's length")
        channels.append(Channel(identifier, b""))
        sizes.append(size)
    lengths.append(sizes)
    signature = cursor.take(4, "a blend mode's signature")
    if signature not in SIGNATURES:
        raise broken("psd.bad_layer", f"a layer's blend mode is signed {signature!r}", cursor.at - 4)
    blend = cursor.take(4, "a blend mode")
    opacity, clipping, flags, filler = cursor.unpack("4B", "a layer record")
    extra = cursor.window(cursor.number("I", "a layer's extra data"), "a layer's extra data")
    mask = extra.take(extra.number("I", "a layer mask's length"), "a layer mask")
    ranges = extra.take(extra.number("I", "the blending ranges' length"), "the blending ranges")
    named = extra.peek(1)[0] + 1 if extra.left else 0
    name = extra.take(min(named + -named % 4, max(named, extra.left)), "a layer's name")
    blocks = read_blocks(extra, psb=psb)
    return LayerRecord(
        top, left, bottom, right, channels, signature, blend, opacity, clipping, flags, filler, mask,
        ranges, name, blocks, extra.rest(), start,
    )  # fmt: skip


def _nesting(layers: list[LayerRecord], limits: Limits) -> None:
    """Bound the depth of groups as they are read, from the top down: opened first, ended last."""
    depth = 0
    for layer in reversed(layers):
        if layer.section in {1, 2}:
            depth += 1
        elif layer.section == 3:  # noqa: PLR2004 - the end of a group
            depth = max(0, depth - 1)
        if depth > limits.nesting:
            raise broken(
                "psd.nested_too_deep", f"groups are nested deeper than {limits.nesting}", layer.offset
            )


def _area(layers: list[LayerRecord], depth: int, limits: Limits) -> None:
    total = 0
    for layer in layers:
        total += max(0, layer.bottom - layer.top) * max(0, layer.right - layer.left) * len(layer.channels)
        if total > limits.total_pixels:
            what = f"the layers' channels hold more than {limits.total_pixels} samples of {depth} bits"
            raise broken("psd.too_many_pixels", what, layer.offset)
