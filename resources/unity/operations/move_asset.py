"""``unity.move_asset@1``: files and metas to another path, GUIDs and references untouched.

Rules kept here: what knows an asset by its path is looked after (a native asset's own name, scenes in the
build settings) or warned about (Resources, StreamingAssets, an atlas that packs the old folder, another
assembly's folder).
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.folders import metas_for, new_folders, refuse_odd_destination
from resources.unity.operations.set_atlas_members import FOLDER, FORMATS, packed
from resources.unity.operations.workspace import mapped
from resources.unity.project import walk
from resources.unity.text import TextFault, UnityFile, apply, set_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_move_asset import MoveAsset
    from resources.unity.operations.workspace import Workspace

BUILD_SETTINGS = "ProjectSettings/EditorBuildSettings.asset"
#: folders whose content is found by its path
BY_PATH = frozenset({"Resources", "StreamingAssets", "Editor Default Resources", "Gizmos"})
CLASS_NAMED = frozenset({".cs"})


def move_asset(workspace: Workspace, args: MoveAsset) -> dict[str, Any]:
    """Stage the moves. Returns ``asset``: the new path."""
    _refuse(workspace, args)
    _warn(workspace, args)
    renamed = _paths(workspace, args)
    for old, new in renamed.items():
        workspace.move(old, new)
    metas_for(workspace, args.to)
    _rename_object(workspace, args.to)
    _follow_scenes(workspace, renamed)
    return {"asset": args.to}


def movable(workspace: Workspace, path: str) -> None:
    """Refuse what is no asset of the project's own: a root, a setting, a package itself, a link."""
    workspace.check_path(path)
    parts = PurePosixPath(path).parts
    own = parts[0] == "Assets" or (parts[0] == "Packages" and len(parts) > 2)  # noqa: PLR2004 - Packages/NAME/…
    if not own or path.endswith(".meta"):
        raise OperationFailed(
            "unity.destination_refused",
            "it is no asset of the project's own",
            where=path,
            mend="name an asset",
        )
    if not workspace.exists(path):
        raise OperationFailed("unity.asset_missing", "there is no such asset", where=path)
    links = [item.path for item in walk(workspace.project.root, path) if item.link]
    if links:
        raise OperationFailed(
            "unity.destination_refused", "a link lies in the folder", where=links[0], mend="remove the link"
        )


def _refuse(workspace: Workspace, args: MoveAsset) -> None:
    movable(workspace, args.asset)
    workspace.check_path(args.to)
    refuse_odd_destination(workspace, args.to)
    old, new = PurePosixPath(args.asset), PurePosixPath(args.to)
    if args.to == args.asset or args.to.startswith(f"{args.asset}/") or args.to.endswith(".meta"):
        raise OperationFailed(
            "unity.destination_refused",
            "an asset is not moved into itself",
            where=args.to,
            mend="name a new path",
        )
    for there in (args.to, f"{args.to}.meta"):
        if workspace.exists(there):
            raise OperationFailed(
                "unity.asset_exists",
                "something stands there already",
                where=there,
                mend="choose another path",
            )
    if workspace.guid_of(args.asset) is None:
        raise OperationFailed(
            "unity.meta_damaged",
            "the asset has no .meta with a GUID: moved, it would become another one",
            where=f"{args.asset}.meta",
            mend="let the editor import it once, then run this again",
        )
    if not workspace.is_folder(args.asset):
        if old.suffix.lower() != new.suffix.lower():
            raise OperationFailed(
                "unity.asset_wrong_kind",
                "a file keeps its suffix",
                where=args.to,
                mend=f"end it with {old.suffix}",
            )
        if old.suffix.lower() in CLASS_NAMED and old.stem != new.stem:
            raise OperationFailed(
                "unity.asset_wrong_kind",
                "a script is named as its class",
                where=args.to,
                mend="rename both by hand",
            )


def _paths(workspace: Workspace, args: MoveAsset) -> dict[str, str]:
    """Old path → new path of every file, the ``.meta`` included."""
    files = workspace.below(args.asset) if workspace.is_folder(args.asset) else [args.asset]
    return {path: args.to + path.removeprefix(args.asset) for path in (*files, f"{args.asset}.meta")}


