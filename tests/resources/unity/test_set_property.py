"""``unity.set_property@1`` on the sample project."""

import pytest
from unity_world import STARTER, bound, set_value

from fabric_dagster.errors import FabricError
from resources.unity.text import UnityFile

PLACEHOLDER = "Assets/Art/Offers/placeholder.png"
SHEET = "Assets/Art/Offers/badges.png"
UNKNOWN = "d41d8cd98f00b204e9800998ecf8427e"


def staged(unity, stage, *operations):
    """Stage operations with their allocations."""
    return unity.stage(bound(unity, *operations), stage)


def reference(project, asset, file_id, kind=3):
    """A reference into an asset of the project."""
    guid = UnityFile((project / f"{asset}.meta").read_bytes()).read("0", "guid")
    return {"fileID": file_id, "guid": guid, "type": kind}


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("displayName", "Bären: 3 für 1", b'  displayName: "B\\xE4ren: 3 f\\xFCr 1"\n'),
        ("itemCount", 7, b"  itemCount: 7\n"),
        ("price", "0.25", b"  price: 0.25\n"),
        ("price", 0.25, b"  price: 0.25\n"),
        ("available", False, b"  available: 0\n"),
    ],
)
def test_a_scalar_changes_its_line_alone(unity, stage, project, path, value, line):
    """One line of the diff out, one in."""
    result = staged(unity, stage, set_value(path, value))
    after = (stage / "changes" / STARTER).read_bytes()
    before = (project / STARTER).read_bytes()
    assert line in after
    assert [a == b for a, b in zip(before.split(b"\n"), after.split(b"\n"), strict=True)].count(False) == 1
    assert sum(text.startswith(("+ ", "- ")) for text in result.diff.splitlines()) == 2


def test_document_zero_is_the_meta(unity, stage):
    """With or without the suffix in the asset's name."""
    path = "TextureImporter.spritePixelsToUnits"
    for asset in (PLACEHOLDER, f"{PLACEHOLDER}.meta"):
        result = staged(unity, stage, set_value(path, 64, asset=asset, document="0"))
        assert [change.path for change in result.changes] == [f"{PLACEHOLDER}.meta"]


def test_a_sprite_property_takes_a_sprite(unity, stage, project):
    """The sheet's slice by its id, read from the meta."""
    sheet = UnityFile((project / f"{SHEET}.meta").read_bytes())
    file_id = sheet.read("0", "TextureImporter.spriteSheet.sprites.Array.data[1].internalID")
    result = staged(unity, stage, set_value("icon", reference(project, SHEET, file_id)))
    assert f"fileID: {file_id}" in result.diff


def test_a_sprite_property_is_cleared_with_a_null_reference(unity, stage):
    """``{fileID: 0}``, and the kind of the field is still known afterwards."""
    assert "+  icon: {fileID: 0}" in staged(unity, stage, set_value("icon", {"fileID": 0})).diff


@pytest.mark.parametrize(
    ("asset", "file_id", "code"),
    [
        (PLACEHOLDER, "2800000", "unity.reference_kind"),
        (PLACEHOLDER, "21300002", "unity.reference_unresolved"),
        (SHEET, "21300000", "unity.reference_unresolved"),
        (SHEET, "2800000", "unity.reference_kind"),
        ("Assets/Scripts/Offers/OfferCatalog.cs", "11500000", "unity.reference_kind"),
    ],
)
def test_a_sprite_property_never_takes_anything_else(unity, stage, project, asset, file_id, code):
    """The texture itself, an id that the meta does not list, an object of another kind."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, set_value("icon", reference(project, asset, file_id)))
    assert caught.value.code == code


def test_a_reference_of_a_wrong_type_is_refused(unity, stage, project):
    """An imported picture is type 3, a native asset type 2."""
    with pytest.raises(FabricError, match=r"type 3, not 2.*unity\.reference_kind"):
        staged(unity, stage, set_value("icon", reference(project, PLACEHOLDER, "21300000", kind=2)))
    catalog = "Assets/Data/Offers/OfferCatalog.asset"
    wrong = set_value("offers.Array.data[0]", reference(project, STARTER, "11400000", kind=3), asset=catalog)
    with pytest.raises(FabricError, match=r"type 2, not 3"):
        staged(unity, stage, wrong)


def test_the_fields_type_is_known_even_where_the_property_is_empty(unity, stage, project):
    """The script says ``Sprite``."""
    asset = project / STARTER
    text = asset.read_bytes()
    start = text.index(b"  icon: ")
    asset.write_bytes(text[:start] + b"  icon: {fileID: 0}\n" + text[text.index(b"\n", start) + 1 :])
    with pytest.raises(FabricError, match=r"unity\.reference_kind"):
        staged(unity, stage, set_value("icon", reference(project, PLACEHOLDER, "2800000")))


def test_a_guid_that_nobody_can_look_up_is_a_warning_and_with_a_package_cache_an_error(unity, stage, project):
    """Without ``Library/PackageCache`` a package may have it."""
    value = {"fileID": "11400000", "guid": UNKNOWN, "type": 2}
    operation = set_value("offers.Array.data[0]", value, asset="Assets/Data/Offers/OfferCatalog.asset")
    (warning,) = staged(unity, stage, operation).warnings
    assert UNKNOWN in warning
    (project / "Library/PackageCache/com.example@1.0.0").mkdir(parents=True)
    with pytest.raises(FabricError, match=r"unity\.reference_unresolved"):
        staged(unity, stage, operation)
    (project / "Library/PackageCache/com.example@1.0.0/x.asset.meta").write_text(
        f"guid: {UNKNOWN}\n", encoding="utf-8"
    )
    assert staged(unity, stage, operation).warnings == ()


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (set_value("displayName", "x", asset="Assets/Data/Offers/absent.asset"), "unity.asset_missing"),
        (set_value("displayName", "x", asset=PLACEHOLDER), "unity.asset_not_text"),
        (set_value("displayName", "x", document="5"), "unity.document_missing"),
        (set_value("displyName", "x"), "unity.path_missing"),
        (set_value("displayName", 5), "unity.value_type"),
        (set_value("itemCount", "five"), "unity.value_type"),
        (set_value("icon", "21300000"), "unity.value_type"),
        (set_value("icon", {"fileID": "77"}), "unity.reference_unresolved"),
        (set_value("guid", "0" * 32, asset=PLACEHOLDER, document="0"), "unity.value_type"),
        (set_value("x", 1, asset="Assets/../secret.asset"), "unity.destination_refused"),
        (set_value("x", 1, asset="/etc/passwd"), "plan.argument"),
        (set_value("x", 1, document="first"), "plan.argument"),
        (set_value("x", None), "plan.argument"),
        (set_value("x", [1]), "plan.argument"),
        (set_value("icon", {"fileID": "1", "guid": "short", "type": 3}), "plan.argument"),
    ],
)
def test_each_wrong_request_has_its_code(unity, stage, operation, code):
    """And the project stays unread of secrets."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, operation)
    assert caught.value.code == code


