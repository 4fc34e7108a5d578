"""References and flow mappings: found by scanning bytes, written as Unity writes them.

The scan does not parse: it is quick enough for a whole project. A flow mapping breaks after a comma past
the width, unless the project (or the file already) keeps them on one line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resources.unity.text.errors import TextFault
from resources.unity.text.scalars import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: ``{fileID: N, guid: G, type: T}``; Unity may break the line after a comma.
REFERENCE = re.compile(
    rb"\{fileID: (-?\d+),\s+guid: ([0-9a-fA-F]{32}),\s+type: (-?\d+)\s*\}",
)
GUID = re.compile(r"[0-9a-f]{32}\Z")
FILE_ID = re.compile(r"-?[0-9]{1,20}\Z")
FLOW_MAP = re.compile(rb"\{[^{}'\"]*\}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to an object of another asset, at ``start`` in the file."""

    file_id: str
    guid: str
    kind: int
    start: int


def scan_references(data: bytes) -> Iterator[Reference]:
    """Every external reference in ``data``, in order. Local ones (``{fileID: N}``) are left out."""
    for match in REFERENCE.finditer(data):
        yield Reference(match[1].decode(), match[2].decode().lower(), int(match[3]), match.start())


def scan_rows(data: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """fileID, GUID (as written) and type of every external reference, in order: for whole projects."""
    return REFERENCE.findall(data)


def reference_parts(value: Mapping[str, int | str]) -> list[str]:
    """``key: value`` texts of a reference, checked; raises ``TextFault`` (``value.reference``)."""
    keys = set(value)
    if keys not in ({"fileID"}, {"fileID", "guid", "type"}):
        raise TextFault(
            "value.reference",
            "a reference has fileID, or fileID, guid and type",
            value=", ".join(sorted(map(str, keys))),
            mend='give {"fileID": …, "guid": …, "type": …}, or {"fileID": …} within the file',
        )
    file_id = str(value["fileID"])
    if not FILE_ID.match(file_id) or isinstance(value["fileID"], bool):
        raise TextFault("value.reference", "fileID must be an integer of 64 bits", value=file_id)
    if "guid" not in value:
        return [f"fileID: {file_id}"]
    guid, kind = str(value["guid"]), str(value["type"])
    if not GUID.match(guid):
        raise TextFault("value.guid", "a GUID is 32 lower-case hex digits", value=guid)
    if kind not in {"0", "1", "2", "3"}:
        raise TextFault("value.reference", "type must be 0, 1, 2 or 3", value=kind)
    return [f"fileID: {file_id}", f"guid: {guid}", f"type: {kind}"]


def flow_map(parts: list[str], column: int, indent: int, newline: bytes, *, one_line: bool) -> bytes:
    """``{a: 1, b: 2}`` starting at ``column``; breaks after a comma past the width, on to ``indent``."""
    text = "{" + parts[0]
    column += len(text)
    for part in parts[1:]:
        text += ","
        column += 1
        if column > WIDTH and not one_line:
            text += "\n" + " " * indent + part
            column = indent + len(part)
        else:
            text += " " + part
            column += 1 + len(part)
    return (text + "}").encode("ascii").replace(b"\n", newline)


def flows_on_one_line(data: bytes) -> bool | None:
    """Whether a file keeps its flow mappings on one line: ``None`` where it has none that is long."""
    for match in FLOW_MAP.finditer(data):
        text = match[0]
        if b"\n" in text:
            return False
        line = data.rfind(b"\n", 0, match.start()) + 1
        last_comma = data.rfind(b",", match.start(), match.end())
        if last_comma >= 0 and last_comma + 1 - line > WIDTH:
            return True
    return None
