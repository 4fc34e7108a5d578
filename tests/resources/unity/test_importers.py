"""Texture metas: complete in every version's shape, patched without touching what a profile does not name."""

import pytest

from fabric_dagster.contracts.importer_profile import BUILT_IN, ImporterProfile, PlatformOverride
from fabric_dagster.errors import OperationFailed
from resources.unity import sample
from resources.unity.importers.shapes import HISTORY, shape_of
from resources.unity.importers.sprites import internal_id, texture_objects
from resources.unity.importers.textures import apply_profile, copied_meta, new_meta, profile_faults
from resources.unity.text import TextFault, UnityFile

GUID = "5f0c2d1e7a3b4c6d8e9fa0b1c2d3e4f5"
SPRITE = "8be4bf70b6db45848e98e672c4a1e113"
VERSIONS = [
    "2018.1.9f2",
    "2018.2.0f2",
    "2018.4.36f1",
    "2019.2.21f1",
    "2019.4.15f1",
    "2020.3.35f1",
    "2020.3.48f1",
    "2021.3.5f1",
    "2021.3.45f1",
    "2022.1.0f1",
    "2022.3.5f1",
    "2022.3.62f3",
    "6000.0.29f1",
    "6000.3.1f1",
]
MOBILE = ImporterProfile(
    max_texture_size=512,
    platforms={
        "Android": PlatformOverride(max_texture_size=256, compression="high", format=50),
        "iOS": PlatformOverride(max_texture_size=128),
    },
)


def importer(meta):
    """The TextureImporter block as a dictionary."""
    return UnityFile(meta).read("0", "TextureImporter")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("profile", [*BUILT_IN.values(), MOBILE])
def test_a_new_meta_is_complete_and_equals_its_profile(version, profile):
    """Every version, every profile: parsed back, with the plan's GUID and a final newline."""
    shape = shape_of(version)
    meta = new_meta(shape, GUID, SPRITE, profile)
    assert profile_faults(meta, profile) == []
    assert UnityFile(meta).read("0", "guid") == GUID
    assert meta.endswith(b"  assetBundleVariant: \n")
    assert importer(meta)["serializedVersion"] == str(shape.serialized_version)
    assert apply_profile(meta, profile) == meta


@pytest.mark.parametrize(
    ("version", "has", "has_not"),
    [
        ("2018.4.36f1", {"fileIDToRecycleName"}, {"internalIDToNameTable", "applyGammaDecoding"}),
        ("2019.2.21f1", {"internalIDToNameTable"}, {"applyGammaDecoding", "vTOnly"}),
        ("2020.3.35f1", {"applyGammaDecoding", "vTOnly", "spritePackingTag"}, {"cookieLightType"}),
        ("2020.3.48f1", {"cookieLightType"}, {"ignoreMasterTextureLimit", "swizzle"}),
        ("2021.3.45f1", {"ignoreMasterTextureLimit", "cookieLightType"}, {"swizzle"}),
        ("2022.3.62f3", {"ignoreMipmapLimit", "swizzle", "mipmapLimitGroupName"}, {"spritePackingTag"}),
    ],
)
def test_fields_come_and_go_with_the_version(version, has, has_not):
    """The measured history of the block."""
    keys = set(importer(new_meta(shape_of(version), GUID, SPRITE, ImporterProfile())))
    assert has <= keys
    assert not has_not & keys


def test_unity_6000_has_its_own_platform_and_sprite_fields():
    """Platform settings 4, ``iOS`` instead of ``iPhone``, sprite metadata."""
    new = importer(new_meta(shape_of("6000.0.29f1"), GUID, SPRITE, MOBILE))
    old = importer(new_meta(shape_of("2022.3.62f3"), GUID, SPRITE, MOBILE))
    assert [p["buildTarget"] for p in new["platformSettings"]] == [
        "DefaultTexturePlatform",
        "Standalone",
        "Android",
        "iOS",
    ]
    assert {p["serializedVersion"] for p in new["platformSettings"]} == {"4"}
    assert new["spriteSheet"]["spriteCustomMetadata"] == {"entries": []}
    assert "iPhone" in [p["buildTarget"] for p in old["platformSettings"]]
    assert "spriteCustomMetadata" not in old["spriteSheet"]


def test_versions_are_known_in_order_and_unknown_ones_are_refused():
    """The history rises; 2017 and nonsense have no shape."""
    assert [first for first, _ in HISTORY] == sorted(first for first, _ in HISTORY)
    for version in ("2017.4.1f1", "5.6.7f1", "", "newest"):
        with pytest.raises(OperationFailed, match=r"unity\.version_unknown"):
            shape_of(version)


