"""``unity.move_asset@1`` and ``unity.delete_asset@1``: creation, moves and removals in one transaction."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from asset_texts import YAML, atlas_v1, material, put
from unity_world import STARTER, WIRE, bound, import_icon, operation, set_value

from fabric_dagster.errors import Conflict, FabricError
from resources.unity import sample
from resources.unity.index import index_project
from resources.unity.manifest import tree_manifest
from resources.unity.project import open_project
from resources.unity.provider import HeadlessUnity

SHEET, PLACEHOLDER = "Assets/Art/Offers/badges.png", "Assets/Art/Offers/placeholder.png"
OFFERS, CATALOG = "Assets/Data/Offers", "Assets/Data/Offers/OfferCatalog.asset"


def move(asset, to):
    """One move."""
    return operation("unity.move_asset@1", "move", asset=asset, to=to)


def delete(asset):
    """One removal."""
    return operation("unity.delete_asset@1", asset=asset)


def staged(unity, stage, *operations):
    """Stage operations with their allocations."""
    return unity.stage(bound(unity, *operations), stage)


def broken(project):
    """References of the project that lead nowhere."""
    index = index_project(open_project(project))
    return [use for use in index.uses if index.classify(use.guid) not in {"project", "built_in"}]


def test_a_texture_moves_with_its_meta_and_every_reference_resolves(unity, stage, project):
    """To a new folder with a meta of its own; undone byte for byte."""
    before = tree_manifest(project)
    to = "Assets/Art/Badges/All.png"
    plan = bound(unity, move(SHEET, to))
    result = unity.stage(plan, stage)
    assert [change.path for change in result.changes] == [
        "Assets/Art/Badges.meta", to, f"{to}.meta", SHEET, f"{SHEET}.meta",
    ]  # fmt: skip
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    assert broken(project) == []
    unity.undo("t1")
    assert tree_manifest(project) == before
    assert not (project / "Assets/Art/Badges").exists()


def test_a_folder_moves_whole_its_empty_ones_too(unity, stage, project):
    """Nothing of it is left, and undo makes it again."""
    (project / OFFERS / "Empty").mkdir()
    meta = f"fileFormatVersion: 2\nguid: {'0c1d2e3f4a5b6978' * 2}\nfolderAsset: yes\nDefaultImporter:\n"
    (project / OFFERS / "Empty.meta").write_text(meta, encoding="utf-8")
    before = tree_manifest(project)
    plan = bound(
        unity, move(OFFERS, "Assets/Shop"), set_value("price", "1.99", asset="Assets/Shop/daily_deal.asset")
    )
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    assert not (project / OFFERS).exists()
    assert (project / "Assets/Shop/Empty").is_dir()
    assert broken(project) == []
    unity.undo("t1")
    assert tree_manifest(project) == before
    assert (project / OFFERS / "Empty").is_dir()
    assert not (project / "Assets/Shop").exists()


def test_a_renamed_native_asset_renames_its_object_and_a_scene_its_build_entry(unity, stage, project):
    """What knows itself by its name or path follows."""
    scene = "Assets/Scenes/Shop.unity"
    put(project, scene, YAML, "2a6e8c0d4b1f4957a3c5e7f90b2d4f68", importer="DefaultImporter")
    put(project, "Assets/UI/Card.mat", material(), "7e5c3a1f9b8d4602a0c2e4f6180b3d57", main="2100000")
    (project / "ProjectSettings/EditorBuildSettings.asset").write_text(
        f"{YAML}--- !u!1045 &1\nEditorBuildSettings:\n  m_Scenes:\n  - enabled: 1\n    path: {scene}\n"
        "    guid: 2a6e8c0d4b1f4957a3c5e7f90b2d4f68\n",
        encoding="utf-8",
    )
    meta = (project / "Assets/Art.meta").read_bytes().replace(b"33d3", b"44e4")
    (project / "Assets/Scenes.meta").write_bytes(meta)
    moves = [
        operation("unity.move_asset@1", asset=asset, to=to)
        for asset, to in (
            ("Assets/UI/Card.mat", "Assets/UI/Offer.mat"),
            ("Assets/Scenes", "Assets/Levels"),
            (STARTER, f"{OFFERS}/first.asset"),
        )
    ]
    diff = staged(unity, stage, *moves).diff
    assert b"  m_Name: Offer\n" in (stage / "changes/Assets/UI/Offer.mat").read_bytes()
    assert "+    path: Assets/Levels/Shop.unity\n" in diff
    assert b"  m_Name: first\n" in (stage / "changes" / OFFERS / "first.asset").read_bytes()


def test_the_diff_of_a_move_is_against_what_the_file_was(unity, stage):
    """Renamed lines, not whole files; what is moved twice is named from where it came."""
    first = operation("unity.move_asset@1", asset=STARTER, to="Assets/Data/first.asset")
    second = operation("unity.move_asset@1", asset="Assets/Data/first.asset", to="Assets/Data/second.asset")
    lines = staged(unity, stage, first, second).diff.splitlines()
    assert lines[:4] == [
        f"rename from {STARTER}",
        "rename to Assets/Data/second.asset",
        "--- a/Assets/Data/second.asset",
        "+++ b/Assets/Data/second.asset",
    ]
    assert [line for line in lines if line[:2] in {"+ ", "- "}] == [
        "-  m_Name: starter_pack",
        "+  m_Name: second",
    ]
    assert lines[-2:] == [f"rename from {STARTER}.meta", "rename to Assets/Data/second.asset.meta"]


def test_a_moved_asset_is_what_later_operations_name(unity, stage):
    """The output is the new path."""
    edit = set_value("price", "1.99", asset={"$ref": "move.asset"})
    staged(unity, stage, move(STARTER, f"{OFFERS}/first.asset"), edit)
    assert b"  price: 1.99\n" in (stage / "changes" / OFFERS / "first.asset").read_bytes()


def test_what_goes_by_its_path_is_warned_about(unity, stage, project):
    """Resources, an atlas' folder, another assembly."""
    guid = sample.GUIDS["Assets/Art/Offers"]
    packables = f"\n    - {{fileID: 102900000, guid: {guid}, type: 3}}"
    put(project, "Assets/Art/Icons.spriteatlas", atlas_v1(packables), "5a0fd1e3b29c4d7e8f60718293a4b5c6")
    script = operation(
        "unity.move_asset@1", asset="Assets/Scripts/Offers/OfferCatalog.cs", to="Assets/OfferCatalog.cs"
    )
    said = "".join(staged(unity, stage, move(SHEET, "Assets/Resources/badges.png"), script).warnings)
    wanted = ["Resources", "Icons.spriteatlas", "Game.Offers.asmdef"]
    assert [part for part in wanted if part in said] == wanted


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (move(SHEET, PLACEHOLDER), "unity.asset_exists"),
        (move(SHEET, "Assets/Art/Offers/Badges.png"), "unity.case_clash"),
        (move(SHEET, "Assets/Art/Offers/badges.asset"), "unity.asset_wrong_kind"),
        (move("Assets/Art", "Assets/Art/Art"), "unity.destination_refused"),
        (move(SHEET, "ProjectSettings/badges.png"), "unity.destination_refused"),
        (move("ProjectSettings/ProjectVersion.txt", "Assets/x.txt"), "unity.destination_refused"),
        (move(f"{SHEET}.meta", "Assets/x.meta"), "unity.destination_refused"),
        (move("Assets/absent.png", "Assets/x.png"), "unity.asset_missing"),
        (
            move("Assets/Scripts/Offers/OfferCatalog.cs", "Assets/Scripts/Offers/Catalog.cs"),
            "unity.asset_wrong_kind",
        ),
        (delete(SHEET), "unity.asset_in_use"),
        (delete("Assets/Art"), "unity.asset_in_use"),
        (delete(STARTER), "unity.asset_in_use"),
        (delete("Assets/Scripts"), "unity.asset_wrong_kind"),
        (delete("Assets/absent.png"), "unity.asset_missing"),
        (delete("ProjectSettings/ProjectVersion.txt"), "unity.destination_refused"),
    ],
)
def test_each_wrong_request_has_its_code(unity, stage, project, wrong, code):
    """And the project stays as it is."""
    before = tree_manifest(project)
    with pytest.raises(FabricError) as caught:
        staged(unity, stage, wrong)
    assert caught.value.code == code
    assert tree_manifest(project) == before


