"""Prefabs, prefab variants, scenes and materials, by fileID."""

import pytest
from asset_texts import YAML, instance, material, prefab, put
from unity_world import bound, operation

from fabric_dagster.errors import FabricError
from resources.unity import sample
from resources.unity.manifest import tree_manifest
from resources.unity.text import UnityFile

CARD, VARIANT, SCENE = "Assets/UI/Card.prefab", "Assets/UI/Variant.prefab", "Assets/Scenes/Shop.unity"
MATERIAL = "Assets/UI/Card.mat"
CARD_GUID = "4f1c8a9d2e7b4360b5d7f90a1c3e5b68"
SHEET, PLACEHOLDER = "Assets/Art/Offers/badges.png", "Assets/Art/Offers/placeholder.png"
SPRITE = {"fileID": "21300000", "guid": sample.GUIDS[PLACEHOLDER], "type": 3}


@pytest.fixture
def project(project):
    """The sample project with a prefab, a variant of it, a scene with an instance, and a material."""
    put(project, CARD, prefab(), CARD_GUID, importer="PrefabImporter")
    put(
        project,
        VARIANT,
        YAML + instance(CARD_GUID),
        "9d3b7f5a1c2e4680a4b6c8d0e2f41735",
        importer="PrefabImporter",
    )
    put(
        project,
        SCENE,
        prefab("Root", instance(CARD_GUID)),
        "2a6e8c0d4b1f4957a3c5e7f90b2d4f68",
        importer="DefaultImporter",
    )
    put(project, MATERIAL, material(), "7e5c3a1f9b8d4602a0c2e4f6180b3d57", main="2100000")
    return project


def edit(asset, document, path, value=None, **more):
    """One edit of a prefab's or a scene's object."""
    kind = "scene" if asset.endswith(".unity") else "prefab"
    args = {"asset": asset, "document": str(document), "path": path, **more}
    return operation(f"unity.set_{kind}_property@1", **args, **({} if value is None else {"value": value}))


def staged(unity, stage, *operations):
    """Stage operations."""
    return unity.stage(bound(unity, *operations), stage)


def overrides(stage, asset):
    """(target, path, value, reference's fileID) of each override."""
    file = UnityFile((stage / "changes" / asset).read_bytes())
    return [
        (item["target"]["fileID"], item["propertyPath"], item["value"], item["objectReference"]["fileID"])
        for item in file.read("2001", "m_Modification.m_Modifications")
    ]


@pytest.mark.parametrize("asset", [CARD, SCENE])
def test_an_object_of_the_files_own_is_set_by_its_file_id(unity, stage, project, asset):
    """One line; a vector's member takes a fraction; undo brings it back."""
    before = tree_manifest(project)
    plan = bound(
        unity,
        edit(asset, 1140, "m_Sprite", SPRITE),
        edit(asset, 400, "m_LocalPosition.x", 0.5),
        edit(asset, 100, "m_IsActive", False),
    )
    result = unity.stage(plan, stage)
    assert sum(line.startswith(("+ ", "- ")) for line in result.diff.splitlines()) == 6
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    unity.undo("t1")
    assert tree_manifest(project) == before


@pytest.mark.parametrize("asset", [VARIANT, SCENE])
def test_an_override_is_added_replaced_and_reverted(unity, stage, asset):
    """By the stripped object or by instance and target: it is one override."""
    staged(
        unity,
        stage,
        edit(asset, 2002, "m_Text", "Sale"),
        edit(asset, 2001, "m_Sprite", SPRITE, target="1140"),
    )
    assert overrides(stage, asset) == [("1140", "m_Text", "Sale", "0"), ("1140", "m_Sprite", "", "21300000")]
    plan = bound(
        unity,
        edit(asset, 2002, "m_Text", "Sale"),
        edit(asset, 2001, "m_Text", "5", target="1140"),
        edit(asset, 2001, "m_LocalPosition.y", "0.5", target="400"),
    )
    result = unity.stage(plan, stage)
    assert overrides(stage, asset) == [("1140", "m_Text", "5", "0"), ("400", "m_LocalPosition.y", "0.5", "0")]
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    before = (stage / "changes" / asset).read_bytes()
    staged(unity, stage, edit(asset, 2001, "m_LocalPosition.y", target="400", revert=True))
    staged(unity, stage, edit(asset, 2002, "m_Text", revert=True), edit(asset, 2002, "m_Text", "5"))
    assert len(overrides(stage, asset)) == 2
    assert len((stage / "changes" / asset).read_bytes()) == len(before)


