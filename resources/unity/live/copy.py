"""A private copy of a project with the staged changes laid over it, for a batch editor to open.

Rules kept here: the project is only read; links are refused; a package that the manifest names by a relative
path is named by its absolute one in the copy. ``Library`` is the editor's cache: it is kept between runs
where a place for it is given, and never copied from the project.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from functools import partial
from typing import TYPE_CHECKING, Final

from fabric_dagster.errors import OperationFailed
from resources.files.paths import under
from resources.unity.live.manifest_edit import LOCK, PATH, parsed, with_dependency
from resources.unity.live.package import NAME
from resources.unity.manifest import tree_manifest
from resources.unity.project import ROOTS, walk

if TYPE_CHECKING:
    from pathlib import Path

    from fabric_dagster.supervisor.ports import FileChange
    from resources.unity.project import Project

#: what an editor may write by itself, in a copy as elsewhere
EDITORS_OWN: Final = frozenset({PATH, LOCK})


class ProjectCopy:
    """The copy at ``root``; ``before`` is its manifest as it was made."""

    def __init__(self, project: Project, root: Path, library: Path | None = None) -> None:
        self.project = project
        self.root = root
        self._library = library
        self.before: dict[str, str] = {}

    def make(self, changes: tuple[FileChange, ...], staged: Path, package: Path) -> None:
        """Copy; lay ``changes`` (bytes under ``staged``) over it; name ``package`` in its manifest."""
        try:
            for top in ROOTS:
                (self.root / top).mkdir(parents=True, exist_ok=True)
                for item in walk(self.project.root, top):
                    if item.link:
                        raise OperationFailed(
                            "path.symlink", "a link stands in the project", where=item.path,
                            mend="replace it by a real folder or file: links are never followed",
                        )  # fmt: skip
                    target = self.root / item.path
                    if item.folder:
                        target.mkdir(exist_ok=True)
                    else:
                        shutil.copyfile(self.project.root / item.path, target)
            for change in changes:
                target = under(self.root, change.path)
                if change.after is None:
                    target.unlink(missing_ok=True)
                else:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(under(staged, change.path), target)
            self._lend(package)
            if self._library is not None and self._library.is_dir():
                self._library.replace(self.root / "Library")
        except OSError as fault:
            raise OperationFailed(
                "unity.copy_failed", f"the project cannot be copied: {fault.strerror}", where=str(self.root),
                mend="make room there",
            ) from None  # fmt: skip
        self.before = tree_manifest(self.root)

    def _lend(self, package: Path) -> None:
        manifest = self.root / PATH
        data = manifest.read_bytes() if manifest.is_file() else b'{\n  "dependencies": {}\n}\n'
        manifest.write_bytes(with_dependency(self._absolute(data), NAME, f"file:{package.as_posix()}"))

    def _absolute(self, data: bytes) -> bytes:
        """The manifest with relative ``file:`` packages named by where they are."""
        text = data.decode("utf-8")
        for value in parsed(data, PATH)["dependencies"].values():
            if not isinstance(value, str) or not value.startswith("file:"):
                continue
            path = value.removeprefix("file:")
            if not os.path.isabs(path):  # noqa: PTH117 - text of a manifest, of either system
                there = (self.project.root / "Packages" / path).resolve().as_posix()
                old = re.compile(rf":(\s*){re.escape(json.dumps(value))}")
                text = old.sub(partial(_named, json.dumps(f"file:{there}")), text)
        return text.encode()

    def differences(self) -> dict[str, tuple[str, str]]:
        """Path → what stood there and what stands there now, of every file that the editor touched."""
        after = tree_manifest(self.root)
        return {
            path: (self.before.get(path, "no file"), after.get(path, "no file"))
            for path in sorted(self.before.keys() | after.keys())
            if self.before.get(path) != after.get(path) and path not in EDITORS_OWN
        }

    def keep_library(self) -> None:
        """Put the editor's cache back where the next run finds it; losing it costs time alone."""
        made = self.root / "Library"
        if self._library is None or not made.is_dir():
            return
        shutil.rmtree(self._library, ignore_errors=True)
        self._library.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            made.replace(self._library)


def _named(value: str, match: re.Match[str]) -> str:
    """A dependency with another value, its spacing kept."""
    return f":{match[1]}{value}"