def unlist(index):
    """Take an offer out of the catalog."""
    return operation(
        "unity.edit_list@1", asset=CATALOG, document="11400000", path="offers", action="remove", index=index
    )


def test_an_asset_is_deleted_once_nothing_refers_to_it(unity, stage, project):
    """In the plan that unwires it; undo brings it back."""
    before = tree_manifest(project)
    plan = bound(unity, unlist(2), delete(STARTER))
    result = unity.stage(plan, stage)
    assert [(c.path, c.after is None) for c in result.changes] == [
        (CATALOG, False), (STARTER, True), (f"{STARTER}.meta", True),
    ]  # fmt: skip
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    unity.undo("t1")
    assert tree_manifest(project) == before


def test_a_folder_whose_assets_only_refer_to_each_other_goes_whole(unity, stage, project):
    """Catalog and offers; the pictures stay."""
    plan = bound(unity, delete("Assets/Data"))
    result = unity.stage(plan, stage)
    unity.commit(stage, result, "t1")
    assert [item for item in unity.observe(plan, result) if not item.holds] == []
    assert not (project / "Assets/Data").exists()


@pytest.mark.parametrize(
    "text", ["m_GUID: {}\n", '{{"texture": "{}"}}', "path: x\n    guid: {}\n", "GUID:{}"]
)
def test_a_mention_in_any_form_is_a_use(unity, stage, project, text):
    """An Addressables entry, a graph's JSON, a build setting."""
    (project / "Assets/other.shadergraph").write_text(text.format(sample.GUIDS[STARTER]), encoding="utf-8")
    with pytest.raises(FabricError, match=r"other\.shadergraph.*unity\.asset_in_use"):
        staged(unity, stage, unlist(2), delete(STARTER))


