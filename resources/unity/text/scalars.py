r"""Scalars: what their bytes mean, and how Unity writes a text.

Sources: YAML 1.1; the emitter of libyaml (``yaml_emitter_analyze_scalar`` and the three writers), which
Unity follows with a width of 80 and without Unicode. Checked against files that Unity wrote:

* plain where possible; single quotes where an indicator, an edge space or a line break forbids plain; double
  quotes where a character is not printable ASCII (``\xE9``, ``\u2019``, ``\U0001F600``, ``\t``) or a break
  touches a space;
* a line breaks at a single space once the column has reached the width, and goes on indented by two more
  than the key; flow mappings break after a comma that stands beyond it. The empty text is written as nothing.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from resources.unity.text.errors import TextFault

if TYPE_CHECKING:
    from resources.unity.text.nodes import Scalar

WIDTH = 80
#: exponents that are written out in digits
POSITIONAL = 10
#: from here on a number rounds beyond the largest single
ROUNDS_UP = 3.4028235677973366e38
INTEGER = re.compile(r"[-+]?[0-9]+\Z")
DECIMAL = re.compile(
    r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z|[-+]?(?:inf|nan|Infinity|NaN)\Z"
)
#: a run of blanks is entered only at its start: a long one must not cost the square of its length
FOLDING = r"(?:(?<![ \t])[ \t]+)?(?:\r\n|\n|\r)(?P<further>(?:[ \t]*(?:\r\n|\n|\r))*)[ \t]*"
FOLD = re.compile(FOLDING)
#: escapes and folds in one pass, so that an escaped line end is no fold
DOUBLE = re.compile(
    rf"\\(?P<escape>x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}}|\r?\n[ \t]*|.)|{FOLDING}", re.DOTALL
)
NAMED = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028",
    "P": "\u2029",
}  # fmt: skip
WRITTEN = {
    "\0": "\\0", "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r",
    "\x1b": "\\e", '"': '\\"', "\\": "\\\\", "\x85": "\\N", "\xa0": "\\_", "\u2028": "\\L", "\u2029": "\\P",
}  # fmt: skip
BLANKS = frozenset(" \t\n\r\x85\u2028\u2029")


def decode(data: bytes, node: Scalar) -> str:
    """The text that a scalar's bytes mean; raises ``TextFault`` where they are no UTF-8."""
    try:
        raw = data[node.start : node.end].decode("utf-8")
    except UnicodeDecodeError as fault:
        raise TextFault(
            "text.encoding", "the value is not UTF-8", where=f"byte {node.start + fault.start}"
        ) from None
    if node.style == "plain":
        return raw if "\n" not in raw and "\r" not in raw else FOLD.sub(_folded, raw)
    if node.style == "single":
        return FOLD.sub(_folded, raw[1:-1]).replace("''", "'")
    if node.style == "double":
        return _decode_double(raw[1:-1])
    return _decode_block(raw, node) if node.style in {"literal", "folded"} else ""


def decode_key(match: re.Match[bytes]) -> str:
    """The text of a key that the parser's pattern found: single, double or plain."""
    single, double, plain = match[1], match[2], match[3]
    if plain is not None:
        return str(plain, "utf-8", "replace").rstrip()
    if single is not None:
        return str(single, "utf-8", "replace").replace("''", "'")
    return _decode_double(str(double, "utf-8", "replace"))


def _folded(match: re.Match[str]) -> str:
    """One line break is a space, each further one a line break."""
    further = len(re.findall(r"\r\n|\n|\r", match["further"]))
    return "\n" * further if further else " "


def _decode_double(raw: str) -> str:
    def meaning(match: re.Match[str]) -> str:
        code = match["escape"]
        if code is None:
            return _folded(match)
        if code[0] in "\r\n":
            return ""
        if len(code) > 1:
            return chr(min(int(code[1:], 16), 0x10FFFF))
        if code not in NAMED:
            raise TextFault("text.escape", f"the escape \\{code} is unknown", value=raw[:80])
        return NAMED[code]

    return DOUBLE.sub(meaning, raw) if "\\" in raw or "\n" in raw or "\r" in raw else raw


def _decode_block(raw: str, node: Scalar) -> str:
    """A ``|`` or ``>`` block, which Unity never writes and people do."""
    header, _, body = raw.partition("\n")
    lines = body.splitlines()
    indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    lines = [line[indent:] for line in lines]
    text = "\n".join(lines) + "\n" if lines else ""
    if node.style == "folded":
        text = FOLD.sub(_folded, text.rstrip("\n")) + "\n"
    if "+" in header:
        return text
    return text.rstrip("\n") + ("" if "-" in header or not text.strip("\n") else "\n")


# -- writing


