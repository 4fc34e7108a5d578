"""Faults of a whole project, each caught by exactly the declared ones of all project validators.

The ``rich`` world is dressed with atlases, Addressables groups and a material (``dressed_world.py``).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
from dressed_world import BADGES, guid_of, member
from faults import guid, replace, whole_project_fault
from validator_world import SIDES, World

from fabric_dagster.digests import digest_file
from resources.photoshop.png import encode_png

# -- the whole project


def sheet(world: World) -> Path:
    """The badges' ``.meta``."""
    return world.project / "Assets/Art/Offers/badges.png.meta"


def remember(world: World, path: Path) -> None:
    """Keep a file's old bytes among the evidence, as the supervisor does of what a run changes."""
    kept = world.folder / "before" / path.relative_to(world.project)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(path.read_bytes())


def harmed(world: World, path: Path, old: bytes, new: bytes) -> None:
    """Change a file that the run had no business with."""
    remember(world, path)
    replace(path, old, new)


def undecided(world: World) -> None:
    """The commission lists no single files that may differ: the diff is not among its checks."""
    world.checks = tuple(name for name in SIDES["unity_all"] if name != "project_diff@1")


@whole_project_fault("guids_kept", "project_diff")
def guid_of_another_asset_changed(world: World) -> None:
    """A script's GUID, and every reference to it with it."""
    old, new = guid_of("Assets/Scripts/Offers/OfferCatalog.cs"), b"5d0c6b7a8e9f41b2a3c4d5e6f7081929"
    for name in ("Assets/Scripts/Offers/OfferCatalog.cs.meta", "Assets/Data/Offers/OfferCatalog.asset"):
        harmed(world, world.project / name, old, new)


@whole_project_fault("guids_kept", "goal_met", "project_diff", "references_resolve")
def guid_copied(world: World) -> None:
    """The icon's ``.meta`` copied along with a copy of the icon."""
    for path in (world.icon, world.meta):
        path.with_name(path.name.replace("starter_pack", "copy")).write_bytes(path.read_bytes())


@whole_project_fault("guids_kept", "project_diff")
def meta_without_asset(world: World) -> None:
    """A picture that was never delivered, its ``.meta`` was."""
    meta = world.meta.read_bytes().replace(guid(world.meta), b"5d0c6b7a8e9f41b2a3c4d5e6f7081929")
    world.meta.with_name("lost.png.meta").write_bytes(meta)


@whole_project_fault("guids_kept")
def guid_typed_by_hand(world: World) -> None:
    """A new GUID that counts up, wired as it should be."""
    old = guid(world.meta)
    for path in (world.meta, world.asset):
        replace(path, old, b"a0b1c2d3" + b"0123456789abcdef" + b"f7081929")


@whole_project_fault("dependants_kept", "project_diff", "slices_kept")
def slice_renumbered(world: World) -> None:
    """A slice has another id in every table of its sheet."""
    old = re.search(rb"\n  - first:\n      213: (-?\d+)", sheet(world).read_bytes())[1]
    remember(world, sheet(world))
    sheet(world).write_bytes(sheet(world).read_bytes().replace(old, b"1234567"))


@whole_project_fault("project_diff", "slices_kept")
def name_table_left_behind(world: World) -> None:
    """A slice was renamed in the sheet alone."""
    harmed(world, sheet(world), b"      name: badge_new\n", b"      name: badge_fresh\n")


@whole_project_fault("slices_kept")
def sprite_id_changed(world: World) -> None:
    """The random id of a slice, not its fileID, in a run that may edit the sheet."""
    undecided(world)
    old = re.search(rb"spriteID: ([0-9a-f]{32})\n      internalID", sheet(world).read_bytes())[1]
    harmed(world, sheet(world), old, b"5d0c6b7a8e9f41b2a3c4d5e6f7081929")


def atlas(world: World, name: str = "Icons") -> Path:
    """An atlas of the rich world."""
    return world.project / f"Assets/Art/{name}.spriteatlas"


