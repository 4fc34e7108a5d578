"""The journal of one transaction: what it will write, and the bytes that stood there before.

A journal is a folder: ``before/N`` holds the old bytes of change N, ``journal.json`` says the rest and is
written last. So a folder without ``journal.json`` is one whose transaction had touched nothing.
"""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, ValidationError

from fabric_dagster.contracts.base import Contract, Digest
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.supervisor.ports import FileChange
from resources.files.durable import write_durably

if TYPE_CHECKING:
    from pathlib import Path

#: prepared: may be half done. committed: done. undoing: may be half undone. undone: as before.
State = Literal["prepared", "committed", "undoing", "undone"]


class Entry(Contract):
    """One file: digests before and after, and the permission bits of the old file."""

    path: str
    before: Digest | None = None
    after: Digest | None = None
    mode: int | None = None

    @property
    def change(self) -> FileChange:
        """The same as the port's type."""
        return FileChange(self.path, self.before, self.after)


class Journal(Contract):
    """What ``journal.json`` holds."""

    NAME: ClassVar[str] = "journal.json"

    schema_: Literal["fabric.file-journal.v1"] = Field("fabric.file-journal.v1", alias="schema")
    transaction: str
    state: State
    entries: tuple[Entry, ...] = Field(strict=False)
    #: folders that the transaction makes, parents first.
    folders: tuple[str, ...] = Field((), strict=False)
    #: folders that the transaction removes once they are empty, parents first.
    emptied: tuple[str, ...] = Field((), strict=False)

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """The files of the transaction."""
        return tuple(entry.change for entry in self.entries)

    def moved(self, state: State) -> Journal:
        """The same journal in another state."""
        return self.model_copy(update={"state": state})

    def save(self, folder: Path) -> None:
        """Write ``journal.json``, flushed, in one step."""
        write_durably(folder / self.NAME, self.model_dump_json(by_alias=True, exclude_none=True).encode())


def folder_name(transaction: str) -> str:
    """The name of a transaction's journal folder: any text may identify a transaction."""
    return hashlib.sha256(transaction.encode()).hexdigest()[:32]


def load(folder: Path) -> Journal | None:
    """The journal in ``folder``, or ``None`` where none was completed."""
    try:
        data = (folder / Journal.NAME).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return Journal.model_validate_json(data)
    except ValidationError as fault:
        raise InvalidDocument(
            "transaction.journal_damaged",
            f"the journal cannot be read: {fault.errors()[0]['msg']}",
            where=str(folder / Journal.NAME),
            mend="compare the project with its version control by hand, then remove the journal's folder",
        ) from None


def drop(folder: Path) -> None:
    """Remove a journal; ``journal.json`` goes first, so that a rest never looks like a transaction."""
    (folder / Journal.NAME).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
