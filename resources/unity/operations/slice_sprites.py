"""``unity.slice_sprites@1`` and what renaming shares with it: a sheet's slices, their ids kept."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import Fault, OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.importers.slices import Existing, Wanted, existing, sliced
from resources.unity.importers.sprites import SINGLE_SPRITE, texture_objects
from resources.unity.index import read_guid
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.pictures import read_png
from resources.unity.text import TextFault, UnityFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_slice_sprites import SliceSprites
    from resources.unity.operations.workspace import Workspace

SPRITE_TYPE = "8"
SHOWN = 5


def wanted_slices(args: SliceSprites) -> list[Wanted]:
    """The slices that the arguments ask for; a grid's ``y`` counts from the top until the height is known."""
    if args.grid is None:
        return [
            Wanted(item.name, (item.x, item.y, item.width, item.height), item.anchor, item.border)
            for item in args.rectangles
        ]
    grid = args.grid
    prefix = grid.prefix or PurePosixPath(args.texture).stem
    return [
        Wanted(
            f"{prefix}_{row * grid.columns + column}",
            (
                grid.left + column * (grid.width + grid.gap_x),
                grid.top + row * (grid.height + grid.gap_y),
                grid.width,
                grid.height,
            ),
            grid.anchor,
        )
        for row in range(grid.rows)
        for column in range(grid.columns)
    ]


def sheet(workspace: Workspace, texture: str) -> tuple[UnityFile, list[Existing]]:
    """The ``.meta`` of a sprite texture and its slices; refuses anything else."""
    workspace.check_path(texture)
    if not workspace.exists(texture):
        raise OperationFailed("unity.asset_missing", "there is no such asset", where=texture)
    file = workspace.text(f"{texture}.meta")
    try:
        texture_objects(file)
        kind = file.read("0", "TextureImporter.textureType")
        if kind != SPRITE_TYPE:
            raise OperationFailed(
                "unity.asset_wrong_kind",
                "the texture is no sprite",
                where=f"{texture}.meta",
                mend="import it with a profile of type sprite first",
            )
        return file, existing(file)
    except TextFault as fault:
        raise OperationFailed(
            "unity.meta_damaged" if b"TextureImporter:" in file.data else "unity.asset_wrong_kind",
            f"the .meta is no full TextureImporter block: {fault.what}",
            where=f"{texture}.meta",
            mend="let the editor import the texture once, then run this again",
        ) from fault


def slice_sprites(workspace: Workspace, args: SliceSprites) -> dict[str, Any]:
    """Stage the ``.meta``. Returns ``texture``, and as ``sprite`` the first slice asked for."""
    file, have = sheet(workspace, args.texture)
    wanted = _within(workspace, args)
    names = {item.name for item in wanted}
    gone = {item.name for item in have} - names if args.others == "remove" else set()
    guid = read_guid(file.data) or ""
    lost = {item.file_id for item in have if item.name in gone}
    if file.read("0", "TextureImporter.spriteMode") != "2":
        lost.add(SINGLE_SPRITE)
    users = workspace.users_of(guid, frozenset(lost)) if lost else []
    if users:
        shown = ", ".join(users[:SHOWN]) + (", …" if len(users) > SHOWN else "")
        raise OperationFailed(
            "unity.asset_in_use",
            f"a sprite that would go is referred to by {len(users)} files",
            where=args.texture,
            mend=f"change first: {shown}",
        )
    try:
        data = sliced(
            file.data, wanted, frozenset(gone), lambda name: workspace.new_sprite_id(args.texture, name)
        )
    except TextFault as fault:
        code = "unity.guid_clash" if fault.code == "meta.clash" else "unity.meta_damaged"
        raise OperationFailed(
            code, fault.what, where=f"{args.texture}.meta", mend=fault.mend, value=fault.value
        ) from fault
    workspace.write(f"{args.texture}.meta", data)
    return sprite_outputs(args.texture, data, wanted[0].name)


