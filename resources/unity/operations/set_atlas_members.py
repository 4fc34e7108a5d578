"""``unity.set_atlas_members@1``: the packables of a sprite atlas, of either format.

Rules kept here:

* Only ``packables`` changes. What is packed in the end is the editor's to derive.
* A folder packs every sprite texture below it, so members are expanded before they are compared: a sprite
  that two atlases pack shows from either one, at the editor's whim.
* Sources that are compressed before they are packed lose twice: a warning.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import Fault, OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.importers.slices import existing
from resources.unity.importers.sprites import SINGLE_SPRITE, TEXTURE, texture_objects
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.workspace import mapped
from resources.unity.text import TextFault, UnityFile, apply, insert_item, remove_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_set_atlas_members import Member, SetAtlasMembers
    from resources.unity.operations.workspace import Workspace

FOLDER = "102900000"
#: suffix → class of the document, and the path of its packables
FORMATS = {
    ".spriteatlas": (687078895, "m_EditorData.packables"),
    ".spriteatlasv2": (612988286, "m_ImporterData.packables"),
}
VARIANT = "1"

Key = tuple[str, str]


def set_atlas_members(workspace: Workspace, args: SetAtlasMembers) -> dict[str, Any]:
    """Stage the edit. Returns ``atlas``."""
    workspace.check_path(args.atlas)
    document, path = _packables(workspace.text(args.atlas), args.atlas)
    faults: list[Fault] = []
    added = _keys(workspace, args.add, faults)
    removed = _keys(workspace, args.remove, faults)
    if faults:
        raise OperationFailed.of(faults)
    for key in removed:
        file = workspace.text(args.atlas)
        have = packed(file, args.atlas)
        if key not in have:
            name = workspace.path_of(key[1]) or key[1]
            workspace.warnings.append(f"{args.atlas}: {name} was no member of it")
            continue
        workspace.write(args.atlas, apply(file.data, remove_item(file, document, path, have.index(key))))
    for key in added:
        file = workspace.text(args.atlas)
        have = packed(file, args.atlas)
        if key in have:
            continue
        value: dict[str, int | str] = {"fileID": key[0], "guid": key[1], "type": 3}
        try:
            splices = insert_item(file, document, path, len(have), value)
        except TextFault as fault:
            raise mapped(fault, args.atlas) from fault
        workspace.write(args.atlas, apply(file.data, splices))
    _refuse_clashes(workspace, args.atlas, added)
    _warn_compressed(workspace, args.atlas, added)
    return {"atlas": args.atlas}


def _packables(file: UnityFile, atlas: str) -> tuple[str, str]:
    """The document and the path of an atlas' packables; a variant, which packs its master's, is refused."""
    class_id, path = FORMATS.get(PurePosixPath(atlas).suffix.lower(), (0, ""))
    spans = [span for span in file.documents if span.class_id == class_id]
    if not class_id or len(spans) != 1:
        raise OperationFailed(
            "unity.asset_wrong_kind",
            "it is no sprite atlas",
            where=atlas,
            mend="name a .spriteatlas or .spriteatlasv2",
        )
    try:
        if file.read(spans[0].file_id, "m_IsVariant") == VARIANT:
            raise OperationFailed(
                "unity.asset_wrong_kind",
                "it is a variant, which packs what its master atlas packs",
                where=atlas,
                mend="edit the master atlas",
            )
        file.find(spans[0].file_id, path)
    except TextFault as fault:
        raise mapped(fault, atlas) from fault
    return spans[0].file_id, path


def packed(file: UnityFile, atlas: str) -> list[Key]:
    """(fileID, GUID) of each packable, in order."""
    document, path = _packables(file, atlas)
    items = file.read(document, path)
    return [
        (str(item.get("fileID")), str(item.get("guid", "")))
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, dict)
    ]


def _keys(workspace: Workspace, members: tuple[Member, ...], faults: list[Fault]) -> list[Key]:
    found = []
    for member in members:
        try:
            found.append(_key(workspace, member))
        except OperationFailed as error:
            faults += error.faults
    return list(dict.fromkeys(found))


def _key(workspace: Workspace, member: Member) -> Key:
    workspace.check_path(member.path)
    guid = workspace.guid_of(member.path)
    if guid is None or not workspace.exists(member.path):
        raise OperationFailed(
            "unity.reference_unresolved",
            "there is no such asset with a .meta",
            where=member.path,
            mend="import it first",
        )
    if workspace.is_folder(member.path) and member.sprite is None:
        return FOLDER, guid
    sprites = _sprites(workspace, member.path)
    if not sprites:
        raise OperationFailed(
            "unity.asset_wrong_kind",
            "an atlas packs folders and sprites",
            where=member.path,
            mend="import it with a sprite profile first",
        )
    if member.sprite is None:
        return TEXTURE, guid
    named = sorted(file_id for file_id, name in sprites.items() if name == member.sprite)
    if len(named) != 1:
        raise OperationFailed(
            "unity.reference_unresolved",
            "the texture has no such sprite" if not named else "several sprites have this name",
            where=member.path,
            value=member.sprite,
            mend=f"it has: {', '.join(sorted(sprites.values()))}",
        )
    return named[0], guid


def _sprites(workspace: Workspace, texture: str) -> dict[str, str]:
    """Id → name of a texture's sprites; empty where it is none."""
    meta = workspace.read(f"{texture}.meta") or b""
    if b"\nTextureImporter:" not in meta:
        return {}
    try:
        file = UnityFile(meta)
        objects = texture_objects(file)
        if file.read("0", "TextureImporter.textureType") != "8":
            return {}
        if objects.sprite_mode == 1:
            return {SINGLE_SPRITE: PurePosixPath(texture).stem}
        return {item.file_id: item.name for item in existing(file)}
    except TextFault as fault:
        raise OperationFailed("unity.meta_damaged", fault.what, where=f"{texture}.meta") from fault


