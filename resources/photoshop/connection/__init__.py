"""photoshop-connection as a record: what was reviewed of it, and that nothing of it runs.

Holds ``record.yaml`` and its reader. Must never import the library, open a socket, or take script: the record
is no provider, serves no capability and cannot be bound. To use the library as a transport would take another
review, a handler behind the compiled plan, and a qualification of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Document
from fabric_dagster.documents import check, load_yaml

RECORD = Path(__file__).with_name("record.yaml")


class Surface(Contract):
    """One thing that the project offers, and what is decided about it. ``why`` is for people."""

    name: str
    decision: Literal["refused", "not_used"]
    why: str


class ProviderRecord(Document):
    """``fabric.provider-record.v1``: an external project that was reviewed at one revision.

    ``executable`` is false in this version: nothing can be registered, bound or run by a record.
    """

    SCHEMA: ClassVar[str] = "fabric.provider-record.v1"

    schema_: Literal["fabric.provider-record.v1"] = Field(alias="schema")
    name: str
    application: Literal["photoshop"]
    repository: str = Field(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")
    #: the revision whose sources were read for the review.
    read_at: str = Field(pattern=r"^[0-9a-f]{40}$")
    licence: str
    executable: Literal[False]
    serves: tuple[str, ...] = Field(max_length=0, strict=False)
    surfaces: tuple[Surface, ...] = Field(min_length=1, strict=False)
    before_use: tuple[str, ...] = Field(min_length=1, strict=False)


def record() -> ProviderRecord:
    """The validated record."""
    return check(ProviderRecord, load_yaml(RECORD.read_bytes(), str(RECORD)))
