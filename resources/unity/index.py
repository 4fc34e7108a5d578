"""The index of a project: which GUID is which asset, what refers to what, and what is wrong with either.

One pass over the tree. Metas are read for their GUID, text assets are scanned for references without being
parsed. A reference that leads out of the project is told apart: built in, of a known package, or unknown,
since without ``Library/PackageCache`` nobody can say whether it is broken.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from resources.files.paths import folded
from resources.unity.project import ROOTS, Item, Project, walk
from resources.unity.text import Reference, scan_references

GUID = re.compile(rb"^guid: *([0-9a-fA-F]{32})\s*$", re.MULTILINE)
IMPORTER = re.compile(rb"^\w+:\r?$", re.MULTILINE)
ASMDEF_GUID = re.compile(rb'"GUID:([0-9a-fA-F]{32})"')
#: the editor's own resources, the default ones and the built-in extra ones
BUILT_IN = re.compile(r"0{16}[0-9a-f]0{15}\Z")
#: never text assets: not even opened
OPAQUE = frozenset({
    ".png", ".jpg", ".jpeg", ".psd", ".psb", ".tga", ".tif", ".tiff", ".exr", ".hdr", ".gif", ".bmp", ".svg",
    ".fbx", ".obj", ".blend", ".dae", ".wav", ".mp3", ".ogg", ".aif", ".aiff", ".ttf", ".otf", ".dll", ".so",
    ".a", ".bundle", ".zip", ".gz", ".mp4", ".mov", ".webm", ".cs", ".shader", ".hlsl", ".cginc", ".compute",
    ".md", ".txt", ".json", ".xml", ".uss", ".uxml", ".bytes", ".pdf", ".js",
})  # fmt: skip
LARGEST_TEXT = 256 << 20
YAML_HEAD = b"\xef\xbb\xbf%YAML"
NEAR = 28


@dataclass(frozen=True, slots=True)
class Use:
    """A reference and the file that holds it."""

    path: str
    reference: Reference


@dataclass
class ProjectIndex:
    """What one pass found. Paths are POSIX, under the project; an asset's GUID stands in its ``.meta``."""

    project: Project
    #: asset path → GUID
    guids: dict[str, str] = field(default_factory=dict)
    #: GUID → asset paths, more than one where it is duplicated
    assets: dict[str, list[str]] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    files: int = 0
    links: list[str] = field(default_factory=list)
    orphan_metas: list[str] = field(default_factory=list)
    missing_metas: list[str] = field(default_factory=list)
    stub_metas: list[str] = field(default_factory=list)
    broken_metas: list[str] = field(default_factory=list)
    case_twins: list[tuple[str, str]] = field(default_factory=list)
    #: GUIDs of packages in ``Library/PackageCache``; ``None`` where there is no cache to look in
    cache: frozenset[str] | None = None

    @property
    def duplicates(self) -> dict[str, list[str]]:
        """GUID → the assets that share it."""
        return {guid: paths for guid, paths in sorted(self.assets.items()) if len(paths) > 1}

    @property
    def suspicious_guids(self) -> list[str]:
        """Assets whose GUID was hand-made: patterns, or neighbours that differ only at the end."""
        ordered = sorted(self.assets)
        near = {guid for one, two in pairwise(ordered) if one[:NEAR] == two[:NEAR] for guid in (one, two)}
        marked = {guid for guid in ordered if patterned(guid)} | near
        return sorted(path for guid in marked for path in self.assets[guid])

    def resolve(self, guid: str) -> str | None:
        """The asset with ``guid``; the first one by path where it is duplicated."""
        paths = self.assets.get(guid)
        return paths[0] if paths else None

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
            kind = self.classify(use.reference.guid, known)
            if kind != "project":
                found[kind].append(use)
        return found

    def users_of(self, guid: str) -> list[str]:
        """The files that refer to ``guid``, sorted."""
        return sorted({use.path for use in self.uses if use.reference.guid == guid})


