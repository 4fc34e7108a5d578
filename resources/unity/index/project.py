"""A whole project's index, put together from its folders.

A reference that leads out of the project is told apart: built in, of a known package, or unknown, since
without ``Library/PackageCache`` nobody can say whether it is broken.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from resources.unity.index.folder import Folder, list_folder, read_folder
from resources.unity.index.guids import BUILT_IN, read_guid, suspicious
from resources.unity.project import ROOTS, Project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from resources.unity.index.cache import IndexCache


class Use(NamedTuple):
    """A reference and the file that holds it."""

    path: str
    file_id: str
    guid: str
    kind: int


@dataclass
class ProjectIndex:
    """What a look found. Paths are POSIX, under the project; an asset's GUID stands in its ``.meta``."""

    project: Project
    #: asset path → GUID
    guids: dict[str, str] = field(default_factory=dict)
    #: GUID → asset paths, more than one where it is duplicated
    assets: dict[str, list[str]] = field(default_factory=dict)
    #: file → its references as its folder keeps them
    held: dict[str, str] = field(default_factory=dict)
    files: int = 0
    links: list[str] = field(default_factory=list)
    orphan_metas: list[str] = field(default_factory=list)
    missing_metas: list[str] = field(default_factory=list)
    stub_metas: list[str] = field(default_factory=list)
    broken_metas: list[str] = field(default_factory=list)
    case_twins: list[tuple[str, str]] = field(default_factory=list)
    #: GUIDs of packages in ``Library/PackageCache``; ``None`` where there is no cache to look in
    cache: frozenset[str] | None = None
    #: files that were read in this look (of ``held`` and metas), and those whose bytes differ from the last
    read: int = 0
    changed: list[str] = field(default_factory=list)

    @property
    def uses(self) -> Iterator[Use]:
        """Every reference, file by file."""
        for path in self.held:
            yield from self.uses_in(path)

    def uses_in(self, path: str) -> Iterator[Use]:
        """The references that the file at ``path`` holds, in order."""
        for line in self.held.get(path, "").splitlines():
            file_id, guid, kind = line.split(" ")
            yield Use(path, file_id, guid, int(kind))

    @property
    def duplicates(self) -> dict[str, list[str]]:
        """GUID → the assets that share it."""
        return {guid: paths for guid, paths in sorted(self.assets.items()) if len(paths) > 1}

    @property
    def suspicious_guids(self) -> list[str]:
        """Assets whose GUID was hand-made: patterns, or neighbours that differ only at the end."""
        return sorted(path for guid in suspicious(self.assets) for path in self.assets[guid])

    def resolve(self, guid: str) -> str | None:
        """The asset with ``guid``; the first one by path where it is duplicated."""
        paths = self.assets.get(guid)
        return min(paths) if paths else None

    def classify(self, guid: str, known: Mapping[str, str] | None = None) -> str:
        """``project``, ``built_in``, ``package`` (known or cached), ``broken`` or ``unknown``."""
        if guid in self.assets:
            return "project"
        if BUILT_IN.match(guid):
            return "built_in"
        if (known and guid in known) or (self.cache and guid in self.cache):
            return "package"
        return "unknown" if self.cache is None else "broken"

    def outside(self, known: Mapping[str, str] | None = None) -> dict[str, list[Use]]:
        """The uses of each class but ``project``."""
        found: dict[str, list[Use]] = {"built_in": [], "package": [], "broken": [], "unknown": []}
        for use in self.uses:
            kind = self.classify(use.guid, known)
            if kind != "project":
                found[kind].append(use)
        return found

    def users_of(self, guid: str) -> list[str]:
        """The files that refer to ``guid``, sorted: 32 hex digits occur nowhere else in what is held."""
        return sorted(path for path, text in self.held.items() if guid in text)


def index_project(
    project: Project,
    *,
    references: bool = True,
    cache: IndexCache | None = None,
    step: Callable[[int], None] = lambda _files: None,
) -> ProjectIndex:
    """Look at the tree; without ``references`` only metas are read.

    With a ``cache`` only folders that changed since the last look are read (and references always). ``step``
    is told the number of files seen so far, folder by folder.
    """
    kept = {} if cache is None else cache.load(project.root)
    references = references or cache is not None
    index = ProjectIndex(project)
    folders: list[Folder] = []
    now = time.time_ns()
    fresh = False
    todo = list(reversed(ROOTS))
    while todo:
        path = todo.pop()
        listing = list_folder(str(project.root / path), now)
        if listing is None:
            continue
        before = kept.get(path)
        if before is not None and before.signature == listing.signature:
            folder = before
        else:
            fresh = True
            folder = read_folder(project.root, path, listing, before, references=references)
            index.read += len(folder.hashes)
            if before is not None:
                index.changed += _changed(before, folder)
        folders.append(folder)
        _take(index, folder)
        step(index.files)
        todo += [f"{path}/{name}" for name in reversed(folder.folders)]
    if cache is not None and (fresh or len(folders) != len(kept)):
        cache.save(project.root, folders)
    packages = project.root / "Library" / "PackageCache"
    if packages.is_dir():
        index.cache = frozenset(_cached(packages))
    return index


def _take(index: ProjectIndex, folder: Folder) -> None:
    path = folder.path
    index.files += folder.files
    for name, guid in folder.guids.items():
        asset = f"{path}/{name}"
        index.guids[asset] = guid
        index.assets.setdefault(guid, []).append(asset)
    for name, text in folder.uses.items():
        index.held[f"{path}/{name}"] = text
    for kind in ("links", "orphan_metas", "missing_metas", "stub_metas", "broken_metas"):
        names = getattr(folder, kind)
        if names:
            getattr(index, kind).extend(f"{path}/{name}" for name in names)
    index.case_twins += [(f"{path}/{one}", f"{path}/{two}") for one, two in folder.case_twins]


def _changed(before: Folder, after: Folder) -> Iterator[str]:
    names = sorted(before.hashes.keys() | after.hashes.keys())
    return (f"{after.path}/{name}" for name in names if before.hashes.get(name) != after.hashes.get(name))


def _cached(packages: Path) -> Iterator[str]:
    for meta in packages.rglob("*.meta"):
        guid = read_guid(meta.read_bytes())
        if guid:
            yield guid
