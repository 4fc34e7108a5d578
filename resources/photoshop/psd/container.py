"""A PSD or PSB as blocks.

Rules kept here:

* ``parse`` checks every length, count, signature and dimension against the bytes that are there, and
  names the first byte that breaks a rule. It decodes no pixels and no descriptors.
* ``Container.dump`` writes the blocks back. What was not touched comes back byte for byte, padding and
  unknown tails included; ``dump(parse(x)) == x``.
* Layers of 16- and 32-bit documents live in the ``Lr16``/``Lr32`` block: ``layer_info`` is that one.

Source: Adobe Photoshop File Formats Specification, November 2019.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from resources.photoshop.psd.cursor import Cursor, broken
from resources.photoshop.psd.layers import LayerInfo, read_layer_info
from resources.photoshop.psd.limits import Limits
from resources.photoshop.psd.tagged import Block, read_blocks

SIGNATURE = b"8BPS"
VERSIONS = {1: "PSD", 2: "PSB"}
MODES = {
    0: "bitmap", 1: "grayscale", 2: "indexed", 3: "rgb", 4: "cmyk", 7: "multichannel", 8: "duotone", 9: "lab",
}  # fmt: skip
#: colour channels of each mode in the merged image
COLOUR_CHANNELS = {0: 1, 1: 1, 2: 1, 3: 3, 4: 4, 7: 0, 8: 1, 9: 3}
DEPTHS = (1, 8, 16, 32)
MAX_SIDE = {1: 30_000, 2: 300_000}
MAX_CHANNELS = 56
RESOURCE_SIGNATURES = (b"8BIM", b"MeSa", b"AgHg", b"PHUT", b"DCSR")
COMPRESSIONS = {0: "raw", 1: "rle", 2: "zip", 3: "zip with prediction"}
RAW, RLE = 0, 1
DEEP_BLOCKS = (b"Lr16", b"Lr32", b"Layr")


@dataclass(slots=True)
class Header:
    """The 26 bytes at the start."""

    version: int
    channels: int
    height: int
    width: int
    depth: int
    mode: int
    reserved: bytes = bytes(6)

    def dump(self) -> bytes:
        """The 26 bytes."""
        return struct.pack(
            ">4sH6sHIIHH", SIGNATURE, self.version, self.reserved, self.channels, self.height, self.width,
            self.depth, self.mode,
        )  # fmt: skip


@dataclass(slots=True)
class Resource:
    """One image resource. ``name`` is the padded Pascal string as stored."""

    signature: bytes
    id: int
    name: bytes
    data: bytes
    pad: bytes = b""

    def dump(self) -> bytes:
        """Signature, id, name, length, data, padding."""
        head = struct.pack(">4sH", self.signature, self.id)
        return head + self.name + struct.pack(">I", len(self.data)) + self.data + self.pad

    def replace(self, data: bytes) -> None:
        """Put other bytes in, padded to an even length."""
        self.data = data
        self.pad = bytes(len(data) % 2)


@dataclass(slots=True)
class Container:
    """The whole file."""

    header: Header
    colour_data: bytes
    resources: list[Resource]
    resources_tail: bytes
    #: layer info of the layer section proper (holds no layers in a deep document)
    plain_layers: LayerInfo | None
    global_mask: bytes | None
    blocks: list[Block]
    section_tail: bytes
    compression: int
    #: merged image: everything after the compression code
    image: bytes
    #: layers found in an Lr16/Lr32 block, which ``dump`` writes back into it
    deep_layers: LayerInfo | None = None
    deep_block: Block | None = field(default=None, repr=False)

    @property
    def layer_info(self) -> LayerInfo | None:
        """Where this document's layers are."""
        return self.deep_layers or self.plain_layers

    def resource(self, identifier: int) -> Resource | None:
        """The first image resource ``identifier``."""
        return next((item for item in self.resources if item.id == identifier), None)

    def block(self, *keys: bytes) -> Block | None:
        """The first global tagged block with one of ``keys``."""
        return next((item for item in self.blocks if item.key in keys), None)

    def dump(self) -> bytes:
        """The file's bytes."""
        psb = self.header.version == 2  # noqa: PLR2004 - the PSB version number
        parts = [self.header.dump(), struct.pack(">I", len(self.colour_data)), self.colour_data]
        resources = b"".join(item.dump() for item in self.resources) + self.resources_tail
        parts += [struct.pack(">I", len(resources)), resources]
        if self.deep_layers is not None and self.deep_block is not None and self.deep_layers.touched:
            self.deep_block.replace(self.deep_layers.dump(psb=psb))
        section = b""
        if self.plain_layers is not None:
            section += self.plain_layers.dump_with_length(psb=psb)
        if self.global_mask is not None:
            section += struct.pack(">I", len(self.global_mask)) + self.global_mask
        section += b"".join(block.dump(psb=psb) for block in self.blocks) + self.section_tail
        parts += [struct.pack(">Q" if psb else ">I", len(section)), section]
        parts += [struct.pack(">H", self.compression), self.image]
        return b"".join(parts)


