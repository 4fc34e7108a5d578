"""Writes that are on the disk when they return, on POSIX and Windows.

Rules kept here: a new file is written under a temporary name, flushed to the device, then put in place by one
atomic rename; the folder entry is flushed too where the system can (POSIX). Callers name the temporary
file, so that whoever recovers after a crash can find and remove it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from typing import TYPE_CHECKING

from resources.files.paths import is_link

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 1 << 20


def copy_durably(source: Path, target: Path, mode: int | None = None) -> str:
    """Copy ``source`` to the new file ``target``, flushed; returns ``sha256:…`` of the bytes copied.

    ``mode`` is the POSIX permission of the copy. An existing ``target`` is a leftover and is replaced.
    """
    target.unlink(missing_ok=True)
    state = hashlib.sha256()
    with source.open("rb") as reader, target.open("xb") as writer:
        while chunk := reader.read(CHUNK):
            state.update(chunk)
            writer.write(chunk)
        writer.flush()
        os.fsync(writer.fileno())
    if mode is not None:
        target.chmod(mode)
    return "sha256:" + state.hexdigest()


def write_durably(target: Path, data: bytes) -> None:
    """Replace ``target`` by ``data`` in one step: temporary file, flush, rename, flush the folder."""
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        with temporary.open("wb") as writer:
            writer.write(data)
            writer.flush()
            os.fsync(writer.fileno())
        temporary.replace(target)
    except BaseException:  # an interrupt too leaves no temporary file
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)


def put_new(temporary: Path, target: Path) -> None:
    """Give ``temporary`` the name ``target`` unless that exists (``FileExistsError``)."""
    if os.name == "nt":
        temporary.rename(target)  # refuses an existing target there
        return
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: the check and the rename are two steps there.
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        temporary.replace(target)
        return
    temporary.unlink()


def flush_folder(folder: Path) -> None:
    """Flush a folder's entries to the device; Windows does so itself and offers no call."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        # Some network file systems refuse to flush a folder; the files themselves were flushed.
        pass
    finally:
        os.close(handle)


def found_digest(path: Path) -> str | None:
    """``sha256:…`` of a regular file, ``None`` where nothing stands; ``"irregular"`` for anything else."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if is_link(found) or not stat.S_ISREG(found.st_mode):
        return "irregular"
    state = hashlib.sha256()
    with path.open("rb") as reader:
        while chunk := reader.read(CHUNK):
            state.update(chunk)
    return "sha256:" + state.hexdigest()


def remove_empty(folder: Path) -> None:
    """Remove ``folder`` where it is empty; leave it where somebody put something in."""
    with contextlib.suppress(OSError):
        folder.rmdir()
