"""``unity.set_material_texture@1``: ``m_Texture`` of one slot of ``m_TexEnvs``, old form or new."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.importers.sprites import CUBEMAP, TEXTURE
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.workspace import mapped
from resources.unity.text import TextFault, UnityFile, apply, set_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_set_material_texture import SetMaterialTexture
    from resources.unity.operations.workspace import Workspace

MATERIAL = 21
SLOTS = "m_SavedProperties.m_TexEnvs"
#: native assets that are textures → fileID of the texture
NATIVE = {".rendertexture": "8400000", ".cubemap": CUBEMAP}
CUBE = "2"


def set_material_texture(workspace: Workspace, args: SetMaterialTexture) -> dict[str, Any]:
    """Stage the material. Returns ``material``."""
    workspace.check_path(args.material)
    value = _reference(workspace, args.texture)
    file = workspace.text(args.material)
    try:
        document, path = _slot(file, args)
        splices = set_value(file, document, path, value)
    except TextFault as fault:
        raise mapped(fault, args.material) from fault
    workspace.write(args.material, apply(file.data, splices))
    return {"material": args.material}


def _slot(file: UnityFile, args: SetMaterialTexture) -> tuple[str, str]:
    """Document and property path of the slot's texture."""
    spans = [span for span in file.documents if span.class_id == MATERIAL]
    if len(spans) != 1:
        raise OperationFailed(
            "unity.asset_wrong_kind", "it is not one material", where=args.material, mend="name a .mat"
        )
    document = spans[0].file_id
    slots = file.read(document, SLOTS)
    names: list[str] = []
    for index, item in enumerate(slots if isinstance(slots, list) else []):
        if not isinstance(item, dict):
            continue
        first = item.get("first")
        # Until Unity 5.5 a slot was a pair whose first part holds the name.
        name = str(first.get("name")) if isinstance(first, dict) and len(item) > 1 else next(iter(item), "")
        names.append(name)
        if name == args.slot:
            key = "second" if isinstance(first, dict) and len(item) > 1 else name
            return document, f"{SLOTS}.Array.data[{index}].{key}.m_Texture"
    raise OperationFailed(
        "unity.path_missing",
        "the material has no such slot",
        where=args.material,
        value=args.slot,
        mend=f"it has: {', '.join(names) or 'none'}",
    )


def _reference(workspace: Workspace, texture: str | None) -> dict[str, int | str]:
    if texture is None:
        return {"fileID": "0"}
    workspace.check_path(texture)
    guid = workspace.guid_of(texture)
    if guid is None or not workspace.exists(texture):
        raise OperationFailed(
            "unity.reference_unresolved",
            "there is no such asset with a .meta",
            where=texture,
            mend="import it first",
        )
    native = NATIVE.get(PurePosixPath(texture).suffix.lower())
    if native is not None:
        return {"fileID": native, "guid": guid, "type": 2}
    try:
        meta = workspace.text(f"{texture}.meta")
        shape = meta.read("0", "TextureImporter.textureShape")
    except TextFault as fault:
        raise OperationFailed(
            "unity.reference_kind", "it is no texture", where=texture, mend="name an imported texture"
        ) from fault
    return {"fileID": CUBEMAP if shape == CUBE else TEXTURE, "guid": guid, "type": 3}


def _observed(workspace: Workspace, args: SetMaterialTexture) -> Iterator[Observation]:
    file = workspace.text(args.material)
    document, path = _slot(file, args)
    wanted = {key: str(value) for key, value in _reference(workspace, args.texture).items()}
    found = file.read(document, path)
    yield Observation(f"{args.material}: {args.slot}", str(wanted), str(found), wanted == found)


OPERATION: UnityOperation[SetMaterialTexture] = UnityOperation(
    capability="unity.set_material_texture@1",
    execute=set_material_texture,
    observe=_observed,
    subject=lambda _workspace, args: (args.material, "texture", args.slot),
)
