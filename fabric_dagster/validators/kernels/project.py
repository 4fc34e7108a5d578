"""A Unity project as it is now: every file's digest, every GUID, and what a reference leads to.

Rules kept here: the tree is read whole and once, links are listed as such and never followed; what Unity
makes itself (``Library`` and the like) is no part of it. A reference leads to an object that the target's own
bytes hold: an importer's legal ids, a document of a serialized file. Nothing is assumed of files unread.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Unjudgeable
from resources.unity.text import TextFault, UnityFile

if TYPE_CHECKING:
    from collections.abc import Mapping

#: the folders of a project that are its content
FOLDERS = ("Assets", "Packages", "ProjectSettings")
#: installed packages: read only to resolve references
CACHE = "Library/PackageCache"
LINK = "link:"
GUID = re.compile(rb"^guid: ([0-9a-fA-F]{32})\s*$", re.MULTILINE)
HEAD = 512
REPARSE_POINT = 0x400
MOST_FILES = 500_000

TEXTURE, SPRITE, CUBEMAP, SCRIPT, PREFAB = 2800000, 21300000, 8900000, 11500000, 100100000
#: class of an instance of another prefab, whose objects this file does not list
PREFAB_INSTANCE = 1001
SINGLE, MULTIPLE = "1", "2"
#: Unity's own resources: legal targets with ids of their own
BUILT_IN = re.compile(r"0{16}[0-9a-f]0{15}")
PICTURES = frozenset(
    {".png", ".jpg", ".jpeg", ".psd", ".psb", ".tga", ".tif", ".tiff", ".bmp", ".exr", ".gif"}
)
#: files whose objects are documents in them
SERIALIZED = frozenset(
    {".asset", ".prefab", ".unity", ".mat", ".anim", ".controller", ".overridecontroller", ".spriteatlas",
     ".playable", ".mask", ".physicmaterial", ".physicsmaterial2d", ".lighting", ".mixer", ".rendertexture",
     ".terrainlayer", ".brush", ".flare", ".fontsettings", ".guiskin", ".preset", ".signal",
     ".shadervariants"}
)  # fmt: skip


@dataclass
class Tree:
    """``files``: POSIX path → ``sha256:…`` or ``link:…``; ``guids``: GUID → assets whose metas have it."""

    root: Path
    files: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    guids: dict[str, list[str]] = field(default_factory=dict)

    def read(self, path: str) -> bytes:
        """The bytes of a file of the tree; ``Unjudgeable`` where there is none or they changed meanwhile."""
        if path not in self.files:
            raise Unjudgeable("a file", "nothing", path)
        try:
            data = (self.root / path).read_bytes()
        except OSError as fault:
            raise Unjudgeable("a readable file", fault.strerror or str(fault), path) from fault
        if "sha256:" + hashlib.sha256(data).hexdigest() != self.files[path]:
            raise Unjudgeable("a file that stays as it is", "other bytes than a moment ago", path)
        return data

    def unity(self, path: str) -> UnityFile:
        """A file of the tree as Unity text."""
        try:
            return UnityFile(self.read(path))
        except TextFault as fault:
            raise Unjudgeable("text as Unity writes it", f"{fault.what} [{fault.code}]", path) from fault

    def asset_of(self, guid: str) -> str | None:
        """The one asset that has ``guid``; ``None`` for an unknown one."""
        paths = self.guids.get(guid, []) or self.installed.get(guid, [])
        if len(paths) > 1:
            raise Unjudgeable("one asset with this GUID", ", ".join(sorted(paths)), guid)
        return paths[0] if paths else None

    @cached_property
    def installed(self) -> dict[str, list[str]]:
        """GUIDs of packages that Unity installed into the project, where that was done."""
        found = Tree(self.root)
        cache = self.root / CACHE
        if cache.is_dir():
            _walk(self.root, CACHE, found, digests=False)
        return found.guids


def read_tree(root: Path) -> Tree:
    """The project under ``root``, now. Raises ``Unjudgeable`` where it cannot be read whole."""
    tree = Tree(root)
    for folder in FOLDERS:
        if (root / folder).is_dir():
            _walk(root, folder, tree, digests=True)
    if not tree.files:
        raise Unjudgeable("a Unity project", f"none of {', '.join(FOLDERS)} holds a file", str(root))
    return tree


def manifest(root: Path) -> dict[str, str]:
    """POSIX path → ``sha256:…`` of every file, sorted: the tree manifest that evidence holds."""
    return dict(sorted(read_tree(root).files.items()))


def _walk(root: Path, folder: str, tree: Tree, *, digests: bool) -> None:
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        tree.folders.add(here)
        try:
            with os.scandir(root / here) as entries:
                listed = list(entries)
        except OSError as fault:
            raise Unjudgeable("a readable folder", fault.strerror or str(fault), here) from fault
        for entry in listed:
            path = f"{here}/{entry.name}"
            found = entry.stat(follow_symlinks=False)
            if entry.is_symlink() or getattr(found, "st_file_attributes", 0) & REPARSE_POINT:
                target = os.fsencode(os.readlink(entry.path))  # noqa: PTH115 - the name as stored
                tree.files[path] = LINK + hashlib.sha256(target).hexdigest()
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif stat.S_ISREG(found.st_mode):
                _file(Path(entry.path), path, tree, digests=digests)
            else:
                tree.files[path] = LINK
        if len(tree.files) > MOST_FILES:
            raise Unjudgeable(f"at most {MOST_FILES} files", "more", folder)


def _file(file: Path, path: str, tree: Tree, *, digests: bool) -> None:
    if not digests and not path.endswith(".meta"):
        return
    try:
        data = file.read_bytes()
    except OSError as fault:
        raise Unjudgeable("a readable file", fault.strerror or str(fault), path) from fault
    if digests:
        tree.files[path] = "sha256:" + hashlib.sha256(data).hexdigest()
    if path.endswith(".meta") and (guid := guid_of(data)) is not None:
        tree.guids.setdefault(guid, []).append(path.removesuffix(".meta"))


def guid_of(meta: bytes) -> str | None:
    """The GUID that a ``.meta`` states in its head."""
    found = GUID.search(meta[:HEAD])
    return found[1].decode().lower() if found else None


def legal_ids(tree: Tree, asset: str) -> frozenset[int] | None:
    """The fileIDs of the objects that ``asset`` holds; ``None`` where any may be one (fonts, models …)."""
    suffix = Path(asset).suffix.lower()
    if suffix in SERIALIZED:
        return _documents(tree, asset, suffix)
    if suffix == ".cs":
        return frozenset({SCRIPT})
    meta = tree.unity(f"{asset}.meta")
    importer = importer_of(meta)
    if not importer and suffix in PICTURES:
        return frozenset()  # a stub: nobody knows what an editor will make of it
    return texture_ids(meta) if importer == "TextureImporter" else None


def _documents(tree: Tree, asset: str, suffix: str) -> frozenset[int] | None:
    if b"\0" in tree.read(asset):
        return None  # a binary asset
    documents = tree.unity(asset).documents
    found = frozenset(int(span.file_id) for span in documents)
    if suffix != ".prefab":
        return found
    nested = any(span.class_id == PREFAB_INSTANCE for span in documents)
    return None if nested else found | {PREFAB}


def importer_of(meta: UnityFile) -> str:
    """The importer's name: the one top-level block of a ``.meta`` that is called so."""
    from resources.unity.text.nodes import Mapping

    root = meta.root(meta.documents[0])
    names = [entry.key for entry in root.entries] if isinstance(root, Mapping) else []
    return next((name for name in names if name.endswith("Importer")), "")


