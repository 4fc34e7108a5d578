"""``unity.set_property@1``: one serialized property of one document of an existing asset."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field, field_validator

from fabric_dagster.capabilities.base import Arguments, Capability, feed
from fabric_dagster.capabilities.unity_shared import (
    DOCUMENT,
    TEXT_FAILURES,
    VALUE_FAILURES,
    asset_path,
    failures,
)
from fabric_dagster.contracts.base import Contract


class UnityReference(Contract):
    """A reference to an object: ``fileID`` as text (64 bits), with ``guid`` and ``type`` outside the file."""

    file_id: str | int = Field(alias="fileID")
    guid: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$")
    type: int | None = Field(default=None, ge=0, le=3)


class PlanReference(Contract):
    """An output of an earlier operation of the same plan, known when it is executed."""

    ref: str = Field(alias="$ref", pattern=r"^[a-z][a-z0-9_]{0,62}\.[a-z][a-z0-9_]{0,62}$")


PropertyValue: TypeAlias = bool | int | str | UnityReference | PlanReference


def decimal_text(value: object) -> object:
    """A JSON number with a fraction is taken as its decimal text: plans hold no floats."""
    return repr(value) if isinstance(value, float) else value


class SetProperty(Arguments):
    """``document`` is the fileID as text (``"0"``: a ``.meta``); ``path`` as Unity writes property paths.

    ``kind`` says what the property holds, for one that shows a whole number and whose script nobody has.
    """

    asset: str = asset_path()
    document: str = Field(pattern=DOCUMENT)
    path: str = Field(min_length=1, max_length=1024)
    value: PropertyValue = feed("property_value")
    kind: Literal["text", "decimal"] | None = None

    @field_validator("value", mode="before")
    @classmethod
    def _decimal(cls, value: object) -> object:
        return decimal_text(value)


CAPABILITY = Capability(
    id="unity.set_property@1",
    application="unity",
    summary="Set one scalar or reference of an existing asset; no other byte of the file changes.",
    arguments=SetProperty,
    outputs={"property": "unity_path"},
    effects=frozenset({"unity.serialized.write"}),
    preconditions=(
        "the asset is text and has the document",
        "the path leads to exactly one value of the given value's type",
        "a reference leads to an existing object of a kind that the property can hold",
    ),
    postconditions=(
        "the property reads back as the value",
        "every reference of the file resolves that resolved before",
    ),
    failures=failures(*TEXT_FAILURES, *VALUE_FAILURES),
)
