"""The manifest of a project: every file that is the project's, by its bytes. Imports no writer."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from resources.unity.project import ROOTS, walk


def tree_manifest(root: Path) -> dict[str, str]:
    """POSIX path → ``sha256:…`` of every file under Assets, Packages and ProjectSettings, sorted by path.

    A link is listed with the digest of its target's name, marked ``link:``: it is not followed.
    """
    found: dict[str, str] = {}
    for top in ROOTS:
        for item in walk(root, top):
            if item.link:
                target = os.readlink(root / item.path)  # noqa: PTH115 - bytes of the name, not a path
                found[item.path] = "link:" + hashlib.sha256(os.fsencode(target)).hexdigest()
            elif not item.folder:
                found[item.path] = "sha256:" + _digest(root / item.path)
    return found


def _digest(path: Path) -> str:
    with path.open("rb", buffering=0) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
