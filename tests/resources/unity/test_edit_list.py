"""``unity.edit_list@1`` on the sample project's catalog."""

import pytest
from unity_world import STARTER, bound, operation, set_value

from fabric_dagster.errors import FabricError
from resources.unity.text import UnityFile

CATALOG = "Assets/Data/Offers/OfferCatalog.asset"


def edit(action, index, asset=CATALOG, path="offers", **more):
    """One list edit."""
    return operation(
        "unity.edit_list@1", asset=asset, document="11400000", path=path, action=action, index=index, **more
    )


def staged(unity, stage, *operations):
    """Stage operations with their allocations."""
    return unity.stage(bound(unity, *operations), stage)


def offers(project, stage=None):
    """The catalog's items, staged or real."""
    path = stage / "changes" / CATALOG if stage else project / CATALOG
    return UnityFile(path.read_bytes()).read("11400000", "offers")


def reference(item):
    """An item as a plan's value."""
    return {"fileID": item["fileID"], "guid": item["guid"], "type": int(item["type"])}


@pytest.mark.parametrize(("index", "to"), [(0, 2), (2, 0), (1, 2), (1, 0)])
def test_a_moved_item_keeps_its_line(unity, stage, project, index, to):
    """The others stay in order, and moving it back gives the old bytes."""
    before = offers(project)
    result = staged(unity, stage, edit("move", index, to=to))
    wanted = list(before)
    wanted.insert(to, wanted.pop(index))
    assert offers(project, stage) == wanted
    assert {line[0] for line in result.diff.splitlines() if "fileID" in line} <= {"+", "-", " "}
    old = (project / CATALOG).read_bytes()
    (project / CATALOG).write_bytes((stage / "changes" / CATALOG).read_bytes())
    staged(unity, stage, edit("move", to, to=index))
    assert (stage / "changes" / CATALOG).read_bytes() == old


def test_items_are_inserted_and_removed_by_index(unity, stage, project):
    """One line each; the last one leaves an empty list, and the first one ends that."""
    first = offers(project)[0]
    staged(unity, stage, edit("insert", 3, value=reference(first)))
    assert offers(project, stage) == [*offers(project), first]
    staged(unity, stage, *[edit("remove", 0)] * 3)
    assert offers(project, stage) == []
    staged(unity, stage, *[edit("remove", 0)] * 3, edit("insert", 0, value=reference(first)))
    assert offers(project, stage) == [first]


def test_an_item_is_repeated_as_the_editors_plus_does(unity, stage, project):
    """Items that are mappings too."""
    catalog = project / CATALOG
    catalog.write_bytes(
        catalog.read_bytes() + b"  prices:\n  - region: eu\n    value: 1\n  - region: us\n    value: 2"
    )
    staged(unity, stage, edit("insert", 2, path="prices", like=0))
    found = (stage / "changes" / CATALOG).read_bytes()
    assert found.endswith(b"  - region: us\n    value: 2\n  - region: eu\n    value: 1")


def test_the_commit_is_observed(unity, stage):
    """What was inserted stands at its index."""
    plan = bound(unity, edit("move", 0, to=1), edit("remove", 2))
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    assert all(item.holds for item in unity.observe(plan, result))


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (edit("insert", 4, value={"fileID": "0"}), "unity.path_missing"),
        (edit("remove", 3), "unity.path_missing"),
        (edit("move", 0, to=3), "unity.path_missing"),
        (edit("insert", 0, value="text"), "unity.value_type"),
        (edit("insert", 0, path="m_Name", value="text"), "unity.value_type"),
        (edit("move", 0, to=1, path="m_Name"), "unity.value_type"),
        (edit("insert", 0, path="nothing", value=1), "unity.path_missing"),
        (edit("insert", 0, value={"fileID": "77"}), "unity.reference_unresolved"),
        (edit("insert", 0), "plan.argument"),
        (edit("remove", 0, value=1), "plan.argument"),
        (edit("move", 0), "plan.argument"),
        (edit("turn", 0), "plan.argument"),
    ],
)
def test_each_wrong_request_has_its_code(unity, stage, wrong, code):
    """Index, kind of property, kind of item, leftover words."""
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code


def test_numbers_stay_among_numbers_and_texts_among_texts(unity, stage, project):
    """Items show it, and where they show digits, the script does."""
    catalog = project / CATALOG
    catalog.write_bytes(catalog.read_bytes() + b"  counts:\n  - 1\n  - 2\n  tags:\n  - 1\n")
    script = project / "Assets/Scripts/Offers/OfferCatalog.cs"
    script.write_text(
        script.read_text(encoding="utf-8").replace(
            "offers =", "offers; List<string> tags; int[] counts; List<int> x ="
        ),
        encoding="utf-8",
    )
    staged(
        unity, stage, edit("insert", 1, path="tags", value="new"), edit("insert", 0, path="counts", value=3)
    )
    for wrong in (edit("insert", 0, path="counts", value="new"), edit("insert", 0, path="tags", value=7)):
        with pytest.raises(FabricError, match=r"unity\.value_type"):
            staged(unity, stage, wrong)


def test_a_property_of_an_item_is_set_beside_it(unity, stage):
    """A plan mixes edits of one file."""
    result = staged(unity, stage, edit("remove", 2), set_value("m_Name", "Catalog", asset=CATALOG))
    assert [change.path for change in result.changes] == [CATALOG]
    assert STARTER not in result.diff
