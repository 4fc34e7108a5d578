"""One property of one object of a scene or a prefab, by its fileID; on a prefab instance, its override.

Rules kept here:

* What an object is part of (its game object, parent, children, components, its source) is the editor's.
* An override is an item of the instance's ``m_Modifications``: the target in the source prefab, the path, and
  either a value or a reference. One that is there is replaced where it stands, a new one comes last.
* The source prefab, where the project has it, shows that target and property exist and what type they have.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.references import check_reference
from resources.unity.operations.set_property import (
    plain_value,
    value_fits,
    value_observed,
    write_value,
)
from resources.unity.operations.workspace import mapped
from resources.unity.text import Splice, TextFault, UnityFile, apply, remove_item, scalars
from resources.unity.text.nodes import Sequence
from resources.unity.text.references import flow_map, reference_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_objects import SetObjectProperty
    from resources.unity.operations.workspace import Workspace
    from resources.unity.text.edits import Value

PREFAB_INSTANCE = 1001
MODIFICATIONS = "m_Modification.m_Modifications"
STRUCTURE = frozenset({
    "m_GameObject", "m_Component", "m_Father", "m_Children", "m_CorrespondingSourceObject",
    "m_PrefabInstance", "m_PrefabAsset", "m_PrefabParentObject", "m_PrefabInternal", "m_Modification",
    "m_SourcePrefab", "m_ParentPrefab", "m_RootGameObject", "m_Roots", "m_Script", "serializedVersion",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Override:
    """Where an override belongs: the instance's document, and the target in the source prefab."""

    instance: str
    file_id: str
    guid: str
    type: str


def set_object_property(workspace: Workspace, args: SetObjectProperty, suffix: str) -> dict[str, Any]:
    """Stage the edit. Returns ``asset``."""
    workspace.check_path(args.asset)
    if PurePosixPath(args.asset).suffix.lower() != suffix:
        raise OperationFailed(
            "unity.asset_wrong_kind", f"this capability edits {suffix} files", where=args.asset
        )
    if args.path.partition(".")[0] in STRUCTURE:
        raise OperationFailed(
            "unity.value_type",
            "this is part of the structure that the editor keeps",
            where=f"{args.asset}:{args.path}",
            mend="change it in the editor",
        )
    file = workspace.text(args.asset)
    try:
        override = _override(file, args)
    except TextFault as fault:
        raise mapped(fault, args.asset) from fault
    if override is not None:
        _set_override(workspace, args, override)
    elif args.value is None:
        raise OperationFailed(
            "unity.path_missing",
            "the object is the file's own: it has nothing to revert to",
            where=f"{args.asset}:{args.document}",
        )
    else:
        write_value(workspace, args.asset, args.document, args.path, plain_value(args.value), args.kind)
    return {"asset": args.asset}


def _override(file: UnityFile, args: SetObjectProperty) -> Override | None:
    """The override that is meant; ``None`` for an object that is the file's own."""
    span = file.span(args.document)
    if span.class_id == PREFAB_INSTANCE:
        if args.target is None:
            raise TextFault(
                "path.missing",
                "a prefab instance has overrides and no properties of its own",
                where=args.document,
                mend="name the target: the fileID of the object in the source prefab",
            )
        source = _first(file, args.document, "m_SourcePrefab", "m_ParentPrefab")
        return Override(args.document, args.target, source["guid"], source["type"])
    if args.target is not None:
        raise TextFault(
            "path.missing",
            "only a prefab instance has targets",
            where=args.document,
            mend="leave out the target",
        )
    if not span.stripped:
        return None
    instance = _first(file, args.document, "m_PrefabInstance", "m_PrefabInternal")
    source = _first(file, args.document, "m_CorrespondingSourceObject", "m_PrefabParentObject")
    return Override(instance["fileID"], source["fileID"], source["guid"], source["type"])


def _first(file: UnityFile, document: str, *names: str) -> dict[str, str]:
    for name in names:
        try:
            found = file.read(document, name)
        except TextFault:
            continue
        if isinstance(found, dict):
            return {"fileID": "0", "guid": "", "type": "3"} | {
                key: str(value) for key, value in found.items()
            }
    raise TextFault("path.missing", f"the object names no {names[0]}", where=document)


# -- overrides


def _set_override(workspace: Workspace, args: SetObjectProperty, override: Override) -> None:
    value = None if args.value is None else plain_value(args.value)
    try:
        if value is not None:
            _check(workspace, args, override, value)
        file = workspace.text(args.asset)
        index = _index(file, override, args.path)
        if value is None:
            splices = _removed(file, override, args.path, index)
        elif index is None:
            splices = [_appended(file, override, args.path, value)]
        else:
            splices = _replaced(file, override, index, value)
    except TextFault as fault:
        raise mapped(fault, args.asset) from fault
    workspace.write(args.asset, apply(file.data, splices))


def _check(workspace: Workspace, args: SetObjectProperty, override: Override, value: Value) -> None:
    """Target, property and type, as far as the source prefab shows them."""
    if isinstance(value, dict) and value.get("guid") is None and str(value["fileID"]) != "0":
        workspace.text(args.asset).span(str(value["fileID"]))
    source = workspace.path_of(override.guid)
    if source is None or not source.endswith(".prefab"):
        if isinstance(value, dict) and value.get("guid") is not None:
            check_reference(workspace, args.asset, override.instance, f"{MODIFICATIONS}.x", dict(value))
        return  # a package's prefab or a model: nobody can look
    file = workspace.text(source)
    spans = [span for span in file.documents if span.file_id == override.file_id]
    nested = any(span.class_id == PREFAB_INSTANCE for span in file.documents)
    if not spans and not nested:
        raise OperationFailed(
            "unity.document_missing",
            f"{source} has no object {override.file_id}",
            where=f"{args.asset}:{args.document}",
            mend=f"it has: {', '.join(span.file_id for span in file.documents[:20])}",
        )
    known = bool(spans) and not spans[0].stripped and spans[0].class_id != PREFAB_INSTANCE
    if isinstance(value, dict) and value.get("guid") is not None:
        where = override.file_id if known else override.instance
        check_reference(workspace, source if known else args.asset, where, args.path, dict(value))
    if known and ".Array." not in args.path:
        value_fits(workspace, source, override.file_id, args.path, value, args.kind)