def test_a_profile_keeps_slices_and_every_byte_it_does_not_name():
    """On the sample's sheet only the profile's own lines change."""
    meta = sample.files()["Assets/Art/Offers/badges.png.meta"]
    profile = ImporterProfile(sprite_mode="multiple", max_texture_size=1024, filter="point")
    patched = apply_profile(meta, profile)
    old, new = meta.split(b"\n"), patched.split(b"\n")
    assert len(old) == len(new)
    assert {a.strip().split(b":")[0] for a, b in zip(old, new, strict=True) if a != b} == {
        b"maxTextureSize",
        b"filterMode",
    }
    assert texture_objects(UnityFile(patched)) == texture_objects(UnityFile(meta))


def test_a_profile_that_would_orphan_slices_is_refused():
    """References to the slices would break."""
    with pytest.raises(OperationFailed, match=r"sheet of 2 sprites.*unity\.profile_conflict"):
        apply_profile(sample.files()["Assets/Art/Offers/badges.png.meta"], ImporterProfile())


def test_a_copied_meta_has_the_siblings_shape_and_nothing_of_its_picture():
    """Keys in order, build targets and line ends are copied; slices, labels and user data are not."""
    sheet = sample.files()["Assets/Art/Offers/badges.png.meta"]
    sibling = (
        sheet.replace(b"  userData: \n", b"  userData: mine\n")
        .replace(b"  isReadable: 0", b"  isReadable: 1\n  fromTheFuture: 5")
        .replace(b"\n", b"\r\n")
    )
    made = copied_meta(sibling, GUID, SPRITE, MOBILE)
    old, new = importer(sibling), importer(made)
    assert list(new) == list(old)
    assert b"\r\n" in made
    assert b"\n" not in made.replace(b"\r\n", b"")
    assert (new["userData"], new["isReadable"], new["fromTheFuture"]) == ("", "0", "5")
    assert new["internalIDToNameTable"] == new["spriteSheet"]["sprites"] == []
    assert new["spriteSheet"]["nameFileIdTable"] == {}
    assert profile_faults(made, MOBILE) == []


def test_real_metas_serve_as_siblings_and_keep_their_slices_under_a_profile(corpus):
    """Every texture of six real projects."""
    count = 0
    sheet = ImporterProfile(sprite_mode="multiple", max_texture_size=64)
    for path in sorted(corpus.rglob("*.meta")):
        data = path.read_bytes()
        if b"\nTextureImporter:" not in data:
            continue
        count += 1
        made = copied_meta(data, GUID, SPRITE, MOBILE)
        assert profile_faults(made, MOBILE) == []
        assert texture_objects(UnityFile(made)).slices == ()
        patched = apply_profile(data, sheet)
        assert profile_faults(patched, sheet) == []
        assert importer(patched)["spriteSheet"]["sprites"] == importer(data)["spriteSheet"]["sprites"]
        assert texture_objects(UnityFile(patched)).slices == texture_objects(UnityFile(data)).slices
    assert count > 80


def test_the_table_has_the_very_fields_of_real_metas_in_their_order(corpus):
    """Every full texture meta of six projects has the keys of one shape of the table."""
    shapes = [importer(new_meta(shape, GUID, SPRITE, ImporterProfile())) for _, shape in HISTORY]
    outlines = [(list(block), list(block["bumpmap"]), list(block["spriteSheet"])) for block in shapes]
    count = 0
    for path in sorted(corpus.rglob("*.meta")):
        data = path.read_bytes()
        if b"\nTextureImporter:" in data:
            count += 1
            block = importer(data)
            assert (list(block), list(block["bumpmap"]), list(block["spriteSheet"])) in outlines, path
    assert count > 80


def test_an_internal_id_is_the_fold_of_its_sprite_id():
    """Two ids that Unity itself drew."""
    assert internal_id("ce4d19a153f7c314486e51cf94d76acb") == -1900976204
    assert internal_id("5055aa25f5a74eb4eb89e26ac7f96960") == 759265060


def test_what_is_no_texture_meta_is_refused():
    """A folder's meta, and a stub."""
    for meta in (b"fileFormatVersion: 2\nguid: " + GUID.encode() + b"\n", sample.files()["Assets/Art.meta"]):
        with pytest.raises(TextFault):
            copied_meta(meta, GUID, SPRITE, ImporterProfile())
        with pytest.raises(OperationFailed, match=r"unity\.meta_damaged"):
            apply_profile(meta, ImporterProfile())


@pytest.mark.parametrize(
    "fields",
    [
        {"max_texture_size": 500},
        {"pixels_per_unit": 0},
        {"filter": "nearest"},
        {"unknown": 1},
        {"platforms": {"iOS": {"max_texture_size": 64}, "iPhone": {"max_texture_size": 64}}},
    ],
)
def test_a_profile_is_checked(fields):
    """Unknown sizes, words and keys are refused."""
    with pytest.raises(ValueError, match="validation error"):
        ImporterProfile.model_validate(fields)
