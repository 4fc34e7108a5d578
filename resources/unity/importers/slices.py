"""The slices of a sprite sheet in a texture's ``.meta``: added, moved, renamed, removed, by splices.

Rules kept here:

* A slice is in up to three tables: ``spriteSheet.sprites``, ``internalIDToNameTable`` (before Unity 2019.1
  ``fileIDToRecycleName``) and, from late 2020.3 on, ``nameFileIdTable``; they change together.
* A slice of a known name keeps internalID, spriteID, outline and every byte that is not asked for.
* The id of a new slice follows from its spriteID; in the oldest sheets it is the next ``21300000 + 2i``.

Source: sheets that Unity wrote, 2018 to 6000.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from resources.unity.importers.sprites import internal_id
from resources.unity.text import Splice, TextFault, UnityFile, apply, remove_item, scalars, set_value
from resources.unity.text.nodes import Mapping, Scalar, Sequence

IMPORTER = "TextureImporter"
SPRITES = f"{IMPORTER}.spriteSheet.sprites"
TABLE = f"{IMPORTER}.internalIDToNameTable"
NAMES = f"{IMPORTER}.spriteSheet.nameFileIdTable"
RECYCLED = f"{IMPORTER}.fileIDToRecycleName"
FIRST_OLD, STEP_OLD = 21300000, 2
#: Unity's SpriteAlignment → pivot
ANCHORS: dict[str, tuple[int, str, str]] = {
    "center": (0, "0.5", "0.5"),
    "top_left": (1, "0", "1"),
    "top": (2, "0.5", "1"),
    "top_right": (3, "1", "1"),
    "left": (4, "0", "0.5"),
    "right": (5, "1", "0.5"),
    "bottom_left": (6, "0", "0"),
    "bottom": (7, "0.5", "0"),
    "bottom_right": (8, "1", "0"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A slice as it should be; ``None`` keeps what there is, or takes the default on a new one."""

    name: str
    rect: tuple[int, int, int, int]
    anchor: str | None = None
    border: tuple[int, int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Existing:
    """A slice as it stands at ``index`` of the sheet."""

    index: int
    name: str
    file_id: str
    sprite_id: str


def existing(file: UnityFile) -> list[Existing]:
    """The slices of a sheet in order; raises ``TextFault`` where the block is not whole."""
    listed = file.read("0", SPRITES)
    old = {name: file_id for file_id, name in _recycled(file).items()}
    if not isinstance(listed, list):
        raise TextFault("meta.slices", "spriteSheet.sprites is no list")
    found = []
    for index, item in enumerate(listed):
        if not isinstance(item, dict):
            raise TextFault("meta.slices", "a slice is no mapping", where=f"{SPRITES}.Array.data[{index}]")
        name = str(item.get("name", ""))
        file_id = str(item.get("internalID", "")) or old.get(name, "")
        found.append(Existing(index, name, file_id, str(item.get("spriteID", ""))))
    return found


def sliced(
    data: bytes, wanted: list[Wanted], removed: frozenset[str], sprite_id: Callable[[str], str]
) -> bytes:
    """``data`` with every wanted slice, without those of the removed names.

    ``sprite_id`` gives the 32 hex digits of a new slice. Raises ``TextFault``.
    """
    file = UnityFile(data)
    have = {item.name: item for item in existing(file)}
    splices: list[Splice] = []
    if file.read("0", f"{IMPORTER}.spriteMode") != "2":
        splices += set_value(file, "0", f"{IMPORTER}.spriteMode", 2)
    for item in wanted:
        if item.name in have:
            splices += _moved(file, have[item.name].index, item)
    data = apply(data, splices)
    for gone in sorted((have[name] for name in removed), key=lambda item: -item.index):
        data = _without(data, gone)
    for item in wanted:
        if item.name not in have:
            data = _with(data, item, sprite_id(item.name))
    return data


def renamed(data: bytes, old: str, new: str) -> bytes:
    """``data`` with the slice ``old`` named ``new`` in every table. Raises ``TextFault``."""
    file = UnityFile(data)
    item = next(item for item in existing(file) if item.name == old)
    splices = _text(file, f"{SPRITES}.Array.data[{item.index}].name", new)
    for index, row in enumerate(_table(file)):
        if row == item.file_id:
            splices += _text(file, f"{TABLE}.Array.data[{index}].second", new)
    if item.file_id in _recycled(file):
        splices += _text(file, f"{RECYCLED}.{item.file_id}", new)
    data = apply(data, splices)
    return _names(data, lambda names: {new if name == old else name: value for name, value in names.items()})


# -- one slice


def _moved(file: UnityFile, index: int, item: Wanted) -> list[Splice]:
    at = f"{SPRITES}.Array.data[{index}]"
    splices: list[Splice] = []
    for key, value in zip(("x", "y", "width", "height"), item.rect, strict=True):
        splices += _number(file, f"{at}.rect.{key}", str(value))
    if item.anchor is not None:
        alignment, x, y = ANCHORS[item.anchor]
        splices += _number(file, f"{at}.alignment", str(alignment))
        splices += _number(file, f"{at}.pivot.x", x) + _number(file, f"{at}.pivot.y", y)
    for key, side in zip("xyzw", item.border or (), strict=False):
        splices += _number(file, f"{at}.border.{key}", str(side))
    return splices


def _number(file: UnityFile, path: str, text: str) -> list[Splice]:
    node = file.find("0", path).node
    if not isinstance(node, Scalar):
        raise TextFault("meta.slices", "a number is expected here", where=path)
    same = file.data[node.start : node.end] == text.encode()
    return [] if same else [Splice(node.start, node.end, text.encode())]


def _text(file: UnityFile, path: str, text: str) -> list[Splice]:
    node = file.find("0", path).node
    if not isinstance(node, Scalar):
        raise TextFault("meta.slices", "a name is expected here", where=path)
    return [Splice(node.start, node.end, _encoded(file, node.start, node.column, text))]


def _encoded(file: UnityFile, start: int, owner: int, text: str) -> bytes:
    line = file.data.rfind(b"\n", 0, start) + 1
    return scalars.encode(
        text, column=start - line, indent=owner + 2, newline=file.newline_at(start), flow=False
    )


def _without(data: bytes, item: Existing) -> bytes:
    file = UnityFile(data)
    index = next(one.index for one in existing(file) if one.name == item.name)
    data = apply(data, remove_item(file, "0", SPRITES, index))
    file = UnityFile(data)
    rows = _table(file)
    if item.file_id in rows:
        data = apply(data, remove_item(file, "0", TABLE, rows.index(item.file_id)))
    if item.file_id in _recycled(file):
        data = _rewritten(data, RECYCLED, {k: v for k, v in _recycled(file).items() if k != item.file_id})
    return _names(data, lambda names: {name: value for name, value in names.items() if name != item.name})


def _with(data: bytes, item: Wanted, sprite_id: str) -> bytes:
    file = UnityFile(data)
    recycled = _has(file, RECYCLED)
    taken = {one.file_id for one in existing(file)} | set(_table(file)) | set(_recycled(file))
    if recycled:
        file_id = FIRST_OLD
        while str(file_id) in taken:
            file_id += STEP_OLD
    else:
        file_id = internal_id(sprite_id)
        if str(file_id) in taken:
            raise TextFault("meta.clash", "the id drawn for this slice is taken", value=str(file_id))
    data = _appended(data, SPRITES, _lines(file, item, sprite_id, file_id, old=recycled))
    if recycled:
        return _rewritten(data, RECYCLED, {**_recycled(UnityFile(data)), str(file_id): item.name})
    file = UnityFile(data)
    # A sheet of a newer editor may do without the id table; then so does the new slice.
    if _table(file) or len(existing(file)) == 1 or not _has(file, NAMES):
        data = _appended(data, TABLE, ["first:", f"    213: {file_id}", ("  second: ", item.name)])
    return _names(data, lambda names: {**names, item.name: str(file_id)})


Line = str | tuple[str, str]


def _lines(file: UnityFile, item: Wanted, sprite_id: str, file_id: int, *, old: bool) -> list[Line]:
    alignment, pivot_x, pivot_y = ANCHORS[item.anchor or "center"]
    left, bottom, right, top = item.border or (0, 0, 0, 0)
    x, y, width, height = item.rect
    custom = ["  customData: "] if _has(file, f"{IMPORTER}.spriteSheet.customData") else []
    return [
        "serializedVersion: 2",
        ("  name: ", item.name),
        "  rect:",
        "    serializedVersion: 2",
        f"    x: {x}",
        f"    y: {y}",
        f"    width: {width}",
        f"    height: {height}",
        f"  alignment: {alignment}",
        f"  pivot: {{x: {pivot_x}, y: {pivot_y}}}",
        f"  border: {{x: {left}, y: {bottom}, z: {right}, w: {top}}}",
        *custom,
        "  outline: []",
        "  physicsShape: []",
        "  tessellationDetail: 0",
        "  bones: []",
        f"  spriteID: {sprite_id}",
        *([] if old else [f"  internalID: {file_id}"]),
        "  vertices: []",
        "  indices: ",
        "  edges: []",
        "  weights: []",
    ]


# -- tables


def _has(file: UnityFile, path: str) -> bool:
    try:
        file.find("0", path)
    except TextFault:
        return False
    return True


def _table(file: UnityFile) -> list[str]:
    """The sprite ids of ``internalIDToNameTable`` by row; another kind's row is an empty text."""
    rows = file.read("0", TABLE) if _has(file, TABLE) else []
    ids = []
    for row in rows if isinstance(rows, list) else []:
        first = row.get("first") if isinstance(row, dict) else None
        ids.append(str(first.get("213", "")) if isinstance(first, dict) else "")
    return ids


def _recycled(file: UnityFile) -> dict[str, str]:
    table = file.read("0", RECYCLED) if _has(file, RECYCLED) else {}
    return {key: str(value) for key, value in table.items()} if isinstance(table, dict) else {}


def _names(data: bytes, change: Callable[[dict[str, str]], dict[str, str]]) -> bytes:
    """The name table changed; sorted by name where it was, as the editor keeps it."""
    file = UnityFile(data)
    if not _has(file, NAMES):
        return data
    found = file.read("0", NAMES)
    old = {key: str(value) for key, value in found.items()} if isinstance(found, dict) else {}
    new = change(old)
    if list(old) == sorted(old):
        new = dict(sorted(new.items()))
    return _rewritten(data, NAMES, new) if list(new.items()) != list(old.items()) else data


def _rewritten(data: bytes, path: str, entries: dict[str, str]) -> bytes:
    """A mapping of scalars with other entries, each on a line of its own."""
    file = UnityFile(data)
    found = file.find("0", path)
    node = found.node
    if not isinstance(node, Mapping):
        raise TextFault("meta.slices", "a mapping is expected here", where=path)
    start = len(data[: node.start].rstrip(b" \r\n"))
    if not entries:
        return apply(data, [Splice(start, node.end, b" {}")])
    key_at = data.rfind(b"\n", 0, start) + 1
    indent = len(data[key_at:start]) - len(data[key_at:start].lstrip(b" ")) + 2
    newline = file.newline_at(start)
    text = b""
    for key, value in entries.items():
        name = scalars.encode(key, column=indent, indent=indent + 2, newline=newline)
        column = indent + len(name) + 2
        shown = scalars.encode(value, column=column, indent=indent + 2, newline=newline)
        text += newline + b" " * indent + name + b": " + shown
    return apply(data, [Splice(start, node.end, text)])


def _appended(data: bytes, path: str, lines: list[Line]) -> bytes:
    """A block list with one item more at its end."""
    file = UnityFile(data)
    node = file.find("0", path).node
    if not isinstance(node, Sequence) or (node.flow and node.items):
        raise TextFault("meta.slices", "a list is expected here", where=path)
    start = node.end if node.items else len(data[: node.start].rstrip(b" \r\n"))
    if node.items:
        column = node.column
    else:
        key_at = data.rfind(b"\n", 0, start) + 1
        column = len(data[key_at:start]) - len(data[key_at:start].lstrip(b" "))
    newline = file.newline_at(start)
    text = b""
    for number, line in enumerate(lines):
        lead = b" " * column + (b"- " if number == 0 else b"")
        if isinstance(line, tuple):
            head = lead + line[0].encode()
            shown = scalars.encode(line[1], column=len(head), indent=column + 4, newline=newline)
            text += newline + head + shown
        else:
            text += newline + lead + line.encode()
    if node.items:
        stop = data.find(b"\n", node.end)
        # an empty last value ends at its colon, before the space that Unity writes
        end = len(data) if stop < 0 else stop - data[:stop].endswith(b"\r")
        return apply(data, [Splice(end, end, text)])
    return apply(data, [Splice(start, node.end, text)])
