"""``unity.create_asset@1``: a new ScriptableObject in the shape of a sibling."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_set_property import PropertyValue, decimal_text
from fabric_dagster.capabilities.unity_shared import TEXT_FAILURES, VALUE_FAILURES, asset_path, failures


class CreateAsset(Arguments):
    """``asset`` is the new path, ``like`` an existing ScriptableObject whose fields it gets.

    ``keep`` says whether the fields keep the sibling's values or are emptied (0, nothing, no reference)
    before ``values`` (property path → value) are set.
    """

    asset: str = asset_path()
    like: str = asset_path()
    keep: Literal["shape", "values"] = "shape"
    values: dict[str, PropertyValue] = Field(
        default_factory=dict, max_length=500, json_schema_extra={"fabric_type": "property_values"}
    )

    @field_validator("values", mode="before")
    @classmethod
    def _decimals(cls, value: object) -> object:
        return {key: decimal_text(item) for key, item in value.items()} if isinstance(value, dict) else value


CAPABILITY = Capability(
    id="unity.create_asset@1",
    application="unity",
    summary="Create a ScriptableObject in the shape of a sibling, with a new GUID and a full .meta.",
    arguments=CreateAsset,
    outputs={"asset": "unity_path", "reference": "unity_reference"},
    effects=frozenset({"unity.asset.write", "unity.meta.write"}),
    preconditions=(
        "nothing stands at the path",
        "the sibling is one MonoBehaviour document with a script",
        "every value's path exists in the sibling, and the value is of the property's type",
    ),
    postconditions=(
        "the asset has the sibling's script and fields, its own name, and every given value",
        "its .meta has the GUID that the bound plan drew, and no other asset has it",
        "every new folder has a .meta",
    ),
    failures=failures(
        *TEXT_FAILURES,
        *VALUE_FAILURES,
        "unity.asset_exists",
        "unity.asset_wrong_kind",
        "unity.allocation_missing",
        "unity.guid_clash",
    ),
)
