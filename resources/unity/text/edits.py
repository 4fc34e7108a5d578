"""Edits: each is a list of splices on the file's bytes, in the file's own style.

Rules kept here:

* Bytes outside the spliced span stay as they are: line ends, BOM, a missing final newline, hand formatting.
* A value keeps its type: an integer stays one, a decimal stays a number, a GUID stays 32 hex digits, a
  reference stays a reference, a text stays a text. A mapping or list is never replaced by a scalar.
* A reference breaks after a comma past the width unless the file writes its flow mappings on one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from resources.unity.text import scalars
from resources.unity.text.errors import TextFault
from resources.unity.text.nodes import Mapping, Scalar, Sequence
from resources.unity.text.paths import Found, describe
from resources.unity.text.references import GUID, flow_map, reference_parts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Mapping as Dict

    from resources.unity.text.file import UnityFile
    from resources.unity.text.nodes import Node

Value: TypeAlias = "bool | int | float | str | Dict[str, int | str]"
REFERENCE_KEYS = frozenset({"fileID", "guid", "type", "instanceID"})
LOWEST, HIGHEST = -(2**63), 2**64 - 1


@dataclass(frozen=True, slots=True)
class Splice:
    """Replace ``data[start:end]`` by ``text``."""

    start: int
    end: int
    text: bytes


def apply(data: bytes, splices: Iterable[Splice]) -> bytes:
    """``data`` with every splice done; their spans may not overlap."""
    parts: list[bytes] = []
    at = 0
    for splice in sorted(splices, key=lambda s: (s.start, s.end)):
        if splice.start < at or splice.end < splice.start or splice.end > len(data):
            raise ValueError(f"the splice {splice.start}..{splice.end} overlaps another or leaves the file")
        parts += (data[at : splice.start], splice.text)
        at = splice.end
    return b"".join((*parts, data[at:]))


def set_value(
    file: UnityFile, file_id: str, path: str, value: Value, *, one_line: bool | None = None
) -> list[Splice]:
    """Splices that give the property at ``path`` of document ``file_id`` a ``value``; none if it has it.

    A reference is ``{"fileID": …, "guid": …, "type": …}`` or ``{"fileID": …}``; ``one_line`` keeps flow
    mappings on one line, ``None`` does as the file does. Raises ``TextFault`` (``path.…``, ``value.…``).
    """
    found = file.find(file_id, path)
    node = found.node
    try:
        text = _written(file, found, value, one_line=one_line)
    except TextFault as fault:
        fault.where = fault.where or path
        raise
    end = node.end
    if isinstance(node, Scalar) and node.style in {"literal", "folded"}:
        end = node.start + len(file.data[node.start : node.end].rstrip(b"\r\n"))
    if file.data[node.start : end] == text:
        return []
    if text and file.data[node.start - 1 : node.start] == b":":
        text = b" " + text
    return [Splice(node.start, end, text)]


def _written(file: UnityFile, found: Found, value: Value, *, one_line: bool | None) -> bytes:
    node = found.node
    if kind_of(file.data, found) == "reference":
        return _reference(file, node, value, one_line=one_line)
    if isinstance(node, Scalar):
        return _scalar(file, found, node, value)
    raise TextFault(
        "value.not_scalar",
        f"at this path stands {describe(node)}, not a single value",
        mend="name one of its members",
        candidates=tuple(e.key for e in node.entries) if isinstance(node, Mapping) else (),
    )


def kind_of(data: bytes, found: Found) -> str:
    """What stands there: reference, guid, integer, decimal, text, empty, mapping or list."""
    node = found.node
    if isinstance(node, Sequence):
        return "list"
    if isinstance(node, Mapping):
        keys = {entry.key for entry in node.entries}
        return "reference" if keys & {"fileID", "instanceID"} and keys <= REFERENCE_KEYS else "mapping"
    if node.style == "empty":
        return "empty"
    text = scalars.decode(data, node)
    if GUID.match(text) and found.key.lower().endswith("guid"):
        return "guid"
    if node.style == "plain" and scalars.DECIMAL.match(text):
        return "integer" if scalars.INTEGER.match(text) else "decimal"
    return "text"


# -- values


def _scalar(file: UnityFile, found: Found, node: Scalar, value: Value) -> bytes:
    kind = kind_of(file.data, found)
    if not isinstance(value, bool | int | float | str):
        raise _type_fault(kind, "a reference")
    if kind == "integer":
        return _integer(scalars.decode(file.data, node), value).encode()
    if kind == "decimal":
        return _decimal(value).encode()
    if not isinstance(value, str):
        raise _type_fault(kind, f"the {type(value).__name__} {value!r}")
    if kind == "guid" and not GUID.match(value):
        raise TextFault("value.guid", "a GUID is 32 lower-case hex digits", value=value)
    return encode_at(file, node.start, node.column, value, flow=node.flow)


def _integer(old: str, value: float | str) -> str:
    if isinstance(value, bool):
        if old not in {"0", "1"}:
            raise _type_fault("integer", "a yes or no")
        return str(int(value))
    text = str(value)
    if not scalars.INTEGER.match(text):
        raise _type_fault("integer", f"{text!r}")
    if not LOWEST <= int(text) <= HIGHEST:
        raise TextFault("value.range", "the integer does not fit 64 bits", value=text)
    return text.removeprefix("+")


def _decimal(value: float | str) -> str:
    if isinstance(value, bool):
        raise _type_fault("decimal", "a yes or no")
    if isinstance(value, float):
        return scalars.number(value)
    text = str(value)
    if not scalars.DECIMAL.match(text):
        raise _type_fault("decimal", f"{text!r}")
    return text.removeprefix("+")


def _type_fault(kind: str, given: str) -> TextFault:
    stands = {
        "integer": "an integer",
        "decimal": "a number",
        "guid": "a GUID",
        "reference": "a reference",
        "empty": "an empty text",
    }.get(kind, "a text")
    mends = {
        "reference": 'give {"fileID": …, "guid": …, "type": …}',
        "integer": "give an integer",
        "decimal": "give a number",
    }
    return TextFault(
        "value.type",
        f"at this path stands {stands}; {given} is of another type",
        mend=mends.get(kind, "give a text, in quotes"),
    )


def encode_at(file: UnityFile, start: int, owner: int, text: str, *, flow: bool = False) -> bytes:
    """``text`` as Unity would write it at offset ``start``, owned by a key or dash at column ``owner``."""
    line = file.data.rfind(b"\n", 0, start) + 1
    column = len(file.data[line:start].decode("utf-8", "replace"))
    return scalars.encode(text, column=column, indent=owner + 2, newline=file.newline_at(start), flow=flow)


def _reference(file: UnityFile, node: Node, value: Value, *, one_line: bool | None) -> bytes:
    if isinstance(value, bool | int | float | str):
        raise _type_fault("reference", f"{value!r}")
    parts = reference_parts(value)
    line = file.data.rfind(b"\n", 0, node.start) + 1
    column = len(file.data[line : node.start].decode("utf-8", "replace"))
    if one_line is None:
        one_line = file.one_line_maps
    return flow_map(parts, column, node.column + 2, file.newline_at(node.start), one_line=one_line)
