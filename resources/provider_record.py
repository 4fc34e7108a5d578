"""An external project that was reviewed at one revision, as a record: it registers and runs nothing."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Document


class Surface(Contract):
    """One thing that the project offers, and what is decided about it. ``why`` is for people.

    ``dry_run`` means that a qualification adapter may ask for it, and it alone, without effect.
    """

    name: str
    decision: Literal["refused", "not_used", "dry_run"]
    why: str


class ProviderRecord(Document):
    """``fabric.provider-record.v1``.

    ``executable`` is false in this version: nothing can be registered, bound or run by a record.
    """

    SCHEMA: ClassVar[str] = "fabric.provider-record.v1"

    schema_: Literal["fabric.provider-record.v1"] = Field(alias="schema")
    name: str
    application: Literal["photoshop", "unity"]
    repository: str = Field(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")
    #: the revision whose sources were read for the review.
    read_at: str = Field(pattern=r"^[0-9a-f]{40}$")
    licence: str
    executable: Literal[False]
    serves: tuple[str, ...] = Field(max_length=0, strict=False)
    surfaces: tuple[Surface, ...] = Field(min_length=1, strict=False)
    before_use: tuple[str, ...] = Field(min_length=1, strict=False)
