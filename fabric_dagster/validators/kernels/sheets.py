"""What a texture's ``.meta`` says of its slices, an atlas of its members, a group of its entries.

Read by names and paths, from the bytes; nothing of the hands that write them is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.validators.base import Unjudgeable
from fabric_dagster.validators.kernels.project import SPRITE, TEXTURE, Tree
from resources.unity.text import TextFault, UnityFile

if TYPE_CHECKING:
    from collections.abc import Mapping

IMPORTER = "TextureImporter"
SPRITE_TYPE, SINGLE = "8", "1"
FOLDER = 102900000
ATLASES = {
    ".spriteatlas": (687078895, "m_EditorData.packables"),
    ".spriteatlasv2": (612988286, "m_ImporterData.packables"),
}
GROUP = b"guid: bbb281ee3bf0b054c82ac2347e9e782c"


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice: its name, its fileID and the random id that this follows from."""

    name: str
    file_id: str
    sprite_id: str


def block(meta: UnityFile) -> Mapping[str, Any]:
    """The TextureImporter block; empty where there is none."""
    try:
        found = meta.read("0", IMPORTER)
    except TextFault:
        return {}
    return found if isinstance(found, dict) else {}


def slices(meta: UnityFile) -> list[Slice]:
    """The slices of a sheet in order; their ids from the sheet itself or, of an old one, from its table."""
    importer = block(meta)
    recycled = importer.get("fileIDToRecycleName")
    old = {str(name): key for key, name in recycled.items()} if isinstance(recycled, dict) else {}
    sheet = importer.get("spriteSheet")
    listed = sheet.get("sprites") if isinstance(sheet, dict) else None
    found = []
    for row in listed if isinstance(listed, list) else []:
        if isinstance(row, dict):
            name = str(row.get("name", ""))
            found.append(
                Slice(name, str(row.get("internalID") or old.get(name, "")), str(row.get("spriteID", "")))
            )
    return found


def sprite_ids(meta: UnityFile) -> set[int]:
    """The fileIDs of the sprites that a texture is drawn as; empty where it is none."""
    importer = block(meta)
    if importer.get("textureType") != SPRITE_TYPE:
        return set()
    if importer.get("spriteMode") == SINGLE:
        return {SPRITE}
    return {int(item.file_id) for item in slices(meta) if item.file_id.lstrip("-").isdigit()}


# -- atlases


def packables(tree: Tree, atlas: str) -> list[tuple[int, str]]:
    """(fileID, GUID) of what a master atlas packs, in order; empty for a variant."""
    class_id, path = ATLASES[PurePosixPath(atlas).suffix.lower()]
    file = tree.unity(atlas)
    found: list[tuple[int, str]] = []
    try:
        for span in file.documents:
            if span.class_id != class_id or file.read(span.file_id, "m_IsVariant") == "1":
                continue
            listed = file.read(span.file_id, path)
            rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
            found += [(int(str(row.get("fileID", 0))), str(row.get("guid", ""))) for row in rows]
    except (TextFault, ValueError) as fault:
        raise Unjudgeable("an atlas as Unity writes it", str(fault), atlas) from fault
    return found


def packed(tree: Tree, members: list[tuple[int, str]]) -> list[tuple[str, int]]:
    """(texture, sprite's fileID) of all that these members pack, folders expanded, with repetitions."""
    found: list[tuple[str, int]] = []
    for file_id, guid in members:
        target = tree.asset_of(guid)
        if target is None:
            continue
        if file_id == FOLDER:
            inside = [path for path in tree.files if path.startswith(f"{target}/") and path.endswith(".meta")]
            textures = [path.removesuffix(".meta") for path in sorted(inside)]
            found += [(path, one) for path in textures for one in sorted(_sprites(tree, path))]
        elif file_id == TEXTURE:
            found += [(target, one) for one in sorted(_sprites(tree, target))]
        else:
            found.append((target, file_id))
    return found


def _sprites(tree: Tree, texture: str) -> set[int]:
    data = tree.read(f"{texture}.meta")
    return sprite_ids(tree.unity(f"{texture}.meta")) if b"\nTextureImporter:" in data else set()


# -- Addressables


@dataclass(frozen=True, slots=True)
class Entry:
    """One Addressables entry."""

    guid: str
    address: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """An Addressables group: its asset, the GUID of its settings, its entries in order."""

    path: str
    settings: str
    entries: tuple[Entry, ...]


def groups(tree: Tree) -> list[Group]:
    """Every Addressables group of the project, by path."""
    found = []
    for path in sorted(tree.files):
        if path.endswith(".asset") and GROUP in tree.read(path):
            found += _groups(tree.unity(path), path)
    return found


def _groups(file: UnityFile, path: str) -> list[Group]:
    found = []
    for span in file.documents:
        try:
            listed = file.read(span.file_id, "m_SerializeEntries")
            settings = file.read(span.file_id, "m_Settings")
        except TextFault:
            continue  # another object of the file
        rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
        entries = tuple(
            Entry(
                str(row.get("m_GUID", "")),
                str(row.get("m_Address", "")),
                _texts(row.get("m_SerializedLabels")),
            )
            for row in rows
        )
        found.append(
            Group(path, str(settings.get("guid", "")) if isinstance(settings, dict) else "", entries)
        )
    return found


def labels_of(tree: Tree, settings: str) -> tuple[str, ...] | None:
    """The labels that the settings table; ``None`` where the settings are not in the project."""
    path = tree.asset_of(settings) if settings else None
    if path is None or path not in tree.files:
        return None
    file = tree.unity(path)
    for span in file.documents:
        try:
            return _texts(file.read(span.file_id, "m_LabelTable.m_LabelNames"))
        except TextFault:
            continue
    return None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