def _items(file: UnityFile, instance: str) -> list[dict[str, Any]]:
    found = file.read(instance, MODIFICATIONS)
    return [item if isinstance(item, dict) else {} for item in found] if isinstance(found, list) else []


def _index(file: UnityFile, override: Override, path: str) -> int | None:
    for index, item in enumerate(_items(file, override.instance)):
        target = item.get("target")
        if not isinstance(target, dict) or item.get("propertyPath") != path:
            continue
        if (target.get("fileID"), target.get("guid", "")) == (override.file_id, override.guid):
            return index
    return None


def _removed(file: UnityFile, override: Override, path: str, index: int | None) -> list[Splice]:
    if index is None:
        raise TextFault("path.missing", "there is no such override", where=path)
    return remove_item(file, override.instance, MODIFICATIONS, index)


def _shown(value: Value) -> str:
    if isinstance(value, dict):
        return ""
    if isinstance(value, float):
        return scalars.number(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def _appended(file: UnityFile, override: Override, path: str, value: Value) -> Splice:
    node = file.find(override.instance, MODIFICATIONS).node
    if not isinstance(node, Sequence):
        raise TextFault("value.not_list", "the overrides are no list", where=MODIFICATIONS)
    data = file.data
    newline = file.newline_at(max(node.start - 1, 0))
    if node.items:
        column, at = node.column, data.find(b"\n", node.end)
        end = at - data[:at].endswith(b"\r") if at >= 0 else len(data)
        start = end
    else:
        start, end = len(data[: node.start].rstrip(b" \r\n")), node.end
        line = data.rfind(b"\n", 0, start) + 1
        column = len(data[line:start]) - len(data[line:start].lstrip(b" "))
    pad = b" " * column
    parts = [f"fileID: {override.file_id}"]
    if override.guid:
        parts += [f"guid: {override.guid}", f"type: {override.type}"]
    reference = reference_parts(value) if isinstance(value, dict) else ["fileID: 0"]
    one = file.one_line_maps
    rows = (
        pad + b"- target: " + flow_map(parts, column + 10, column + 4, newline, one_line=one),
        pad
        + b"  propertyPath: "
        + scalars.encode(path, column=column + 16, indent=column + 4, newline=newline),
        pad
        + b"  value: "
        + scalars.encode(_shown(value), column=column + 9, indent=column + 4, newline=newline),
        pad + b"  objectReference: " + flow_map(reference, column + 19, column + 4, newline, one_line=one),
    )
    return Splice(start, end, b"".join(newline + row for row in rows))


def _replaced(file: UnityFile, override: Override, index: int, value: Value) -> list[Splice]:
    at = f"{MODIFICATIONS}.Array.data[{index}]"
    node = file.find(override.instance, f"{at}.value").node
    newline = file.newline_at(node.start)
    column = node.start - file.data.rfind(b"\n", 0, node.start) - 1
    text = scalars.encode(_shown(value), column=column, indent=node.column + 2, newline=newline)
    lead = b" " if text and file.data[node.start - 1 : node.start] == b":" else b""
    held = file.find(override.instance, f"{at}.objectReference").node
    column = held.start - file.data.rfind(b"\n", 0, held.start) - 1
    parts = reference_parts(value) if isinstance(value, dict) else ["fileID: 0"]
    reference = flow_map(parts, column, held.column + 2, newline, one_line=file.one_line_maps)
    pairs = ((node, lead + text), (held, reference))
    return [Splice(n.start, n.end, new) for n, new in pairs if file.data[n.start : n.end] != new]


# -- afterwards


def object_subject(workspace: Workspace, args: SetObjectProperty) -> tuple[str, ...]:
    """What the operation is about: an override is the same one by either address."""
    try:
        override = _override(workspace.text(args.asset), args)
    except (OperationFailed, TextFault):
        override = None  # what is wrong with the file is found when it is observed
    if override is None:
        return (args.asset, args.document, args.path)
    return (args.asset, override.instance, override.file_id, override.guid, args.path)


def object_observed(workspace: Workspace, args: SetObjectProperty) -> Iterator[Observation]:
    """Whether the property or the override is as asked."""
    file = workspace.text(args.asset)
    override = _override(file, args)
    if override is None:
        if args.value is not None:
            value = plain_value(args.value)
            yield from value_observed(workspace, args.asset, args.document, args.path, value)
        return
    index = _index(file, override, args.path)
    subject = f"{args.asset}:{args.document}:{args.path}"
    item = {} if index is None else _items(file, override.instance)[index]
    if args.value is None:
        found = "none" if index is None else str(item)
        yield Observation(subject, "no override", found if item else "no override", index is None)
        return
    value = plain_value(args.value)
    if isinstance(value, dict):
        wanted, found = str({k: str(v) for k, v in value.items()}), str(item.get("objectReference"))
    else:
        wanted, found = _shown(value), str(item.get("value"))
    yield Observation(subject, wanted, found, wanted == found)
