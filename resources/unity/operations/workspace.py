"""The project with staged changes laid over it. Reading sees both, writing only the stage.

Rules kept here: a path is proven to lie under the project, to cross no link and to clash with no other
spelling before anything is read or written; the digest of what stood there is taken when it is first read, so
that the commit's comparison is with exactly what the operation saw.
"""

from __future__ import annotations

import os
import stat
from functools import cached_property
from pathlib import Path

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import Fault, OperationFailed
from fabric_dagster.supervisor.ports import FileChange
from resources.files.diff import unified
from resources.files.paths import case_clashes, folded, under, unsafe
from resources.unity.index import ProjectIndex, index_project, read_guid
from resources.unity.project import Project, ignored, walk
from resources.unity.text import TextFault, UnityFile, scan_references

LARGEST = 256 << 20
LONGEST_LINE = 64 << 20
LONGEST_PATH = 260
#: the GUID of a ``.meta`` stands within its first bytes
HEAD = 256
#: ``TextFault`` code (its first part, or all of it) → failure code of the capability
FAILURES = {
    "text": "unity.asset_not_text",
    "document": "unity.document_missing",
    "path.ambiguous": "unity.path_ambiguous",
    "path.duplicate_key": "unity.path_ambiguous",
    "path": "unity.path_missing",
    "value": "unity.value_type",
}


