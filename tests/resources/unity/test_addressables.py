"""``unity.set_addressable@1`` and ``unity.set_bundle_name@1``."""

import pytest
from asset_texts import SETTINGS_GUID, group, put, settings
from unity_world import STARTER, bound, operation

from fabric_dagster.errors import FabricError
from resources.unity import sample
from resources.unity.manifest import tree_manifest
from resources.unity.text import UnityFile

HOME = "Assets/AddressableAssetsData"
OFFERS, SHOP = f"{HOME}/AssetGroups/Offers.asset", f"{HOME}/AssetGroups/Shop.asset"
SETTINGS = f"{HOME}/AddressableAssetSettings.asset"
DAILY, MEGA = "Assets/Data/Offers/daily_deal.asset", "Assets/Data/Offers/mega_bundle.asset"
GUIDS = sample.GUIDS
ZOMBIE = "8f1e2d3c4b5a69788796a5b4c3d2e1f0"


@pytest.fixture
def project(project):
    """The sample project with two groups: one with two entries, one empty."""
    entries = sorted([(GUIDS[DAILY], "daily", ("default",)), (GUIDS[MEGA], "mega", ())])
    put(project, SETTINGS, settings(), SETTINGS_GUID)
    put(project, OFFERS, group("Offers", entries), "3c9d1a7e5b2f4086a1d3e5f7091b2c4d")
    put(project, SHOP, group("Shop"), "9e4b7d2c1f0a4538b6c8d0e2f4a61739")
    return project


def entry(asset, group_path=OFFERS, **more):
    """One entry."""
    args = {"asset": asset, **({"group": group_path} if group_path else {}), **more}
    return operation("unity.set_addressable@1", **args)


def staged(unity, stage, *operations):
    """Stage operations."""
    return unity.stage(bound(unity, *operations), stage)


def entries(stage, path):
    """GUID → (address, labels) of a staged group."""
    listed = UnityFile((stage / "changes" / path).read_bytes()).read("11400000", "m_SerializeEntries")
    return {item["m_GUID"]: (item["m_Address"], item["m_SerializedLabels"]) for item in listed}


def test_a_new_entry_stands_in_the_order_of_guids_in_the_shape_of_the_others(unity, stage, project):
    """Its address is the asset's path; a new label goes into the settings' table; undo brings all back."""
    before = tree_manifest(project)
    plan = bound(unity, entry(STARTER, labels=["new", "default"]))
    result = unity.stage(plan, stage)
    assert [change.path for change in result.changes] == [SETTINGS, OFFERS]
    found = entries(stage, OFFERS)
    assert list(found) == sorted(found)
    assert found[GUIDS[STARTER]] == (STARTER, ["new", "default"])
    data = (stage / "changes" / OFFERS).read_bytes()
    assert data.count(b"    FlaggedDuringContentUpdateRestriction: 0\n") == 3
    assert b"    - default\n    - new\n" in (stage / "changes" / SETTINGS).read_bytes()
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    unity.undo("t1")
    assert tree_manifest(project) == before


def test_an_asset_is_in_one_group_and_takes_its_entry_along(unity, stage):
    """Address and labels stay; the entry leaves the first group."""
    staged(unity, stage, entry(DAILY, SHOP))
    assert entries(stage, SHOP) == {GUIDS[DAILY]: ("daily", ["default"])}
    assert list(entries(stage, OFFERS)) == [GUIDS[MEGA]]
    assert staged(unity, stage, entry(DAILY, SHOP), entry(DAILY, OFFERS)).changes == ()


def test_address_and_labels_change_alone(unity, stage):
    """One line, two lines."""
    result = staged(unity, stage, entry(DAILY, address="offers/daily deal: 1"))
    assert [line for line in result.diff.splitlines() if line.startswith(("+ ", "- "))] == [
        "-    m_Address: daily",
        "+    m_Address: 'offers/daily deal: 1'",
    ]
    staged(unity, stage, entry(DAILY, labels=[]), entry(MEGA, labels=["default"]))
    assert entries(stage, OFFERS)[GUIDS[DAILY]] == ("daily", [])
    assert entries(stage, OFFERS)[GUIDS[MEGA]] == ("mega", ["default"])


def test_an_entry_is_taken_out(unity, stage):
    """The last one leaves an empty list; taking out what is in none changes nothing."""
    staged(unity, stage, entry(DAILY, None), entry(MEGA, None))
    assert b"  m_SerializeEntries: []\n" in (stage / "changes" / OFFERS).read_bytes()
    assert staged(unity, stage, entry(STARTER, None)).changes == ()


def test_zombie_entries_are_reported(unity, stage, project):
    """Their asset is gone; nothing removes them silently."""
    path = project / OFFERS
    path.write_bytes(path.read_bytes().replace(GUIDS[MEGA].encode(), ZOMBIE.encode()))
    (warning,) = staged(unity, stage, entry(STARTER)).warnings
    assert ZOMBIE in warning


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (entry(STARTER, address="mega"), "unity.addressable_clash"),
        (entry("Assets/Scripts/Offers/OfferCatalog.cs"), "unity.asset_wrong_kind"),
        (entry("Assets/absent.asset"), "unity.asset_missing"),
        (entry(STARTER, STARTER), "unity.asset_wrong_kind"),
        (entry(STARTER, f"{HOME}/absent.asset"), "unity.asset_missing"),
        (entry(STARTER, None, labels=["x"]), "plan.argument"),
        (entry(STARTER, labels=[" "]), "plan.argument"),
    ],
)
def test_each_wrong_request_has_its_code(unity, stage, wrong, code):
    """Taken address, script, no group."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code


def test_an_asset_in_two_groups_is_refused(unity, stage, project):
    """Nobody can say which entry counts."""
    (project / SHOP).write_text(group("Shop", [(GUIDS[DAILY], "again", ())]), encoding="utf-8")
    with pytest.raises(FabricError, match=r"Shop\.asset.*unity\.addressable_clash"):
        staged(unity, stage, entry(DAILY, SHOP))


def bundle(asset, name=None, variant=None):
    """One bundle name."""
    args = {k: v for k, v in (("bundle", name), ("variant", variant)) if v is not None}
    return operation("unity.set_bundle_name@1", asset=asset, **args)


def test_a_bundle_name_is_two_values_of_the_meta(unity, stage):
    """Of a texture, an asset, a folder; and cleared again."""
    for asset in ("Assets/Art/Offers/badges.png", STARTER, "Assets/Art/Offers"):
        plan = bound(unity, bundle(asset, "offers/icons", "hd"))
        result = unity.stage(plan, stage)
        assert [change.path for change in result.changes] == [f"{asset}.meta"]
        unity.commit(stage, result, asset)
        assert [item for item in unity.observe(plan, result) if not item.holds] == []
        staged(unity, stage, bundle(asset))
        assert b"  assetBundleName: \n" in (stage / "changes" / f"{asset}.meta").read_bytes()
        unity.undo(asset)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (bundle(STARTER, "Offers"), "plan.argument"),
        (bundle(STARTER, None, "hd"), "plan.argument"),
        (bundle("Assets/Scripts/Offers/OfferCatalog.cs", "x"), "unity.asset_wrong_kind"),
        (bundle("Assets/absent.png", "x"), "unity.asset_missing"),
    ],
)
def test_a_wrong_bundle_request_has_its_code(unity, stage, wrong, code):
    """Upper case is not what Unity keeps."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code
