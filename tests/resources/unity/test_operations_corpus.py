"""Each operation once on real projects: staged, committed, observed, undone byte for byte."""

import shutil

import pytest
from unity_world import bound, operation

from resources.unity.manifest import tree_manifest
from resources.unity.provider import HeadlessUnity
from resources.unity.text import UnityFile

SAMPLES = "Assets/Samples/Super Tiled2Unity/2.3.1"
PLANS = {
    "addressable": (
        "addresser-2020",
        operation(
            "unity.set_addressable@1",
            asset="Assets/SmartAddresser/package.json",
            group="Assets/AddressableAssetsData/AssetGroups/Default Local Group.asset",
            labels=["default", "new"],
        ),
    ),
    "asmdef": (
        "addresser-2020",
        operation(
            "unity.set_asmdef_references@1",
            asset="Assets/Development/Editor/SmartAddresser.Development.Editor.asmdef",
            add=["SmartAddresser.Tests.Editor"],
        ),
    ),
    "atlas_v1": (
        "tiled-2020",
        operation(
            "unity.set_atlas_members@1",
            atlas=f"{SAMPLES}/Tileset Atlas (Fixing Seams with Sprite Packer V1)/SA_ExampleV1.spriteatlas",
            add=[{"path": f"{SAMPLES}/Overhead/Sprites/Splash/splash.png"}],
        ),
    ),
    "atlas_v2": (
        "tiled-2020",
        operation(
            "unity.set_atlas_members@1",
            atlas=f"{SAMPLES}/Tileset Atlas (Fixing Seams with Sprite Packer V2)/SA_ExampleV2.spriteatlasv2",
            add=[{"path": f"{SAMPLES}/Overhead/Sprites/Splash"}],
        ),
    ),
    "rename_sprite": (
        "chess-2019",
        operation(
            "unity.rename_sprite@1", texture="Assets/Sprites/pieces.png", sprite="pieces_3", name="white_rook"
        ),
    ),
    "material": (
        "chess-2019",
        operation(
            "unity.set_material_texture@1",
            material="Assets/Graphics/Materials/Unlit.mat",
            slot="_MainTex",
            texture="Assets/Sprites/pieces.png",
        ),
    ),
    "move_folder": (
        "tiled-2020",
        operation("unity.move_asset@1", asset=f"{SAMPLES}/Overhead/Sprites", to=f"{SAMPLES}/Pictures"),
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_an_operation_on_a_real_project_is_observed_and_undone(corpus, tmp_path, name):
    """Old editors, real paths, real sheets."""
    folder, step = PLANS[name]
    project = tmp_path / folder
    shutil.copytree(corpus / folder, project, copy_function=shutil.copyfile)
    before = tree_manifest(project)
    unity = HeadlessUnity(project)
    plan = bound(unity, step)
    result = unity.stage(plan, tmp_path / "stage")
    assert result.changes
    unity.commit(tmp_path / "stage", result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    unity.undo("t1")
    assert tree_manifest(project) == before


def test_overrides_of_real_prefabs_and_scenes_are_replaced_and_reverted(corpus, tmp_path):
    """Another value and back gives the old bytes; so does a new override, reverted."""
    count = 0
    for root in (corpus / "mirror-2021", corpus / "tiled-2020", corpus / "chess-2019"):
        for path in sorted([*root.rglob("*.prefab"), *root.rglob("*.unity")])[:40]:
            data = path.read_bytes()
            if b"propertyPath: m_LocalPosition.x" not in data:
                continue
            count += _replaced(tmp_path / str(count), root, path, UnityFile(data))
    assert count >= 5


def _replaced(place, root, path, file):
    asset = path.relative_to(root).as_posix()
    span = next((s for s in file.documents if s.class_id == 1001), None)
    items = file.read(span.file_id, "m_Modification.m_Modifications") if span else []
    item = next((i for i in items if i["propertyPath"] == "m_LocalPosition.x"), None)
    if item is None:
        return 0
    project = place / "project"
    for name in (asset, f"{asset}.meta", "ProjectSettings/ProjectVersion.txt"):
        if (root / name).is_file():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, project / name)
    (project / "Assets").mkdir(exist_ok=True)
    unity = HeadlessUnity(project)
    kind = "scene" if asset.endswith(".unity") else "prefab"

    def edit(target, value=None):
        args = {"asset": asset, "document": span.file_id, "path": "m_LocalPosition.x", "target": target}
        args |= {"revert": True} if value is None else {"value": value}
        return operation(f"unity.set_{kind}_property@1", **args)

    target, value = item["target"]["fileID"], item["value"]
    for steps in ([edit(target, "0.125"), edit(target, value)], [edit("77", "0.5"), edit("77")]):
        plan = bound(unity, *steps)
        assert unity.stage(plan, place / "stage").changes == (), asset
    return 1
