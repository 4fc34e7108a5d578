"""``unity.import_texture@1`` on the sample project."""

import shutil

import pytest
from unity_world import ICON, WIRE, bound, import_icon, plan_of

from fabric_dagster.errors import FabricError, OperationFailed
from resources.unity.manifest import tree_manifest
from resources.unity.text import UnityFile

SHEET = "Assets/Art/Offers/badges.png"
PLACEHOLDER = "Assets/Art/Offers/placeholder.png"


def staged(unity, stage, *operations):
    """Stage operations with their allocations."""
    return unity.stage(bound(unity, *operations), stage)


def paths(result):
    """The changed paths."""
    return [change.path for change in result.changes]


def test_a_new_texture_brings_its_meta_and_its_folders_meta(unity, stage, project):
    """Three new files, nothing else; the sprite's reference is the output."""
    plan = bound(unity, import_icon())
    result = unity.stage(plan, stage)
    assert paths(result) == ["Assets/Art/Offers/Icons.meta", ICON, f"{ICON}.meta"]
    assert all(change.before is None for change in result.changes)
    values = {item.name: item.value for item in result.produced}
    guid = plan.allocations[f"guid:{ICON}"]
    assert values == {"texture": ICON, "sprite": {"fileID": "21300000", "guid": guid, "type": 3}}
    assert not (project / ICON).exists()


def test_the_same_plan_stages_the_same_bytes(unity, stage, tmp_path):
    """Every random choice is the plan's."""
    plan = bound(unity, import_icon(), WIRE)
    again = tmp_path / "again"
    shutil.copytree(stage, again)
    assert unity.stage(plan, stage) == unity.stage(plan, again)


def test_a_reimport_keeps_guid_and_every_byte_that_the_profile_does_not_name(unity, stage, project):
    """The picture is replaced; of the meta only the profile's lines differ."""
    (stage / "inputs/icon.png").write_bytes((project / SHEET).read_bytes())
    before = (project / f"{PLACEHOLDER}.meta").read_bytes()
    profile = {"max_texture_size": 128, "compression": "none"}
    result = staged(unity, stage, import_icon(PLACEHOLDER, profile))
    assert paths(result) == [PLACEHOLDER, f"{PLACEHOLDER}.meta"]
    after = (stage / "changes" / f"{PLACEHOLDER}.meta").read_bytes()
    assert after == before.replace(b"maxTextureSize: 512", b"maxTextureSize: 128", 1)


def test_a_reimport_of_the_same_picture_and_profile_changes_nothing(unity, stage):
    """Done already is done."""
    assert staged(unity, stage, import_icon(PLACEHOLDER)).changes == ()


def test_a_sheet_keeps_its_slices(unity, stage, project):
    """A profile of sprite mode multiple is applied, single is refused."""
    result = staged(unity, stage, import_icon(SHEET, "sprite_sheet"))
    assert paths(result) == [SHEET, f"{SHEET}.meta"]
    old = UnityFile((project / f"{SHEET}.meta").read_bytes()).read("0", "TextureImporter.spriteSheet")
    new = UnityFile((stage / "changes" / f"{SHEET}.meta").read_bytes()).read(
        "0", "TextureImporter.spriteSheet"
    )
    assert new == old
    with pytest.raises(OperationFailed, match=r"unity\.profile_conflict"):
        staged(unity, stage, import_icon(SHEET))


def test_a_profile_that_takes_away_a_sprite_in_use_is_refused(unity, stage, project):
    """The offers refer to the placeholder's sprite; unused, it may become a plain texture."""
    with pytest.raises(OperationFailed, match=r"3 files.*starter_pack.*unity\.profile_conflict"):
        staged(unity, stage, import_icon(PLACEHOLDER, "texture"))
    for name in ("daily_deal", "mega_bundle", "starter_pack"):
        (project / f"Assets/Data/Offers/{name}.asset").unlink()
    assert f"{PLACEHOLDER}.meta" in paths(staged(unity, stage, import_icon(PLACEHOLDER, "texture")))


def test_a_guid_only_stub_keeps_its_guid_and_becomes_a_full_meta(unity, stage, project):
    """Stubs are rewritten by the editor on every import."""
    guid = "5f0c2d1e7a3b4c6d8e9fa0b1c2d3e4f5"
    (project / f"{PLACEHOLDER}.meta").write_text(f"fileFormatVersion: 2\nguid: {guid}\n", encoding="utf-8")
    staged(unity, stage, import_icon(PLACEHOLDER))
    meta = UnityFile((stage / "changes" / f"{PLACEHOLDER}.meta").read_bytes())
    assert meta.read("0", "guid") == guid
    assert meta.read("0", "TextureImporter.serializedVersion") == "13"


def test_an_orphan_meta_gives_its_guid_to_the_new_texture(unity, stage, project):
    """References that waited for the picture resolve again."""
    (project / PLACEHOLDER).unlink()
    result = staged(unity, stage, import_icon(PLACEHOLDER))
    assert paths(result) == [PLACEHOLDER]