def sprite_outputs(texture: str, meta: bytes, name: str) -> dict[str, Any]:
    """``texture``, and ``sprite``: the reference to the slice ``name``."""
    item = next(item for item in existing(UnityFile(meta)) if item.name == name)
    return {"texture": texture, "sprite": {"fileID": item.file_id, "guid": read_guid(meta), "type": 3}}


def name_faults(name: str, texture: str) -> list[Fault]:
    """Why ``name`` is none for a sprite."""
    bad = name != name.strip() or any(unicodedata.category(c) in {"Cc", "Cs"} for c in name)
    if not bad:
        return []
    what = "a sprite's name has no control character and no blank at its ends"
    return [Fault("unity.slices_refused", what, texture, value=name)]


def _within(workspace: Workspace, args: SliceSprites) -> list[Wanted]:
    """The slices with ``y`` from the bottom, proven to lie within the picture under names of their own."""
    wanted = wanted_slices(args)
    faults = [fault for item in wanted for fault in name_faults(item.name, args.texture)]
    twice = [name for name, count in Counter(item.name for item in wanted).items() if count > 1]
    faults += [
        Fault("unity.slices_refused", "two slices have one name", args.texture, "name each one", name)
        for name in twice
    ]
    size = None
    if args.texture.lower().endswith(".png"):
        size = _size(workspace, args.texture)
        for item in wanted:
            x, y, width, height = item.rect
            if x + width > size[0] or y + height > size[1]:
                what = f"the slice {item.name} leaves the picture of {size[0]} x {size[1]}"
                faults.append(Fault("unity.slices_refused", what, args.texture, value=str(item.rect)))
    elif args.grid is not None:
        what = "a grid counts from the top, and the height of this picture is unknown"
        faults.append(Fault("unity.slices_refused", what, args.texture, "give rectangles"))
    if faults:
        raise OperationFailed.of(faults)
    if args.grid is None or size is None:
        return wanted
    return [
        Wanted(one.name, (one.rect[0], size[1] - one.rect[1] - one.rect[3], *one.rect[2:]), one.anchor)
        for one in wanted
    ]


def _size(workspace: Workspace, texture: str) -> tuple[int, int]:
    try:
        picture = read_png(workspace.read(texture) or b"", texture)
    except OperationFailed as fault:
        raise OperationFailed(
            "unity.asset_wrong_kind", f"the picture is damaged: {fault.faults[0].what}", where=texture
        ) from fault
    return picture.width, picture.height


def _observed(workspace: Workspace, args: SliceSprites) -> Iterator[Observation]:
    file, have = sheet(workspace, args.texture)
    where = f"{args.texture}.meta: slices"
    names = [item.name for item in have]
    for item in _within(workspace, args):
        found = [one for one in have if one.name == item.name]
        rect = [
            file.read("0", f"TextureImporter.spriteSheet.sprites.Array.data[{one.index}].rect.{key}")
            for one in found
            for key in ("x", "y", "width", "height")
        ]
        wanted = [str(value) for value in item.rect]
        yield Observation(f"{where}: {item.name}", " ".join(wanted), " ".join(map(str, rect)), wanted == rect)
    ids = {item.file_id for item in have}
    unique = len(ids) == len(have) == len(set(names)) and "" not in ids
    yield Observation(where, "one name and one id each", f"{len(names)} slices, {len(ids)} ids", unique)


def _needed(workspace: Workspace, args: SliceSprites) -> tuple[str, ...]:
    workspace.check_path(args.texture)
    names = [item.name for item in wanted_slices(args)]
    return tuple(f"sprite:{args.texture}:{name}" for name in names)


OPERATION: UnityOperation[SliceSprites] = UnityOperation(
    capability="unity.slice_sprites@1",
    execute=slice_sprites,
    observe=_observed,
    subject=lambda _workspace, args: (f"{args.texture}.meta", "slices"),
    allocations=_needed,
)
