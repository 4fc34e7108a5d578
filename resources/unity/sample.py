"""The sample Unity project: small, original, as an editor of 2022.3 would have saved it.

Three offers (ScriptableObjects) and a catalog that lists them, a script for each kind, a placeholder sprite
and a sliced sheet. ``build`` writes the same bytes everywhere: every GUID below was drawn once, pictures are
stored without compression.
"""

from __future__ import annotations

import binascii
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fabric_dagster.contracts.importer_profile import ImporterProfile
from fabric_dagster.errors import UsageFault
from resources.unity.importers.shapes import folder_meta, shape_of
from resources.unity.importers.sprites import internal_id
from resources.unity.importers.textures import new_meta
from resources.unity.text import Splice, UnityFile, apply

VERSION = "2022.3.62f3"
REVISION = "96770f904ca7"

GUIDS = {
    "Assets/Art": "33d37579c80341a58efb766ea426e2ec",
    "Assets/Art/Offers": "ef4f50ac1b1f4c4cb9e5271b34934a15",
    "Assets/Art/Offers/badges.png": "75580f66983b4603a75e48233459875f",
    "Assets/Art/Offers/placeholder.png": "977b189ccc2a43cdb9d6c400022efa07",
    "Assets/Data": "954ae0f23e8b468b9db0a29fef27b755",
    "Assets/Data/Offers": "57763df30b864630b4e13b5c20c434be",
    "Assets/Data/Offers/OfferCatalog.asset": "e01f310f9eef4b48b6aa8c3391ef55ea",
    "Assets/Data/Offers/daily_deal.asset": "9cdaaa07073a495bbc6459957659db9a",
    "Assets/Data/Offers/mega_bundle.asset": "657c5c692d6e4e9ab29f686c8df66dde",
    "Assets/Data/Offers/starter_pack.asset": "312804aa3da1408b8cdba5e131e90a14",
    "Assets/Scripts": "738950aac162454eb32f488f9b4e61fc",
    "Assets/Scripts/Offers": "878da6e5749a4c4ca82302ca9e7e6ef0",
    "Assets/Scripts/Offers/Game.Offers.asmdef": "7992e117be26433993ae38207016f930",
    "Assets/Scripts/Offers/OfferCatalog.cs": "6b1e95c043c248a4b9ded18b8cfd07f7",
    "Assets/Scripts/Offers/OfferDefinition.cs": "d4eda119c8d14a96b011ef9a9158a49d",
}
SPRITE_IDS = {"new": "8be4bf70b6db45848e98e672c4a1e113", "sale": "4c59f3d31181458890d0d6e16b800274"}


class Offer(NamedTuple):
    """One offer of the sample shop. ``icon`` is a fileID and the path of its texture."""

    id: str
    name: str
    category: str
    price: str
    items: int
    icon: tuple[str, str]


_PLACEHOLDER = ("21300000", "Assets/Art/Offers/placeholder.png")
OFFERS = (
    Offer("daily_deal", "Daily Deal", "offer.single", "0.99", 1, _PLACEHOLDER),
    Offer("mega_bundle", "Mega Bundle", "offer.bundle", "19.99", 12, _PLACEHOLDER),
    Offer("starter_pack", "Starter Pack (placeholder)", "offer.bundle", "4.99", 3, _PLACEHOLDER),
)

MANIFEST = """\
{
  "dependencies": {
    "com.unity.2d.sprite": "1.0.0",
    "com.unity.ugui": "1.0.0",
    "com.unity.modules.imageconversion": "1.0.0",
    "com.unity.modules.jsonserialize": "1.0.0",
    "com.unity.modules.ui": "1.0.0"
  }
}
"""

EDITOR_SETTINGS = """\
%YAML 1.1
%TAG !u! tag:unity3d.com,2011:
--- !u!159 &1
EditorSettings:
  m_ObjectHideFlags: 0
  serializedVersion: 12
  m_SerializationMode: 2
  m_LineEndingsForNewScripts: 2
  m_DefaultBehaviorMode: 1
  m_SpritePackerMode: 4
  m_ProjectGenerationIncludedExtensions: txt;xml;fnt;cd;asmdef;rsp;asmref
  m_ProjectGenerationRootNamespace: Game
  m_SerializeInlineMappingsOnOneLine: 1
"""

