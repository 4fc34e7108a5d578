"""Reads one folder of a project: names, GUIDs, references, and what is wrong with its metas.

Rules kept here:

* A folder is read again only where its signature (names, sizes, times) changed. What was written within the
  last two seconds is not believed: such a folder is read again the next time, since clocks are coarse.
* A file that was read again and has the same hash keeps what was found in it.
* Metas are read for their GUID, text assets are scanned for references without being parsed; what is never a
  text asset is not even opened.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resources.files.paths import folded, is_link
from resources.unity.index.guids import IMPORTER, read_guid
from resources.unity.project import ignored
from resources.unity.text import scan_rows

if TYPE_CHECKING:
    from pathlib import Path

ASMDEF_GUID = re.compile(rb'"GUID:([0-9a-fA-F]{32})"')
#: never text assets: not even opened
OPAQUE = frozenset({
    ".png", ".jpg", ".jpeg", ".psd", ".psb", ".tga", ".tif", ".tiff", ".exr", ".hdr", ".gif", ".bmp", ".svg",
    ".fbx", ".obj", ".blend", ".dae", ".wav", ".mp3", ".ogg", ".aif", ".aiff", ".ttf", ".otf", ".dll", ".so",
    ".a", ".bundle", ".zip", ".gz", ".mp4", ".mov", ".webm", ".cs", ".shader", ".hlsl", ".cginc", ".compute",
    ".md", ".txt", ".json", ".xml", ".uss", ".uxml", ".bytes", ".pdf", ".js",
})  # fmt: skip
ASSEMBLIES = frozenset({".asmdef", ".asmref"})
LARGEST_TEXT = 256 << 20
FIRST = 64 << 10
YAML_HEAD = 8
SETTLED_NS = 2_000_000_000
BINARY = getattr(os, "O_BINARY", 0)


@dataclass(slots=True)
class Folder:
    """What stands in one folder. ``path`` is POSIX, under the project; all other names are plain names."""

    path: str
    signature: str = ""
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    files: int = 0
    #: asset → the GUID that its ``.meta`` states
    guids: dict[str, str] = field(default_factory=dict)
    #: file → its references, one a line: fileID, GUID, type
    uses: dict[str, str] = field(default_factory=dict)
    #: file that was read → its bytes' hash
    hashes: dict[str, str] = field(default_factory=dict)
    orphan_metas: list[str] = field(default_factory=list)
    missing_metas: list[str] = field(default_factory=list)
    stub_metas: list[str] = field(default_factory=list)
    broken_metas: list[str] = field(default_factory=list)
    case_twins: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class Listing:
    """A folder's entries as Unity's importer sees them, sorted."""

    #: name → size, for files
    files: dict[str, int]
    folders: list[str]
    links: list[str]
    signature: str
    settled: bool


def list_folder(path: str, now_ns: int) -> Listing | None:
    """The entries of the folder at ``path`` (on the disk); ``None`` where there is no folder.

    What is neither file, folder nor link (a pipe, a socket, a device) is no asset: reading might never end.
    """
    files: dict[str, int] = {}
    folders, links, marks = [], [], []
    newest = 0
    try:
        with os.scandir(path) as listing:
            entries = sorted(listing, key=_name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    for entry in entries:
        name = entry.name
        if ignored(name):
            continue
        if is_link(entry.stat(follow_symlinks=False)) if os.name == "nt" else entry.is_symlink():
            links.append(name)
            marks.append(f"{name}@")
        elif entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            files[name] = found.st_size
            newest = max(newest, found.st_mtime_ns, found.st_ctime_ns)
            marks.append(f"{name}|{found.st_size}|{found.st_mtime_ns}|{found.st_ctime_ns}")
        elif entry.is_dir(follow_symlinks=False):
            folders.append(name)
            marks.append(f"{name}/")
    text = "\n".join(marks).encode("utf-8", "surrogatepass")
    signature = hashlib.blake2b(text, digest_size=16).hexdigest()
    return Listing(files, folders, links, signature, newest < now_ns - SETTLED_NS)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def read_folder(
    root: Path, path: str, listing: Listing, before: Folder | None, *, references: bool = True
) -> Folder:
    """Read what ``listing`` names; ``before`` is what an earlier look found there.

    Without ``references`` only metas are read.
    """
    found = Folder(path, listing.signature if listing.settled else "", listing.folders, listing.links)
    found.files = len(listing.files)
    names = listing.files.keys() | set(listing.folders) | set(listing.links)
    found.case_twins = _twins(names) if len(set(map(folded, names))) < len(names) else []
    found.missing_metas = [
        name
        for name in sorted(names)
        if not (name.endswith(".meta") and name in listing.files)
        and f"{name}.meta" not in listing.files
        and _needs_meta(path, name)
    ]
    base = str(root / path)
    for name, size in listing.files.items():
        suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 - text is split 50,000 times, not paths made
        if suffix in OPAQUE or (suffix != ".meta" and not references):
            continue
        data = _bytes(f"{base}{os.sep}{name}", size, whole=suffix == ".meta" or suffix in ASSEMBLIES)
        if data is None:
            continue
        digest = found.hashes[name] = hashlib.blake2b(data, digest_size=16).hexdigest()
        if before is not None and before.hashes.get(name) == digest:
            _keep(found, before, name)
        elif references:
            text = _references(data, suffix)
            if text:
                found.uses[name] = text
        if suffix == ".meta":
            _take_meta(found, before, name, data, exists=name[: -len(".meta")] in names)
    return found


def _keep(found: Folder, before: Folder, name: str) -> None:
    if name in before.uses:
        found.uses[name] = before.uses[name]


def _bytes(path: str, size: int, *, whole: bool) -> bytes | None:
    """The file's bytes where it is a text asset of Unity's (or ``whole``), else ``None``."""
    try:
        handle = os.open(path, os.O_RDONLY | BINARY)
    except FileNotFoundError:
        return None  # gone since it was listed
    try:
        data = os.read(handle, min(max(size + 1, 1), LARGEST_TEXT if whole else FIRST))
        if not whole and b"%YAML" not in data[:YAML_HEAD]:
            return None
        if len(data) <= size:
            rest = []
            while len(data) < LARGEST_TEXT and (more := os.read(handle, 1 << 20)):
                rest.append(more)
            data = b"".join([data, *rest])
    finally:
        os.close(handle)
    return data


def _references(data: bytes, suffix: str) -> str:
    if suffix in ASSEMBLIES:
        return "\n".join(f"0 {guid.decode().lower()} 3" for guid in ASMDEF_GUID.findall(data))
    if suffix == ".meta" and data.count(b"guid: ") < 2:  # noqa: PLR2004 - its own, and another's
        return ""
    return b"\n".join(map(b" ".join, scan_rows(data))).decode("ascii").lower()


def _take_meta(found: Folder, before: Folder | None, meta: str, data: bytes, *, exists: bool) -> None:
    asset = meta[: -len(".meta")]
    if before is not None and before.hashes.get(meta) == found.hashes[meta]:
        guid, stub = before.guids.get(asset), meta in before.stub_metas
    else:
        guid, stub = read_guid(data), IMPORTER.search(data) is None
    if guid is None:
        found.broken_metas.append(meta)
        return
    if not exists:
        found.orphan_metas.append(meta)
    if stub:
        found.stub_metas.append(meta)
    found.guids[asset] = guid


def _needs_meta(path: str, name: str) -> bool:
    top = path.partition("/")[0]
    if top == "ProjectSettings":
        return False
    # A package's own folder is no asset; a built package (.tgz) and the manifests are not either.
    return top == "Assets" or (path != top and bool(name))


def _twins(names: set[str]) -> list[list[str]]:
    seen: dict[str, str] = {}
    twins = []
    for name in sorted(names):
        other = seen.setdefault(folded(name), name)
        if other != name:
            twins.append([other, name])
    return twins