def _expanded(workspace: Workspace, keys: list[Key]) -> dict[Key, Key]:
    """(sprite's fileID, texture's GUID) → the member that packs it."""
    found: dict[Key, Key] = {}
    for key in keys:
        file_id, guid = key
        path = workspace.path_of(guid)
        if path is None:
            continue
        textures = [path]
        if file_id == FOLDER:
            textures = [
                name.removesuffix(".meta") for name in workspace.below(path) if name.endswith(".meta")
            ]
        for texture in textures:
            own = workspace.guid_of(texture) or ""
            for sprite in _sprites(workspace, texture) if file_id in {FOLDER, TEXTURE} else [file_id]:
                found.setdefault((sprite, own), key)
    return found


def _refuse_clashes(workspace: Workspace, atlas: str, added: list[Key]) -> None:
    """No sprite that is added is packed by another member, here or in another atlas."""
    new = _expanded(workspace, added)
    faults: list[Fault] = []
    for path in sorted({*workspace.index.guids, atlas}):
        if PurePosixPath(path).suffix.lower() not in FORMATS or not workspace.exists(path):
            continue
        try:
            keys = packed(workspace.text(path), path)
        except OperationFailed:
            if path == atlas:
                raise
            continue  # a variant or a damaged atlas packs nothing of its own
        others = [key for key in keys if path != atlas or key not in added]
        for (sprite, guid), _ in sorted(_expanded(workspace, others).items()):
            if (sprite, guid) in new:
                what = f"the sprite {sprite} is packed by {path} already"
                faults.append(
                    Fault("unity.atlas_clash", what, workspace.path_of(guid) or guid, "pack it once")
                )
    twice = [key for key in added if _inside(workspace, key, [other for other in added if other != key])]
    faults += [
        Fault(
            "unity.atlas_clash",
            "another member that is added packs it already",
            workspace.path_of(key[1]) or key[1],
            "add the folder or its content",
        )
        for key in twice
    ]
    if faults:
        raise OperationFailed.of(faults)


def _inside(workspace: Workspace, key: Key, others: list[Key]) -> bool:
    mine = _expanded(workspace, [key])
    return bool(mine) and bool(mine.keys() & _expanded(workspace, others).keys()) and key[0] != FOLDER


def _warn_compressed(workspace: Workspace, atlas: str, added: list[Key]) -> None:
    for path in sorted({workspace.path_of(guid) or "" for _, guid in _expanded(workspace, added)} - {""}):
        meta = workspace.read(f"{path}.meta") or b""
        at = "TextureImporter.platformSettings.Array.data[0].textureCompression"
        try:
            compressed = UnityFile(meta).read("0", at) != "0"
        except TextFault:
            continue
        if compressed:
            workspace.warnings.append(f"{atlas}: {path} is compressed before it is packed, and then again")


def _observed(workspace: Workspace, args: SetAtlasMembers) -> Iterator[Observation]:
    have = packed(workspace.text(args.atlas), args.atlas)
    for member in (*args.add, *args.remove):
        name = member.path if member.sprite is None else f"{member.path}:{member.sprite}"
        count = have.count(_key(workspace, member))
        wanted = 1 if member in args.add else 0
        yield Observation(f"{args.atlas}: {name}", f"{wanted} times", f"{count} times", wanted == count)


OPERATION: UnityOperation[SetAtlasMembers] = UnityOperation(
    capability="unity.set_atlas_members@1",
    execute=set_atlas_members,
    observe=_observed,
    subject=lambda _workspace, args: (args.atlas, "packables", repr(args.add), repr(args.remove)),
)
