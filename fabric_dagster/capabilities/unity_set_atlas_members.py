"""``unity.set_atlas_members@1``: what a sprite atlas packs."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_shared import (
    ASSET,
    LONGEST_NAME,
    LONGEST_PATH,
    TEXT_FAILURES,
    asset_path,
    failures,
)
from fabric_dagster.contracts.base import Contract


class Member(Contract):
    """A folder, a texture (all of its sprites), or one sprite of a texture by its name."""

    path: str = Field(pattern=ASSET, max_length=LONGEST_PATH)
    sprite: str | None = Field(default=None, min_length=1, max_length=LONGEST_NAME)


def _members(**extra: Any) -> Any:  # noqa: ANN401 - the type of a pydantic field declaration
    return Field(
        default=(), max_length=500, strict=False, json_schema_extra={"fabric_type": "atlas_members"}, **extra
    )


class SetAtlasMembers(Arguments):
    """``atlas`` is a ``.spriteatlas`` or ``.spriteatlasv2``. What is there already is not added twice."""

    atlas: str = asset_path()
    add: tuple[Member, ...] = _members()
    remove: tuple[Member, ...] = _members()

    @model_validator(mode="after")
    def _something(self) -> SetAtlasMembers:
        if not self.add and not self.remove:
            msg = "give members to add or to remove"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="unity.set_atlas_members@1",
    application="unity",
    summary="Add to and remove from what a sprite atlas packs; both formats, folders expanded for the check.",
    arguments=SetAtlasMembers,
    outputs={"atlas": "unity_path"},
    effects=frozenset({"unity.serialized.write"}),
    preconditions=(
        "the atlas is a master atlas of either format",
        "every member is a folder, a sprite texture or a sprite that exists",
        "no sprite is packed twice, by this atlas or by another one that is in the build",
    ),
    postconditions=(
        "every added member stands among the packables once, every removed one does not",
        "the packed sprites, which the editor derives, are as before",
    ),
    failures=failures(
        *TEXT_FAILURES,
        "unity.document_missing",
        "unity.path_missing",
        "unity.value_type",
        "unity.asset_wrong_kind",
        "unity.atlas_clash",
        "unity.meta_damaged",
        "unity.reference_unresolved",
    ),
)
