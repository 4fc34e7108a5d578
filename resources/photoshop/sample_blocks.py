"""The blocks of a document made from nothing: smart-object placement, linked file, text, names, guides.

Only what Photoshop itself writes for such layers, in its order; used by ``sample.py``.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from psd_tools.psd import descriptor

from resources.photoshop.psd.tagged import Block

if TYPE_CHECKING:
    from collections.abc import Sequence

#: psd-tools' classes take any value at run time; their types say otherwise
d: Any = descriptor
Descriptor = Any

GUIDE_UNITS: Final = 32
VERTICAL, HORIZONTAL = 0, 1
BYTE_ORDER_MARK = b"\xfe\xff"
SIXTEEN_BY_NINE: Final = 16


def tagged(key: bytes, data: bytes) -> Block:
    """A layer's block, its data padded to 4 bytes."""
    return Block(b"8BIM", key, data + bytes(-len(data) % 4))


def layer_blocks(name: str, identifier: int) -> list[Block]:
    """What every layer carries: Unicode name, id, and the switches of blending and locks."""
    text = name.encode("utf-16-be")
    return [
        tagged(b"luni", struct.pack(">I", len(text) // 2) + text),
        tagged(b"lyid", struct.pack(">I", identifier)),
        tagged(b"clbl", b"\1\0\0\0"),
        tagged(b"infx", bytes(4)),
        tagged(b"knko", bytes(4)),
        tagged(b"lspf", bytes(4)),
        tagged(b"lclr", bytes(8)),
    ]


def pascal_name(name: str) -> bytes:
    """A layer record's Pascal name, padded to 4."""
    raw = name.encode("mac-roman", errors="replace")[:255]
    text = bytes([len(raw)]) + raw
    return text + bytes(-len(text) % 4)


def guides(across: Sequence[float], down: Sequence[float]) -> bytes:
    """Image resource 1032: vertical guides at x ``across``, horizontal ones at y ``down``."""
    head = struct.pack(">4I", 1, 576, 576, len(across) + len(down))
    listed = [struct.pack(">IB", round(at * GUIDE_UNITS), VERTICAL) for at in across]
    listed += [struct.pack(">IB", round(at * GUIDE_UNITS), HORIZONTAL) for at in down]
    return head + b"".join(listed)


def resolution(per_inch: int) -> bytes:
    """Image resource 1005."""
    return struct.pack(">IHHIHH", per_inch << 16, 1, 1, per_inch << 16, 1, 1)


def version_info() -> bytes:
    """Image resource 1057: a real merged image, and who wrote it."""
    names = b""
    for name in ("Fabric", "Fabric on Dagster"):
        names += struct.pack(">I", len(name)) + name.encode("utf-16-be")
    return struct.pack(">IB", 1, 1) + names + struct.pack(">I", 1)


def placement_blocks(uuid: str, placed: str, size: tuple[float, float], quad: Sequence[float]) -> list[Block]:
    """``PlLd`` and ``SoLd`` of an embedded smart object without warp."""
    from psd_tools.constants import PlacedLayerType
    from psd_tools.psd.tagged_blocks import PlacedLayerData, SmartObjectLayerData
    from psd_tools.terminology import Unit

    width, height = size
    corners = [float(value) for value in quad]
    second = _object(b"null", numerator=d.Integer(0), denominator=d.Integer(600))
    items: list[tuple[bytes, Any]] = [
        (b"Idnt", d.String(uuid + "\0")),
        (b"placed", d.String(placed + "\0")),
        (b"PgNm", d.Integer(1)),
        (b"totalPages", d.Integer(1)),
        (b"Crop", d.Integer(1)),
        (b"frameStep", second),
        (b"duration", _object(b"null", numerator=d.Integer(0), denominator=d.Integer(600))),
        (b"frameCount", d.Integer(1)),
        (b"Annt", d.Integer(SIXTEEN_BY_NINE)),
        (b"Type", d.Integer(2)),
        (b"Trnf", d.List([d.Double(value) for value in corners])),
        (b"nonAffineTransform", d.List([d.Double(value) for value in corners])),
        (b"warp", d.Descriptor(name="\0", classID=b"warp", items=_no_warp(width, height))),
        (b"Sz  ", _object(b"Pnt ", Wdth=d.Double(width), Hght=d.Double(height))),
        (b"Rslt", d.UnitFloat(unit=Unit.Density, value=72.0)),
        (b"comp", d.Integer(-1)),
        (b"compInfo", _object(b"null", compID=d.Integer(-1), originalCompID=d.Integer(-1))),
    ]
    data = d.DescriptorBlock(version=16, name="\0", classID=b"null", items=items)
    old = PlacedLayerData(
        uuid=uuid.encode("ascii"),
        page=1,
        total_pages=1,
        anti_alias=16,
        layer_type=PlacedLayerType.RASTER,
        transform=tuple(corners),
        warp=d.DescriptorBlock2(
            version=0, data_version=16, name="\0", classID=b"warp", items=_no_warp(width, height)
        ),
    )
    new = SmartObjectLayerData(version=4, data=data)
    return [tagged(b"PlLd", old.tobytes()), tagged(b"SoLd", new.tobytes())]


def _object(kind: bytes, **items: Any) -> Descriptor:  # noqa: ANN401 - descriptor values

    listed = [(key.encode("ascii"), value) for key, value in items.items()]
    return d.Descriptor(name="\0", classID=kind, items=listed)


def _no_warp(width: float, height: float) -> list[tuple[bytes, Any]]:

    box = [(b"Top ", 0.0), (b"Left", 0.0), (b"Btom", height), (b"Rght", width)]
    return [
        (b"warpStyle", d.Enumerated(typeID=b"warpStyle", enum=b"warpNone")),
        (b"warpValue", d.Double(0.0)),
        (b"warpPerspective", d.Double(0.0)),
        (b"warpPerspectiveOther", d.Double(0.0)),
        (b"warpRotate", d.Enumerated(typeID=b"Ornt", enum=b"Hrzn")),
        (b"bounds", d.Descriptor(
            name="\0", classID=b"classFloatRect", items=[(key, d.Double(value)) for key, value in box]
        )),
        (b"uOrder", d.Integer(4)),
        (b"vOrder", d.Integer(4)),
    ]  # fmt: skip


def linked_block(uuid: str, name: str, kind: bytes, contents: bytes) -> Block:
    """``lnk2`` with one embedded file."""
    from psd_tools.constants import LinkedLayerType
    from psd_tools.psd.linked_layer import LinkedLayer, LinkedLayers

    d_links: Any = LinkedLayers
    opened = d.DescriptorBlock(
        version=16,
        name="\0",
        classID=b"null",
        items=[(b"compInfo", _object(b"null", compID=d.Integer(-1), originalCompID=d.Integer(-1)))],
    )
    item = LinkedLayer(
        kind=LinkedLayerType.DATA, version=7, uuid=uuid, filename=name + "\0", filetype=kind,
        creator=bytes(4), open_file=opened, data=contents, child_id="\0", mod_time=0.0, lock_state=0,
    )  # fmt: skip
    return tagged(b"lnk2", d_links([item]).tobytes())


def text_block(
    text: str, font: str, size: float, at: tuple[float, float], box: tuple[float, float, float, float]
) -> Block:
    """``TySh`` of one line of centred white point text; ``at`` is its anchor, ``box`` its ink around it."""
    from psd_tools.psd.tagged_blocks import TypeToolObjectSetting
    from psd_tools.terminology import Unit

    def bounds(kind: bytes) -> Descriptor:
        sides = zip((b"Left", b"Top ", b"Rght", b"Btom"), box, strict=True)
        items = [(key, d.UnitFloat(unit=Unit.Points, value=value)) for key, value in sides]
        return d.Descriptor(name="\0", classID=kind, items=items)

    data = d.DescriptorBlock(
        version=16,
        name="\0",
        classID=b"TxLr",
        items=[
            (b"Txt ", d.String(text + "\0")),
            (b"textGridding", d.Enumerated(typeID=b"textGridding", enum=b"None")),
            (b"Ornt", d.Enumerated(typeID=b"Ornt", enum=b"Hrzn")),
            (b"AntA", d.Enumerated(typeID=b"Annt", enum=b"antiAliasSharp")),
            (b"bounds", bounds(b"bounds")),
            (b"boundingBox", bounds(b"boundingBox")),
            (b"TextIndex", d.Integer(0)),
            (b"EngineData", d.RawData(engine_data(text, font, size))),
        ],
    )
    warp = d.DescriptorBlock(version=16, name="\0", classID=b"warp", items=_no_warp(0.0, 0.0)[:5])
    setting = TypeToolObjectSetting(
        version=1, transform=(1.0, 0.0, 0.0, 1.0, *at), text_version=50, text_data=data, warp_version=1,
        warp=warp,
    )  # fmt: skip
    return tagged(b"TySh", setting.tobytes())


def _string(text: str) -> bytes:
    """A text of engine data: UTF-16 with mark, its delimiters escaped."""
    raw = text.encode("utf-16-be")
    for sign in (b"\\", b"(", b")"):
        raw = raw.replace(sign, b"\\" + sign)
    return b"(" + BYTE_ORDER_MARK + raw + b")"


def engine_data(text: str, font: str, size: float) -> bytes:
    """The text engine's own notation, for one style and one paragraph."""
    length = len(text.encode("utf-16-le")) // 2 + 1
    style = (
        f"/Font 0 /FontSize {size:.1f} /FauxBold false /FauxItalic false /AutoLeading true"
        " /HorizontalScale 1.0 /VerticalScale 1.0 /Tracking 40 /AutoKerning true /Kerning 0"
        " /BaselineShift 0.0 /FontCaps 0 /FontBaseline 0 /Underline false /Strikethrough false"
        " /Ligatures true /DLigatures false /BaselineDirection 2 /Tsume 0.0 /StyleRunAlignment 2"
        " /Language 0 /NoBreak false /FillColor << /Type 1 /Values [ 1.0 1.0 1.0 1.0 ] >>"
        " /StrokeColor << /Type 1 /Values [ 1.0 0.0 0.0 0.0 ] >> /FillFlag true /StrokeFlag false"
        " /FillFirst true /YUnderline 1 /OutlineWidth 1.0"
    ).encode("ascii")
    paragraph = (
        b"/Justification 2 /FirstLineIndent 0.0 /StartIndent 0.0 /EndIndent 0.0 /SpaceBefore 0.0"
        b" /SpaceAfter 0.0 /AutoHyphenate false /HyphenatedWordSize 6 /PreHyphen 2 /PostHyphen 2"
        b" /ConsecutiveHyphens 8 /Zone 36.0 /WordSpacing [ .8 1.0 1.33 ] /LetterSpacing [ 0.0 0.0 0.0 ]"
        b" /GlyphSpacing [ 1.0 1.0 1.0 ] /AutoLeading 1.2 /LeadingType 0 /Hanging false"
        b" /Burasagari false /KinsokuOrder 0 /EveryLineComposer false"
    )
    adjust = b"/Adjustments << /Axis [ 1.0 0.0 1.0 ] /XY [ 0.0 0.0 ] >>"
    count = str(length).encode("ascii")
    fonts = b"/FontSet [ << /Name " + _string(font) + b" /Script 0 /FontType 1 /Synthetic 0 >> ]"
    sheets = (
        b"/KinsokuSet [ ] /MojiKumiSet [ ] /TheNormalStyleSheet 0 /TheNormalParagraphSheet 0"
        b" /ParagraphSheetSet [ << /Name " + _string("Normal RGB") + b" /DefaultStyleSheet 0 /Properties << "
        + paragraph + b" >> >> ] /StyleSheetSet [ << /Name " + _string("Normal RGB") + b" /StyleSheetData << "
        + style + b" >> >> ] " + fonts + b" /SuperscriptSize .583 /SuperscriptPosition .333"
        b" /SubscriptSize .583 /SubscriptPosition .333 /SmallCapSize .7"
    )  # fmt: skip
    return b"".join([
        b"\n\n<< /EngineDict << /Editor << /Text ", _string(text + "\r"), b" >>",
        b" /ParagraphRun << /DefaultRunData << /ParagraphSheet << /DefaultStyleSheet 0 /Properties << >> >> ",
        adjust, b" >> /RunArray [ << /ParagraphSheet << /DefaultStyleSheet 0 /Properties << ", paragraph,
        b" >> >> ", adjust, b" >> ] /RunLengthArray [ ", count, b" ] /IsJoinable 1 >>",
        b" /StyleRun << /DefaultRunData << /StyleSheet << /StyleSheetData << >> >> >> /RunArray [",
        b" << /StyleSheet << /StyleSheetData << ", style, b" >> >> >> ] /RunLengthArray [ ", count,
        b" ] /IsJoinable 2 >> /GridInfo << /GridIsOn false /ShowGrid false /GridSize 18.0 /GridLeading 22.0",
        b" /GridColor << /Type 1 /Values [ 0.0 0.0 0.0 1.0 ] >> /GridLeadingFillColor << /Type 1 /Values",
        b" [ 0.0 0.0 0.0 1.0 ] >> /AlignLineHeightToGridFlags false >> /AntiAlias 4",
        b" /UseFractionalGlyphWidths true /Rendered << /Version 1 /Shapes << /WritingDirection 0",
        b" /Children [ << /ShapeType 0 /Procession 0 /Lines << /WritingDirection 0 /Children [ ] >> /Cookie",
        b" << /Photoshop << /ShapeType 0 /PointBase [ 0.0 0.0 ] /Base << /ShapeType 0 /TransformPoint0",
        b" [ 1.0 0.0 ] /TransformPoint1 [ 0.0 1.0 ] /TransformPoint2 [ 0.0 0.0 ] >> >> >> >> ] >> >> >>",
        b" /ResourceDict << ", sheets, b" >> /DocumentResources << ", sheets, b" >> >>",
    ])  # fmt: skip
