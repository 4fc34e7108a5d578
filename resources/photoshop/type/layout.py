"""From a text layer's words and style to glyphs in place.

Rules kept here (measured on files that Photoshop wrote; docs/photoshop.md tells how near this comes):

* Point text has its first baseline at the origin; in a frame the first one lies so that a ``d`` of the
  line's largest style touches the top. Lines follow at the leading of the line.
* Lines break at spaces, after hyphens and between ideographs; a word that is wider than its frame breaks
  anywhere. White space at a line's end has no width.
* A line that reaches below the frame with its descent is cut off, and all that follow.
* A character that the font has not is an error with that character; nothing is drawn as a box.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.errors import OperationFailed
from resources.photoshop.type import bidi
from resources.photoshop.type.style import (
    ALL_CAPS,
    CENTER,
    JUSTIFIED,
    JUSTIFY_ALL,
    RIGHT,
    SMALL_CAPS,
    SUBSCRIPT,
    SUPERSCRIPT,
    ParagraphStyle,
    Style,
    TextModel,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from resources.photoshop.type.fonts import Font, FontBook

SMALLER: Final = 0.7
SCRIPT_SIZE: Final = 0.583
SCRIPT_SHIFT: Final = 0.333
BREAK_AFTER: Final = "-\u2010\u2013\u2014\u00ad/"
#: ideographs and kana: a line may break between any two
WIDE: Final = {"W", "F"}
SLACK: Final = 0.01


@dataclass(frozen=True, slots=True)
class Glyph:
    """One outline: which, in what style and size, and its origin in the layer's own pixels."""

    font: Font
    style: Style
    number: int
    x: float
    y: float
    size: float


@dataclass(frozen=True, slots=True)
class Rule:
    """A line under or through text: left, right, top, bottom."""

    style: Style
    left: float
    right: float
    top: float
    bottom: float


