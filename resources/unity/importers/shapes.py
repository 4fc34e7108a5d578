"""The TextureImporter block of each Unity version, as a table of lines with the shapes that have them.

A *shape* is a step in the block's history; its number orders the steps. Sources: ``.meta`` files that Unity
wrote, 1,451 of them, from 2018.1 to 6000 (fields present in all files of a version and in none before).
Versions between two measured ones take the earlier shape: an editor upgrades a block on its next import,
and never understands a later one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fabric_dagster.errors import OperationFailed

VERSION = re.compile(r"(\d{1,4})\.(\d{1,2})\.(\d{1,3})")


class Shape(NamedTuple):
    """``step`` orders shapes; the two others are what the block itself says."""

    step: int
    serialized_version: int
    platform_version: int


#: first Unity version that writes the shape → shape, oldest first
HISTORY: tuple[tuple[tuple[int, int, int], Shape], ...] = (
    ((2018, 1, 0), Shape(50, 5, 2)),
    ((2018, 2, 0), Shape(70, 7, 2)),
    ((2018, 3, 0), Shape(90, 9, 2)),
    ((2019, 1, 0), Shape(100, 10, 3)),
    ((2019, 3, 12), Shape(110, 11, 3)),
    ((2020, 1, 0), Shape(113, 11, 3)),
    ((2020, 3, 40), Shape(120, 12, 3)),
    ((2021, 1, 0), Shape(113, 11, 3)),
    ((2021, 2, 0), Shape(115, 11, 3)),
    ((2021, 3, 12), Shape(125, 12, 3)),
    ((2022, 1, 0), Shape(125, 12, 3)),
    ((2022, 2, 0), Shape(127, 12, 3)),
    ((2022, 3, 39), Shape(130, 13, 3)),
    ((6000, 0, 0), Shape(140, 13, 4)),
)

#: condition, line. ``N+`` from step N on, ``-N`` before step N, nothing: always. Slices and platforms are
#: added by the caller; a value of ``*`` is filled in from the profile or the plan.
TABLE = """
        |fileFormatVersion: 2
        |guid: *
        |TextureImporter:
-100    |  fileIDToRecycleName: {}
100+    |  internalIDToNameTable: []
        |  externalObjects: {}
        |  serializedVersion: *
        |  mipmaps:
        |    mipMapMode: 0
        |    enableMipMap: 0
        |    sRGBTexture: 1
        |    linearTexture: 0
        |    fadeOut: 0
        |    borderMipMap: 0
        |    mipMapsPreserveCoverage: 0
        |    alphaTestReferenceValue: 0.5
        |    mipMapFadeDistanceStart: 1
        |    mipMapFadeDistanceEnd: 3
        |  bumpmap:
        |    convertToNormalMap: 0
        |    externalNormalMap: 0
        |    heightScale: 0.25
        |    normalMapFilter: 0
127+    |    flipGreenChannel: 0
        |  isReadable: 0
70+     |  streamingMipmaps: 0
70+     |  streamingMipmapsPriority: 0
113+    |  vTOnly: 0
115+-120|  ignoreMasterTextureLimit: 0
125+-127|  ignoreMasterTextureLimit: 0
127+    |  ignoreMipmapLimit: 0
        |  grayScaleToAlpha: 0
        |  generateCubemap: 6
        |  cubemapConvolution: 0
        |  seamlessCubemap: 0
        |  textureFormat: 1
        |  maxTextureSize: 2048
        |  textureSettings:
        |    serializedVersion: 2
        |    filterMode: 1
        |    aniso: 1
        |    mipBias: 0
        |    wrapU: 1
        |    wrapV: 1
        |    wrapW: 1
        |  nPOTScale: 0
        |  lightmap: 0
        |  compressionQuality: 50
        |  spriteMode: 1
        |  spriteExtrude: 1
        |  spriteMeshType: 1
        |  alignment: 0
        |  spritePivot: {x: 0.5, y: 0.5}
        |  spritePixelsToUnits: 100
        |  spriteBorder: {x: 0, y: 0, z: 0, w: 0}
        |  spriteGenerateFallbackPhysicsShape: 1
        |  alphaUsage: 1
        |  alphaIsTransparency: 1
        |  spriteTessellationDetail: -1
        |  textureType: 8
        |  textureShape: 1
        |  singleChannelComponent: 0