def encode(text: str, *, column: int, indent: int, newline: bytes, flow: bool = False) -> bytes:
    """Write ``text`` as Unity does.

    ``column`` is where its first character will stand, ``indent`` the column of continuation lines. Raises
    ``TextFault`` for what no YAML text can hold (a lone surrogate).
    """
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise TextFault("text.surrogate", "the text holds a lone surrogate", mend="remove it")
    plain, single = _allowed(text, flow=flow)
    writer = _Writer(column, indent)
    if plain:
        writer.plain(text)
    elif single:
        writer.single(text)
    else:
        writer.double(text)
    return "".join(writer.out).encode("ascii").replace(b"\n", newline)


def _allowed(text: str, *, flow: bool) -> tuple[bool, bool]:
    """Whether ``text`` may be written plain, and single-quoted: libyaml's analysis."""
    if not text:
        return not flow, True
    block_indicator = flow_indicator = text[:3] in {"---", "..."} and text[3:4] in {"", *BLANKS}
    special = any(not (" " <= c <= "~" or c == "\n") for c in text)
    broken = "\n" in text
    for index, char in enumerate(text):
        blank_next = index + 1 == len(text) or text[index + 1] in BLANKS
        blank_before = index == 0 or text[index - 1] in BLANKS
        if index == 0 and char in "#,[]{}&*!|>'\"%@`":
            block_indicator = flow_indicator = True
        elif char in ",?[]{}" or char == ":":
            flow_indicator = True
            block_indicator |= blank_next and (char == ":" or (char == "?" and index == 0))
        elif (char == "-" and index == 0 and blank_next) or (char == "#" and blank_before):
            block_indicator = flow_indicator = True
    edge = text[0] in " \n" or text[-1] in " \n"
    break_then_space = "\n " in text
    space_then_break = " \n" in text
    single = not (special or break_then_space or space_then_break)
    plain = single and not (edge or broken or (flow_indicator if flow else block_indicator))
    return plain, single


class _Writer:
    """Counts columns as Unity does: one a character written, and back to the indent only where it folds."""

    def __init__(self, column: int, indent: int) -> None:
        self.out: list[str] = []
        self.column = column
        self.indent = indent

    def put(self, text: str) -> None:
        self.out.append(text)
        self.column += len(text)

    def line(self) -> None:
        self.out.append("\n" + " " * self.indent)
        self.column = self.indent

    def plain(self, text: str) -> None:
        spaces = False
        for index, char in enumerate(text):
            if char == " " and not spaces and self.column >= WIDTH and text[index + 1] != " ":
                self.line()
            else:
                self.put(char)
            spaces = char == " "

    def single(self, text: str) -> None:
        self.put("'")
        spaces = breaks = False
        last = len(text) - 1
        for index, char in enumerate(text):
            if char == " ":
                if not spaces and self.column >= WIDTH and 0 < index < last and text[index + 1] != " ":
                    self.line()
                else:
                    self.put(char)
                spaces = True
            elif char == "\n":
                # A lone break folds to a space, so the first of a run is written twice. Unity's writer does
                # not begin a new column there: the break counts as a character.
                self.put("\n" if breaks else "\n\n")
                breaks = True
            else:
                if breaks:
                    self.put(" " * self.indent)
                self.put("''" if char == "'" else char)
                spaces = breaks = False
        self.put("'")

    def double(self, text: str) -> None:
        self.put('"')
        spaces = False
        last = len(text) - 1
        for index, char in enumerate(text):
            if char == " ":
                if not spaces and self.column >= WIDTH and 0 < index < last:
                    self.line()
                    if text[index + 1] == " ":
                        self.put("\\")
                else:
                    self.put(char)
                spaces = True
            else:
                self.put(_escaped(char))
                spaces = False
        self.put('"')


def _escaped(char: str) -> str:
    if char in WRITTEN:
        return WRITTEN[char]
    if " " <= char <= "~":
        return char
    code = ord(char)
    if code <= 0xFF:  # noqa: PLR2004 - the ranges of the three escapes
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"  # noqa: PLR2004 - see above


def number(value: float) -> str:
    """A float as Unity writes a single: the shortest digits that read back as the same 32-bit value.

    Unity's files show positional digits down to 10**-7 and an exponent at 10**-17; the border in between,
    and the one of large numbers, is set at ten places here.
    """
    if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 - NaN is unequal to itself
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124 - see above
    try:
        single = struct.pack("<f", value)
    except OverflowError:
        raise TextFault("value.range", "the number does not fit 32 bits", value=repr(value)) from None
    (exact,) = struct.unpack("<f", single)
    for digits in range(9):
        text = f"{exact:.{digits}e}"
        if abs(float(text)) < ROUNDS_UP and struct.pack("<f", float(text)) == single:
            break
    mantissa, _, exponent = text.partition("e")
    places = int(exponent)
    if exact == 0:
        return "-0" if text.startswith("-") else "0"
    if -POSITIONAL <= places < POSITIONAL:
        return f"{float(text):.{max(digits - places, 0)}f}"
    return f"{mantissa}e{places:+03d}"
