"""``unity.create_asset@1``: a ScriptableObject from a sibling's shape, and its ``.meta``.

Rules kept here: the sibling's bytes are the model, line ends included; its labels, bundle and user data are
not copied. An emptied field keeps its kind: a number becomes 0, a text empty, a reference none, a list empty.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.fields import holds
from resources.unity.operations.folders import metas_for, new_folders, refuse_odd_destination
from resources.unity.operations.set_property import plain_value, value_observed, write_value
from resources.unity.operations.workspace import mapped
from resources.unity.text import Splice, TextFault, UnityFile, apply, set_value
from resources.unity.text.edits import kind_of
from resources.unity.text.nodes import Mapping, Scalar, Sequence
from resources.unity.text.paths import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_create_asset import CreateAsset
    from resources.unity.operations.workspace import Workspace
    from resources.unity.text.nodes import Node

MONO_BEHAVIOUR = 114
#: fields of every MonoBehaviour that a new one shares with its sibling
COMMON = frozenset({
    "m_ObjectHideFlags", "m_CorrespondingSourceObject", "m_PrefabInstance", "m_PrefabAsset", "m_GameObject",
    "m_Enabled", "m_EditorHideFlags", "m_Script", "m_Name", "m_EditorClassIdentifier", "m_PrefabParentObject",
    "m_PrefabInternal", "serializedVersion", "references",
})  # fmt: skip
META = (
    "fileFormatVersion: 2\nguid: {guid}\nNativeFormatImporter:\n  externalObjects: {{}}\n"
    "  mainObjectFileID: {main}\n  userData: \n  assetBundleName: \n  assetBundleVariant: \n"
)


def create_asset(workspace: Workspace, args: CreateAsset) -> dict[str, Any]:
    """Stage asset, ``.meta`` and the metas of new folders. Returns ``asset`` and ``reference``."""
    path = args.asset
    workspace.check_path(path)
    refuse_odd_destination(workspace, path)
    if not path.startswith(("Assets/", "Packages/")) or PurePosixPath(path).suffix != ".asset":
        raise OperationFailed(
            "unity.destination_refused", "a new asset is an .asset under Assets/", where=path
        )
    for there in (path, f"{path}.meta"):
        if workspace.exists(there):
            raise OperationFailed(
                "unity.asset_exists",
                "something stands there already",
                where=there,
                mend="choose another path",
            )
    model = workspace.text(args.like)
    document = _document(model, args.like)
    guid = workspace.new_guid(path)
    metas_for(workspace, path)
    try:
        splices = _emptied(workspace, model, document) if args.keep == "shape" else []
        data = apply(model.data, splices)
        data = apply(data, set_value(UnityFile(data), document, "m_Name", PurePosixPath(path).stem))
    except TextFault as fault:
        raise mapped(fault, args.like) from fault
    workspace.write(path, data)
    newline = b"\r\n" if b"\r\n" in (workspace.read(f"{args.like}.meta") or b"") else b"\n"
    meta = META.format(guid=guid, main=document).encode().replace(b"\n", newline)
    workspace.write(f"{path}.meta", meta)
    for where, value in args.values.items():
        write_value(workspace, path, document, where, plain_value(value))
    return {"asset": path, "reference": {"fileID": document, "guid": guid, "type": 2}}


def _document(model: UnityFile, where: str) -> str:
    """The fileID of the one MonoBehaviour of the model."""
    spans = model.documents
    try:
        if len(spans) == 1 and spans[0].class_id == MONO_BEHAVIOUR and not spans[0].stripped:
            model.find(spans[0].file_id, "m_Script.guid")
            return spans[0].file_id
    except TextFault:
        pass  # a MonoBehaviour without a script is no model: said below
    raise OperationFailed(
        "unity.asset_wrong_kind",
        "it is not one ScriptableObject: its parts would be copied with their identities",
        where=where,
        mend="name a .asset of one MonoBehaviour with a script",
    )


def _emptied(workspace: Workspace, file: UnityFile, document: str) -> list[Splice]:
    content = file.content(file.span(document))
    if not isinstance(content, Mapping):
        return []
    splices: list[Splice] = []
    for entry in content.entries:
        if entry.key not in COMMON:
            splices += _empty(workspace, file, document, entry.key, entry.key, entry.value)
    return splices


def _empty(
    workspace: Workspace, file: UnityFile, document: str, path: str, key: str, node: Node
) -> list[Splice]:
    kind = kind_of(file.data, Found(node, key, ()))
    if kind == "reference":
        return [Splice(node.start, node.end, b"{fileID: 0}")]
    if isinstance(node, Sequence):
        if node.flow:
            return [Splice(node.start, node.end, b"[]")] if node.items else []
        return [Splice(len(file.data[: node.start].rstrip(b" \r\n")), node.end, b" []")]
    if isinstance(node, Mapping):
        found: list[Splice] = []
        for entry in node.entries:
            if entry.key != "serializedVersion":
                found += _empty(workspace, file, document, f"{path}.{entry.key}", entry.key, entry.value)
        return found
    return _empty_scalar(workspace, file, document, path, node, kind)


def _empty_scalar(
    workspace: Workspace, file: UnityFile, document: str, path: str, node: Scalar, kind: str
) -> list[Splice]:
    number = kind in {"integer", "decimal"} and holds(workspace, file, document, path) != "text"
    text = b"0" if number else b""
    return [] if file.data[node.start : node.end] == text else [Splice(node.start, node.end, text)]


def _observed(workspace: Workspace, args: CreateAsset) -> Iterator[Observation]:
    path = args.asset
    file, model = workspace.text(path), workspace.text(args.like)
    document = _document(file, path)
    wanted = model.read(_document(model, args.like), "m_Script.guid")
    found = file.read(document, "m_Script.guid")
    yield Observation(f"{path}: script", str(wanted), str(found), wanted == found)
    yield from value_observed(workspace, path, document, "m_Name", PurePosixPath(path).stem)
    owners = workspace.index.assets.get(workspace.guid_of(path) or "", [])
    yield Observation(f"{path}.meta: guid", f"{path} alone", ", ".join(owners) or "nobody", owners == [path])
    for where, value in args.values.items():
        yield from value_observed(workspace, path, document, where, plain_value(value))


def _needed(workspace: Workspace, args: CreateAsset) -> tuple[str, ...]:
    workspace.check_path(args.asset)
    return (*(f"guid:{folder}" for folder in new_folders(workspace, args.asset)), f"guid:{args.asset}")


OPERATION: UnityOperation[CreateAsset] = UnityOperation(
    capability="unity.create_asset@1",
    execute=create_asset,
    observe=_observed,
    subject=lambda _workspace, args: (args.asset,),
    allocations=_needed,
)
