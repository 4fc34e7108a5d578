"""The package that an editor is lent, by the exact digest of its tree.

Source: ``resources/unity/package``. The digest is over one line a file, sorted by path (``Digests.cs``
computes the same): digest, two spaces, POSIX path, newline. An editor is never given the checkout itself,
but a copy in Fabric's own state that is proven again each time.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from fabric_dagster.digests import digest_bytes, digest_file
from fabric_dagster.errors import OperationFailed
from resources.files.durable import copy_durably, flush_folder
from resources.files.paths import is_link

NAME: Final = "com.forge.fabric-toolsmith"
SOURCE: Final = Path(__file__).resolve().parents[1] / "package" / NAME
MOST_FILES: Final = 2000


def tree_files(root: Path) -> dict[str, Path]:
    """POSIX path → file of every file below ``root``; a link is refused (``unity.package_damaged``)."""
    found: dict[str, Path] = {}
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            if is_link((Path(folder) / name).lstat()):
                raise _damaged(Path(folder) / name, "a link stands in the package")
        for name in files:
            path = Path(folder) / name
            found[path.relative_to(root).as_posix()] = path
        if len(found) > MOST_FILES:
            raise _damaged(root, "the package has more files than one of ours")
    return dict(sorted(found.items()))


def tree_digest(root: Path) -> str:
    """``sha256:…`` of a package's tree."""
    lines = [f"{digest_file(path)}  {name}\n" for name, path in tree_files(root).items()]
    return digest_bytes("".join(lines).encode())


def laid_out(state: Path, expected: str | None = None) -> tuple[Path, str]:
    """A proven copy of the package under ``state``, and its digest, which must be ``expected`` where given.

    Raises ``OperationFailed`` (``unity.package_damaged``) where the checkout's package is another one, or
    somebody changed the copy.
    """
    digest = tree_digest(SOURCE)
    if expected not in {None, digest}:
        raise _damaged(SOURCE, f"the package is {digest}, not the {expected} that was meant")
    target = state / "packages" / digest[7:39] / NAME
    if not target.is_dir():
        making = target.parent.with_name(f".{target.parent.name}.{os.getpid()}")
        shutil.rmtree(making, ignore_errors=True)
        for name, path in tree_files(SOURCE).items():
            copy = making / NAME / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy_durably(path, copy)
        try:
            making.rename(target.parent)
        except OSError:
            shutil.rmtree(making, ignore_errors=True)
            if not target.is_dir():  # otherwise another process laid it out meanwhile
                raise
        flush_folder(target.parent.parent)
    if tree_digest(target) != digest:
        raise _damaged(target, "the copy of the package is not what was laid out")
    return target, digest


def _damaged(where: Path, what: str) -> OperationFailed:
    return OperationFailed(
        "unity.package_damaged", what, where=str(where), mend="restore the checkout, remove that copy"
    )
