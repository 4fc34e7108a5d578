r"""Where a ticket's pictures may lie, and the one way from a block's value to a file.

Rules kept here, on every system alike:

* ``attachment:NAME`` is one plain name in the issue's own folder. Anything else is a path under one of the
  explicit input roots, relative to exactly one of them or absolute inside one.
* No part is ``..``, ``.`` or empty; no name is one that Windows cannot hold. Drive letters, UNC and device
  paths are outside every root unless a root of this very machine holds them.
* Names match exactly (up to Unicode normalisation), also where the file system would be more forgiving.
* A link may stand on the way only where what it leads to lies in the same root.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from fabric_dagster.errors import InvalidDocument

ATTACHMENT = "attachment:"
LONGEST_NAME = 255
#: Set on Windows for symlinks, junctions and mount points alike.
_REPARSE_POINT = 0x400
_FORBIDDEN = frozenset('<>:"\\|?*')
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789¹²³"}
)


def unsafe_name(name: str) -> str | None:
    """Why ``name`` is no plain file name on some system that we serve, or ``None``."""
    if name in {"", ".", ".."}:
        return "a part of it climbs or is empty" if name == ".." else "a part of it is empty or '.'"
    if any(c in _FORBIDDEN or unicodedata.category(c) in {"Cc", "Cs"} for c in name):
        return f"the name {name!r} has a character that file systems refuse"
    if name[-1] in ". " or name[0] == " ":
        return f"the name {name!r} begins or ends with a space or a dot"
    if name.split(".", maxsplit=1)[0].rstrip().casefold() in _RESERVED:
        return f"the name {name!r} is a device on Windows"
    if len(name.encode()) > LONGEST_NAME:
        return f"a name in it is longer than {LONGEST_NAME} bytes"
    return None


@dataclass(frozen=True, slots=True)
class TicketFiles:
    """``attachments``: the issue's own folder (it need not exist); ``roots``: the explicit input roots."""

    attachments: Path
    roots: tuple[Path, ...] = ()

    def check_spelling(self, value: str) -> None:
        """Raise what ``resolve`` would raise for the words of ``value`` alone, without looking at a file."""
        if value.startswith(ATTACHMENT):
            _plain_name(value)
        elif self._split(value)[0] is None and not self.roots:
            raise _no_root()

    def resolve(self, value: str) -> Path:
        """The regular file that ``value`` names, with links resolved. Raises ``InvalidDocument``.

        Codes: ``ticket.unsafe_path``, ``ticket.path_climbs``, ``ticket.outside_roots``,
        ``ticket.link_leaves_root``, ``ticket.file_missing``, ``ticket.file_irregular``,
        ``ticket.file_ambiguous``.
        """
        if value.startswith(ATTACHMENT):
            name = _plain_name(value)
            if _is_link(self.attachments):
                raise _refuse(
                    "link_leaves_root", "the issue's attachment folder is a link", "use a real folder"
                )
            return _descend(self.attachments, (name,), "beside the issue, in its own folder")
        root, parts = self._split(value)
        if root is not None:
            return _descend(root, parts, f"under {root}")
        return self._relative(parts)

    def _split(self, value: str) -> tuple[Path | None, tuple[str, ...]]:
        """The root that an absolute ``value`` lies under and its parts; no root for a relative one."""
        windows = PureWindowsPath(value)
        if not (PurePosixPath(value).is_absolute() or windows.drive or windows.root):
            parts = tuple(value.split("/"))
            _refuse_unsafe(parts)
            return None, parts
        text = value.replace("\\", "/") if os.name == "nt" else value
        if ".." in text.replace("\\", "/").split("/"):
            _refuse_unsafe(("..",))
        for root in self.roots:
            for spelled in (root.absolute(), root.resolve()):
                prefix = spelled.as_posix().rstrip("/") + "/"
                same = text.casefold().startswith(prefix.casefold()) if os.name == "nt" else False
                if same or text.startswith(prefix):
                    parts = tuple(text[len(prefix) :].split("/"))
                    _refuse_unsafe(parts)
                    return root, parts
        named = ", ".join(str(root) for root in self.roots) or "none is configured"
        raise _refuse(
            "outside_roots",
            "the path is absolute and outside of every input root",
            f"attach the picture and write {ATTACHMENT}NAME, or use a path under an input root ({named})",
        )

    def _relative(self, parts: tuple[str, ...]) -> Path:
        found: list[Path] = []
        missing: InvalidDocument | None = None
        for root in self.roots:
            try:
                found.append(_descend(root, parts, f"under {root}"))
            except InvalidDocument as fault:
                if fault.code != "ticket.file_missing":
                    raise
                missing = fault
        if len(found) > 1:
            raise _refuse("file_ambiguous", "the path exists under several input roots", "write it absolute")
        if found:
            return found[0]
        if len(parts) == 1 and not _is_link(self.attachments) and parts[0] in _names(self.attachments):
            raise _refuse(
                "file_missing", "this is a path, and no input root has it", f"write {ATTACHMENT}{parts[0]}"
            )
        if missing is not None:
            raise missing
        raise _no_root()


