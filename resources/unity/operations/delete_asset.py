"""``unity.delete_asset@1``: away with what nothing refers to.

Rules kept here: every text of the project is searched for the GUIDs that would go, in whatever form (a
reference, an Addressables entry, a build setting, an assembly's reference); one hit outside refuses all.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.move_asset import movable
from resources.unity.project import ROOTS, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_delete_asset import DeleteAsset
    from resources.unity.operations.workspace import Workspace

CODE = frozenset({".cs", ".dll", ".asmdef", ".asmref", ".rsp", ".so", ".a", ".bundle", ".jslib"})
#: bytes that hold no GUID of another asset
OPAQUE = frozenset({
    ".png", ".jpg", ".jpeg", ".psd", ".psb", ".tga", ".tif", ".tiff", ".exr", ".hdr", ".gif", ".bmp", ".wav",
    ".mp3", ".ogg", ".aif", ".aiff", ".ttf", ".otf", ".dll", ".so", ".a", ".fbx", ".blend", ".zip", ".gz",
    ".mp4", ".mov", ".webm", ".pdf",
})  # fmt: skip
HEX = re.compile(rb"(?<![0-9a-fA-F])[0-9a-fA-F]{32}(?![0-9a-fA-F])")
RESOURCES = "Resources"
SHOWN = 5


def delete_asset(workspace: Workspace, args: DeleteAsset) -> dict[str, Any]:
    """Stage the removals. Returns nothing."""
    path = args.asset
    movable(workspace, path)
    files = workspace.below(path) if workspace.is_folder(path) else [path]
    gone = [*files, f"{path}.meta"]
    code = [name for name in gone if PurePosixPath(name).suffix.lower() in CODE]
    if code:
        raise OperationFailed(
            "unity.asset_wrong_kind",
            "code is not deleted: what names its classes cannot be seen here",
            where=code[0],
            mend="delete it in the editor, and let it compile",
        )
    guids = {workspace.guid_of(name.removesuffix(".meta")) for name in gone if name.endswith(".meta")} - {
        None
    }
    users = _users(workspace, frozenset(str(guid) for guid in guids), set(gone))
    users |= _loaders(workspace, path, files)
    if users:
        shown = ", ".join(sorted(users)[:SHOWN]) + (", …" if len(users) > SHOWN else "")
        raise OperationFailed(
            "unity.asset_in_use",
            f"{len(users)} files refer to it",
            where=path,
            mend=f"change first: {shown}",
        )
    for name in gone:
        workspace.remove(name)
    return {}


def _users(workspace: Workspace, guids: frozenset[str], gone: set[str]) -> set[str]:
    """The files outside of ``gone``, as the plan leaves them, that hold one of the GUIDs."""
    listed = [
        item.path
        for top in ROOTS
        for item in walk(workspace.project.root, top)
        if not (item.folder or item.link)
    ]
    found = set()
    for path in sorted({*listed, *workspace.touched()} - gone):
        if PurePosixPath(path).suffix.lower() in OPAQUE:
            continue
        data = workspace.peek(path)
        if data is not None and not guids.isdisjoint(m[0].decode().lower() for m in HEX.finditer(data)):
            found.add(path)
    return found


def _loaders(workspace: Workspace, path: str, files: list[str]) -> set[str]:
    """Scripts that hold the name, in quotes, of something that is loaded from Resources."""
    names = {
        PurePosixPath(name).stem
        for name in files
        if RESOURCES in PurePosixPath(name).parts and not name.endswith(".meta")
    }
    if not names:
        return set()
    found = set()
    for script in sorted(workspace.index.guids):
        if script.endswith(".cs") and workspace.exists(script):
            text = (workspace.peek(script) or b"").decode("utf-8", "replace")
            if any(re.search(rf'"(?:[^"\n]*/)?{re.escape(name)}"', text) for name in names):
                found.add(script)
    if not found:
        workspace.warnings.append(f"{path}: it lies in Resources; no script was seen that loads it by name")
    return found


def _observed(workspace: Workspace, args: DeleteAsset) -> Iterator[Observation]:
    for path in (args.asset, f"{args.asset}.meta"):
        there = workspace.exists(path)
        yield Observation(path, "gone", "there" if there else "gone", not there)


OPERATION: UnityOperation[DeleteAsset] = UnityOperation(
    capability="unity.delete_asset@1",
    execute=delete_asset,
    observe=_observed,
    subject=lambda _workspace, args: (args.asset, "deleted"),
    takes_away=lambda args: args.asset,
)
