"""What editing an object of a scene and of a prefab declare in common."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, field_validator, model_validator

from fabric_dagster.capabilities.base import Arguments, feed
from fabric_dagster.capabilities.unity_set_property import PropertyValue, decimal_text
from fabric_dagster.capabilities.unity_shared import DOCUMENT, TEXT_FAILURES, VALUE_FAILURES, asset_path


class SetObjectProperty(Arguments):
    """``document`` is the object's fileID, ``path`` a property path as Unity writes it.

    Of an object that comes from a prefab (a *stripped* document) the override is set. So it is with
    ``document`` naming the prefab instance and ``target`` the fileID of the object within the source prefab.
    ``revert`` takes the override away instead.
    """

    asset: str = asset_path()
    document: str = Field(pattern=DOCUMENT)
    path: str = Field(min_length=1, max_length=1024)
    value: PropertyValue | None = feed("property_value", default=None)
    target: str | None = Field(default=None, pattern=DOCUMENT)
    revert: bool = False
    kind: Literal["text", "decimal"] | None = None

    @field_validator("value", mode="before")
    @classmethod
    def _decimal(cls, value: object) -> object:
        return decimal_text(value)

    @model_validator(mode="after")
    def _one_of_both(self) -> SetObjectProperty:
        if (self.value is None) != self.revert:
            msg = "give either a value or revert"
            raise ValueError(msg)
        return self


OBJECT_PRECONDITIONS: Final = (
    "the asset is text and has the object",
    "the property exists, holds a value of the given type, and is none of the editor's own structure",
    "an override's target is an object of the instance's source prefab, as far as that is in the project",
)
OBJECT_POSTCONDITIONS: Final = (
    "the property, or the override on the instance, reads back as the value; a reverted one is gone",
    "no other object of the file is changed",
)
OBJECT_FAILURES: Final = (*TEXT_FAILURES, *VALUE_FAILURES, "unity.asset_wrong_kind")