def read_at_most(path: Path, limit: int) -> bytes:
    """The bytes of the regular file at ``path``, at most ``limit`` + 1 of them; a link there is not followed.

    What ``resolve`` found may have been exchanged since: what is opened is looked at again.
    """
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        handle = os.open(path, flags)
    except OSError:
        raise _refuse("file_missing", "the file cannot be opened", "check the file and its rights") from None
    with os.fdopen(handle, "rb") as reader:
        if not stat.S_ISREG(os.fstat(reader.fileno()).st_mode):
            raise _refuse("file_irregular", "this is no regular file", "name a picture")
        return reader.read(limit + 1)


def _is_link(path: Path) -> bool:
    """Whether ``path`` itself is a symlink, or on Windows a junction."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_file_attributes", 0) & _REPARSE_POINT)


def _no_root() -> InvalidDocument:
    return _refuse(
        "outside_roots",
        "the path is under no input root: none is configured",
        f"attach the picture to the issue and write {ATTACHMENT}NAME",
    )


def _plain_name(value: str) -> str:
    name = value.removeprefix(ATTACHMENT)
    if "/" in name or "\\" in name:
        climbs = ".." in name.replace("\\", "/").split("/")
        raise _refuse(
            "path_climbs" if climbs else "unsafe_path",
            "an attachment is named by its plain name, without folders",
            f"write {ATTACHMENT}NAME",
        )
    _refuse_unsafe((name,))
    return name


def _refuse_unsafe(parts: tuple[str, ...]) -> None:
    for part in parts:
        if part == ".." or ".." in part.split("\\"):
            raise _refuse("path_climbs", "the path climbs with '..'", "write the path without '..'")
        if why := unsafe_name(part):
            raise _refuse("unsafe_path", f"the path is refused: {why}", "give the file a plain name")


def _descend(root: Path, parts: tuple[str, ...], place: str) -> Path:
    """The regular file at ``parts`` below ``root``, whose real place is below the real root."""
    here = root
    for part in parts:
        here = _child(here, part, place)
    try:
        real = here.resolve(strict=True)
        inside = real.is_relative_to(root.resolve(strict=True))
        regular = stat.S_ISREG(real.lstat().st_mode)
    except (OSError, RuntimeError):  # RuntimeError: a circle of links, on older Pythons
        raise _refuse(
            "link_leaves_root", "a link on the path leads nowhere", "replace it by the file itself"
        ) from None
    if not inside:
        raise _refuse(
            "link_leaves_root", "a link on the path leaves its root", "replace it by the file itself"
        )
    if not regular:
        raise _refuse("file_irregular", "this is no regular file", "name a picture")
    return real


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _child(folder: Path, name: str, place: str) -> Path:
    wanted = unicodedata.normalize("NFC", name)
    names = _names(folder)
    if name in names:
        return folder / name
    same = [found for found in names if unicodedata.normalize("NFC", found) == wanted]
    if len(same) > 1:
        raise _refuse(
            "file_ambiguous", "several files have this name but for Unicode form", "rename one of them"
        )
    if same:
        return folder / same[0]
    near = [found for found in names if found.casefold() == name.casefold()]
    hint = f"the file is called {near[0]!r}" if near else f"put {name!r} {place}"
    raise _refuse("file_missing", "there is no such file", hint)


def _refuse(code: str, what: str, mend: str) -> InvalidDocument:
    return InvalidDocument(f"ticket.{code}", what, mend=mend)