113+    |  flipbookRows: 1
113+    |  flipbookColumns: 1
        |  maxTextureSizeSet: 0
        |  compressionQualitySet: 0
        |  textureFormatSet: 0
113+    |  ignorePngGamma: 0
110+    |  applyGammaDecoding: 0
127+    |  swizzle: 50462976
120+    |  cookieLightType: 0
        |  platformSettings:
        |*
        |  spriteSheet:
        |    serializedVersion: 2
        |    sprites: []
        |    outline: []
140+    |    customData: EMPTY
        |    physicsShape: []
        |    bones: []
        |    spriteID: *
100+    |    internalID: 0
        |    vertices: []
        |    indices: EMPTY
        |    edges: []
        |    weights: []
100+    |    secondaryTextures: []
140+    |    spriteCustomMetadata:
140+    |      entries: []
115+-120|    nameFileIdTable: {}
125+    |    nameFileIdTable: {}
127+    |  mipmapLimitGroupName: EMPTY
-127    |  spritePackingTag: EMPTY
70+     |  pSDRemoveMatte: 0
70+-127 |  pSDShowRemoveMatteOption: 0
        |  userData: EMPTY
        |  assetBundleName: EMPTY
        |  assetBundleVariant: EMPTY
"""

PLATFORM = """
        |  - serializedVersion: *
        |    buildTarget: *
        |    maxTextureSize: 2048
        |    resizeAlgorithm: 0
        |    textureFormat: -1
        |    textureCompression: 1
        |    compressionQuality: 50
        |    crunchedCompression: 0
        |    allowsAlphaSplitting: 0
        |    overridden: 0
130+    |    ignorePlatformSupport: 0
        |    androidETC2FallbackOverride: 0
100+    |    forceMaximumCompressionQuality_BC6H_BC7: 0
"""

CONDITION = re.compile(r"(?:(\d+)\+)?(?:-(\d+))?\Z")


def shape_of(unity_version: str) -> Shape:
    """The shape that an editor of ``unity_version`` (``2022.3.62f3``) writes.

    Raises ``OperationFailed`` (``unity.version_unknown``) for what is older than 2018.1 or no version.
    """
    match = VERSION.match(unity_version)
    version = (int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0)
    found = [shape for first, shape in HISTORY if first <= version]
    if not found:
        raise OperationFailed(
            "unity.version_unknown",
            "no importer shape is known for this Unity version",
            where="ProjectSettings/ProjectVersion.txt",
            value=unity_version,
            mend="use a project of Unity 2018.1 or later, or give the folder a sibling texture",
        )
    return found[-1]


def lines(table: str, shape: Shape) -> list[str]:
    """The lines of ``table`` that ``shape`` has."""
    kept = []
    for row in table.strip("\n").splitlines():
        condition, _, text = row.partition("|")
        match = CONDITION.match(condition.strip())
        if match is None:
            raise ValueError(f"the table's condition {condition!r} is malformed")
        since, before = match[1], match[2]
        if (since is None or shape.step >= int(since)) and (before is None or shape.step < int(before)):
            kept.append(text.replace("EMPTY", ""))
    return kept


def texture_block(
    shape: Shape, guid: str, sprite_id: str, platforms: tuple[str, ...], newline: str = "\n"
) -> bytes:
    """A complete ``.meta`` of a sprite with Unity's defaults; a profile is applied to it next."""
    filled = iter((guid, str(shape.serialized_version), None, sprite_id))
    out: list[str] = []
    for line in lines(TABLE, shape):
        if line == "*":
            next(filled)
            for target in platforms:
                entry = iter((str(shape.platform_version), target))
                out += [
                    text[:-1] + next(entry) if text.endswith("*") else text for text in lines(PLATFORM, shape)
                ]
        elif line.endswith("*"):
            out.append(line[:-1] + str(next(filled)))
        else:
            out.append(line)
    return (newline.join(out) + newline).encode()


#: The other blocks that this project's own files need, as every version since 2018 writes them.
FOLDER_META = (
    "fileFormatVersion: 2\nguid: {guid}\nfolderAsset: yes\nDefaultImporter:\n"
    "  externalObjects: {{}}\n  userData: \n  assetBundleName: \n  assetBundleVariant: \n"
)


def folder_meta(guid: str, newline: str = "\n") -> bytes:
    """The ``.meta`` of a folder."""
    return FOLDER_META.format(guid=guid).replace("\n", newline).encode()