def parse(data: bytes, limits: Limits | None = None) -> Container:
    """Read ``data`` within ``limits``.

    Raises ``InvalidDocument`` with code ``psd.*`` and the byte offset of the first broken rule.
    """
    limits = limits or Limits()
    if len(data) > limits.file_bytes:
        raise broken("psd.too_large", f"the file has {len(data)} bytes, the limit is {limits.file_bytes}", 0)
    cursor = Cursor(data)
    header = _header(cursor, limits)
    psb = header.version == 2  # noqa: PLR2004 - the PSB version number
    colour = cursor.take(cursor.number("I", "the colour mode data's length"), "the colour mode data")
    window = cursor.window(cursor.number("I", "the image resources' length"), "the image resources")
    resources = _resources(window)
    resources_tail = window.rest()
    length = cursor.number("Q" if psb else "I", "the layer section's length")
    section = cursor.window(length, "the layer section")
    plain = read_layer_info(section, header.depth, limits, psb=psb) if section.left else None
    global_mask = None
    if section.left >= 4:  # noqa: PLR2004 - the length field itself
        global_mask = section.take(section.number("I", "the global mask's length"), "the global layer mask")
    blocks = read_blocks(section, psb=psb)
    container = Container(
        header, colour, resources, resources_tail, plain, global_mask, blocks, section.rest(), 0, b""
    )
    deep = container.block(*DEEP_BLOCKS)
    if deep is not None and not (plain and plain.layers):
        inner = Cursor(data, deep.offset, deep.offset + len(deep.data))
        container.deep_layers = read_layer_info(inner, header.depth, limits, psb=psb, bare=True)
        container.deep_block = deep
    container.compression = _merged(cursor, header)
    container.image = cursor.rest()
    return container


def _header(cursor: Cursor, limits: Limits) -> Header:
    if cursor.peek(4) != SIGNATURE:
        raise broken("psd.not_a_psd", f"this is not a PSD: it starts with {cursor.peek(4)!r}", 0)
    cursor.take(4, "the signature")
    version = cursor.number("H", "the version")
    if version not in VERSIONS:
        raise broken("psd.bad_version", f"the version is {version}, known are 1 (PSD) and 2 (PSB)", 4)
    reserved = cursor.take(6, "the header")
    channels, height, width, depth, mode = cursor.unpack("HIIHH", "the header")
    if not 1 <= channels <= MAX_CHANNELS:
        raise broken("psd.bad_channels", f"the header names {channels} channels, allowed are 1 to 56", 12)
    for side, value, offset in (("height", height, 14), ("width", width, 18)):
        if not 1 <= value <= MAX_SIDE[version]:
            allowed = f"a {VERSIONS[version]} allows 1 to {MAX_SIDE[version]}"
            raise broken("psd.bad_dimensions", f"the {side} is {value}, {allowed}", offset)
    if height * width > limits.pixels:
        raise broken("psd.too_many_pixels", f"{width} x {height} pixels pass the limit {limits.pixels}", 14)
    if depth not in DEPTHS:
        raise broken("psd.bad_depth", f"the depth is {depth}, known are 1, 8, 16 and 32 bits", 22)
    if mode not in MODES:
        raise broken("psd.bad_mode", f"the colour mode is {mode}, known are 0 to 4 and 7 to 9", 24)
    return Header(version, channels, height, width, depth, mode, reserved)


def _resources(window: Cursor) -> list[Resource]:
    found = []
    while window.left >= 12:  # noqa: PLR2004 - the least that a resource needs
        if window.peek(4) not in RESOURCE_SIGNATURES:
            raise broken(
                "psd.bad_resource", f"an image resource starts with {window.peek(4)!r}, not 8BIM", window.at
            )
        signature = window.take(4, "a resource's signature")
        identifier = window.number("H", "a resource's id")
        name_length = window.peek(1)[0]
        name = window.take(name_length + 1 + (name_length + 1) % 2, f"the name of resource {identifier}")
        size = window.number("I", f"the length of resource {identifier}")
        data = window.take(size, f"image resource {identifier}")
        pad = window.take(min(size % 2, window.left), "padding")
        found.append(Resource(signature, identifier, name, data, pad))
    return found


def _merged(cursor: Cursor, header: Header) -> int:
    """Check that the merged image is whole; returns its compression and leaves the cursor behind it."""
    start = cursor.at
    compression = cursor.number("H", "the merged image's compression")
    if compression not in COMPRESSIONS:
        raise broken("psd.bad_compression", f"the merged image's compression is {compression}", start)
    rows = header.height * header.channels
    row_bytes = (header.width * header.depth + 7) // 8
    if compression == RAW and cursor.left < rows * row_bytes:
        cursor.short(rows * row_bytes, "the merged image")
    if compression == RLE:
        width = 4 if header.version == 2 else 2  # noqa: PLR2004 - the PSB version number
        here = cursor.at
        counts = cursor.take(rows * width, "the merged image's row lengths")
        total = sum(struct.unpack(f">{rows}{'I' if width == 4 else 'H'}", counts))  # noqa: PLR2004
        if cursor.left < total:
            cursor.short(total, "the merged image's rows")
        cursor.at = here
    return compression
