"""Small assets of the kinds that the sample project has none of, as Unity writes them."""

YAML = "%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"
COMMON = (
    "  m_ObjectHideFlags: 0\n  m_CorrespondingSourceObject: {fileID: 0}\n"
    "  m_PrefabInstance: {fileID: 0}\n  m_PrefabAsset: {fileID: 0}\n"
)
TAIL = "  userData: \n  assetBundleName: \n  assetBundleVariant: \n"


def put(project, path, text, guid, importer="NativeFormatImporter", main="11400000"):
    """Write an asset and its ``.meta``."""
    target = project / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())
    object_line = f"  mainObjectFileID: {main}\n" if importer == "NativeFormatImporter" else ""
    folder = "folderAsset: yes\n" if importer == "FolderImporter" else ""
    head = f"fileFormatVersion: 2\nguid: {guid}\n{folder}{importer}:\n  externalObjects: {{}}\n"
    target.with_name(target.name + ".meta").write_bytes(f"{head}{object_line}{TAIL}".encode())
    return path


def atlas_v1(packables="[]", variant=0):
    """A ``.spriteatlas``."""
    return (
        f"{YAML}--- !u!687078895 &4343727234628468602\nSpriteAtlas:\n{COMMON}  m_Name: Icons\n"
        f"  m_EditorData:\n    serializedVersion: 2\n    variantMultiplier: 1\n    packables: {packables}\n"
        f"    bindAsDefault: 1\n  m_MasterAtlas: {{fileID: 0}}\n  m_PackedSprites: []\n"
        f"  m_PackedSpriteNamesToIndex: []\n"
        f"  m_RenderDataMap: {{}}\n  m_Tag: Icons\n  m_IsVariant: {variant}\n"
    )


def atlas_v2(packables="[]"):
    """A ``.spriteatlasv2``."""
    return (
        f"{YAML}--- !u!612988286 &1\nSpriteAtlasAsset:\n{COMMON}  m_Name: \n  m_MasterAtlas: {{fileID: 0}}\n"
        f"  m_ImporterData:\n    serializedVersion: 2\n    variantMultiplier: 1\n    packables: {packables}\n"
        "    bindAsDefault: 1\n    isAtlasV2: 1\n    cachedData: {fileID: 0}\n  m_IsVariant: 0\n"
    )


def script_asset(script, name, fields):
    """A MonoBehaviour of a script."""
    return (
        f"{YAML}--- !u!114 &11400000\nMonoBehaviour:\n{COMMON}  m_GameObject: {{fileID: 0}}\n"
        f"  m_Enabled: 1\n  m_EditorHideFlags: 0\n"
        f"  m_Script: {{fileID: 11500000, guid: {script}, type: 3}}\n  m_Name: {name}\n"
        f"  m_EditorClassIdentifier: \n{fields}"
    )


SETTINGS_GUID = "c5e1ddcbbeaab4cea962c0ca773dd650"


def group(name, entries=(), read_only=0, entry_keys="  FlaggedDuringContentUpdateRestriction: 0\n"):
    """An Addressables group; an entry is (guid, address, labels)."""
    listed = "".join(
        f"  - m_GUID: {guid}\n    m_Address: {address}\n    m_ReadOnly: 0\n    m_SerializedLabels:"
        + ("".join(f"\n    - {label}" for label in labels) or " []")
        + f"\n  {entry_keys}"
        for guid, address, labels in entries
    )
    return script_asset(
        "bbb281ee3bf0b054c82ac2347e9e782c",
        name,
        f"  m_GroupName: {name}\n  m_Data:\n    m_SerializedData: []\n"
        f"  m_GUID: 2b5175dd47146419694c5dffb0cf0e30\n"
        f"  m_SerializeEntries:{chr(10) + listed if listed else ' []' + chr(10)}  m_ReadOnly: {read_only}\n"
        f"  m_Settings: {{fileID: 11400000, guid: {SETTINGS_GUID}, type: 2}}\n"
        "  m_SchemaSet:\n    m_Schemas: []\n",
    )


def settings(labels=("default",)):
    """The Addressables settings."""
    table = "".join(f"    - {label}\n" for label in labels)
    return script_asset(
        "468a46d0ae32c3544b7d98094e6448a9",
        "AddressableAssetSettings",
        f"  m_LabelTable:\n    m_LabelNames:\n{table}  m_SchemaTemplates: []\n",
    )


def prefab(name="Card", nested=""):
    """A prefab of a game object with a transform and an image-like component of a script of nowhere."""
    return (
        f"{YAML}--- !u!1 &100\nGameObject:\n{COMMON}  m_Component:\n  - component: {{fileID: 400}}\n"
        f"  - component: {{fileID: 1140}}\n  m_Layer: 0\n  m_Name: {name}\n  m_IsActive: 1\n"
        f"--- !u!4 &400\nTransform:\n{COMMON}  m_GameObject: {{fileID: 100}}\n"
        "  m_LocalPosition: {x: 0, y: 0, z: 0}\n  m_Children: []\n  m_Father: {fileID: 0}\n"
        f"--- !u!114 &1140\nMonoBehaviour:\n{COMMON}  m_GameObject: {{fileID: 100}}\n  m_Enabled: 1\n"
        "  m_Script: {fileID: 11500000, guid: fe87c0e1cc204ed48ad3b37840f39efc, type: 3}\n  m_Name: \n"
        "  m_Sprite: {fileID: 0}\n  m_Text: Hello\n  m_Colors:\n  - 1\n" + nested
    )


def instance(source, modifications="[]", document=2001):
    """A prefab instance with a stripped object of it."""
    return (
        f"--- !u!1001 &{document}\nPrefabInstance:\n  m_ObjectHideFlags: 0\n  serializedVersion: 2\n"
        f"  m_Modification:\n    m_TransformParent: {{fileID: 0}}\n    m_Modifications: {modifications}\n"
        f"    m_RemovedComponents: []\n  m_SourcePrefab: {{fileID: 100100000, guid: {source}, type: 3}}\n"
        f"--- !u!114 &{document + 1} stripped\nMonoBehaviour:\n"
        f"  m_CorrespondingSourceObject: {{fileID: 1140, guid: {source}, type: 3}}\n"
        f"  m_PrefabInstance: {{fileID: {document}}}\n  m_PrefabAsset: {{fileID: 0}}\n"
    )


def material(name="Card"):
    """A material with two slots."""
    slots = "".join(
        f"    - {slot}:\n        m_Texture: {{fileID: 0}}\n        m_Scale: {{x: 1, y: 1}}\n"
        "        m_Offset: {x: 0, y: 0}\n"
        for slot in ("_BumpMap", "_MainTex")
    )
    return (
        f"{YAML}--- !u!21 &2100000\nMaterial:\n  serializedVersion: 6\n{COMMON}  m_Name: {name}\n"
        "  m_Shader: {fileID: 10755, guid: 0000000000000000f000000000000000, type: 0}\n"
        f"  m_SavedProperties:\n    serializedVersion: 3\n    m_TexEnvs:\n{slots}    m_Floats: []\n"
    )