def edited(world: World, path: Path, old: bytes, new: bytes) -> None:
    """Change a file as if it had been so before the run: the project came with the fault."""
    replace(path, old, new)
    name = path.relative_to(world.project).as_posix()
    manifest = json.loads((world.folder / "manifest.json").read_bytes())
    manifest[name] = digest_file(path)
    (world.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


@whole_project_fault("atlases_sound")
def packed_by_two_atlases(world: World) -> None:
    """The sheet in one atlas, a slice of it in another."""
    edited(world, atlas(world, "Shop"), b"    packables: []\n", b"    packables:\n" + member(BADGES))


@whole_project_fault("atlases_sound")
def packed_with_its_folder(world: World) -> None:
    """The folder and a texture in it."""
    folder = member("Assets/Art/Offers", b"102900000")
    edited(world, atlas(world, "Shop"), b"    packables: []\n", b"    packables:\n" + folder)


@whole_project_fault("atlases_sound")
def packable_of_nowhere(world: World) -> None:
    """A member whose texture was deleted long ago."""
    lost = member(BADGES).replace(guid_of(BADGES), b"5d0c6b7a8e9f41b2a3c4d5e6f7081929")
    edited(world, atlas(world, "Shop"), b"    packables: []\n", b"    packables:\n" + lost)


@whole_project_fault("atlases_sound", "project_diff")
def derived_part_edited(world: World) -> None:
    """The packed sprites, which only the editor knows."""
    harmed(
        world, atlas(world, "Shop"), b"m_PackedSpriteNamesToIndex: []", b"m_PackedSpriteNamesToIndex:\n  - a"
    )


def group_of(world: World, name: str) -> Path:
    """A group of the rich world."""
    return world.project / f"Assets/AddressableAssetsData/AssetGroups/{name}.asset"


def entries_of(world: World) -> bytes:
    """The lines of the Offers group's entries."""
    data = group_of(world, "Offers").read_bytes()
    return data[data.index(b"  m_SerializeEntries:\n") : data.index(b"  m_ReadOnly: 0\n  m_Settings")]


@whole_project_fault("addressables_sound")
def addressable_twice(world: World) -> None:
    """The same entries in two groups."""
    edited(world, group_of(world, "Shop"), b"  m_SerializeEntries: []\n", entries_of(world))


@whole_project_fault("addressables_sound", "project_diff")
def entries_out_of_order(world: World) -> None:
    """Appended instead of sorted."""
    lines = entries_of(world)
    rows = lines.split(b"  - m_GUID")[1:]
    shuffled = b"  m_SerializeEntries:\n" + b"".join(b"  - m_GUID" + row for row in reversed(rows))
    harmed(world, group_of(world, "Offers"), lines, shuffled)


@whole_project_fault("addressables_sound")
def label_of_nowhere(world: World) -> None:
    """A label that the settings do not table."""
    edited(world, group_of(world, "Offers"), b"    - default\n", b"    - absent\n")


@whole_project_fault(
    "addressables_sound", "dependants_kept", "project_diff", "references_resolve", "atlases_sound"
)
def asset_with_dependants_deleted(world: World) -> None:
    """A sheet with an Addressables entry, an atlas and offers that show it."""
    for path in (sheet(world), sheet(world).with_suffix("")):
        remember(world, path)
        path.unlink()


@whole_project_fault("dependants_kept", "project_diff", "addressables_sound")
def unlisted_asset_deleted(world: World) -> None:
    """An offer that only the catalog and a group know."""
    offer = world.project / "Assets/Data/Offers/daily_deal.asset"
    for path in (offer, offer.with_name("daily_deal.asset.meta")):
        remember(world, path)
        path.unlink()


@whole_project_fault("dependants_kept")
def referred_material_deleted(world: World) -> None:
    """A material that an untouched asset refers to, in a run that may delete."""
    undecided(world)
    path = world.project / "Assets/Data/Card.mat"
    for one in (path, path.with_name("Card.mat.meta")):
        remember(world, one)
        one.unlink()


@whole_project_fault("texture_rules", "project_diff")
def odd_picture_compressed(world: World) -> None:
    """A second picture of 6 x 6 pixels, block-compressed."""
    picture = world.project / "Assets/Art/odd.png"
    picture.write_bytes(encode_png(np.full((6, 6, 4), 200, np.uint8)))
    data = world.meta.read_bytes().replace(guid(world.meta), b"5d0c6b7a8e9f41b2a3c4d5e6f7081929")
    picture.with_name("odd.png.meta").write_bytes(
        data.replace(b"textureCompression: 0", b"textureCompression: 1")
    )


@whole_project_fault("import_profile", "texture_rules")
def sprite_stretched(world: World) -> None:
    """Scaled to the nearest power of two."""
    replace(world.meta, b"nPOTScale: 0", b"nPOTScale: 1")


@whole_project_fault("texture_rules")
def another_sprite_stretched(world: World) -> None:
    """One that was not decided about, in a run that may edit any texture."""
    undecided(world)
    meta = world.project / "Assets/Art/Offers/placeholder.png.meta"
    harmed(world, meta, b"nPOTScale: 0", b"nPOTScale: 1")


@whole_project_fault("import_settles", "project_diff")
def meta_of_a_later_editor(world: World) -> None:
    """A picture that came with the ``.meta`` of an editor to come."""
    picture = world.project / "Assets/Art/later.png"
    picture.write_bytes(world.icon.read_bytes())
    data = world.meta.read_bytes().replace(guid(world.meta), b"5d0c6b7a8e9f41b2a3c4d5e6f7081929")
    picture.with_name("later.png.meta").write_bytes(data.replace(b"Version: 13", b"Version: 14"))


@whole_project_fault("import_settles", "project_diff")
def stub_beside(world: World) -> None:
    """A text that came with a GUID alone."""
    (world.project / "Assets/note.txt").write_bytes(b"note")
    stub = b"fileFormatVersion: 2\nguid: 5d0c6b7a8e9f41b2a3c4d5e6f7081929\n"
    (world.project / "Assets/note.txt.meta").write_bytes(stub)


@whole_project_fault("import_settles")
def line_ends_mixed(world: World) -> None:
    """One line of the icon's ``.meta`` ends otherwise."""
    replace(world.meta, b"  userData: \n", b"  userData: \r\n")


@whole_project_fault("import_settles")
def postprocessor_at_work(world: World) -> None:
    """A script that the project came with changes every texture on import, and that was to be refused."""
    script = world.project / "Assets/Scripts/Offers/OfferCatalog.cs"
    code = b"class P : AssetPostprocessor { void OnPreprocessTexture() { } }\n"
    edited(world, script, b"using UnityEngine;\n", b"using UnityEngine;\n" + code)
    world.params = {"import_settles@1": {"refuse_postprocessors": True}}
