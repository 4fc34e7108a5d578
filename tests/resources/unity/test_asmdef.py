"""``unity.set_asmdef_references@1``: the list is spliced, every other byte stays."""

import json

import pytest
from asset_texts import put
from unity_world import bound, operation

from fabric_dagster.errors import FabricError
from resources.unity import sample

OFFERS = "Assets/Scripts/Offers/Game.Offers.asmdef"
SHOP, TOOLS = "Assets/Scripts/Shop/Game.Shop.asmdef", "Assets/Scripts/Tools/Game.Tools.asmdef"
SHOP_GUID, TOOLS_GUID = "1d5f8a3c7b9e4f20a6c4e8d01b3f5a79", "6b2e9c4d8f1a4735b0d6f2e84c1a3957"


@pytest.fixture
def project(project):
    """Three assemblies: Shop refers to Offers by GUID, Tools to nothing; Tools has no list at all."""
    shop = (
        '{\r\n\t"name": "Game.Shop",\r\n\t"references": [ "GUID:'
        + sample.GUIDS[OFFERS]
        + '" ],\r\n\t"x": {"references": 1}\r\n}'
    )
    put(project, SHOP, shop, SHOP_GUID, importer="AssemblyDefinitionImporter")
    put(project, TOOLS, '{\n  "name": "Game.Tools"\n}\n', TOOLS_GUID, importer="AssemblyDefinitionImporter")
    return project


def edit(asset, add=(), remove=()):
    """One edit."""
    return operation("unity.set_asmdef_references@1", asset=asset, add=list(add), remove=list(remove))


def staged(unity, stage, *operations):
    """Stage operations."""
    return unity.stage(bound(unity, *operations), stage)


def test_references_come_and_go_in_the_files_own_style(unity, stage):
    """By GUID among GUIDs, tabs and CRLF kept, a nested key of the same name untouched."""
    plan = bound(unity, edit(SHOP, ["Game.Tools"]))
    result = unity.stage(plan, stage)
    data = (stage / "changes" / SHOP).read_bytes()
    assert json.loads(data)["references"] == [f"GUID:{sample.GUIDS[OFFERS]}", f"GUID:{TOOLS_GUID}"]
    assert data.count(b"\n") == data.count(b"\r\n") == 7
    assert data.endswith(b'\t"x": {"references": 1}\r\n}')
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    staged(unity, stage, edit(SHOP, remove=[TOOLS, "Game.Offers"]))
    assert json.loads((stage / "changes" / SHOP).read_bytes())["references"] == []


def test_a_file_without_a_list_gets_one_after_its_name(unity, stage):
    """Written as most of the project's references are."""
    staged(unity, stage, edit(TOOLS, [OFFERS]))
    data = (stage / "changes" / TOOLS).read_text(encoding="utf-8")
    guid = sample.GUIDS[OFFERS]
    assert data == f'{{\n  "name": "Game.Tools",\n  "references": [\n    "GUID:{guid}"\n  ]\n}}\n'


def test_what_is_there_already_in_the_other_way_is_not_added_twice(unity, stage):
    """By name, path or GUID it is one assembly."""
    assert staged(unity, stage, edit(SHOP, ["Game.Offers", OFFERS])).changes == ()


def test_an_assembly_of_a_package_is_a_warning(unity, stage):
    """Nobody can look it up; it is written as given."""
    result = staged(unity, stage, edit(OFFERS, ["Unity.Addressables"]))
    assert "Unity.Addressables" in result.warnings[0]
    assert json.loads((stage / "changes" / OFFERS).read_bytes())["references"] == ["Unity.Addressables"]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (edit(OFFERS, ["Game.Shop"]), "unity.asmdef_refused"),
        (edit(OFFERS, ["Game.Offers"]), "unity.asmdef_refused"),
        (edit(OFFERS, ["Assets/absent.asmdef"]), "unity.reference_unresolved"),
        (edit("Assets/Scripts/Offers/OfferCatalog.cs", ["Game.Shop"]), "unity.asset_wrong_kind"),
        (edit("Assets/absent.asmdef", ["Game.Shop"]), "unity.asset_missing"),
        (edit(OFFERS), "plan.argument"),
        (edit(OFFERS, ["a\nb"]), "plan.argument"),
    ],
)
def test_each_wrong_request_has_its_code(unity, stage, wrong, code):
    """A circle, itself, nothing there."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "A", "name": "B"}',
        '{"name": "A", // c\n "references": []}',
        "[]",
        '{"name": 1}',
        '{"name": "A",}',
    ],
)
def test_a_file_that_is_no_strict_json_is_refused(unity, stage, project, text):
    """Nothing is guessed about it."""
    (project / OFFERS).write_text(text, encoding="utf-8")
    with pytest.raises(FabricError, match=r"unity\.asmdef_damaged"):
        staged(unity, stage, edit(OFFERS, ["Game.Tools"]))
