"""Which fileIDs a texture's objects have, and how a new sprite's id follows from its ``spriteID``.

Source: files that Unity wrote (126 of 126 ids of modern sheets match the fold). An existing id is always read
from the ``.meta``, never computed: sheets older than Unity 2019 keep ``21300000 + 2i``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resources.unity.text.errors import TextFault

if TYPE_CHECKING:
    from resources.unity.text import UnityFile

TEXTURE = "2800000"
SINGLE_SPRITE = "21300000"
CUBEMAP = "8900000"
#: what Unity writes for the one sprite of a texture that is not sliced
SINGLE_SPRITE_ID = "5e97eb03825dee720800000000000000"


def internal_id(sprite_id: str) -> int:
    """The signed 32-bit ``internalID`` of a new sprite with this ``spriteID`` (32 hex digits)."""
    data = bytes(int(sprite_id[i + 1] + sprite_id[i], 16) for i in range(0, 32, 2))
    words: tuple[int, ...] = struct.unpack("<4I", data)
    state, *rest = words
    for word in rest:
        state = ((state * 397) & 0xFFFFFFFF) ^ word
    return state - (1 << 32) if state >= 1 << 31 else state


@dataclass(frozen=True, slots=True)
class Slice:
    """One sprite of a sheet."""

    name: str
    file_id: str


@dataclass(frozen=True, slots=True)
class TextureObjects:
    """The objects that a texture's ``.meta`` makes: the texture itself, and its sprites."""

    sprite_mode: int
    slices: tuple[Slice, ...]

    @property
    def sprites(self) -> frozenset[str]:
        """The fileIDs that a Sprite property may take."""
        if self.sprite_mode == 1:
            return frozenset({SINGLE_SPRITE})
        return frozenset(item.file_id for item in self.slices) if self.sprite_mode > 1 else frozenset()

    @property
    def legal(self) -> frozenset[str]:
        """Every fileID that may refer into the texture."""
        return self.sprites | {TEXTURE, CUBEMAP}


def texture_objects(meta: UnityFile) -> TextureObjects:
    """What a ``.meta`` makes; raises ``TextFault`` where it has no full TextureImporter block."""
    importer = meta.read("0", "TextureImporter")
    if not isinstance(importer, dict) or not str(importer.get("spriteMode", "")).isdigit():
        raise TextFault("meta.not_texture", "there is no full TextureImporter block")
    mode = int(str(importer["spriteMode"]))
    found: dict[str, str] = {}
    table = importer.get("internalIDToNameTable")
    for item in table if isinstance(table, list) else []:
        if isinstance(item, dict) and isinstance(item.get("first"), dict):
            for kind, file_id in item["first"].items():  # type: ignore[union-attr]
                if kind == "213":
                    found[str(file_id)] = str(item.get("second", ""))
    names = importer.get("fileIDToRecycleName")
    if isinstance(names, dict):
        found.update({file_id: str(name) for file_id, name in names.items() if file_id.startswith("213")})
    sheet = importer.get("spriteSheet")
    sprites = sheet.get("sprites") if isinstance(sheet, dict) else None
    for item in sprites if isinstance(sprites, list) else []:
        if isinstance(item, dict) and str(item.get("internalID", "0")) != "0":
            found[str(item["internalID"])] = str(item.get("name", ""))
    return TextureObjects(mode, tuple(Slice(name, file_id) for file_id, name in found.items()))