SCRIPTS = {
    "OfferDefinition.cs": """\
using UnityEngine;

namespace Game.Offers
{
    /// <summary>One offer of the shop, as designers edit it.</summary>
    [CreateAssetMenu(menuName = "Shop/Offer")]
    public sealed class OfferDefinition : ScriptableObject
    {
        [SerializeField] private string offerId;
        [SerializeField] private string displayName;
        [SerializeField] private string category;
        [SerializeField] private Sprite icon;
        [SerializeField] private Sprite badge;
        [SerializeField] private float price;
        [SerializeField] private int itemCount;
        [SerializeField] private bool available;

        public string OfferId => offerId;
        public string DisplayName => displayName;
        public string Category => category;
        public Sprite Icon => icon;
        public Sprite Badge => badge;
        public float Price => price;
        public int ItemCount => itemCount;
        public bool Available => available;
    }
}
""",
    "OfferCatalog.cs": """\
using System.Collections.Generic;
using UnityEngine;

namespace Game.Offers
{
    /// <summary>Every offer that the shop may show, in order.</summary>
    [CreateAssetMenu(menuName = "Shop/Catalog")]
    public sealed class OfferCatalog : ScriptableObject
    {
        [SerializeField] private List<OfferDefinition> offers = new List<OfferDefinition>();

        public IReadOnlyList<OfferDefinition> Offers => offers;
    }
}
""",
}

ASMDEF = """\
{
    "name": "Game.Offers",
    "rootNamespace": "Game.Offers",
    "references": [],
    "includePlatforms": [],
    "excludePlatforms": [],
    "allowUnsafeCode": false,
    "overrideReferences": false,
    "precompiledReferences": [],
    "autoReferenced": true,
    "defineConstraints": [],
    "versionDefines": [],
    "noEngineReferences": false
}
"""

_TAIL = "  userData: \n  assetBundleName: \n  assetBundleVariant: \n"
_IMPORTERS = {
    ".asset": f"NativeFormatImporter:\n  externalObjects: {{}}\n  mainObjectFileID: 11400000\n{_TAIL}",
    ".asmdef": f"AssemblyDefinitionImporter:\n  externalObjects: {{}}\n{_TAIL}",
    ".cs": "MonoImporter:\n  externalObjects: {}\n  serializedVersion: 2\n  defaultReferences: []\n"
    f"  executionOrder: 0\n  icon: {{instanceID: 0}}\n{_TAIL}",
}


def build(target: Path) -> None:
    """Write the project into the new or empty folder ``target``; ``UsageFault`` where it is not empty."""
    if target.exists() and any(target.iterdir()):
        raise UsageFault(
            "unity.sample_target", "the folder is not empty", where=str(target), mend="name a new folder"
        )
    for path, data in files().items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(data)


def files() -> dict[str, bytes]:
    """Every file of the project: POSIX path → bytes, sorted."""
    found: dict[str, bytes] = {
        "Packages/manifest.json": MANIFEST.encode(),
        "ProjectSettings/EditorSettings.asset": EDITOR_SETTINGS.encode(),
        "ProjectSettings/ProjectVersion.txt": (
            f"m_EditorVersion: {VERSION}\nm_EditorVersionWithRevision: {VERSION} ({REVISION})\n"
        ).encode(),
        "Assets/Scripts/Offers/Game.Offers.asmdef": ASMDEF.encode(),
        "Assets/Art/Offers/placeholder.png": _png(64, 64, _placeholder),
        "Assets/Art/Offers/badges.png": _png(64, 32, _badge),
        "Assets/Data/Offers/OfferCatalog.asset": _catalog(),
    }
    found |= {f"Assets/Scripts/Offers/{name}": text.encode() for name, text in SCRIPTS.items()}
    found |= {f"Assets/Data/Offers/{offer.id}.asset": _offer(offer) for offer in OFFERS}
    found |= {f"{path}.meta": _meta(path, guid) for path, guid in GUIDS.items()}
    return dict(sorted(found.items()))


# -- assets


def _object(script: str, name: str, fields: str) -> bytes:
    return (
        "%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n--- !u!114 &11400000\nMonoBehaviour:\n"
        "  m_ObjectHideFlags: 0\n"
        "  m_CorrespondingSourceObject: {fileID: 0}\n"
        "  m_PrefabInstance: {fileID: 0}\n"
        "  m_PrefabAsset: {fileID: 0}\n"
        "  m_GameObject: {fileID: 0}\n"
        "  m_Enabled: 1\n"
        "  m_EditorHideFlags: 0\n"
        f"  m_Script: {{fileID: 11500000, guid: {GUIDS[f'Assets/Scripts/Offers/{script}.cs']}, type: 3}}\n"
        f"  m_Name: {name}\n"
        "  m_EditorClassIdentifier: \n"
        f"{fields}"
    ).encode()