def index_project(project: Project, *, references: bool = True) -> ProjectIndex:
    """Scan the tree; without ``references`` only metas are read."""
    index = ProjectIndex(project)
    for top in ROOTS:
        items = list(walk(project.root, top, visible=True))
        _case_twins(index, items)
        metas = {item.path for item in items if item.path.endswith(".meta") and not item.folder}
        paths = {item.path for item in items}
        index.links += [item.path for item in items if item.link]
        index.files += sum(not item.folder for item in items)
        index.missing_metas += [
            item.path
            for item in items
            if item.path not in metas and _needs_meta(item) and f"{item.path}.meta" not in metas
        ]
        for item in items:
            if not (item.folder or item.link):
                _read(index, item.path, paths, references=references)
    cache = project.root / "Library" / "PackageCache"
    if cache.is_dir():
        index.cache = frozenset(_cached(cache))
    return index


def patterned(guid: str) -> bool:
    """Whether a GUID looks typed: few different digits, a long run, or digits that count up or down."""
    if len(set(guid)) <= 5:  # noqa: PLR2004 - 32 random digits have fewer than six values once in 10^14
        return True
    values = [int(digit, 16) for digit in guid]
    for step in (0, 1, -1):
        run = longest = 1
        for one, two in pairwise(values):
            run = run + 1 if (two - one) % 16 == step % 16 else 1
            longest = max(longest, run)
        if longest >= 8:  # noqa: PLR2004 - once in ten million random GUIDs
            return True
    return False


def read_guid(data: bytes) -> str | None:
    """The GUID of a ``.meta``'s bytes."""
    match = GUID.search(data)
    return match[1].decode().lower() if match else None


def _needs_meta(item: Item) -> bool:
    parts = item.path.split("/")
    if parts[0] == "ProjectSettings":
        return False
    # A package's own folder is no asset; a built package (.tgz) and the manifests are not either.
    return parts[0] == "Assets" or len(parts) > 2  # noqa: PLR2004 - Packages/NAME/…


def _read(index: ProjectIndex, path: str, paths: set[str], *, references: bool) -> None:
    """Read one file, once: a meta for its GUID, and what can hold references for those."""
    suffix = os.path.splitext(path)[1].lower()  # noqa: PTH122 - text is split 50,000 times, not paths made
    if suffix in OPAQUE or (suffix != ".meta" and not references):
        return
    with open(os.path.join(index.project.root, path), "rb") as stream:  # noqa: PTH118, PTH123 - see above
        data = stream.read(LARGEST_TEXT if suffix in {".meta", ".asmdef", ".asmref"} else len(YAML_HEAD))
        if suffix == ".meta":
            _take_meta(index, path, data, exists=path.removesuffix(".meta") in paths)
        elif suffix in {".asmdef", ".asmref"}:
            index.uses += [
                Use(path, Reference("0", match[1].decode().lower(), 3, match.start()))
                for match in ASMDEF_GUID.finditer(data)
            ]
            return
        elif b"%YAML" in data:
            data += stream.read(LARGEST_TEXT)
        else:
            return
    if references:
        index.uses += [Use(path, reference) for reference in scan_references(data)]


def _take_meta(index: ProjectIndex, meta: str, data: bytes, *, exists: bool) -> None:
    asset = meta.removesuffix(".meta")
    guid = read_guid(data)
    if guid is None:
        index.broken_metas.append(meta)
        return
    if not exists:
        index.orphan_metas.append(meta)
    if IMPORTER.search(data) is None:
        index.stub_metas.append(meta)
    index.guids[asset] = guid
    index.assets.setdefault(guid, []).append(asset)


def _case_twins(index: ProjectIndex, items: Iterable[Item]) -> None:
    seen: dict[str, str] = {}
    for item in items:
        other = seen.setdefault(folded(item.path), item.path)
        if other != item.path:
            index.case_twins.append((other, item.path))


def _cached(cache: Path) -> Iterator[str]:
    for meta in cache.rglob("*.meta"):
        guid = read_guid(meta.read_bytes())
        if guid:
            yield guid
