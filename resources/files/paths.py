r"""Paths of a transaction: POSIX text under an explicit root, and nothing else.

Rules kept here:

* A path is relative, uses ``/``, has no ``.``, ``..`` or empty part, no control character, and no name that
  Windows cannot hold (``:``, ``\``, ``*``, trailing dot or space, ``CON`` …), on every platform.
* No component on the way down from the root is a symlink or a reparse point.
* A name that differs from its neighbour only by case or Unicode form is refused: on the disk of a colleague
  the two are one file.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from fabric_dagster.errors import Fault, OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_NAME = 255
FORBIDDEN = frozenset('<>:"\\|?*')
RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{device}{digit}" for device in ("com", "lpt") for digit in "123456789"}
)
#: Set on Windows for symlinks, junctions and mount points alike.
REPARSE_POINT = 0x400


def folded(name: str) -> str:
    """The form under which two names count as the same file."""
    return unicodedata.normalize("NFC", name).casefold()


def unsafe(path: str) -> str | None:
    """Why ``path`` is refused, or ``None`` where it is a plain relative POSIX path."""
    if not path or path.startswith("/"):
        return "it is empty" if not path else "it is absolute"
    return next((why for why in map(_unsafe_name, path.split("/")) if why is not None), None)


def _unsafe_name(part: str) -> str | None:
    if part in {"", ".", ".."}:
        return "it has an empty, '.' or '..' part"
    if any(c in FORBIDDEN or unicodedata.category(c) in {"Cc", "Cs"} for c in part):
        return f"the name {part!r} has a character that file systems refuse"
    if part[-1] in ". ":
        return f"the name {part!r} ends with a dot or a space"
    if part.split(".", maxsplit=1)[0].casefold().rstrip() in RESERVED:
        return f"the name {part!r} is a device on Windows"
    if len(part.encode()) > LONGEST_NAME:
        return f"a name in it is longer than {LONGEST_NAME} bytes"
    return None


def is_link(found: os.stat_result) -> bool:
    """Whether an ``lstat`` result is a symlink, a junction or another reparse point."""
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_file_attributes", 0) & REPARSE_POINT)


def under(root: Path, path: str) -> Path:
    """``root / path``, with every existing component proven to be no link.

    ``root`` must exist. Raises ``OperationFailed`` with ``path.unsafe`` or ``path.symlink``.
    """
    why = unsafe(path)
    if why is not None:
        raise OperationFailed(
            "path.unsafe", f"the path is refused: {why}", where=path, mend="give a path under the root"
        )
    here = root
    for part in path.split("/"):
        here /= part
        try:
            found = here.lstat()
        except (FileNotFoundError, NotADirectoryError):
            break
        if is_link(found):
            raise OperationFailed(
                "path.symlink",
                "a symlink or junction stands on the path",
                where=str(here.relative_to(root).as_posix()),
                mend="replace it by a real folder or file: links are never followed",
            )
    return root / path


def case_clashes(root: Path, paths: Iterable[str]) -> list[Fault]:
    """One fault for each path that equals another, asked for or existing, but for case or Unicode form."""
    faults: list[Fault] = []
    listed: dict[Path, dict[str, str]] = {}
    for path in paths:
        here = root
        for part in path.split("/"):
            names = listed.get(here)
            if names is None:
                names = {folded(name): name for name in _names(here)}
                listed[here] = names
            other = names.setdefault(folded(part), part)
            if other != part:
                faults.append(
                    Fault(
                        "path.case_clash",
                        f"{part!r} differs from the existing {other!r} only by case or Unicode form",
                        where=path,
                        mend="use the existing spelling",
                    )
                )
                break
            here /= part
    return faults


def _names(folder: Path) -> list[str]:
    """The names in ``folder``; empty where it is no folder yet. Exact spellings shadow their twins."""
    try:
        return sorted(entry.name for entry in os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
