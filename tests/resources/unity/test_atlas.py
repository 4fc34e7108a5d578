"""``unity.set_atlas_members@1`` on atlases of both formats."""

import pytest
from asset_texts import atlas_v1, atlas_v2, put
from unity_world import bound, operation

from fabric_dagster.errors import FabricError
from resources.unity import sample
from resources.unity.manifest import tree_manifest
from resources.unity.operations.set_atlas_members import packed
from resources.unity.text import UnityFile

V1, V2 = "Assets/Art/Icons.spriteatlas", "Assets/Art/Shop.spriteatlasv2"
FOLDER, SHEET, PLACEHOLDER = (
    "Assets/Art/Offers",
    "Assets/Art/Offers/badges.png",
    "Assets/Art/Offers/placeholder.png",
)
GUIDS = sample.GUIDS


@pytest.fixture
def project(project):
    """The sample project with an atlas of each format."""
    put(project, V1, atlas_v1(), "5a0fd1e3b29c4d7e8f60718293a4b5c6", main="4343727234628468602")
    put(project, V2, atlas_v2(), "7b1e2f4c3d5a4b6c9d8e0f1a2b3c4d5e", importer="SpriteAtlasImporter")
    return project


def members(atlas=V1, add=(), remove=()):
    """One edit; a member is a path, or a path and a sprite."""

    def listed(items):
        return [
            {"path": item} if isinstance(item, str) else {"path": item[0], "sprite": item[1]}
            for item in items
        ]

    return operation("unity.set_atlas_members@1", atlas=atlas, add=listed(add), remove=listed(remove))


def staged(unity, stage, *operations):
    """Stage operations."""
    return unity.stage(bound(unity, *operations), stage)


@pytest.mark.parametrize("atlas", [V1, V2])
def test_members_come_and_go_and_undo_brings_them_back(unity, stage, project, atlas):
    """A texture, one sprite of a sheet; then out again, byte for byte."""
    before = tree_manifest(project)
    plan = bound(unity, members(atlas, [PLACEHOLDER, (SHEET, "badge_sale")]))
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    sale = UnityFile((project / f"{SHEET}.meta").read_bytes()).read(
        "0", "TextureImporter.spriteSheet.nameFileIdTable.badge_sale"
    )
    found = packed(UnityFile((project / atlas).read_bytes()), atlas)
    assert found == [("2800000", GUIDS[PLACEHOLDER]), (sale, GUIDS[SHEET])]
    staged(unity, stage, members(atlas, remove=[PLACEHOLDER, (SHEET, "badge_sale")]))
    unity.undo("t1")
    assert tree_manifest(project) == before


def test_a_folder_is_a_member_of_its_own_and_one_that_is_there_is_not_added_twice(unity, stage):
    """``102900000``, the fileID of folders."""
    result = staged(unity, stage, members(V1, [FOLDER]), members(V1, [FOLDER]))
    assert f"+    - {{fileID: 102900000, guid: {GUIDS[FOLDER]}, type: 3}}\n" in result.diff


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (members(V1, [FOLDER]), members(V2, [PLACEHOLDER])),
        (members(V1, [SHEET]), members(V2, [(SHEET, "badge_new")])),
        (members(V1, [FOLDER]), members(V1, [(SHEET, "badge_new")])),
        (members(V2, [(SHEET, "badge_new")]), members(V1, ["Assets/Art"])),
    ],
)
def test_a_sprite_is_packed_once_folders_expanded(unity, stage, first, second):
    """Within one atlas and over both formats."""
    with pytest.raises(FabricError, match=r"unity\.atlas_clash"):
        staged(unity, stage, first, second)


def test_a_sprite_moves_to_another_atlas_in_one_plan(unity, stage):
    """Out of one, into the other."""
    plan = bound(unity, members(V1, [SHEET]), members(V1, remove=[SHEET]), members(V2, [SHEET]))
    assert [change.path for change in unity.stage(plan, stage).changes] == [V2]


def test_compressed_sources_are_warned_about(unity, stage, project):
    """They lose twice."""
    meta = project / f"{PLACEHOLDER}.meta"
    assert staged(unity, stage, members(V1, [PLACEHOLDER])).warnings == ()
    meta.write_bytes(meta.read_bytes().replace(b"textureCompression: 0", b"textureCompression: 1"))
    (warning,) = staged(unity, stage, members(V1, [PLACEHOLDER])).warnings
    assert PLACEHOLDER in warning


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (members("Assets/Data/Offers/starter_pack.asset", [SHEET]), "unity.asset_wrong_kind"),
        (members("Assets/absent.spriteatlas", [SHEET]), "unity.asset_missing"),
        (members(V1, ["Assets/absent.png"]), "unity.reference_unresolved"),
        (members(V1, [(SHEET, "absent")]), "unity.reference_unresolved"),
        (members(V1, ["Assets/Scripts/Offers/OfferCatalog.cs"]), "unity.asset_wrong_kind"),
        (members(V1), "plan.argument"),
    ],
)
def test_each_wrong_request_has_its_code(unity, stage, wrong, code):
    """No atlas, no sprite, nothing asked."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code


def test_a_variant_packs_what_its_master_does(unity, stage, project):
    """So it is not edited."""
    (project / V1).write_text(atlas_v1(variant=1), encoding="utf-8")
    with pytest.raises(FabricError, match=r"master.*unity\.asset_wrong_kind"):
        staged(unity, stage, members(V1, [SHEET]))