def test_a_meta_of_another_importer_is_refused(unity, stage, project):
    """Nothing is guessed about a foreign block."""
    meta = (project / "Assets/Art.meta").read_bytes()
    (project / f"{PLACEHOLDER}.meta").write_bytes(meta)
    with pytest.raises(OperationFailed, match=r"unity\.meta_damaged"):
        staged(unity, stage, import_icon(PLACEHOLDER))


def test_the_shape_comes_from_the_newest_sibling_that_the_editor_reads(unity, stage, project):
    """An old project's siblings are followed, a later editor's are not."""
    (project / "ProjectSettings/ProjectVersion.txt").write_text(
        "m_EditorVersion: 2020.3.48f1\n", encoding="utf-8"
    )
    staged(unity, stage, import_icon())
    meta = UnityFile((stage / "changes" / f"{ICON}.meta").read_bytes())
    assert meta.read("0", "TextureImporter.serializedVersion") == "12"


@pytest.mark.parametrize(
    ("destination", "code"),
    [
        ("Assets/../x.png", "unity.destination_refused"),
        ("Assets/Art/.hidden/x.png", "unity.destination_refused"),
        ("Assets/Art/Old~/x.png", "unity.destination_refused"),
        ("Assets/Art\\x.png", "unity.destination_refused"),
        ("Assets/con.png", "unity.destination_refused"),
        ("Assets/a:b.png", "unity.destination_refused"),
        ("Assets/Data/Offers/starter_pack.asset/x.png", "unity.destination_refused"),
        ("Packages/com.example.absent/x.png", "unity.destination_refused"),
        ("Assets/art/Offers/x.png", "unity.case_clash"),
        ("Assets/Art/Offers/Placeholder.png", "unity.case_clash"),
        ("/etc/x.png", "plan.argument"),
        ("Library/x.png", "plan.argument"),
        ("Assets/x.jpg", "plan.argument"),
    ],
)
def test_a_destination_that_is_no_plain_asset_path_is_refused(unity, stage, project, destination, code):
    """Each has its code, and the project stays as it is."""
    before = tree_manifest(project)
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, import_icon(destination))
    assert caught.value.code == code
    assert tree_manifest(project) == before


def test_a_linked_folder_is_refused(unity, stage, project, tmp_path):
    """Nothing is written through a link."""
    (tmp_path / "outside").mkdir()
    try:
        (project / "Assets/Linked").symlink_to(tmp_path / "outside", target_is_directory=True)
    except OSError:
        pytest.skip("this system does not allow symlinks here")
    with pytest.raises(FabricError, match=r"path\.symlink"):
        staged(unity, stage, import_icon("Assets/Linked/x.png"))


def damage(data, how):
    """A PNG, broken in one way."""
    return {
        "empty": b"",
        "text": b"not a picture",
        "jpeg": b"\xff\xd8\xff\xe0" + data,
        "truncated": data[: len(data) // 2],
        "flipped": data[:100] + bytes([data[100] ^ 1]) + data[101:],
        "headless": data[:8] + data[33:],
    }[how]


@pytest.mark.parametrize("how", ["empty", "text", "jpeg", "truncated", "flipped", "headless"])
def test_a_source_that_is_no_intact_png_is_refused(unity, stage, how):
    """The bytes decide, not the name."""
    source = stage / "inputs/icon.png"
    source.write_bytes(damage(source.read_bytes(), how))
    with pytest.raises(OperationFailed, match=r"unity\.source_not_png"):
        staged(unity, stage, import_icon())


def test_dimensions_are_held_to_the_profile_with_every_rule_named(unity, stage):
    """64 x 64 breaks two of these rules."""
    rules = {"min_side": 128, "multiple_of": 60}
    with pytest.raises(OperationFailed) as caught:
        staged(unity, stage, import_icon(profile={"dimensions": rules}))
    assert [fault.code for fault in caught.value.faults] == ["unity.dimensions"] * 2


def test_an_unknown_profile_names_those_that_there_are(unity, stage):
    """The mend lists them."""
    with pytest.raises(OperationFailed, match=r"ui_sprite.*unity\.profile_unknown"):
        staged(unity, stage, import_icon(profile="best"))


def test_a_plan_without_its_random_choices_is_refused(unity, stage):
    """Nothing is drawn while executing: attempts would differ."""
    with pytest.raises(OperationFailed, match=r"unity\.allocation_missing"):
        unity.stage(plan_of(import_icon()), stage)


def test_an_allocated_guid_that_an_asset_has_is_refused(unity, stage, project):
    """No GUID occurs twice."""
    taken = UnityFile((project / f"{PLACEHOLDER}.meta").read_bytes()).read("0", "guid")
    plan = bound(unity, import_icon())
    clash = plan.model_copy(update={"allocations": {**plan.allocations, f"guid:{ICON}": taken}})
    with pytest.raises(
        OperationFailed, match=r"belongs to Assets/Art/Offers/placeholder\.png.*unity\.guid_clash"
    ):
        unity.stage(clash, stage)