def test_a_missing_asset_suggests_the_near_one(unity, stage):
    """Same name in another folder, or another spelling."""
    with pytest.raises(FabricError, match=r"Did you mean Assets/Data/Offers/starter_pack\.asset"):
        staged(unity, stage, set_value("x", 1, asset="Assets/Data/starter_pack.asset"))


def test_every_failing_operation_is_reported_at_once(unity, stage):
    """Three operations, two faults."""
    wrong = [set_value("nope", 1), set_value("displayName", "fine"), set_value("price", "dear")]
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, *wrong)
    assert [fault.code for fault in caught.value.faults] == ["unity.path_missing", "unity.value_type"]


def line_of(stage, key):
    """The line of a key in the staged offer."""
    data = (stage / "changes" / STARTER).read_bytes()
    return next(line for line in data.split(b"\n") if line.startswith(f"  {key}:".encode()))


@pytest.mark.parametrize("shown", ["1", "007", "+5", "1.50", "1e5", "-3"])
def test_a_text_that_looks_like_a_number_stays_a_text(unity, stage, project, shown):
    """Unity writes it bare; the script says that the property holds texts, so every later text is taken."""
    asset = project / STARTER
    staged(unity, stage, set_value("displayName", shown))
    assert line_of(stage, "displayName") == b"  displayName: " + shown.encode()
    asset.write_bytes((stage / "changes" / STARTER).read_bytes())
    for later in ("Starter Pack", "2", "+7", "0x10"):
        staged(unity, stage, set_value("displayName", later))
        found = UnityFile((stage / "changes" / STARTER).read_bytes()).read("11400000", "displayName")
        assert found == later
    with pytest.raises(FabricError, match=r"holds a text.*unity\.value_type"):
        staged(unity, stage, set_value("displayName", 5))


def test_without_the_script_the_siblings_show_what_a_property_holds(unity, stage, project):
    """Another offer's name is a word, so this one's digits are a text; a count is a count everywhere."""
    asset = project / STARTER
    asset.write_bytes(asset.read_bytes().replace(b"Starter Pack (placeholder)", b"1"))
    (project / "Assets/Scripts/Offers/OfferDefinition.cs").write_text("// elsewhere\n", encoding="utf-8")
    staged(unity, stage, set_value("displayName", "Starter Pack"))
    assert line_of(stage, "displayName") == b"  displayName: Starter Pack"
    with pytest.raises(FabricError, match=r'"kind": "text".*unity\.value_type'):
        staged(unity, stage, set_value("itemCount", "five"))


def test_where_nothing_shows_it_the_plan_says_that_it_is_a_text(unity, stage, project):
    """Nobody gets stuck: one word in the plan."""
    edit = set_value("itemCount", "five")
    (project / "Assets/Scripts/Offers/OfferDefinition.cs").unlink()
    with pytest.raises(FabricError, match=r"unity\.value_type"):
        staged(unity, stage, edit)
    edit["args"]["kind"] = "text"
    staged(unity, stage, edit)
    assert line_of(stage, "itemCount") == b"  itemCount: five"


def test_a_decimal_that_is_whole_takes_a_fraction(unity, stage, project):
    """Unity writes 3.0 as 3: script, sibling, a vector's member or the plan says what it is."""
    asset = project / STARTER
    asset.write_bytes(asset.read_bytes().replace(b"price: 4.99", b"price: 3\n  size: {x: 1, y: 2}"))
    staged(unity, stage, set_value("price", "2.50"))
    assert line_of(stage, "price") == b"  price: 2.50"
    staged(unity, stage, set_value("size.y", 0.5))
    assert line_of(stage, "size") == b"  size: {x: 1, y: 0.5}"
    with pytest.raises(FabricError, match=r"an integer.*unity\.value_type"):
        staged(unity, stage, set_value("itemCount", "2.5"))
    (project / "Assets/Scripts/Offers/OfferDefinition.cs").unlink()
    staged(unity, stage, set_value("price", "2.50"))
    with pytest.raises(FabricError, match=r'"kind": "decimal".*unity\.value_type'):
        staged(unity, stage, set_value("itemCount", "2.5"))
