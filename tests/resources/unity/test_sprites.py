"""``unity.slice_sprites@1`` and ``unity.rename_sprite@1``: the sample, and sheets of other ages."""

import pytest
from unity_world import bound, import_icon, operation, set_value

from fabric_dagster.errors import FabricError
from resources.unity.importers.shapes import shape_of, texture_block
from resources.unity.importers.slices import Wanted, existing, renamed, sliced
from resources.unity.importers.sprites import internal_id
from resources.unity.manifest import tree_manifest
from resources.unity.text import UnityFile

SHEET = "Assets/Art/Offers/badges.png"
PLACEHOLDER = "Assets/Art/Offers/placeholder.png"
ID = "4c59f3d31181458890d0d6e16b8002{:02x}"


def rectangle(name, x, y=0, width=16, height=16, **more):
    """One slice of a plan."""
    return {"name": name, "x": x, "y": y, "width": width, "height": height, **more}


def cut(*rectangles, texture=SHEET, **more):
    """One slicing by rectangles."""
    args = {"texture": texture, **({"rectangles": list(rectangles)} if rectangles else {}), **more}
    return operation("unity.slice_sprites@1", "slice", **args)


def rename(sprite, name, texture=SHEET):
    """One renaming."""
    return operation("unity.rename_sprite@1", texture=texture, sprite=sprite, name=name)


def staged(unity, stage, *operations):
    """Stage operations with their allocations."""
    return unity.stage(bound(unity, *operations), stage)


def slices(data):
    """Name → (internalID, spriteID)."""
    return {item.name: (item.file_id, item.sprite_id) for item in existing(UnityFile(data))}


def block(version, newline="\n"):
    """A ``.meta`` of an editor's version with no slices yet."""
    return texture_block(shape_of(version), "a3" * 16, "", ("DefaultTexturePlatform",), newline)


def test_a_known_slice_keeps_its_ids_and_a_new_one_gets_the_plans(unity, stage, project):
    """The rectangle alone changes; the new slice stands in all three tables."""
    before = (project / f"{SHEET}.meta").read_bytes()
    plan = bound(unity, cut(rectangle("badge_new", 4, 2), rectangle("badge_hot", 48)))
    result = unity.stage(plan, stage)
    data = (stage / "changes" / f"{SHEET}.meta").read_bytes()
    old, new = slices(before), slices(data)
    assert {name: new[name] for name in old} == old
    drawn = plan.allocations[f"sprite:{SHEET}:badge_hot"]
    assert new["badge_hot"] == (str(internal_id(drawn)), drawn)
    file = UnityFile(data)
    table = file.read("0", "TextureImporter.spriteSheet.nameFileIdTable")
    assert list(table) == ["badge_hot", "badge_new", "badge_sale"]
    rows = file.read("0", "TextureImporter.internalIDToNameTable")
    assert rows[-1] == {"first": {"213": new["badge_hot"][0]}, "second": "badge_hot"}
    removed = [
        line for line in result.diff.splitlines() if line.startswith("-") and not line.startswith("---")
    ]
    assert [line.split(":")[0].strip("- ") for line in removed] == ["x", "y", "width", "height"]
    assert {item.name: item.value for item in result.produced}["sprite"]["fileID"] == new["badge_new"][0]


def test_a_grid_counts_from_the_top_left(unity, stage):
    """Four cells of a 64 x 32 picture; the old slices stay."""
    grid = {"columns": 2, "rows": 2, "width": 32, "height": 16, "prefix": "cell"}
    staged(unity, stage, cut(grid=grid))
    file = UnityFile((stage / "changes" / f"{SHEET}.meta").read_bytes())
    found = [
        (item["name"], item["rect"]["x"], item["rect"]["y"])
        for item in file.read("0", "TextureImporter.spriteSheet.sprites")[2:]
    ]
    assert found == [
        ("cell_0", "0", "16"),
        ("cell_1", "32", "16"),
        ("cell_2", "0", "0"),
        ("cell_3", "32", "0"),
    ]


def test_a_slice_that_something_refers_to_is_not_removed(unity, stage, project):
    """Each badge is; without the offers both may go."""
    wrong = cut(rectangle("badge_sale", 0), others="remove")
    with pytest.raises(FabricError, match=r"daily_deal\.asset.*unity\.asset_in_use"):
        staged(unity, stage, wrong)
    (project / "Assets/Data/Offers/daily_deal.asset").unlink()
    staged(unity, stage, wrong)
    assert set(slices((stage / "changes" / f"{SHEET}.meta").read_bytes())) == {"badge_sale"}