def _rename_object(workspace: Workspace, path: str) -> None:
    """A native asset's main object has the file's name; the editor complains where it has not."""
    meta = workspace.read(f"{path}.meta") or b""
    data = workspace.read(path) if not workspace.is_folder(path) else None
    if b"\nNativeFormatImporter:" not in meta or data is None or b"%YAML" not in data[:8]:
        return
    try:
        main = str(UnityFile(meta).read("0", "NativeFormatImporter.mainObjectFileID"))
        file = UnityFile(data)
        workspace.write(path, apply(data, set_value(file, main, "m_Name", PurePosixPath(path).stem)))
    except TextFault:
        # An object without a name, or a name that reads as a number: the editor names it when it imports.
        workspace.warnings.append(f"{path}: the name within the asset is left to the editor")


def _follow_scenes(workspace: Workspace, renamed: dict[str, str]) -> None:
    """The build settings list scenes by path and GUID."""
    data = workspace.read(BUILD_SETTINGS)
    if data is None or not any(old.encode() in data for old in renamed if old.endswith(".unity")):
        return
    try:
        file = workspace.text(BUILD_SETTINGS)
        scenes = file.read("1", "m_Scenes")
        splices = [
            splice
            for index, scene in enumerate(scenes if isinstance(scenes, list) else [])
            if isinstance(scene, dict) and scene.get("path") in renamed
            for splice in set_value(
                file, "1", f"m_Scenes.Array.data[{index}].path", renamed[str(scene["path"])]
            )
        ]
    except TextFault as fault:
        raise mapped(fault, BUILD_SETTINGS) from fault
    workspace.write(BUILD_SETTINGS, apply(file.data, splices))


# -- what knows it by its path


def _warn(workspace: Workspace, args: MoveAsset) -> None:
    old, new = set(PurePosixPath(args.asset).parts), set(PurePosixPath(args.to).parts)
    for name in sorted((old | new) & BY_PATH):
        workspace.warnings.append(f"{args.asset}: what lies in {name} is found by its path; look at the code")
    for atlas in sorted(workspace.index.guids):
        if PurePosixPath(atlas).suffix.lower() not in FORMATS or not workspace.exists(atlas):
            continue
        try:
            keys = packed(workspace.text(atlas), atlas)
        except OperationFailed:
            continue  # a variant or a damaged atlas packs nothing of its own
        folders = [workspace.path_of(guid) for file_id, guid in keys if file_id == FOLDER]
        before = any(folder and args.asset.startswith(f"{folder}/") for folder in folders)
        if before != any(folder and args.to.startswith(f"{folder}/") for folder in folders):
            moved = "out of" if before else "into"
            workspace.warnings.append(f"{args.asset}: it moves {moved} a folder that {atlas} packs")
    if any(path.endswith(".cs") for path in _paths(workspace, args)):
        was, now = _assembly(workspace, args.asset), _assembly(workspace, args.to)
        if was != now:
            workspace.warnings.append(f"{args.asset}: its scripts move from {was} to {now}")


def _assembly(workspace: Workspace, path: str) -> str:
    """The definition whose folder ``path`` lies in."""
    definitions = [
        name for name in workspace.index.guids if name.endswith(".asmdef") and workspace.exists(name)
    ]
    for parent in PurePosixPath(path).parents:
        found = [name for name in definitions if PurePosixPath(name).parent == parent]
        if found:
            return found[0]
    return "the predefined assembly"


def _observed(workspace: Workspace, args: MoveAsset) -> Iterator[Observation]:
    for path, there in ((args.asset, False), (f"{args.asset}.meta", False), (args.to, True)):
        found = workspace.exists(path)
        words = {True: "there", False: "gone"}
        yield Observation(path, words[there], words[found], found == there)
    guid = workspace.guid_of(args.to)
    owners = workspace.index.assets.get(guid or "", [])
    alone = owners == [args.to]
    yield Observation(f"{args.to}.meta: guid", f"{args.to} alone", ", ".join(owners) or "nobody", alone)


def _needed(workspace: Workspace, args: MoveAsset) -> tuple[str, ...]:
    workspace.check_path(args.to)
    return tuple(f"guid:{folder}" for folder in new_folders(workspace, args.to))


OPERATION: UnityOperation[MoveAsset] = UnityOperation(
    capability="unity.move_asset@1",
    execute=move_asset,
    observe=_observed,
    subject=lambda _workspace, args: (args.to, "moved"),
    allocations=_needed,
    takes_away=lambda args: args.asset,
)
