"""A Unity project's tree: where it lies, its version, its settings, its files.

Rules kept here: only ``Assets``, ``Packages`` and ``ProjectSettings`` are the project; ``Library``, ``Temp``
and ``Logs`` are the editor's. Names that Unity ignores (leading dot, trailing ``~``) are no assets. Links are
listed and never followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fabric_dagster.errors import Conflict, Fault, InvalidDocument
from resources.files.paths import is_link, under
from resources.unity.editors import editor_runs

ROOTS = ("Assets", "Packages", "ProjectSettings")
VERSION = re.compile(r"^m_EditorVersion:\s*(\S+)", re.MULTILINE)
ONE_LINE = re.compile(rb"^  m_SerializeInlineMappingsOnOneLine: 1\r?$", re.MULTILINE)
TEXT_MODE = re.compile(rb"^  m_SerializationMode: ([0-9]+)\r?$", re.MULTILINE)
FORCE_TEXT = b"2"
#: what a running editor holds
LOCKS = ("Temp/UnityLockfile", "Library/ArtifactDB-lock", "Library/SourceAssetDB-lock")
INSTANCE = "Library/EditorInstance.json"


@dataclass(frozen=True)
class Project:
    """A project's folder; ``open_project`` proves that it is one."""

    root: Path

    @cached_property
    def version(self) -> str:
        """``m_EditorVersion``, e.g. ``2022.3.62f3``; empty where the project does not say."""
        try:
            text = (self.root / "ProjectSettings/ProjectVersion.txt").read_text(encoding="utf-8-sig")
        except (FileNotFoundError, UnicodeDecodeError):
            return ""
        match = VERSION.search(text)
        return match[1] if match else ""

    @cached_property
    def one_line_maps(self) -> bool:
        """Whether new flow mappings stay on one line (always from 6000.6)."""
        major, _, rest = self.version.partition(".")
        minor = rest.partition(".")[0]
        if major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= (6000, 6):
            return True
        return ONE_LINE.search(self._settings) is not None

    @property
    def forces_text(self) -> bool:
        """Whether Asset Serialization is Force Text (the default where the setting is absent)."""
        match = TEXT_MODE.search(self._settings)
        return match is None or match[1] == FORCE_TEXT

    @cached_property
    def _settings(self) -> bytes:
        try:
            return (self.root / "ProjectSettings/EditorSettings.asset").read_bytes()
        except FileNotFoundError:
            return b""

    @property
    def state(self) -> Path:
        """Where transactions keep their journals and lock by default.

        ``Library`` is the editor's own cache beside the assets: Unity never imports from it, version
        control ignores it, it lies on the same disk, and it dies with the working copy that it belongs to.
        """
        return self.root / "Library" / "Fabric"

    def refuse_open_editor(self) -> None:
        """Raise ``Conflict`` (``unity.editor_open``) while an editor has the project open.

        The editor keeps ``Temp/UnityLockfile`` and the locks of its asset database locked until it ends; one
        that nobody holds is left over. ``Library/EditorInstance.json`` names the editor's process, which may
        have crashed since, or whose number another program may have now.
        """
        held = [name for name in LOCKS if (self.root / name).exists() and _held(self.root / name)]
        if not held and editor_runs(self.root / INSTANCE):
            held = [INSTANCE]
        if held:
            raise Conflict(
                "unity.editor_open",
                "a Unity editor has this project open",
                where=held[0],
                mend="close the editor, then run this again",
            )

    def refuse_links(self) -> None:
        """Raise ``OperationFailed`` (``path.symlink``) where one of the project's folders is a link."""
        for name in (*ROOTS, "Library/Fabric"):
            under(self.root, name)


def open_project(root: Path) -> Project:
    """The project at ``root``; raises ``InvalidDocument`` where the folder is none."""
    resolved = root.resolve()
    faults = [
        Fault(
            "unity.no_project", f"there is no {name} folder", str(root), "name the folder that holds Assets"
        )
        for name in ("Assets", "ProjectSettings")
        if not (resolved / name).is_dir()
    ]
    if faults:
        raise InvalidDocument.of(faults[:1])
    return Project(resolved)


@dataclass(frozen=True, slots=True)
class Item:
    """A file or folder of the tree, as a POSIX path under the project."""

    path: str
    folder: bool
    link: bool


def ignored(name: str) -> bool:
    """Whether Unity's importer does not see an entry of this name."""
    low = name.lower()
    return low.startswith(".") or low.endswith(("~", ".tmp")) or low == "cvs"


def walk(root: Path, under: str, *, visible: bool = False) -> Iterator[Item]:
    """Every entry below ``root / under`` in sorted order, parents first; links are not entered.

    What is neither file, folder nor link is left out.

    ``visible`` leaves out what Unity's importer does not see.
    """
    try:
        with os.scandir(root / under) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if visible and ignored(entry.name):
            continue
        path = f"{under}/{entry.name}"
        link = is_link(entry.stat(follow_symlinks=False)) if os.name == "nt" else entry.is_symlink()
        folder = not link and entry.is_dir(follow_symlinks=False)
        if not (link or folder or entry.is_file(follow_symlinks=False)):
            continue  # a pipe, a socket, a device: no asset, and reading it might never end
        yield Item(path, folder, link)
        if folder:
            yield from walk(root, path, visible=visible)


def _held(lock: Path) -> bool:
    """Whether a process holds ``lock``: it cannot be opened for writing (Windows) or locked (POSIX)."""
    try:
        with lock.open("r+b") as stream:
            if os.name == "nt":
                return False
            import fcntl

            # Unity takes a POSIX record lock, other tools flock: ask for both, without waiting.
            for take in (fcntl.lockf, fcntl.flock):
                take(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                take(stream, fcntl.LOCK_UN)
    except OSError:
        return True
    return False