def test_a_single_sprite_in_use_is_not_cut_up(unity, stage):
    """References to 21300000 would lead nowhere; a plan that rewires them first may cut it."""
    offers = [f"Assets/Data/Offers/{name}.asset" for name in ("daily_deal", "mega_bundle", "starter_pack")]
    with pytest.raises(FabricError, match=r"unity\.asset_in_use"):
        staged(unity, stage, cut(rectangle("a", 0), texture=PLACEHOLDER))
    cleared = [set_value("icon", {"fileID": "0"}, asset=asset) for asset in offers]
    wired = [set_value("icon", {"$ref": "slice.sprite"}, asset=asset) for asset in offers]
    plan = bound(unity, *cleared, cut(rectangle("a", 0), texture=PLACEHOLDER), *wired)
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []


def test_a_texture_is_imported_and_sliced_in_one_plan(unity, stage, project):
    """As a sheet; undone byte for byte."""
    before = tree_manifest(project)
    sheet = "Assets/Art/Offers/Icons/sheet.png"
    plan = bound(unity, import_icon(sheet, "sprite_sheet"), cut(rectangle("one", 0), texture=sheet))
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    unity.undo("t1")
    assert tree_manifest(project) == before


def test_a_rename_keeps_the_id_in_all_three_tables(unity, stage, project):
    """Four lines: two values, and the key at its sorted place."""
    before = slices((project / f"{SHEET}.meta").read_bytes())
    result = staged(unity, stage, rename("badge_new", "zz: fresh"))
    data = (stage / "changes" / f"{SHEET}.meta").read_bytes()
    assert slices(data) == {"zz: fresh": before["badge_new"], "badge_sale": before["badge_sale"]}
    file = UnityFile(data)
    assert list(file.read("0", "TextureImporter.spriteSheet.nameFileIdTable")) == ["badge_sale", "zz: fresh"]
    assert [row["second"] for row in file.read("0", "TextureImporter.internalIDToNameTable")] == [
        "zz: fresh",
        "badge_sale",
    ]
    assert sum(line.startswith(("+ ", "- ")) for line in result.diff.splitlines()) == 6


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "version", ["2018.3.0f2", "2019.1.0f1", "2020.3.30f1", "2021.3.20f1", "2022.3.62f3", "6000.0.30f1"]
)
def test_sheets_of_every_age_are_cut_renamed_and_emptied_again(version, newline):
    """Each in its own tables; removing everything gives the old bytes, but for the sprite mode."""
    data = block(version, newline)
    wanted = [Wanted("a", (0, 0, 4, 4)), Wanted("b c", (4, 0, 4, 4), "bottom", (1, 2, 3, 4))]
    cut_up = sliced(data, wanted, frozenset(), lambda name: ID.format(ord(name[0])))
    found = slices(cut_up)
    assert list(found) == ["a", "b c"]
    modern = version >= "2019"
    assert found["a"][0] == (str(internal_id(ID.format(ord("a")))) if modern else "21300000")
    assert (b"customData" in cut_up) == version.startswith("6000")
    assert b"\r\n" not in cut_up or b"\n" not in cut_up.replace(b"\r\n", b"")
    assert sliced(cut_up, wanted, frozenset(), lambda _: "") == cut_up
    again = renamed(renamed(cut_up, "a", "x"), "x", "a")
    assert again == cut_up
    emptied = sliced(cut_up, [], frozenset({"a", "b c"}), lambda _: "")
    assert emptied.replace(b"spriteMode: 2", b"spriteMode: 1") == data


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (cut(rectangle("a", 60)), "unity.slices_refused"),
        (cut(rectangle("a", 0), rectangle("a", 16)), "unity.slices_refused"),
        (cut(rectangle(" a", 0)), "unity.slices_refused"),
        (cut(grid={"columns": 3, "rows": 1, "width": 32, "height": 32}), "unity.slices_refused"),
        (cut(), "plan.argument"),
        (cut(rectangle("a", 0, width=0)), "plan.argument"),
        (cut(rectangle("a", 0), texture="Assets/Scripts/Offers/OfferCatalog.cs"), "unity.asset_wrong_kind"),
        (cut(rectangle("a", 0), texture="Assets/absent.png"), "unity.asset_missing"),
        (rename("absent", "x"), "unity.slices_refused"),
        (rename("badge_new", "badge_sale"), "unity.slices_refused"),
        (rename("badge_new", "a\nb"), "unity.slices_refused"),
    ],
)
def test_each_wrong_request_has_its_code(unity, stage, wrong, code):
    """Outside the picture, names that clash, no sheet."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code


def test_real_sheets_rename_back_to_their_bytes(corpus):
    """Every sliced texture of the corpus, its first slice renamed and renamed back."""
    count = 0
    for meta in sorted(corpus.rglob("*.meta")):
        data = meta.read_bytes()
        if b"\nTextureImporter:" not in data or b"spriteMode: 2" not in data:
            continue
        names = [item.name for item in existing(UnityFile(data))]
        if not names or names.count(names[0]) != 1:
            continue
        there = renamed(data, names[0], "zz_renamed")
        assert slices(there)["zz_renamed"] == slices(data)[names[0]]
        assert renamed(there, "zz_renamed", names[0]) == data, meta
        count += 1
    assert count >= 5