def texture_ids(meta: UnityFile) -> frozenset[int]:
    """Legal ids of a texture: the texture itself, its sprites as its ``.meta`` lists them, a cube map."""
    block = meta.read("0", "TextureImporter")
    if not isinstance(block, dict):
        return frozenset({TEXTURE})
    found = {TEXTURE, CUBEMAP}
    if str(block.get("textureType")) != "8":
        return frozenset(found)
    mode = block.get("spriteMode")
    if mode == SINGLE:
        found.add(SPRITE)
    elif mode == MULTIPLE:
        found |= _sprite_ids(block)
    return frozenset(found)


def _sprite_ids(block: Mapping[str, object]) -> set[int]:
    found: set[int] = set()
    for row in _rows(block.get("internalIDToNameTable")):
        first = row.get("first")
        if isinstance(first, dict):
            found |= {int(value) for key, value in first.items() if key == "213" and _number(value)}
    old = block.get("fileIDToRecycleName")
    if isinstance(old, dict):
        found |= {int(key) for key in old if _number(key)}
    sheet = block.get("spriteSheet")
    if isinstance(sheet, dict):
        for sprite in _rows(sheet.get("sprites")):
            if _number(sprite.get("internalID")) and str(sprite["internalID"]) != "0":
                found.add(int(str(sprite["internalID"])))
        table = sheet.get("nameFileIdTable")
        if isinstance(table, dict):
            found |= {int(value) for value in table.values() if _number(value)}
    return found


def _rows(value: object) -> list[dict[str, object]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _number(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value) is not None
