"""``unity.set_addressable@1``: an asset's entry among the Addressables: group, address, labels."""

from __future__ import annotations

from pydantic import Field, model_validator

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_shared import LONGEST_NAME, TEXT_FAILURES, asset_path, failures


class SetAddressable(Arguments):
    """``group`` is the path of the group's asset; without one the entry is taken out.

    ``address`` and ``labels`` stay as they are where they are left out; a new entry's address is the asset's
    path.
    """

    asset: str = asset_path()
    group: str | None = asset_path(default=None)
    address: str | None = Field(default=None, min_length=1, max_length=LONGEST_NAME)
    labels: tuple[str, ...] | None = Field(
        default=None, max_length=64, strict=False, json_schema_extra={"fabric_type": "labels"}
    )

    @model_validator(mode="after")
    def _an_entry(self) -> SetAddressable:
        if self.group is None and (self.address is not None or self.labels is not None):
            msg = "an entry that is taken out has neither address nor labels"
            raise ValueError(msg)
        if any(not label.strip() or len(label) > LONGEST_NAME for label in self.labels or ()):
            msg = f"a label is a text of 1 to {LONGEST_NAME} characters"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="unity.set_addressable@1",
    application="unity",
    summary="Put an asset into one Addressables group with an address and labels, or take it out.",
    arguments=SetAddressable,
    outputs={"asset": "unity_path"},
    effects=frozenset({"unity.serialized.write"}),
    preconditions=(
        "the asset exists with a .meta, and is no script and not within Resources",
        "the group is an Addressables group that is not read-only",
        "the asset is in at most one group, and no other entry has the address",
    ),
    postconditions=(
        "the asset has one entry in the group, with the address and the labels, and none in any other",
        "the entries of every touched group stand in the order of their GUIDs",
        "every label that the entry has is in the settings' table",
    ),
    failures=failures(
        *TEXT_FAILURES,
        "unity.document_missing",
        "unity.path_missing",
        "unity.value_type",
        "unity.addressable_clash",
        "unity.asset_wrong_kind",
        "unity.reference_unresolved",
    ),
)
