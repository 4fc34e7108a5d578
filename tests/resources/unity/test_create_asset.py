"""``unity.create_asset@1`` on the sample project."""

import pytest
from unity_world import STARTER, bound, import_icon, operation

from fabric_dagster.errors import FabricError
from resources.unity.manifest import tree_manifest
from resources.unity.text import UnityFile

NEW = "Assets/Data/Offers/Events/summer_sale.asset"


def create(asset=NEW, like=STARTER, node=None, **more):
    """One creation."""
    return operation("unity.create_asset@1", node, asset=asset, like=like, **more)


def staged(unity, stage, *operations):
    """Stage operations with their allocations."""
    return unity.stage(bound(unity, *operations), stage)


def test_a_new_asset_has_the_siblings_shape_and_empty_fields(unity, stage, project):
    """Its script, its fields, its own name; the values are none."""
    plan = bound(unity, create(values={"offerId": "summer_sale", "price": "2.99", "itemCount": 4}))
    result = unity.stage(plan, stage)
    assert [change.path for change in result.changes] == [
        "Assets/Data/Offers/Events.meta",
        NEW,
        f"{NEW}.meta",
    ]
    made = UnityFile((stage / "changes" / NEW).read_bytes())
    model = UnityFile((project / STARTER).read_bytes())
    (was,), (now,) = model.documents, made.documents
    content, old = made.read("11400000", "m_Script"), model.read("11400000", "m_Script")
    assert (content, now.class_id) == (old, was.class_id)
    fields = {
        name: made.read("11400000", name)
        for name in ("m_Name", "offerId", "displayName", "price", "itemCount")
    }
    assert fields == {
        "m_Name": "summer_sale",
        "offerId": "summer_sale",
        "displayName": "",
        "price": "2.99",
        "itemCount": "4",
    }
    assert made.read("11400000", "icon") == {"fileID": "0"}
    assert made.data.count(b"\n") == model.data.count(b"\n")
    guid = plan.allocations[f"guid:{NEW}"]
    meta = (stage / "changes" / f"{NEW}.meta").read_bytes()
    assert f"guid: {guid}\n".encode() in meta
    assert b"mainObjectFileID: 11400000\n" in meta
    assert meta.endswith(b"assetBundleVariant: \n")


def test_the_siblings_values_are_kept_on_request(unity, stage, project):
    """Only the name is its own."""
    staged(unity, stage, create(keep="values"))
    found = (stage / "changes" / NEW).read_bytes()
    assert found == (project / STARTER).read_bytes().replace(b"m_Name: starter_pack", b"m_Name: summer_sale")


def test_an_icon_of_the_same_plan_is_wired_and_the_catalog_lists_the_asset(unity, stage, project):
    """Import, create, list: one transaction, undone in one."""
    before = tree_manifest(project)
    insert = operation(
        "unity.edit_list@1",
        asset="Assets/Data/Offers/OfferCatalog.asset",
        document="11400000",
        path="offers",
        action="insert",
        index=3,
        value={"$ref": "make.reference"},
    )
    plan = bound(
        unity, import_icon(), create(node="make", values={"icon": {"$ref": "import_icon.sprite"}}), insert
    )
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    assert len(tree_manifest(project)) == len(before) + 6
    unity.undo("t1")
    assert tree_manifest(project) == before
    assert not (project / "Assets/Data/Offers/Events").exists()


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (create(asset=STARTER), "unity.asset_exists"),
        (create(asset="Assets/Data/offers/x.asset"), "unity.case_clash"),
        (create(asset="Assets/x.prefab"), "unity.destination_refused"),
        (create(asset="ProjectSettings/x.asset"), "unity.destination_refused"),
        (create(like="Assets/absent.asset"), "unity.asset_missing"),
        (create(like="ProjectSettings/EditorSettings.asset"), "unity.asset_wrong_kind"),
        (create(like="Assets/Art/Offers/placeholder.png"), "unity.asset_not_text"),
        (create(values={"nothing": 1}), "unity.path_missing"),
        (create(values={"price": "dear"}), "unity.value_type"),
        (create(values={"icon": {"fileID": "77"}}), "unity.reference_unresolved"),
        (create(asset="Assets/../x.asset"), "unity.destination_refused"),
    ],
)
def test_each_wrong_request_has_its_code(unity, stage, project, wrong, code):
    """And the project stays as it is."""
    before = tree_manifest(project)
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code
    assert tree_manifest(project) == before


def test_a_model_of_several_documents_is_refused(unity, stage, project):
    """Its parts would be copied with their identities."""
    model = project / STARTER
    model.write_bytes(model.read_bytes() + b"--- !u!114 &22\nMonoBehaviour:\n  m_Name: part\n")
    with pytest.raises(FabricError, match=r"unity\.asset_wrong_kind"):
        staged(unity, stage, create())