class Workspace:
    """One plan's view of ``project``; new bytes go to ``stage``."""

    def __init__(
        self,
        project: Project,
        stage: Path,
        allocations: dict[str, str] | None = None,
        *,
        inputs: Path | None = None,
    ) -> None:
        self.project = project
        self.stage = stage
        #: where the plan's sources lie
        self.inputs = inputs or stage
        self.allocations = dict(allocations or {})
        self._before: dict[str, bytes | None] = {}
        #: ``None``: the plan removes the file
        self._staged: dict[str, bytes | None] = {}
        self.warnings: list[str] = []
        #: new path → the path that a file of the project had
        self._moved: dict[str, str] = {}

    # -- files

    def read(self, path: str) -> bytes | None:
        """The bytes of ``path`` as the plan has left them; ``None`` where there is no file."""
        if path in self._staged:
            return self._staged[path]
        if path not in self._before:
            self._before[path] = self._load(path)
        return self._before[path]

    def peek(self, path: str) -> bytes | None:
        """As ``read``, but nothing is kept, and what cannot be read for its kind or size is ``None``."""
        if path in self._staged or path in self._before:
            return self.read(path)
        try:
            return self._load(path)
        except OperationFailed:
            return None

    def write(self, path: str, data: bytes) -> None:
        """Stage ``data`` for ``path``."""
        self.read(path)
        self._staged[path] = data

    def remove(self, path: str) -> None:
        """Stage the removal of the file ``path``; one that is not there stays so."""
        self.read(path)
        self._staged[path] = None

    def move(self, old: str, new: str) -> None:
        """Stage the file ``old`` at ``new``, with its bytes; one that is not there stays so."""
        data = self.read(old)
        if data is None:
            return
        self.remove(old)
        self.write(new, data)
        self._moved[new] = self._moved.pop(old, old)

    def exists(self, path: str) -> bool:
        """Whether a file or folder stands at ``path``, staged or real."""
        if path in self._staged:
            return self._staged[path] is not None
        here = path + "/"
        if any(name.startswith(here) and data is not None for name, data in self._staged.items()):
            return True
        target = under(self.project.root, path)
        if target.is_dir():
            return self._staged.get(f"{path}.meta", b"") is not None
        return target.exists()

    def is_folder(self, path: str) -> bool:
        """Whether ``path`` is a folder of the project that the plan leaves there."""
        return under(self.project.root, path).is_dir() and self.exists(path)

    def below(self, folder: str) -> list[str]:
        """Every file below ``folder`` as the plan leaves it, sorted."""
        found = {item.path for item in walk(self.project.root, folder) if not (item.folder or item.link)}
        found |= {path for path in self._staged if path.startswith(f"{folder}/")}
        return sorted(path for path in found if self._staged.get(path, b"") is not None)

    def check_path(self, path: str) -> None:
        """Refuse what is no plain asset path (``unity.destination_refused``, ``unity.case_clash``)."""
        why = unsafe(path) or _too_long(self.project.root, path)
        if why is None and any(ignored(part) for part in path.split("/")):
            why = "Unity ignores a name in it"
        if why is not None:
            raise OperationFailed(
                "unity.destination_refused",
                f"the path is refused: {why}",
                where=path,
                mend="give a plain path under the project",
            )
        under(self.project.root, path)
        clashes = [Fault("unity.case_clash", f.what, f.where, f.mend) for f in self._clashes(path)]
        if clashes:
            raise OperationFailed.of(clashes)

    def _clashes(self, path: str) -> list[Fault]:
        present = [name for name, data in self._staged.items() if data is not None]
        return case_clashes(self.project.root, [*present, path])

    def _load(self, path: str) -> bytes | None:
        target = under(self.project.root, path)
        try:
            found = target.stat()
            if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
                raise OperationFailed(
                    "unity.destination_refused",
                    "a pipe, a socket or a device stands there",
                    where=path,
                    mend="name a file",
                )
            if found.st_size > LARGEST:
                raise OperationFailed(
                    "unity.asset_not_text", f"the file is larger than {LARGEST >> 20} MiB", where=path
                )
            return target.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except IsADirectoryError:
            raise OperationFailed(
                "unity.destination_refused", "a folder stands there", where=path, mend="name a file"
            ) from None

    # -- text assets

    def text(self, path: str) -> UnityFile:
        """``path`` as a Unity text file; raises ``OperationFailed`` with the capability's codes."""
        data = self.read(path)
        if data is None:
            raise self._missing(path)
        _refuse_long_lines(data, path)
        try:
            return UnityFile(data, one_line_maps=self.project.one_line_maps)
        except TextFault as fault:
            raise mapped(fault, path) from fault

    def _missing(self, path: str) -> OperationFailed:
        folder, _, name = path.rpartition("/")
        near = [
            other for other in self.index.guids if folded(other) == folded(path) or other.endswith("/" + name)
        ]
        return OperationFailed(
            "unity.asset_missing",
            "there is no such asset",
            where=path,
            mend=f"did you mean {', '.join(sorted(near)[:3])}?"
            if near
            else f"look in {folder or 'the project'}",
        )

    # -- identities

    @cached_property
    def index(self) -> ProjectIndex:
        """The project's GUIDs; references are not scanned."""
        return index_project(self.project, references=False)

    def path_of(self, guid: str) -> str | None:
        """The asset with ``guid``, staged or real."""
        for path, data in self._staged.items():
            if path.endswith(".meta") and data is not None and f"guid: {guid}".encode() in data[:HEAD]:
                return path.removesuffix(".meta")
        found = self.index.resolve(guid)
        return None if found is not None and self._staged.get(f"{found}.meta", b"") is None else found

    def guid_of(self, path: str) -> str | None:
        """The GUID that the ``.meta`` of ``path`` states; ``None`` where there is none."""
        return read_guid(self.read(f"{path}.meta") or b"")

    def users_of(self, guid: str, file_ids: frozenset[str] | None = None) -> list[str]:
        """The files, as the plan leaves them, that refer to an object of ``guid`` (one of ``file_ids``)."""
        found = {
            path
            for path in self.full_index.users_of(guid)
            if path not in self._staged
            and any(
                use.guid == guid and (file_ids is None or use.file_id in file_ids)
                for use in self.full_index.uses_in(path)
            )
        }
        found |= {
            path
            for path, data in self._staged.items()
            for reference in scan_references(data or b"")
            if reference.guid == guid and (file_ids is None or reference.file_id in file_ids)
        }
        return sorted(found)

    @cached_property
    def full_index(self) -> ProjectIndex:
        """The project as it is on the disk, every reference scanned."""
        return index_project(self.project)

    def new_guid(self, path: str) -> str:
        """The GUID that the plan allocated for ``path``; refused where an asset already has it."""
        guid = self._allocated(f"guid:{path}")
        other = self.path_of(guid)
        if other is not None and other != path:
            raise OperationFailed(
                "unity.guid_clash", f"the allocated GUID belongs to {other}", where=path, value=guid
            )
        return guid

    def new_sprite_id(self, path: str, name: str | None = None) -> str:
        """The sprite id that the plan allocated for ``path``, or for the slice ``name`` of it."""
        return self._allocated(f"sprite:{path}" if name is None else f"sprite:{path}:{name}")

    def _allocated(self, name: str) -> str:
        value = self.allocations.get(name, "")
        if len(value) != 32 or set(value) - set("0123456789abcdef"):  # noqa: PLR2004 - 128 bits in hex
            raise OperationFailed(
                "unity.allocation_missing",
                "the bound plan holds no random choice of this name: the project changed since it was bound",
                where=name,
                mend="bind the plan again",
            )
        return value

    # -- outcome

    def flush(self) -> tuple[FileChange, ...]:
        """Write the staged bytes into the stage folder; the changes, sorted by path."""
        changes = []
        for path, data in sorted(self._staged.items()):
            before = self._before[path]
            if before == data:
                continue
            if data is not None:
                target = self.stage / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            sides = (None if side is None else digest_bytes(side) for side in (before, data))
            changes.append(FileChange(path, *sides))
        return tuple(changes)

    def diff(self) -> str:
        """The exact unified diff of everything staged; a moved file's is against what it was."""
        moved = {
            new: old
            for new, old in self._moved.items()
            if self._staged[new] is not None
            and self._staged.get(old, b"") is None
            and self._before[new] is None
        }
        shown = []
        for path in sorted(self._staged.keys() - set(moved.values())):
            old = moved.get(path)
            if old is not None:
                shown.append(f"rename from {old}\nrename to {path}\n")
            shown.append(unified(path, self._before[old or path], self._staged[path]))
        return "".join(shown)

    def touched(self) -> list[str]:
        """The paths that the plan writes, sorted; what it removes is not among them."""
        return sorted(path for path, data in self._staged.items() if data is not None)

    def original(self, path: str) -> bytes | None:
        """What stood at a staged ``path`` before the plan."""
        return self._before[path]


def _too_long(root: Path, path: str) -> str | None:
    """Windows takes no longer path from most programs, the editor among them."""
    if os.name != "nt" or len(str(root / path)) + len(".meta") < LONGEST_PATH:
        return None
    return f"with the project's folder it has {LONGEST_PATH} characters or more"


def _refuse_long_lines(data: bytes, path: str) -> None:
    """A line of that length is no value that anybody edits; reading it takes many times its size."""
    at = 0
    while len(data) - at > LONGEST_LINE:
        end = data.rfind(b"\n", at, at + LONGEST_LINE + 1)
        if end < 0:
            raise OperationFailed(
                "unity.asset_not_text",
                f"a line is longer than {LONGEST_LINE >> 20} MiB",
                where=path,
                mend="keep large data in a binary asset",
            )
        at = end + 1


def mapped(fault: TextFault, path: str) -> OperationFailed:
    """A fault of the text room as the capability's failure."""
    code = FAILURES.get(fault.code) or FAILURES.get(fault.code.partition(".")[0], "unity.asset_not_text")
    return OperationFailed(
        code,
        fault.what,
        where=f"{path}:{fault.where}" if fault.where else path,
        mend=fault.mend,
        value=fault.value,
    )
