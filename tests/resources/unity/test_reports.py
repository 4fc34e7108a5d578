"""What people who do this job reported in public, one test each, on a small project made here.

The names are those of the reports: project and number. Those of a running editor are with the live provider.
"""

import shutil

import pytest
from asset_texts import SETTINGS_GUID, YAML, atlas_v1, atlas_v2, group, put, settings
from unity_world import ICON, STARTER, WIRE, bound, import_icon, operation, set_value

from fabric_dagster.errors import FabricError
from resources.unity import sample
from resources.unity.index import index_project
from resources.unity.inspection import summary
from resources.unity.project import open_project
from resources.unity.text import UnityFile

SHEET, PLACEHOLDER = "Assets/Art/Offers/badges.png", "Assets/Art/Offers/placeholder.png"
ASMDEF = "Assets/Scripts/Offers/Game.Offers.asmdef"
GUIDS = sample.GUIDS


def staged(unity, stage, *operations):
    """Stage operations with their allocations."""
    return unity.stage(bound(unity, *operations), stage)


def inspected(project):
    """What ``fabric unity inspect`` says."""
    return summary(index_project(open_project(project)))


def test_unity_mcp_892_and_726_hand_typed_guids_are_flagged(project):
    """Sequential, patterned and duplicate ones, by the assets that have them."""
    for number, name in enumerate("abc"):
        put(project, f"Assets/{name}.asset", YAML, f"a1b2c3d4e5f60718293a4b5c6d7e8f0{number}")
    put(project, "Assets/twin.asset", YAML, GUIDS[STARTER])
    found = inspected(project)
    assert set(found["suspicious_guids"]) >= {"Assets/a.asset", "Assets/b.asset", "Assets/c.asset"}
    ((guid, paths),) = found["duplicate_guids"].items()
    assert (guid, sorted(paths)) == (GUIDS[STARTER], [STARTER, "Assets/twin.asset"])


def test_apps_in_toss_796_a_guid_is_never_changed_under_its_assembly_references(unity, stage, project):
    """The change is refused; where somebody did it, the assembly reference that leads nowhere shows."""
    other = "Assets/Scripts/Shop/Shop.asmdef"
    put(
        project,
        other,
        f'{{"name": "Shop", "references": ["GUID:{GUIDS[ASMDEF]}"]}}',
        "9d3b7f5a1c2e4680a4b6c8d0e2f41735",
    )
    with pytest.raises(FabricError, match="GUID is never changed"):
        staged(
            unity, stage, set_value("guid", "5d0c6b7a8e9f41b2a3c4d5e6f7081929", asset=ASMDEF, document="0")
        )
    meta = project / f"{ASMDEF}.meta"
    meta.write_bytes(meta.read_bytes().replace(GUIDS[ASMDEF].encode(), b"5d0c6b7a8e9f41b2a3c4d5e6f7081929"))
    assert [item["in"] for item in inspected(project)["unresolved"]] == [other]


def test_unity_cli_loop_2440_a_guid_only_stub_becomes_a_whole_meta(unity, stage, project):
    """Shown by inspect, ended by an import, the GUID kept."""
    (project / f"{PLACEHOLDER}.meta").write_text(
        f"fileFormatVersion: 2\nguid: {GUIDS[PLACEHOLDER]}\n", encoding="utf-8"
    )
    assert inspected(project)["stub_metas"] == [f"{PLACEHOLDER}.meta"]
    staged(unity, stage, import_icon(PLACEHOLDER))
    data = (stage / "changes" / f"{PLACEHOLDER}.meta").read_bytes()
    assert (b"\nTextureImporter:\n" in data, data.endswith(b"\n")) == (True, True)
    assert UnityFile(data).read("0", "guid") == GUIDS[PLACEHOLDER]


def ids(data):
    """Name → fileID of a sheet's slices."""
    return UnityFile(data).read("0", "TextureImporter.spriteSheet.nameFileIdTable")


