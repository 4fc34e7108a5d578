"""A text layer as data: words, runs of style, paragraphs, frame and transform.

Lengths are pixels before the layer's transform; colours are straight, 0…1, in the document's space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LEFT, RIGHT, CENTER = 0, 1, 2
#: justified; the last line left, right, centred, justified too
JUSTIFIED: Final = (3, 4, 5, 6)
JUSTIFY_ALL: Final = 6
ALIGNMENTS: Final = {
    0: "left", 1: "right", 2: "center", 3: "justify_left", 4: "justify_right", 5: "justify_center",
    6: "justify_all",
}  # fmt: skip
ALL_CAPS, SMALL_CAPS = 2, 1
SUPERSCRIPT, SUBSCRIPT = 1, 2

Affine = tuple[float, float, float, float, float, float]
Colour = tuple[float, float, float, float]
Frame = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Style:
    """How a run of characters looks. ``leading`` ``None`` is automatic."""

    font: str
    size: float
    colour: Colour
    leading: float | None = None
    tracking: float = 0.0
    kerning: bool = True
    ligatures: bool = True
    across: float = 1.0
    down: float = 1.0
    shift: float = 0.0
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strikethrough: bool = False
    caps: int = 0
    script: int = 0


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """How a paragraph's lines lie."""

    align: int = LEFT
    auto_leading: float = 1.2
    first_indent: float = 0.0
    start_indent: float = 0.0
    end_indent: float = 0.0
    before: float = 0.0
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class TextModel:
    r"""The whole layer. ``frame`` (left, top, right, bottom) only where it is paragraph text.

    ``runs`` and ``paragraphs`` hold lengths in characters of ``text`` with line breaks as ``\n``.
    """

    text: str
    runs: tuple[tuple[int, Style], ...]
    paragraphs: tuple[tuple[int, ParagraphStyle], ...]
    transform: Affine
    frame: Frame | None
    smooth: bool = True

    def with_text(self, text: str) -> TextModel:
        """Other words, in the style of the first run and the first paragraph."""
        return TextModel(
            text, ((len(text), self.runs[0][1]),), ((len(text), self.paragraphs[0][1]),),
            self.transform, self.frame, self.smooth,
        )  # fmt: skip
