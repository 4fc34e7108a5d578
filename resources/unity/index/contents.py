"""Packages and assemblies of a project: what its manifests say it consists of.

Read leniently: a damaged manifest is reported by its name, and hides nothing else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resources.unity.index.project import ProjectIndex

MAX_BYTES = 16 << 20


@dataclass
class Contents:
    """``packages``: name → version, path or address; ``assemblies``: path of the asmdef → its name."""

    packages: dict[str, str] = field(default_factory=dict)
    #: packages whose folder lies in ``Packages``
    embedded: list[str] = field(default_factory=list)
    assemblies: dict[str, str] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)


def contents(index: ProjectIndex) -> Contents:
    """What the manifests of an indexed project say."""
    found = Contents()
    manifest = _json(index, "Packages/manifest.json", found)
    dependencies = manifest.get("dependencies") if manifest is not None else None
    if isinstance(dependencies, dict):
        found.packages = {str(name): str(version) for name, version in sorted(dependencies.items())}
    packages = index.project.root / "Packages"
    if packages.is_dir():
        found.embedded = sorted(
            item.name
            for item in packages.iterdir()
            if not item.is_symlink() and (item / "package.json").is_file()
        )
    for path in index.guids:
        if path.endswith(".asmdef"):
            document = _json(index, path, found)
            found.assemblies[path] = str((document or {}).get("name", ""))
    return found


def _json(index: ProjectIndex, path: str, found: Contents) -> dict[str, object] | None:
    file = index.project.root / path
    if file.is_symlink() or not file.is_file():
        return None
    try:
        with file.open("rb") as reader:
            document = json.loads(reader.read(MAX_BYTES + 1).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        found.unreadable.append(path)
        return None
    return document
