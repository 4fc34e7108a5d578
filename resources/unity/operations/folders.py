"""Folders on the way to a new asset: each new one has a ``.meta`` of its own."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fabric_dagster.errors import OperationFailed
from resources.unity.importers.shapes import folder_meta

if TYPE_CHECKING:
    from resources.unity.operations.workspace import Workspace


def new_folders(workspace: Workspace, destination: str) -> list[str]:
    """The folders on the way that do not exist yet and have no ``.meta``, parents first."""
    parts = PurePosixPath(destination).parts
    first = 2 if parts[0] == "Assets" else 3
    folders = ["/".join(parts[:end]) for end in range(first, len(parts))]
    return [
        folder
        for folder in folders
        if not workspace.is_folder(folder) and workspace.read(f"{folder}.meta") is None
    ]


def metas_for(workspace: Workspace, destination: str) -> None:
    """Stage a ``.meta`` for each new folder: GUIDs as the plan allocated, line ends as the neighbours."""
    for folder in new_folders(workspace, destination):
        newline = _newline(workspace, folder)
        workspace.write(f"{folder}.meta", folder_meta(workspace.new_guid(folder), newline))


def _newline(workspace: Workspace, folder: str) -> str:
    """The line ends of the ``.meta`` of the nearest folder above, or of a neighbour of it."""
    for parent in PurePosixPath(folder).parents:
        above = parent.as_posix()
        data = workspace.read(f"{above}.meta") if "/" in above else None
        if data is None and above == "Assets":
            near = [path for path in workspace.index.guids if path.count("/") == 1]
            data = workspace.read(f"{min(near)}.meta") if near else None
        if data is not None:
            return "\r\n" if b"\r\n" in data else "\n"
    return "\n"


def refuse_odd_destination(workspace: Workspace, destination: str) -> None:
    """Refuse a path where Unity would not import an asset (``unity.destination_refused``)."""
    parts = PurePosixPath(destination).parts
    why = None
    if parts[0] not in {"Assets", "Packages"} or len(parts) < 2:  # noqa: PLR2004 - Assets/NAME
        why = "only settings lie there"
    elif parts[0] == "Packages" and not workspace.exists(f"Packages/{parts[1]}/package.json"):
        why = "it lies in no embedded package"
    elif any(suffix in part.lower() for part in parts[:-1] for suffix in (".bundle", ".framework")):
        why = "it lies within a native plugin"
    else:
        for end in range(1, len(parts)):
            folder = workspace.project.root.joinpath(*parts[:end])
            if folder.exists() and not folder.is_dir():
                why = f"{'/'.join(parts[:end])} is a file"
    if why is not None:
        raise OperationFailed(
            "unity.destination_refused", why, where=destination, mend="give a path under Assets/"
        )
