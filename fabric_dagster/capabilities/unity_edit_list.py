"""``unity.edit_list@1``: insert, remove or move one item of a serialized list."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from fabric_dagster.capabilities.base import Arguments, Capability, feed
from fabric_dagster.capabilities.unity_set_property import PropertyValue, decimal_text
from fabric_dagster.capabilities.unity_shared import (
    DOCUMENT,
    TEXT_FAILURES,
    VALUE_FAILURES,
    asset_path,
    failures,
)

#: action → the sets of further arguments that fit it
FITTING: dict[str, tuple[set[str], ...]] = {
    "insert": ({"value"}, {"like"}),
    "remove": (set(),),
    "move": ({"to"},),
}


class EditList(Arguments):
    """``path`` leads to the list. ``index`` is where: of the item, or before which one is inserted.

    ``insert`` takes a ``value`` (scalar or reference), or ``like``: the index of an item to repeat, as the
    editor's own *plus* does. ``move`` takes ``to``: the index that the item has afterwards.
    """

    asset: str = asset_path()
    document: str = Field(pattern=DOCUMENT)
    path: str = Field(min_length=1, max_length=1024)
    action: Literal["insert", "remove", "move"]
    index: int = Field(ge=0, le=1_000_000)
    to: int | None = Field(default=None, ge=0, le=1_000_000)
    like: int | None = Field(default=None, ge=0, le=1_000_000)
    value: PropertyValue | None = feed("property_value", default=None)

    @field_validator("value", mode="before")
    @classmethod
    def _decimal(cls, value: object) -> object:
        return decimal_text(value)

    @model_validator(mode="after")
    def _fitting(self) -> EditList:
        given = {name for name in ("to", "like", "value") if getattr(self, name) is not None}
        if given not in FITTING[self.action]:
            msg = {
                "insert": "an insertion takes either a value or the item that it is like",
                "remove": "a removal takes nothing but the index",
                "move": "a move takes the index afterwards, and nothing else",
            }[self.action]
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="unity.edit_list@1",
    application="unity",
    summary="Insert, remove or move one item of a list of an existing asset; no other line changes.",
    arguments=EditList,
    outputs={"property": "unity_path"},
    effects=frozenset({"unity.serialized.write"}),
    preconditions=(
        "the asset is text and has the document",
        "the path leads to one list whose items stand on lines of their own",
        "a value is of the type of the other items",
    ),
    postconditions=(
        "the list reads back with the item inserted, removed or moved and all others in order",
        "every reference of the file resolves that resolved before",
    ),
    failures=failures(*TEXT_FAILURES, *VALUE_FAILURES),
)
