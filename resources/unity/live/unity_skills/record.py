"""The record of the reviewed revision, and whether the package on the disk is that revision."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import ClassVar, Final, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract
from fabric_dagster.documents import check, load_yaml
from fabric_dagster.errors import CheckFailed
from resources.files.paths import is_link
from resources.provider_record import ProviderRecord

RECORD: Final = Path(__file__).with_name("record.yaml")
#: a parameter's kind: an asset's path, one word of letters and digits, a whole number, true or false
Kind = Literal["asset", "word", "whole", "flag"]


class ReviewedOperation(Contract):
    """One operation that may be tried, with what the reviewed source declares of it.

    ``capability`` is the one of ours that it could stand behind one day; none for what only reads.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{2,63}$")
    capability: str | None = None
    operation: tuple[str, ...] = Field(strict=False, min_length=1)
    read_only: bool
    risk: Literal["low", "medium"]
    #: the parameter that names the asset it is about
    subject: str
    parameters: dict[str, Kind]

    @property
    def usage(self) -> str:
        """Its parameters with their kinds, for people."""
        return ", ".join(f"{name} ({kind})" for name, kind in self.parameters.items())


class UnitySkillsRecord(ProviderRecord):
    """``fabric.unity-skills-record.v1``: the package's identity and the reviewed operations."""

    SCHEMA: ClassVar[str] = "fabric.unity-skills-record.v1"

    schema_: Literal["fabric.unity-skills-record.v1"] = Field(alias="schema")  # type: ignore[assignment]
    package: str
    version: str
    tree: str = Field(pattern=r"^[0-9a-f]{40}$")
    files: int
    operations: tuple[ReviewedOperation, ...] = Field(strict=False)

    def operation(self, name: str) -> ReviewedOperation:
        """The reviewed operation ``name``; ``CheckFailed`` (``unity_skills.not_reviewed``) for any other."""
        for item in self.operations:
            if item.name == name:
                return item
        raise CheckFailed(
            "unity_skills.not_reviewed", "this operation was not reviewed", value=name,
            mend=f"use one of: {', '.join(item.name for item in self.operations)}",
        )  # fmt: skip


@cache
def record() -> UnitySkillsRecord:
    """The validated record."""
    return check(UnitySkillsRecord, load_yaml(RECORD.read_bytes(), str(RECORD)))


def require_revision(project: Path, known: UnitySkillsRecord) -> str:
    """The tree id of the package that is embedded in ``project``, which must be the reviewed one.

    Raises ``CheckFailed``: ``unity_skills.not_embedded``, ``unity_skills.other_revision``.
    """
    place = project / "Packages" / known.package
    if not place.is_dir() or is_link(place.lstat()):
        raise CheckFailed(
            "unity_skills.not_embedded", "the package is not embedded in the project", where=str(place),
            mend=f"copy SkillsForUnity of {known.revision} to Packages/{known.package}: the editor rewrites "
            "what it keeps in its cache",
        )  # fmt: skip
    found = git_tree(place)
    if found != known.tree:
        raise CheckFailed(
            "unity_skills.other_revision", f"the package on the disk is not {known.revision}",
            where=str(place), value=found, mend="check that revision out without converting line ends",
        )  # fmt: skip
    return found


def git_tree(folder: Path) -> str:
    """The object id that git gives a folder of ordinary files: the revision's own name for these bytes."""
    rows: list[tuple[bytes, bytes]] = []
    for item in folder.iterdir():
        if is_link(item.lstat()):
            raise CheckFailed("unity_skills.other_revision", "a link stands in the package", where=str(item))
        name = item.name.encode()
        if item.is_dir():
            inner = git_tree(item)
            if inner != EMPTY_TREE:
                rows.append((name + b"/", b"40000 " + name + b"\0" + bytes.fromhex(inner)))
        else:
            blob = _object(b"blob", item.read_bytes())
            rows.append((name, b"100644 " + name + b"\0" + bytes.fromhex(blob)))
    return _object(b"tree", b"".join(row for _, row in sorted(rows)))


def _object(kind: bytes, data: bytes) -> str:
    # SHA-1 is git's own name of the object, not our seal: the record cites it as it cites the revision.
    return hashlib.sha1(kind + b" %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


EMPTY_TREE: Final = _object(b"tree", b"")
