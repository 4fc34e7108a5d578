"""``unity.rename_sprite@1``: another name for a slice, under the same id."""

from __future__ import annotations

from pydantic import Field

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_shared import LONGEST_NAME, TEXT_FAILURES, asset_path, failures


class RenameSprite(Arguments):
    """``sprite`` is the slice's name now, ``name`` the one afterwards."""

    texture: str = asset_path()
    sprite: str = Field(min_length=1, max_length=LONGEST_NAME)
    name: str = Field(min_length=1, max_length=LONGEST_NAME)


CAPABILITY = Capability(
    id="unity.rename_sprite@1",
    application="unity",
    summary="Rename a slice of a sprite sheet in all three tables; its id and every reference stay.",
    arguments=RenameSprite,
    outputs={"texture": "unity_path", "sprite": "unity_reference"},
    effects=frozenset({"unity.meta.write"}),
    preconditions=("the sheet has exactly one slice of this name", "it has none of the new name"),
    postconditions=(
        "sprites, internalIDToNameTable and nameFileIdTable have the new name with the old id",
        "every other slice is as before",
    ),
    failures=failures(*TEXT_FAILURES, "unity.asset_wrong_kind", "unity.meta_damaged", "unity.slices_refused"),
)
