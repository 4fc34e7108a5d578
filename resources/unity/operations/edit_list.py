"""``unity.edit_list@1``: one item of a block list in, out or elsewhere; every other line keeps its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.fields import holds
from resources.unity.operations.references import check_reference
from resources.unity.operations.set_property import plain_value
from resources.unity.operations.workspace import mapped
from resources.unity.text import Splice, TextFault, apply, insert_item, remove_item, scalars
from resources.unity.text.edits import kind_of
from resources.unity.text.nodes import Sequence
from resources.unity.text.paths import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_edit_list import EditList
    from resources.unity.operations.workspace import Workspace
    from resources.unity.text import UnityFile
    from resources.unity.text.edits import Value

META = "0"


def target_of(args: EditList) -> str:
    """The file that is edited: the asset, or its ``.meta`` for document ``"0"``."""
    return f"{args.asset}.meta" if args.document == META and not args.asset.endswith(".meta") else args.asset


def edit_list(workspace: Workspace, args: EditList) -> dict[str, Any]:
    """Stage the edit. Returns ``property``: the file that holds the list."""
    path = target_of(args)
    workspace.check_path(path)
    file = workspace.text(path)
    try:
        splices = _splices(workspace, file, args)
    except TextFault as fault:
        raise mapped(fault, path) from fault
    if args.value is not None:
        value = plain_value(args.value)
        if isinstance(value, dict):
            check_reference(workspace, path, args.document, f"{args.path}.Array.data[0]", dict(value))
    workspace.write(path, apply(file.data, splices))
    return {"property": path}


def _splices(workspace: Workspace, file: UnityFile, args: EditList) -> list[Splice]:
    if args.action == "remove":
        return remove_item(file, args.document, args.path, args.index)
    if args.action == "move":
        return move_item(file, args.document, args.path, args.index, args.to or 0)
    if args.like is not None:
        return repeat_item(file, args.document, args.path, args.index, args.like)
    if args.value is None:
        raise TextFault("value.type", "nothing is given to insert", where=args.path)
    value = plain_value(args.value)
    _refuse_other_type(workspace, file, args, value)
    return insert_item(file, args.document, args.path, args.index, value)


def _refuse_other_type(workspace: Workspace, file: UnityFile, args: EditList, value: Value) -> None:
    """Numbers stay among numbers and texts among texts, as far as file and script show."""
    node = file.find(args.document, args.path).node
    kinds = {kind_of(file.data, Found(item, "", ())) for item in getattr(node, "items", ())}
    field = f"{args.path}.Array.data[0]"
    wanted = "text" if kinds & {"text", "empty", "guid"} else holds(workspace, file, args.document, field)
    if not wanted and kinds & {"integer", "decimal"}:
        wanted = "number"
    is_number = not isinstance(value, str) or scalars.DECIMAL.match(value) is not None
    if wanted == "text" and not isinstance(value, str | dict):
        raise TextFault("value.type", "the items are texts", where=args.path, mend="give a text, in quotes")
    if wanted in {"number", "integer", "decimal"} and not is_number and kinds & {"integer", "decimal"}:
        raise TextFault("value.type", "the items are numbers", where=args.path, mend="give a number")


# -- whole items: their own lines, moved or repeated as they are


def move_item(file: UnityFile, document: str, path: str, index: int, to: int) -> list[Splice]:
    """Splices that put item ``index`` of the list at ``path`` where ``to`` is; its lines move whole."""
    start, end, items = _lines(file, document, path)
    for given in (index, to):
        _in_range(given, len(items), path)
    moved = list(items)
    moved.insert(to, moved.pop(index))
    return [] if moved == items else [Splice(start, end, _joined(file, moved, end))]


def repeat_item(file: UnityFile, document: str, path: str, index: int, like: int) -> list[Splice]:
    """Splices that insert a copy of item ``like`` before item ``index``."""
    start, end, items = _lines(file, document, path)
    _in_range(like, len(items), path)
    _in_range(index, len(items) + 1, path)
    return [Splice(start, end, _joined(file, [*items[:index], items[like], *items[index:]], end))]


def _in_range(index: int, length: int, path: str) -> None:
    if index >= length:
        raise TextFault(
            "path.index", f"the list has no item {index}: the highest is {length - 1}", where=path
        )


def _lines(file: UnityFile, document: str, path: str) -> tuple[int, int, list[bytes]]:
    """Start and end of a block list's lines, and each item's lines without the last line end."""
    node = file.find(document, path).node
    data = file.data
    if not isinstance(node, Sequence) or node.flow:
        raise TextFault("value.not_list", "at this path stands no list of several lines", where=path)
    starts = [data.rfind(b"\n", 0, dash) + 1 for dash in node.dashes]
    if any(data[line:dash].strip(b" ") for line, dash in zip(starts, node.dashes, strict=True)):
        raise TextFault("value.nested_list", "a list within a list is not edited by item", where=path)
    stop = data.find(b"\n", node.end)
    end = len(data) if stop < 0 else stop + 1
    pieces = [data[a:b].rstrip(b"\r\n") for a, b in zip(starts, [*starts[1:], end], strict=True)]
    return starts[0], end, pieces


def _joined(file: UnityFile, items: list[bytes], end: int) -> bytes:
    newline = file.newline_at(max(end - 1, 0))
    return newline.join(items) + (newline if file.data[:end].endswith(b"\n") else b"")


def _observed(workspace: Workspace, args: EditList) -> Iterator[Observation]:
    path = target_of(args)
    subject = f"{path}:{args.document}:{args.path}"
    listed = workspace.text(path).read(args.document, args.path)
    if not isinstance(listed, list):
        yield Observation(subject, "a list", str(listed), holds=False)
    elif args.value is not None:
        value = plain_value(args.value)
        wanted = {k: str(v) for k, v in value.items()} if isinstance(value, dict) else _text(value)
        found = listed[args.index] if args.index < len(listed) else None
        yield Observation(f"{subject}[{args.index}]", str(wanted), str(found), wanted == found)
    else:
        yield Observation(subject, "a list", f"a list of {len(listed)}", holds=True)


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


OPERATION: UnityOperation[EditList] = UnityOperation(
    capability="unity.edit_list@1",
    execute=edit_list,
    observe=_observed,
    subject=lambda _workspace, args: (target_of(args), args.document, args.path, "list"),
)