def test_what_a_script_loads_by_name_is_in_use(unity, stage, project):
    """Resources.Load."""
    gold = "Assets/Resources/Deals/gold.mat"
    put(project, gold, material(), "7e5c3a1f9b8d4602a0c2e4f6180b3d57", main="2100000")
    assert "Resources" in staged(unity, stage, delete(gold)).warnings[0]
    script = project / "Assets/Scripts/Offers/OfferCatalog.cs"
    script.write_text(
        script.read_text(encoding="utf-8") + '// Resources.Load("Deals/gold")\n', encoding="utf-8"
    )
    with pytest.raises(FabricError, match=r"OfferCatalog\.cs.*unity\.asset_in_use"):
        staged(unity, stage, delete(gold))


def test_an_interrupted_move_recovers_whole(unity, stage, project):
    """A crash at each step of a transaction that creates, moves and deletes: old or new, byte for byte."""
    before = tree_manifest(project)
    plan = bound(
        unity,
        import_icon(),
        WIRE,
        unlist(0),
        delete(f"{OFFERS}/daily_deal.asset"),
        move("Assets/Art/Offers", "Assets/Shop"),
    )
    result = unity.stage(plan, stage)
    steps = []
    HeadlessUnity(project, hook=steps.append).commit(stage, result, "whole")
    after = tree_manifest(project)
    unity.undo("whole")
    assert tree_manifest(project) == before
    late = range(len(steps) - 4, len(steps))
    for number, step in enumerate(steps):
        if number % 5 and number not in late and "emptied" not in step:
            continue
        count = iter(range(len(steps)))

        def crash(_step, count=count, number=number):
            if next(count, number) >= number:
                raise KeyboardInterrupt

        killed = HeadlessUnity(project, hook=crash)
        with pytest.raises((KeyboardInterrupt, FabricError)):
            killed.commit(stage, result, f"t{number}")
        standing = unity.recover(f"t{number}")
        assert tree_manifest(project) == (after if standing == "after" else before), step
        if standing == "after":
            unity.undo(f"t{number}")
        assert tree_manifest(project) == before, step
        unity.forget(f"t{number}")
    assert not (project / "Assets/Shop").exists()


def test_a_file_put_into_a_folder_meanwhile_is_never_lost(unity, stage, project):
    """The folder stays with it; a changed file refuses the move."""
    plan = bound(unity, move("Assets/Art/Offers", "Assets/Shop"))
    result = unity.stage(plan, stage)
    (project / "Assets/Art/Offers/late.txt").write_text("mine", encoding="utf-8")
    unity.commit(stage, result, "t1")
    assert (project / "Assets/Art/Offers/late.txt").read_text(encoding="utf-8") == "mine"
    unity.undo("t1")
    sheet = project / SHEET
    sheet.write_bytes(sheet.read_bytes() + b"\n")
    with pytest.raises(Conflict, match=r"changed_underneath"):
        unity.commit(stage, result, "t2")


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from unity_world import *
from test_move_delete import OFFERS, delete, move, unlist
from resources.unity.provider import HeadlessUnity
project, stage, deadly = Path(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5])
count = 0
def hook(step):
    global count
    if count == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    count += 1
unity = HeadlessUnity(project, hook=hook)
moved = move("Assets/Art/Offers", "Assets/Shop")
plan = bound(unity, import_icon(), WIRE, unlist(0), delete(f"{OFFERS}/daily_deal.asset"), moved)
unity.commit(stage, unity.stage(plan, stage), "t1")
print(count)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
@pytest.mark.slow
def test_a_killed_move_recovers_to_the_old_or_the_new_project(unity, stage, project):
    """Kill -9 at steps from the first to the last; recovery is complete, and undo of a whole one too."""
    before = tree_manifest(project)
    here = Path(__file__).parent
    steps, standings = [], set()
    moved = move("Assets/Art/Offers", "Assets/Shop")
    plan = bound(unity, import_icon(), WIRE, unlist(0), delete(f"{OFFERS}/daily_deal.asset"), moved)
    whole = HeadlessUnity(project, hook=steps.append)
    whole.commit(stage, unity.stage(plan, stage), "whole")
    unity.undo("whole")
    unity.forget("whole")
    last = len(steps) - 1
    writes, replaces = (
        [n for n, step in enumerate(steps) if step.startswith(kind)] for kind in ("write", "repl")
    )
    for deadly in (0, writes[1], replaces[2], replaces[-1], steps.index("emptied"), last - 1, last):
        words = [str(here.parents[2]), str(here), str(project), str(stage), str(deadly)]
        done = subprocess.run([sys.executable, "-c", KILLED, *words], check=False, capture_output=True)
        assert done.returncode in {0, -signal.SIGKILL}, done.stderr
        standing = unity.recover("t1")
        standings.add(standing)
        if standing == "before":
            assert tree_manifest(project) == before
            assert not (project / "Assets/Shop").exists()
            continue
        assert not (project / "Assets/Art/Offers").exists()
        unity.undo("t1")
        assert tree_manifest(project) == before
        unity.forget("t1")
    assert standings == {"before", "after"}
    assert not list(project.rglob("*.tmp"))