def test_mulligan_renamer_255_and_animation_importer_58_ids_survive_rename_and_reimport(
    unity, stage, project
):
    """Every reference stays whole."""
    before = ids((project / f"{SHEET}.meta").read_bytes())
    (stage / "inputs/sheet.png").write_bytes((project / PLACEHOLDER).read_bytes())
    rename = operation("unity.rename_sprite@1", texture=SHEET, sprite="badge_new", name="badge_fresh")
    staged(unity, stage, rename, import_icon(SHEET, "sprite_sheet", "inputs/sheet.png"))
    after = ids((stage / "changes" / f"{SHEET}.meta").read_bytes())
    assert after == {"badge_fresh": before["badge_new"], "badge_sale": before["badge_sale"]}


def test_asset_graph_94_a_profile_keeps_slices(unity, stage, project):
    """Byte for byte; one that would lose them is refused."""
    before = (project / f"{SHEET}.meta").read_bytes()
    (stage / "inputs/sheet.png").write_bytes((project / SHEET).read_bytes())
    profile = {"sprite_mode": "multiple", "filter": "point", "max_texture_size": 512}
    staged(unity, stage, import_icon(SHEET, profile, "inputs/sheet.png"))
    after = (stage / "changes" / f"{SHEET}.meta").read_bytes()
    assert after == before.replace(b"filterMode: 1", b"filterMode: 0")
    with pytest.raises(FabricError, match=r"unity\.profile_conflict"):
        staged(unity, stage, import_icon(SHEET, "ui_sprite", "inputs/sheet.png"))


def test_super_tiled_2_unity_293_what_a_postprocessor_changed_is_reported(unity, stage, project):
    """The metas are read again, against the profile: drift, not success."""
    plan = bound(unity, import_icon())
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    meta = project / f"{ICON}.meta"
    meta.write_bytes(meta.read_bytes().replace(b"filterMode: 1", b"filterMode: 0"))
    broken = [item for item in unity.observe(plan, result) if not item.holds]
    assert [item.subject for item in broken] == [f"{ICON}.meta", f"{ICON}.meta: profile"]
    assert "filterMode is 0, not 1" in broken[1].found


@pytest.mark.parametrize(
    ("suffix", "text", "main"), [("", atlas_v1, "4343727234628468602"), ("v2", atlas_v2, "1")]
)
def test_sprite_assist_49_and_asset_usage_detector_27_both_atlas_formats_folders_expanded(
    unity, stage, project, suffix, text, main
):
    """A sprite within a packed folder is packed already."""
    atlas = put(
        project,
        f"Assets/Art/Icons.spriteatlas{suffix}",
        text(),
        "5a0fd1e3b29c4d7e8f60718293a4b5c6",
        main=main,
    )
    folder = operation("unity.set_atlas_members@1", atlas=atlas, add=[{"path": "Assets/Art/Offers"}])
    assert "fileID: 102900000" in staged(unity, stage, folder).diff
    again = operation("unity.set_atlas_members@1", atlas=atlas, add=[{"path": SHEET, "sprite": "badge_new"}])
    with pytest.raises(FabricError, match=r"unity\.atlas_clash"):
        staged(unity, stage, folder, again)


def test_barotrauma_12623_and_asset_ripper_865_sizes_for_compression_and_no_stretching(unity, stage):
    """A compressing profile asks for multiples of four; sprites keep their shape."""
    from resources.photoshop.png import encode_png

    numpy = pytest.importorskip("numpy")
    (stage / "inputs/odd.png").write_bytes(encode_png(numpy.zeros((6, 6, 4), numpy.uint8)))
    profile = {"compression": "normal", "dimensions": {"multiple_of": 4}}
    with pytest.raises(FabricError, match=r"multiples of 4.*unity\.dimensions"):
        staged(unity, stage, import_icon(ICON, profile, "inputs/odd.png"))
    staged(unity, stage, import_icon())
    assert b"  nPOTScale: 0\n" in (stage / "changes" / f"{ICON}.meta").read_bytes()


