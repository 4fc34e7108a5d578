"""A font of the tests' own, and text layers of every kind."""

from __future__ import annotations

import io
from functools import cache

from psd_tools.psd.tagged_blocks import TypeToolObjectSetting

from resources.photoshop.psd.container import parse
from resources.photoshop.sample_blocks import tagged

FONT_NAME = "FabricTest-Block"


@cache
def small_font() -> bytes:
    """Letters A to D and d as plain blocks: 600 x 700 of 1000 units, advancing 700; a space of 300."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    names = [".notdef", "space", "A", "B", "C", "D", "a", "d"]

    def block(height: int):
        pen = TTGlyphPen(None)
        pen.moveTo((0, 0))
        for at in ((0, height), (600, height), (600, 0)):
            pen.lineTo(at)
        pen.closePath()
        return pen.glyph()

    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(n): n for n in names[2:]} | {32: "space"})
    empty = TTGlyphPen(None).glyph()
    builder.setupGlyf({n: empty if n in names[:2] else block(700) for n in names})
    builder.setupHorizontalMetrics({n: (300 if n == "space" else 700, 0) for n in names})
    builder.setupHorizontalHeader(ascent=900, descent=-200)
    builder.setupNameTable({"familyName": "Fabric Test", "styleName": "Block", "psName": FONT_NAME})
    builder.setupOS2(sTypoAscender=900, sTypoDescender=-200, usWinAscent=900, usWinDescent=200)
    builder.setupPost()
    # The clock must not be in the file: the same bytes every time.
    builder.font["head"].created = builder.font["head"].modified = 0
    builder.font.recalcTimestamp = False
    stream = io.BytesIO()
    builder.save(stream)
    return stream.getvalue()


def with_text(
    data: bytes, identifier: int, *, font=None, size=None, align=None, tracking=None, leading=None,
    colour=None, transform=None, box=None, shape=None, stroked=False, orientation=None, warp=None,
    engine=None,
) -> bytes:  # fmt: skip
    """The document with one text layer's style, frame or placement changed."""
    container = parse(data)
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    block = record.block(b"TySh")
    raw = block.data
    swaps: list[tuple[bytes, bytes]] = []
    if font:
        swaps.append(("Aileron-Regular".encode("utf-16-be"), font.encode("utf-16-be")))
    if size is not None:
        swaps.append((b"/FontSize 46.0", f"/FontSize {size:.1f}".encode()))
    if align is not None:
        swaps.append((b"/Justification 2", f"/Justification {align}".encode()))
    if tracking is not None:
        swaps.append((b"/Tracking 40", f"/Tracking {tracking}".encode()))
    if leading is not None:
        swaps.append((b"/AutoLeading true", f"/AutoLeading false /Leading {leading:.1f}".encode()))
    if colour is not None:
        values = " ".join(str(v) for v in (1.0, *colour))
        swaps.append((b"/FillColor << /Type 1 /Values [ 1.0 1.0 1.0 1.0 ]",
                      f"/FillColor << /Type 1 /Values [ {values} ]".encode()))  # fmt: skip
    if stroked:
        swaps.append((b"/StrokeFlag false", b"/StrokeFlag true"))
    kind = shape if shape is not None else 1 if box else 0
    if kind:
        bounds = " ".join(f"{v:.1f}" for v in box or (0, 0, 1, 1))
        swaps += [
            (b"/Children [ << /ShapeType 0", f"/Children [ << /ShapeType {kind}".encode()),
            (b"/Photoshop << /ShapeType 0 /PointBase [ 0.0 0.0 ]",
             f"/Photoshop << /ShapeType {kind} /BoxBounds [ {bounds} ]".encode()),
        ]  # fmt: skip
    block.data = _rebuilt(raw, swaps, engine, transform, orientation, warp)
    container.layer_info.touched = True
    return container.dump()


def _rebuilt(raw, swaps, engine, transform, orientation, warp) -> bytes:
    from psd_tools.psd import descriptor as d

    setting = TypeToolObjectSetting.frombytes(raw)
    start = raw.index(b"\n\n<< /EngineDict")
    size = int.from_bytes(raw[start - 4 : start], "big")
    body = engine or raw[start : start + size]
    for old, new in swaps:
        assert old in body
        body = body.replace(old, new)
    setting.text_data[b"EngineData"] = d.RawData(body)
    if transform:
        setting.transform = tuple(float(v) for v in transform)
    if orientation:
        setting.text_data[b"Ornt"].enum = orientation.encode()
    if warp:
        setting.warp[b"warpStyle"].enum = warp.encode()
    return setting.tobytes() + bytes(-len(setting.tobytes()) % 4)


def with_text_engine(data: bytes) -> bytes:
    """The document with ``Txt2`` data that mirror its one text, as new Photoshops keep them."""
    container = parse(data)
    text = "OFFER\r".encode("utf-16-be")
    length = len(text) // 2
    count = str(length).encode()
    body = b"".join([
        b" /98 << /0 13 >> /0 << /1 << /0 [ ] >> >> /1 << /0 << /15 << /0 (\xfe\xff) >> >> /1 [ << /0 << /0 ",
        b"(\xfe\xff", text, b") /5 << /0 [ << /0 << /0 << /0 (\xfe\xff) /5 << /0 2 >> /6 0 >> >> /1 ", count,
        b" >> ] >> /6 << /0 [ << /0 << /0 << /0 (\xfe\xff) /5 0 /6 << /0 0 /1 46.0 >> >> >> /1 ", count,
        b" >> ] >> /10 << /0 4 >> >> /1 << /5 0 >> >> ] >>",
    ])  # fmt: skip
    container.blocks.append(tagged(b"Txt2", body))
    return container.dump()


def rasterised(data: bytes, identifier: int) -> bytes:
    """The document with a text layer made a pixel layer."""
    container = parse(data)
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    record.blocks = [block for block in record.blocks if block.key != b"TySh"]
    container.layer_info.touched = True
    return container.dump()


def with_words(data: bytes, identifier: int, words: str) -> bytes:
    """The document with other words in a text layer's block; its picture stays as it was."""
    from resources.photoshop.type.write import write_words

    container = parse(data)
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    write_words(container, record, words)
    container.layer_info.touched = True
    return container.dump()
