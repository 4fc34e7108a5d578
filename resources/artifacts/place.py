"""Opens the artifact store of one workspace and branch, wherever it lies."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING, TypeAlias

from fabric_dagster.errors import OperationFailed, UsageFault
from resources.artifacts.remote import RemoteArtifactStore
from resources.artifacts.store import FolderArtifactStore
from resources.files.paths import is_link

if TYPE_CHECKING:
    from pathlib import Path

AnyArtifactStore: TypeAlias = FolderArtifactStore | RemoteArtifactStore
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


def open_store(folder: Path, url: str | None, workspace: str, branch: str) -> AnyArtifactStore:
    """The store in ``folder``, or the one at ``url`` with its cache in ``folder``."""
    for name in (workspace, branch):
        if not NAME.fullmatch(name):
            raise UsageFault(
                "artifact.bad_name",
                "this is no name of a workspace or branch",
                value=name,
                mend="use small letters, digits, '-' and '_'",
            )
    for part in (folder, folder / workspace):
        if part.exists() and is_link(part.lstat()):
            raise OperationFailed(
                "artifact.symlink", "a link stands in the store", where=str(part), mend="use a real folder"
            )
    local = FolderArtifactStore(folder / workspace / branch)
    return local if url is None else RemoteArtifactStore(f"{url.rstrip('/')}/{workspace}/{branch}", local)


def adopt(folder: Path, store: AnyArtifactStore) -> int:
    """Move what lies in ``folder`` from before branches had stores of their own; how many artifacts.

    Interrupted, it goes on where it stands.
    """
    count = 0
    for blob in sorted((folder / "sha256").glob("*/*")):
        store.put_file(blob)
        blob.chmod(stat.S_IWRITE | stat.S_IREAD)
        blob.unlink()
        count += 1
    for left in (folder / "incoming").glob("*.tmp"):
        left.unlink()
    for empty in [*(folder / "sha256").glob("*"), folder / "sha256", folder / "incoming"]:
        if empty.is_dir():
            empty.rmdir()
    return count
