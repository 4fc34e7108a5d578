"""The files of a pack, their digests, and the lock.

Rules kept here: a pack's digest covers every file in its folder, Python included, by POSIX path and SHA-256
(design/DETAILS.md, "Digests"); only ``pack.lock`` and what tools leave behind are left out. A link or a
device in a pack is refused, and so are names that are one file on a colleague's disk. Nothing is written.
"""

from __future__ import annotations

import json
import os
import stat
import unicodedata
from typing import TYPE_CHECKING, Any

from fabric_dagster.digests import digest_file, digest_of
from fabric_dagster.errors import Fault, InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LOCK = "pack.lock"
LOCK_SCHEMA = "fabric.pack-lock.v1"
FILES_SCHEMA = "fabric.pack-files.v1"
MAX_FILES = 5_000
MAX_FILE_BYTES = 64 << 20
#: Set on Windows for symlinks, junctions and mount points alike.
_REPARSE_POINT = 0x400
#: left behind by tools; none of these can be imported or read as knowledge.
_JUNK = frozenset(
    {"__pycache__", ".DS_Store", "Thumbs.db", "desktop.ini", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)


def pack_files(folder: Path) -> Mapping[str, str]:
    """POSIX path → ``sha256:…`` of every file of the pack, sorted. Raises ``InvalidDocument``."""
    faults: list[Fault] = []
    found: dict[str, str] = {}
    folded: dict[str, str] = {}
    for path, entry in _walk(folder, "", faults):
        twin = folded.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if twin != path:
            what = f"its name differs from {twin!r} only by case or Unicode form"
            faults.append(Fault("pack.name_clash", what, path, "rename one of them"))
        elif not path.isascii() or "\\" in path or not path.isprintable():
            faults.append(Fault("pack.bad_name", "file names in a pack are plain ASCII", path, "rename it"))
        elif entry.stat().st_size > MAX_FILE_BYTES:
            what = f"it has more than {MAX_FILE_BYTES} bytes"
            faults.append(Fault("pack.too_large", what, path, "keep large files outside of the pack"))
        else:
            found[path] = digest_file(folder / path)
        if len(found) > MAX_FILES:
            what = f"the pack has more than {MAX_FILES} files"
            faults.append(Fault("pack.too_large", what, folder.name, "split it"))
            break
    if faults:
        raise InvalidDocument.of(faults)
    return dict(sorted(found.items()))


def _walk(folder: Path, prefix: str, faults: list[Fault]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for entry in sorted(os.scandir(folder), key=lambda item: item.name):
        if entry.name in _JUNK or (not prefix and entry.name == LOCK):
            continue
        path = prefix + entry.name
        facts = entry.stat(follow_symlinks=False)
        if entry.is_symlink() or getattr(facts, "st_file_attributes", 0) & _REPARSE_POINT:
            faults.append(Fault("pack.link", "a link stands in the pack", path, "put the file itself there"))
        elif stat.S_ISDIR(facts.st_mode):
            yield from _walk(folder / entry.name, f"{path}/", faults)
        elif stat.S_ISREG(facts.st_mode):
            yield path, entry
        else:
            faults.append(Fault("pack.irregular", "this is no regular file", path, "remove it"))


def files_digest(files: Mapping[str, str]) -> str:
    """The pack's digest over its files."""
    return digest_of(FILES_SCHEMA, dict(files))


def lock_document(name: str, version: str, files: Mapping[str, str]) -> dict[str, Any]:
    """What ``pack.lock`` holds."""
    return {
        "schema": LOCK_SCHEMA,
        "pack": name,
        "version": version,
        "digest": files_digest(files),
        "files": dict(files),
    }


def lock_bytes(document: Mapping[str, Any]) -> bytes:
    """``document`` as it is written: sorted keys, two spaces, a final line feed."""
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def lock_faults(folder: Path, files: Mapping[str, str]) -> list[Fault]:
    """How ``files`` differ from the lock of the pack in ``folder``; empty where they agree."""
    where = f"{folder.name}/{LOCK}"
    mend = f"look at the change, then run `fabric pack lock {folder.name}`"
    path = folder / LOCK
    if path.is_symlink() or not path.is_file():
        return [Fault("pack.no_lock", "the pack has no lock", where, mend)]
    try:
        locked = json.loads(path.read_bytes())
        listed = locked["files"]
        sound = locked["schema"] == LOCK_SCHEMA and isinstance(listed, dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        return [Fault("pack.bad_lock", "the lock cannot be read", where, mend)]
    faults = []
    for name in sorted({*files, *listed}):
        was, now = listed.get(name), files.get(name)
        if was != now:
            what = "is new since" if was is None else "is gone since" if now is None else "differs from"
            place = f"{folder.name}/{name}"
            faults.append(Fault("pack.lock_drift", f"the file {what} the lock", place, mend))
    if not faults and locked.get("digest") != files_digest(files):
        faults.append(Fault("pack.bad_lock", "the lock's digest is not that of its files", where, mend))
    return faults
