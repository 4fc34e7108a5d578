"""Whether a reference leads somewhere, and whether its property may hold what stands there.

Rules kept here:

* Into the project: the asset exists and has the object. A texture's legal ids are the texture, its sprites
  as its ``.meta`` lists them, and the cubemap; a native asset's are its documents.
* The reference's type is the one of what it leads to: 2 for a native asset, 3 for an imported one.
* Out of the project: built-in resources and cached packages count as there. Where there is no package cache,
  an unknown GUID is a warning: nobody can say that it is broken.
* A Sprite property never takes a texture's main object, and a texture property never takes a sprite. What a
  property holds is read from the script's field, from a component's known name, or from its present value.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fabric_dagster.errors import OperationFailed
from resources.unity.importers.sprites import TEXTURE, texture_objects
from resources.unity.index.guids import BUILT_IN
from resources.unity.operations.fields import declared_type
from resources.unity.text import TextFault, UnityFile

if TYPE_CHECKING:
    from resources.unity.operations.workspace import Workspace

NATIVE = frozenset({".asset", ".mat", ".anim", ".controller", ".overridecontroller", ".mask", ".preset"})
#: importer block → the type that references to its assets have
TYPES = {b"NativeFormatImporter:": "2", b"TextureImporter:": "3", b"MonoImporter:": "3"}
#: components whose property says its kind by its name
SPRITE_NAMES = frozenset({"m_Sprite"})
#: types of a script's field
DECLARED = {"Sprite": "sprite", "Texture2D": "texture", "Texture": "texture"}
TEXTURE_NAMES = frozenset({"m_Texture", "m_MainTexture", "m_Cookie"})


def check_reference(
    workspace: Workspace, asset: str, document: str, path: str, value: dict[str, str | int]
) -> None:
    """Refuse a reference that leads nowhere or to a wrong kind; warn where nobody can say."""
    file_id = str(value["fileID"])
    guid = value.get("guid")
    if guid is None:
        _check_local(workspace, asset, file_id)
        return
    wanted = property_kind(workspace, asset, document, path)
    if file_id == TEXTURE and wanted == "sprite":
        raise OperationFailed(
            "unity.reference_kind",
            "the property holds a Sprite; fileID 2800000 is the texture",
            where=f"{asset}:{path}",
            mend="refer to the sprite: 21300000, or the internalID in the texture's .meta",
        )
    target = workspace.path_of(str(guid))
    if target is None:
        _check_outside(workspace, str(guid), f"{asset}:{path}")
        return
    _check_type(workspace, target, str(value.get("type")), f"{asset}:{path}")
    _check_object(workspace, target, file_id, wanted, f"{asset}:{path}")


def _check_local(workspace: Workspace, asset: str, file_id: str) -> None:
    if file_id == "0":
        return
    ids = {span.file_id for span in workspace.text(asset).documents}
    if file_id not in ids:
        raise OperationFailed(
            "unity.reference_unresolved",
            f"the file has no object {file_id}",
            where=asset,
            mend="give guid and type for an object of another asset",
        )


def _check_outside(workspace: Workspace, guid: str, where: str) -> None:
    index = workspace.index
    if BUILT_IN.match(guid) or (index.cache is not None and guid in index.cache):
        return
    if index.cache is not None:
        raise OperationFailed(
            "unity.reference_unresolved",
            "no asset of the project or its packages has this GUID",
            where=where,
            value=guid,
            mend="import the referred asset first",
        )
    workspace.warnings.append(
        f"{where}: GUID {guid} is not in the project; without Library/PackageCache nobody can say whether a "
        "package has it"
    )


def _check_type(workspace: Workspace, target: str, kind: str, where: str) -> None:
    """The type says who made the object: 2 the asset itself, 3 its importer."""
    meta = workspace.read(f"{target}.meta") or b""
    known = next((number for block, number in TYPES.items() if b"\n" + block in meta), kind)
    if kind != known:
        raise OperationFailed(
            "unity.reference_kind",
            f"a reference to {target} has type {known}, not {kind}",
            where=where,
            mend=f'give "type": {known}',
        )


def _check_object(workspace: Workspace, target: str, file_id: str, wanted: str, where: str) -> None:
    meta = workspace.read(f"{target}.meta") or b""
    suffix = PurePosixPath(target).suffix.lower()
    try:
        if b"\nTextureImporter:" in meta:
            objects = texture_objects(UnityFile(meta))
            if file_id not in objects.legal:
                sprites = ", ".join(sorted(objects.sprites)) or "no sprite"
                raise OperationFailed(
                    "unity.reference_unresolved",
                    f"{target} has no object {file_id}",
                    where=where,
                    mend=f"it has the texture {TEXTURE} and {sprites}",
                )
            if wanted == "texture" and file_id in objects.sprites:
                raise OperationFailed(
                    "unity.reference_kind",
                    "the property holds a texture, the reference names its sprite",
                    where=where,
                    mend=f"refer to {TEXTURE}",
                )
        elif suffix in NATIVE and file_id not in {s.file_id for s in workspace.text(target).documents}:
            raise OperationFailed(
                "unity.reference_unresolved", f"{target} has no object {file_id}", where=where
            )
        elif wanted in {"sprite", "texture"} and suffix in {".cs", ".prefab", ".unity", ".mat", ".shader"}:
            raise OperationFailed(
                "unity.reference_kind", f"the property holds a {wanted}; {target} is none", where=where
            )
    except TextFault as fault:
        raise OperationFailed(
            "unity.reference_unresolved", f"the .meta of {target} cannot be read: {fault.what}", where=where
        ) from fault


# -- what a property holds


def property_kind(workspace: Workspace, asset: str, document: str, path: str) -> str:
    """``sprite``, ``texture`` or ``""`` (anything) for the property at ``path``."""
    name = re.sub(r"\.Array\.data\[\d+\]\Z", "", path).rpartition(".")[2]
    if name in SPRITE_NAMES:
        return "sprite"
    if name in TEXTURE_NAMES:
        return "texture"
    file = workspace.text(asset)
    declared = declared_type(workspace, file, document, path)
    known = DECLARED.get(declared.rpartition(".")[2], "")
    return known or _present(workspace, file, document, path)


def _present(workspace: Workspace, file: UnityFile, document: str, path: str) -> str:
    """From what the property refers to now."""
    try:
        old = file.read(document, path)
    except TextFault:
        return ""
    if not isinstance(old, dict) or "guid" not in old:
        return ""
    target = workspace.path_of(str(old["guid"]))
    meta = workspace.read(f"{target}.meta") if target else None
    if meta is None or b"\nTextureImporter:" not in meta:
        return ""
    try:
        objects = texture_objects(UnityFile(meta))
    except TextFault:
        return ""
    file_id = str(old.get("fileID"))
    if file_id in objects.sprites:
        return "sprite"
    return "texture" if file_id == TEXTURE else ""
