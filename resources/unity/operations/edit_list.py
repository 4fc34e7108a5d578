"""``unity.edit_list@1``: one item of a block list in, out or elsewhere; every other line keeps its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.fields import holds
from resources.unity.operations.references import check_reference
from resources.unity.operations.set_property import plain_value
from resources.unity.operations.workspace import mapped
from resources.unity.text import (
    Splice,
    TextFault,
    apply,
    insert_item,
    move_item,
    remove_item,
    repeat_item,
    scalars,
)
from resources.unity.text.edits import kind_of
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