def test_any_rpg_core_117_and_addressable_importer_98_one_group_an_asset_and_zombies_told(
    unity, stage, project
):
    """Two groups are refused, an entry without an asset is named."""
    home = "Assets/AddressableAssetsData"
    ghost = "8f1e2d3c4b5a69788796a5b4c3d2e1f0"
    put(project, f"{home}/AddressableAssetSettings.asset", settings(), SETTINGS_GUID)
    one = put(
        project, f"{home}/One.asset", group("One", [(ghost, "ghost", ())]), "3c9d1a7e5b2f4086a1d3e5f7091b2c4d"
    )
    two = put(project, f"{home}/Two.asset", group("Two"), "9e4b7d2c1f0a4538b6c8d0e2f4a61739")
    entry = operation("unity.set_addressable@1", asset=STARTER, group=one)
    assert ghost in "".join(staged(unity, stage, entry).warnings)
    for path in (one, two):
        (project / path).write_text(group("G", [(GUIDS[STARTER], "starter", ())]), encoding="utf-8")
    with pytest.raises(FabricError, match=r"unity\.addressable_clash"):
        staged(unity, stage, entry)


def test_resharper_unity_1323_line_ends_are_the_neighbours(unity, stage, project):
    """A project of CRLF gets metas of CRLF: the texture's, the new folder's, the new asset's."""
    for meta in project.rglob("*.meta"):
        meta.write_bytes(meta.read_bytes().replace(b"\n", b"\r\n"))
    offer = project / STARTER
    offer.write_bytes(offer.read_bytes().replace(b"\n", b"\r\n"))
    new = operation("unity.create_asset@1", asset="Assets/Data/New/offer.asset", like=STARTER)
    result = staged(unity, stage, import_icon(), new)
    for change in result.changes:
        data = (stage / "changes" / change.path).read_bytes()
        if change.path.endswith((".meta", ".asset")):
            assert data.count(b"\n") == data.count(b"\r\n") > 0, change.path


def test_eos_842_and_nine_chronicles_2575_names_that_differ_by_case_are_shown_and_refused(
    unity, stage, project
):
    """``UI`` beside ``Ui.meta``."""
    (project / "Assets/UI").mkdir()
    shutil.copyfile(project / "Assets/Art.meta", project / "Assets/Ui.meta")
    try:
        (project / "Assets/ui").mkdir()
    except FileExistsError:
        pytest.skip("this disk does not tell them apart")
    assert ["Assets/UI", "Assets/ui"] in inspected(project)["case_twins"]
    with pytest.raises(FabricError, match=r"unity\.case_clash"):
        staged(unity, stage, import_icon("Assets/ART/x.png"))


def test_unity_mcp_949_a_sprite_field_never_takes_the_texture(unity, stage):
    """The import's output is the sprite; the texture's own id is refused."""
    assert "fileID: 21300000" in staged(unity, stage, import_icon(), WIRE).diff
    texture = {"fileID": "2800000", "guid": GUIDS[PLACEHOLDER], "type": 3}
    with pytest.raises(FabricError, match=r"unity\.reference_kind"):
        staged(unity, stage, set_value("icon", texture))


def test_unity_mcp_950_a_cleared_reference_is_not_a_success(unity, stage, project):
    """What stands there is read back."""
    plan = bound(unity, import_icon(), WIRE)
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    offer = project / STARTER
    icon = next(line for line in offer.read_bytes().split(b"\n") if line.startswith(b"  icon:"))
    offer.write_bytes(offer.read_bytes().replace(icon, b"  icon: {fileID: 0}"))
    broken = {item.subject for item in unity.observe(plan, result) if not item.holds}
    assert f"{STARTER}:11400000:icon" in broken