@dataclass(slots=True)
class Laid:
    """What is to be drawn, and what did not fit."""

    glyphs: list[Glyph] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    lines: int = 0
    #: lines that the frame does not hold
    cut: int = 0
    #: left, top, right, bottom of the lines (advance widths, ascent to descent)
    extent: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A shaped stretch of one style and direction: glyph number, advance, x and y offset, character."""

    font: Font
    style: Style
    size: float
    glyphs: tuple[tuple[int, float, float, float, int], ...]

    @property
    def width(self) -> float:
        return sum(item[1] for item in self.glyphs)


def lay_out(model: TextModel, book: FontBook) -> Laid:
    """Glyphs of ``model``; raises ``photoshop.font_missing`` or ``photoshop.glyph_missing``."""
    fonts = {style.font: book.find(style.font) for _, style in model.runs}
    styles = [style for length, style in model.runs for _ in range(length)]
    styles += [styles[-1] if styles else model.runs[0][1]] * (len(model.text) - len(styles) + 1)
    sheets = [sheet for length, sheet in model.paragraphs for _ in range(length)]
    sheets += [sheets[-1] if sheets else ParagraphStyle()] * (len(model.text) - len(sheets) + 1)
    text = "".join(
        character.upper() if style.caps == ALL_CAPS and len(character.upper()) == 1 else character
        for character, style in zip(model.text, styles, strict=False)
    )
    _check_characters(text, styles, fonts)
    laid = Laid()
    flow = _Flow(model, laid)
    start = 0
    for paragraph in text.split("\n"):
        end = start + len(paragraph)
        sheet = sheets[start]
        shaper = _Shaper(text, styles, fonts, start, end)
        flow.paragraph(shaper, sheet)
        start = end + 1
    return laid


def _check_characters(text: str, styles: Sequence[Style], fonts: dict[str, Font]) -> None:
    missing: dict[str, dict[str, None]] = {}
    for character, style in zip(text, styles, strict=False):
        if unicodedata.category(character) in {"Cc", "Cf"} or character == "\u00a0":
            continue
        if not fonts[style.font].shaped.get_nominal_glyph(ord(character)):
            composed = unicodedata.normalize("NFC", character)
            missing.setdefault(style.font, {})[composed] = None
    for name, characters in missing.items():
        listed = ", ".join(f"{c!r} (U+{ord(c[0]):04X})" for c in list(characters)[:8])
        raise OperationFailed(
            "photoshop.glyph_missing",
            f"the font {name} has no glyph for {listed}",
            mend="use characters that the layer's font has, or another font in the template",
            value="".join(characters)[:32],
        )


class _Shaper:
    """Shapes stretches of one paragraph (characters ``start`` to ``end`` of the text)."""

    def __init__(
        self, text: str, styles: Sequence[Style], fonts: dict[str, Font], start: int, end: int
    ) -> None:
        self.text, self.styles, self.fonts = text, styles, fonts
        self.start, self.end = start, end
        self.base = bidi.base_level(text[start:end])
        self.levels = bidi.levels(text[start:end], self.base)

    def pieces(self, start: int, end: int) -> list[_Piece]:
        """The stretch, shaped, from left to right."""
        found = []
        order = bidi.runs(self.levels[start - self.start : end - self.start])
        for first, last, level in bidi.visual(order):
            parts = list(self._by_style(start + first, start + last))
            found += [self._shape(a, b, level) for a, b in (reversed(parts) if level % 2 else parts)]
        return found

    def advances(self) -> dict[int, float]:
        """Width of each character (a cluster's stands at its first)."""
        widths: dict[int, float] = {}
        for piece in self.pieces(self.start, self.end):
            for _, advance, _, _, character in piece.glyphs:
                widths[character] = widths.get(character, 0.0) + advance
        return widths

    def _by_style(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        at = start
        while at < end:
            to = at + 1
            while to < end and self._same(at, to):
                to += 1
            yield at, to
            at = to

    def _same(self, first: int, second: int) -> bool:
        style = self.styles[first]
        return style == self.styles[second] and (
            style.caps != SMALL_CAPS or self.text[first].islower() == self.text[second].islower()
        )

    def _shape(self, start: int, end: int, level: int) -> _Piece:
        import uharfbuzz as hb  # type: ignore[import-untyped]

        style = self.styles[start]
        font = self.fonts[style.font]
        size, text = style.size, self.text[start:end]
        if style.caps == SMALL_CAPS and text.islower():
            text, size = text.upper() if len(text.upper()) == len(text) else text, size * SMALLER
        if style.script in {SUPERSCRIPT, SUBSCRIPT}:
            size *= SCRIPT_SIZE
        buffer = hb.Buffer()
        buffer.add_codepoints([ord(character) for character in text])
        buffer.guess_segment_properties()
        buffer.direction = "rtl" if level % 2 else "ltr"
        features = {"kern": style.kerning, "liga": style.ligatures, "clig": style.ligatures}
        hb.shape(font.shaped, buffer, features)
        scale = size / font.units
        tracked = style.tracking * style.size / 1000
        glyphs, seen = [], -1
        infos, places = buffer.glyph_infos or [], buffer.glyph_positions or []
        for info, place in zip(infos, places, strict=True):
            # Tracking is added once a character, not to each of its marks.
            extra = tracked if info.cluster != seen else 0.0
            seen = info.cluster
            glyphs.append((
                int(info.codepoint), (place.x_advance * scale + extra) * style.across,
                place.x_offset * scale * style.across, place.y_offset * scale * style.down,
                start + int(info.cluster),
            ))  # fmt: skip
        return _Piece(font, style, size, tuple(glyphs))


class _Flow:
    """Puts lines below one another."""

    def __init__(self, model: TextModel, laid: Laid) -> None:
        self.frame = model.frame
        self.laid = laid
        self.y: float | None = None
        self.after = 0.0

    def paragraph(self, shaper: _Shaper, sheet: ParagraphStyle) -> None:
        """All lines of one paragraph."""
        breaks = self._breaks(shaper, sheet)
        for number, (start, end) in enumerate(breaks):
            self._line(shaper, sheet, start, end, first=number == 0, last=number == len(breaks) - 1)
        self.after = sheet.after

    def _room(self, sheet: ParagraphStyle, *, first: bool) -> float:
        if self.frame is None:
            return float("inf")
        indent = sheet.start_indent + sheet.end_indent + (sheet.first_indent if first else 0.0)
        return max(0.0, self.frame[2] - self.frame[0] - indent)

    def _breaks(self, shaper: _Shaper, sheet: ParagraphStyle) -> list[tuple[int, int]]:
        if self.frame is None or shaper.start == shaper.end:
            return [(shaper.start, shaper.end)]
        widths, text = shaper.advances(), shaper.text
        lines: list[tuple[int, int]] = []
        start, at, width, good = shaper.start, shaper.start, 0.0, -1
        room = self._room(sheet, first=True)
        while at < shaper.end:
            step = widths.get(at, 0.0)
            if width + step > room + SLACK and not text[at].isspace() and at > start:
                cut = good if good > start else at
                lines.append((start, cut))
                start, at, width, good = cut, cut, 0.0, -1
                room = self._room(sheet, first=False)
                continue
            width += step
            at += 1
            if at < shaper.end and _may_break(text, at):
                good = at
        lines.append((start, shaper.end))
        return lines

    def _line(
        self, shaper: _Shaper, sheet: ParagraphStyle, start: int, end: int, *, first: bool, last: bool
    ) -> None:
        shown = end
        while shown > start and shaper.text[shown - 1].isspace():
            shown -= 1
        used = [shaper.styles[at] for at in range(start, max(end, start + 1))]
        faces = [(shaper.fonts[style.font], style) for style in dict.fromkeys(used)]
        leading = max(
            style.leading if style.leading is not None else sheet.auto_leading * style.size for style in used
        )
        if self.y is None:
            top = max(face.letter_height * style.size * style.down for face, style in faces)
            self.y = 0.0 if self.frame is None else self.frame[1] + top + sheet.before
        else:
            self.y += leading + (sheet.before + self.after if first else 0.0)
        below = max(face.descent * style.size * style.down for face, style in faces)
        above = max(face.ascent * style.size * style.down for face, style in faces)
        self.laid.lines += 1
        if self.frame is not None and self.y + below > self.frame[3] + SLACK:
            self.laid.cut += shown > start
            return
        pieces = shaper.pieces(start, shown)
        width = sum(piece.width for piece in pieces)
        gap = self._gap(sheet, pieces, shaper, width, first=first, last=last)
        left = self._left(sheet, width + gap[1], first=first, last=last)
        self._put(pieces, shaper, left, gap[0])
        right = left + width + gap[1]
        self.laid.extent = _around(
            self.laid.extent, (left, self.y - above, right, self.y + below), self.laid.lines
        )

    def _gap(
        self, sheet: ParagraphStyle, pieces: list[_Piece], shaper: _Shaper, width: float, *, first: bool,
        last: bool,
    ) -> tuple[float, float]:  # fmt: skip
        """What a justified line adds to each space, and in all."""
        if sheet.align not in JUSTIFIED or self.frame is None or (last and sheet.align != JUSTIFY_ALL):
            return 0.0, 0.0
        spaces = sum(shaper.text[item[4]] == " " for piece in pieces for item in piece.glyphs)
        missing = self._room(sheet, first=first) - width
        return (missing / spaces, missing) if spaces and missing > 0 else (0.0, 0.0)

    def _left(self, sheet: ParagraphStyle, width: float, *, first: bool, last: bool) -> float:
        align = sheet.align
        if align in JUSTIFIED:
            align = {4: RIGHT, 5: CENTER}.get(align, 0) if last else 0
        indent = sheet.start_indent + (sheet.first_indent if first else 0.0)
        if self.frame is None:
            return {RIGHT: -width, CENTER: -width / 2}.get(align, 0.0)
        room = self._room(sheet, first=first)
        base = self.frame[0] + indent
        return base + {RIGHT: room - width, CENTER: (room - width) / 2}.get(align, 0.0)

    def _put(self, pieces: list[_Piece], shaper: _Shaper, left: float, gap: float) -> None:
        x, y = left, self.y or 0.0
        for piece in pieces:
            begin, style = x, piece.style
            raised = style.shift + {
                SUPERSCRIPT: SCRIPT_SHIFT * style.size, SUBSCRIPT: -SCRIPT_SHIFT * style.size
            }.get(style.script, 0.0)  # fmt: skip
            for number, advance, across, up, character in piece.glyphs:
                self.laid.glyphs.append(
                    Glyph(piece.font, style, number, x + across, y - up - raised, piece.size)
                )
                x += advance + (gap if shaper.text[character] == " " else 0.0)
            thick = style.size / 20
            if style.underline:
                line = y - raised + style.size * 0.1
                self.laid.rules.append(Rule(style, begin, x, line, line + thick))
            if style.strikethrough:
                line = y - raised - style.size * 0.3
                self.laid.rules.append(Rule(style, begin, x, line, line + thick))


def _may_break(text: str, at: int) -> bool:
    """Whether a line may end before ``text[at]``."""
    before, here = text[at - 1], text[at]
    if here.isspace():
        return False
    if (before.isspace() and before != "\u00a0") or before in BREAK_AFTER:
        return True
    wide = unicodedata.east_asian_width
    closing = unicodedata.category(here) in {"Pe", "Pf", "Po"}
    return (wide(before) in WIDE or wide(here) in WIDE) and not closing


def _around(first: tuple[Any, ...], second: tuple[Any, ...], count: int) -> tuple[float, float, float, float]:
    if count == 1:
        return second[0], second[1], second[2], second[3]
    return (
        min(first[0], second[0]), min(first[1], second[1]), max(first[2], second[2]), max(first[3], second[3])
    )  # fmt: skip