def test_overrides_are_written_as_unity_does(unity, stage, project):
    """A long reference breaks after a comma where the project does not keep flow mappings on one line."""
    settings = project / "ProjectSettings/EditorSettings.asset"
    settings.write_bytes(settings.read_bytes().replace(b"OnOneLine: 1", b"OnOneLine: 0"))
    path = project / VARIANT
    data = path.read_bytes().replace(b"fileID: 1140,", b"fileID: 1234567890123456789,")
    path.write_bytes(data.replace(b", type: 3}\n  m_PrefabInstance", b",\n    type: 3}\n  m_PrefabInstance"))
    card = project / CARD
    card.write_bytes(card.read_bytes().replace(b"&1140", b"&1234567890123456789"))
    staged(unity, stage, edit(VARIANT, 2002, "m_Text", "a"))
    assert (
        b"    m_Modifications:\n"
        b"    - target: {fileID: 1234567890123456789, guid: " + CARD_GUID.encode() + b",\n        type: 3}\n"
        b"      propertyPath: m_Text\n      value: a\n      objectReference: {fileID: 0}\n"
        b"    m_RemovedComponents: []\n"
    ) in (stage / "changes" / VARIANT).read_bytes()


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (edit(CARD, 77, "m_Text", "x"), "unity.document_missing"),
        (edit(CARD, 1140, "m_Nothing", "x"), "unity.path_missing"),
        (edit(CARD, 400, "m_Father", {"fileID": "100"}), "unity.value_type"),
        (edit(CARD, 1140, "m_Script.guid", "a" * 32), "unity.value_type"),
        (edit(CARD, 1140, "m_Text", revert=True), "unity.path_missing"),
        (edit(CARD, 1140, "m_Text", "x", target="100"), "unity.path_missing"),
        (edit(CARD, 1140, "m_Sprite", {**SPRITE, "fileID": "2800000"}), "unity.reference_kind"),
        (edit(VARIANT, 2001, "m_Text", "x"), "unity.path_missing"),
        (edit(VARIANT, 2001, "m_Text", "x", target="9"), "unity.document_missing"),
        (edit(VARIANT, 2002, "m_Nothing", "x"), "unity.path_missing"),
        (edit(VARIANT, 2002, "m_Enabled", "often"), "unity.value_type"),
        (edit(VARIANT, 2002, "m_Sprite", {**SPRITE, "fileID": "2800000"}), "unity.reference_kind"),
        (edit(VARIANT, 2002, "m_Sprite", {"fileID": "99"}), "unity.document_missing"),
        (edit(VARIANT, 2002, "m_Text", revert=True), "unity.path_missing"),
        (edit(CARD, 1140, "m_Text"), "plan.argument"),
        (edit(CARD, 1140, "m_Text", "x", revert=True), "plan.argument"),
    ],
)
def test_each_wrong_request_has_its_code(unity, stage, wrong, code):
    """No object, no property, structure, another type, nothing to revert."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code


def test_a_scene_is_no_prefab(unity, stage):
    """Each capability has its kind of file."""
    wrong = operation("unity.set_scene_property@1", asset=CARD, document="100", path="m_Name", value="x")
    with pytest.raises(FabricError, match=r"unity\.asset_wrong_kind"):
        staged(unity, stage, wrong)


def slot(name="_MainTex", texture=None):
    """One material edit."""
    more = {} if texture is None else {"texture": texture}
    return operation("unity.set_material_texture@1", material=MATERIAL, slot=name, **more)


def test_a_material_takes_the_texture_itself(unity, stage, project):
    """2800000, not the sprite; tiling stays; emptied again it has its old bytes."""
    before = tree_manifest(project)
    plan = bound(unity, slot(texture=PLACEHOLDER))
    result = unity.stage(plan, stage)
    guid = sample.GUIDS[PLACEHOLDER]
    assert f"+        m_Texture: {{fileID: 2800000, guid: {guid}, type: 3}}\n" in result.diff
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    emptied = unity.stage(bound(unity, slot()), stage)
    unity.commit(stage, emptied, "t2")
    assert tree_manifest(project) == before


@pytest.mark.parametrize("old", [False, True])
def test_slots_of_both_forms(unity, stage, project, old):
    """A pair until Unity 5.5, a key since."""
    path = project / MATERIAL
    if old:
        text = path.read_text(encoding="utf-8")
        for name in ("_BumpMap", "_MainTex"):
            text = text.replace(f"    - {name}:\n", f"    - first:\n        name: {name}\n      second:\n")
        path.write_text(text, encoding="utf-8")
    result = staged(unity, stage, slot("_BumpMap", SHEET))
    assert result.diff.count("\n+        m_Texture") == 1


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (slot("_Absent", SHEET), "unity.path_missing"),
        (slot(texture="Assets/absent.png"), "unity.reference_unresolved"),
        (slot(texture="Assets/Scripts/Offers/OfferCatalog.cs"), "unity.reference_kind"),
        (operation("unity.set_material_texture@1", material=CARD, slot="_MainTex"), "unity.asset_wrong_kind"),
        (slot("a b"), "plan.argument"),
    ],
)
def test_each_wrong_material_request_has_its_code(unity, stage, wrong, code):
    """No slot, no texture, no material."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code
