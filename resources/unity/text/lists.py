"""Insert, remove, move and repeat items of a block list, in the list's own indentation.

Only lists whose items stand on lines of their own; a list on one line, or within another one's line, is
refused. An empty list is ``[]`` and becomes that again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from resources.unity.text import scalars
from resources.unity.text.edits import Splice, kind_of
from resources.unity.text.errors import TextFault
from resources.unity.text.nodes import Sequence
from resources.unity.text.paths import Found, describe
from resources.unity.text.references import flow_map, reference_parts

if TYPE_CHECKING:
    from resources.unity.text.edits import Value
    from resources.unity.text.file import UnityFile


def insert_item(
    file: UnityFile, file_id: str, path: str, index: int, value: Value, *, one_line: bool | None = None
) -> list[Splice]:
    """Splices that insert a scalar or a reference before item ``index`` of the list at ``path``.

    ``index`` may equal the length. Items keep one type. Raises ``TextFault`` (``path.…``, ``value.…``).
    """
    found = file.find(file_id, path)
    node = _list(found, path)
    _in_range(index, len(node.items), path, more=1)
    data = file.data
    column = node.column
    newline = file.newline_at(node.start)
    if node.items:
        old = kind_of(data, Found(node.items[0], found.key, ()))
        given = "reference" if isinstance(value, dict) else None
        if (old == "reference") != (given == "reference") or old in {"mapping", "list"}:
            raise TextFault("value.type", f"the items of this list are of another type ({old})", where=path)
    line = b" " * column + b"- " + _item(file, value, column, newline, one_line=one_line)
    if not node.items:
        return [Splice(_after_key(data, node.start, path), node.end, newline + line)]
    _own_lines(data, node, path)
    if index < len(node.items):
        at = data.rfind(b"\n", 0, node.dashes[index]) + 1
        return [Splice(at, at, line + newline)]
    at = data.find(b"\n", node.end)
    if at < 0:
        return [Splice(len(data), len(data), newline + line)]
    return [Splice(at + 1, at + 1, line + newline)]


def remove_item(file: UnityFile, file_id: str, path: str, index: int) -> list[Splice]:
    """Splices that remove item ``index`` of the list at ``path``; the last one leaves ``[]``."""
    found = file.find(file_id, path)
    node = _list(found, path)
    _in_range(index, len(node.items), path)
    data = file.data
    _own_lines(data, node, path)
    if len(node.items) == 1:
        end = data.find(b"\n", node.end)
        stop = len(data) if end < 0 else end
        stop -= data[:stop].endswith(b"\r")
        return [Splice(_after_key(data, node.start, path), stop, b" []")]
    start = data.rfind(b"\n", 0, node.dashes[index]) + 1
    if index + 1 < len(node.items):
        return [Splice(start, data.rfind(b"\n", 0, node.dashes[index + 1]) + 1, b"")]
    end = data.find(b"\n", node.end)
    if end >= 0:
        return [Splice(start, end + 1, b"")]
    return [Splice(start - len(file.newline_at(node.start)), len(data), b"")]


def move_item(file: UnityFile, file_id: str, path: str, index: int, to: int) -> list[Splice]:
    """Splices that put item ``index`` of the list at ``path`` where ``to`` is; its lines move whole."""
    start, end, items = _lines(file, file_id, path)
    for given in (index, to):
        _in_range(given, len(items), path)
    moved = list(items)
    moved.insert(to, moved.pop(index))
    return [] if moved == items else [Splice(start, end, _joined(file, moved, end))]


def repeat_item(file: UnityFile, file_id: str, path: str, index: int, like: int) -> list[Splice]:
    """Splices that insert a copy of item ``like`` before item ``index``, line by line."""
    start, end, items = _lines(file, file_id, path)
    _in_range(like, len(items), path)
    _in_range(index, len(items), path, more=1)
    return [Splice(start, end, _joined(file, [*items[:index], items[like], *items[index:]], end))]


def _in_range(index: int, length: int, path: str, *, more: int = 0) -> None:
    if not 0 <= index < length + more:
        raise TextFault("path.index", f"the list has {length} items", where=path, value=str(index))


def _lines(file: UnityFile, file_id: str, path: str) -> tuple[int, int, list[bytes]]:
    """Start and end of a list's lines, and each item's lines without the last line end."""
    data = file.data
    node = _list(file.find(file_id, path), path)
    if not node.items:
        return node.start, node.end, []
    _own_lines(data, node, path)
    starts = [data.rfind(b"\n", 0, dash) + 1 for dash in node.dashes]
    stop = data.find(b"\n", node.end)
    end = len(data) if stop < 0 else stop + 1
    pieces = [data[a:b].rstrip(b"\r\n") for a, b in zip(starts, [*starts[1:], end], strict=True)]
    return starts[0], end, pieces


def _joined(file: UnityFile, items: list[bytes], end: int) -> bytes:
    newline = file.newline_at(max(end - 1, 0))
    return newline.join(items) + (newline if file.data[:end].endswith(b"\n") else b"")


def _list(found: Found, path: str) -> Sequence:
    node = found.node
    if not isinstance(node, Sequence):
        raise TextFault("value.not_list", f"at this path stands {describe(node)}, not a list", where=path)
    if node.flow and node.items:
        raise TextFault("value.flow_list", "a list on one line is not edited by item", where=path)
    return node


def _own_lines(data: bytes, node: Sequence, path: str) -> None:
    for dash in node.dashes:
        line = data.rfind(b"\n", 0, dash) + 1
        if data[line:dash].strip(b" "):
            raise TextFault("value.nested_list", "a list within a list is not edited by item", where=path)


def _item(file: UnityFile, value: Value, column: int, newline: bytes, *, one_line: bool | None) -> bytes:
    if isinstance(value, bool | int):
        return str(int(value)).encode()
    if isinstance(value, float):
        return scalars.number(value).encode()
    if isinstance(value, str):
        return scalars.encode(value, column=column + 2, indent=column + 2, newline=newline)
    one = file.one_line_maps if one_line is None else one_line
    return flow_map(reference_parts(value), column + 2, column + 2, newline, one_line=one)


def _after_key(data: bytes, start: int, path: str) -> int:
    """The offset just after the colon of the key whose value begins at ``start``."""
    at = len(data[:start].rstrip(b" \r\n"))
    if data[at - 1 : at] != b":":
        raise TextFault("value.nested_list", "this list is not the value of a plain key", where=path)
    return at