def _offer(offer: Offer) -> bytes:
    file_id, texture = offer.icon
    badge = internal_id(SPRITE_IDS["new" if offer.id == "daily_deal" else "sale"])
    return _object(
        "OfferDefinition",
        offer.id,
        f"  offerId: {offer.id}\n"
        f"  displayName: {offer.name}\n"
        f"  category: {offer.category}\n"
        f"  icon: {{fileID: {file_id}, guid: {GUIDS[texture]}, type: 3}}\n"
        f"  badge: {{fileID: {badge}, guid: {GUIDS['Assets/Art/Offers/badges.png']}, type: 3}}\n"
        f"  price: {offer.price}\n"
        f"  itemCount: {offer.items}\n"
        "  available: 1\n",
    )


def _catalog() -> bytes:
    listed = "".join(
        f"  - {{fileID: 11400000, guid: {GUIDS[f'Assets/Data/Offers/{offer.id}.asset']}, type: 2}}\n"
        for offer in OFFERS
    )
    return _object("OfferCatalog", "OfferCatalog", f"  offers:\n{listed}")


def _meta(path: str, guid: str) -> bytes:
    suffix = Path(path).suffix
    if suffix == ".png":
        return _texture_meta(path, guid)
    if suffix in _IMPORTERS:
        return f"fileFormatVersion: 2\nguid: {guid}\n{_IMPORTERS[suffix]}".encode()
    return folder_meta(guid)


def _texture_meta(path: str, guid: str) -> bytes:
    sliced = path.endswith("badges.png")
    profile = ImporterProfile(max_texture_size=512, sprite_mode="multiple" if sliced else "single")
    block = new_meta(shape_of(VERSION), guid, "", profile)
    if not sliced:
        return block
    file = UnityFile(block)
    names = sorted(SPRITE_IDS)
    ids = {name: internal_id(SPRITE_IDS[name]) for name in names}
    table = "".join(f"\n  - first:\n      213: {ids[name]}\n    second: badge_{name}" for name in names)
    sprites = "".join(_slice(name, 32 * index) for index, name in enumerate(names))
    listed = "".join(f"\n      badge_{name}: {ids[name]}" for name in names)
    return apply(
        block,
        [
            _block(file, "internalIDToNameTable", table),
            _block(file, "spriteSheet.sprites", sprites),
            _block(file, "spriteSheet.nameFileIdTable", listed),
        ],
    )


def _block(file: UnityFile, path: str, text: str) -> Splice:
    """Put a block in the place of an empty ``[]`` or ``{}``, the space before it included."""
    node = file.find("0", f"TextureImporter.{path}").node
    return Splice(node.start - 1, node.end, text.encode())


def _slice(name: str, x: int) -> str:
    return f"""
    - serializedVersion: 2
      name: badge_{name}
      rect:
        serializedVersion: 2
        x: {x}
        y: 0
        width: 32
        height: 32
      alignment: 0
      pivot: {{x: 0.5, y: 0.5}}
      border: {{x: 0, y: 0, z: 0, w: 0}}
      outline: []
      physicsShape: []
      tessellationDetail: 0
      bones: []
      spriteID: {SPRITE_IDS[name]}
      internalID: {internal_id(SPRITE_IDS[name])}
      vertices: []
      indices: 
      edges: []
      weights: []"""  # noqa: W291 - Unity writes the space after an empty value


# -- pictures


def _placeholder(x: int, y: int) -> tuple[int, int, int, int]:
    """A grey rounded card with a diagonal: plainly no finished art."""
    inside = 4 <= x < 60 and 4 <= y < 60  # noqa: PLR2004 - the card's edge
    if not inside:
        return (0, 0, 0, 0)
    return (150, 150, 158, 255) if abs(x - y) < 3 else (96, 98, 108, 255)  # noqa: PLR2004 - line width


def _badge(x: int, y: int) -> tuple[int, int, int, int]:
    """Two discs side by side."""
    dx, dy = x % 32 - 15.5, y - 15.5
    if dx * dx + dy * dy > 14 * 14:
        return (0, 0, 0, 0)
    return (62, 160, 92, 255) if x < 32 else (206, 72, 60, 255)  # noqa: PLR2004 - the second cell


def _png(width: int, height: int, pixel: Callable[[int, int], tuple[int, int, int, int]]) -> bytes:
    """An RGBA PNG whose data is stored, not compressed: no compressor's version can change its bytes."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            rows += bytes(pixel(x, y))
    blocks = b"\x78\x01"
    for at in range(0, len(rows), 0xFFFF):
        part = bytes(rows[at : at + 0xFFFF])
        last = at + 0xFFFF >= len(rows)
        blocks += struct.pack("<BHH", last, len(part), len(part) ^ 0xFFFF) + part
    blocks += struct.pack(">I", zlib.adler32(bytes(rows)))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", binascii.crc32(kind + data))
        for kind, data in ((b"IHDR", header), (b"sRGB", b"\0"), (b"IDAT", blocks), (b"IEND", b""))
    )
