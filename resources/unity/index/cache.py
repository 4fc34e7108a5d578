"""Keeps what was read of a project, so that the next look reads only what changed.

Rules kept here: the file lies outside of the project, one a project, named by the project's place; it is
replaced in one step. It is never trusted further than its shape: anything unexpected means that nothing is
known, and the project is read whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources.unity.index.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCHEMA = "fabric.unity-index.v1"
MAX_BYTES = 1 << 30
_NAMES = tuple(item.name for item in fields(Folder))
_TYPES = {name: type(value) for name, value in asdict(Folder("")).items()}


class IndexCache:
    """The kept indexes in the folder ``where``."""

    def __init__(self, where: Path) -> None:
        self.where = where

    def path(self, root: Path) -> Path:
        """The file of the project at ``root``."""
        place = hashlib.blake2b(os.fsencode(root.as_posix()), digest_size=16).hexdigest()
        return self.where / f"{place}.json"

    def load(self, root: Path) -> dict[str, Folder]:
        """Path → folder as it was last read; empty where nothing usable is kept."""
        try:
            with self.path(root).open("rb") as reader:
                data = reader.read(MAX_BYTES + 1)
            document: Any = json.loads(data) if len(data) <= MAX_BYTES else {}
            if document["schema"] != SCHEMA or document["root"] != root.as_posix():
                return {}
            folders = [Folder(*row) for row in document["folders"]]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}
        return {folder.path: folder for folder in folders} if all(map(_shaped, folders)) else {}

    def save(self, root: Path, folders: Iterable[Folder]) -> None:
        """Keep ``folders``. Not flushed to the device: a lost cache costs one slow look."""
        rows = [[getattr(folder, name) for name in _NAMES] for folder in folders]
        document: Mapping[str, Any] = {"schema": SCHEMA, "root": root.as_posix(), "folders": rows}
        self.where.mkdir(parents=True, exist_ok=True)
        target = self.path(root)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        try:
            temporary.write_bytes(json.dumps(document, separators=(",", ":")).encode())
            temporary.replace(target)
        except BaseException:  # an interrupt too leaves no temporary file
            temporary.unlink(missing_ok=True)
            raise


def _shaped(folder: Folder) -> bool:
    return all(type(getattr(folder, name)) is kind for name, kind in _TYPES.items())
