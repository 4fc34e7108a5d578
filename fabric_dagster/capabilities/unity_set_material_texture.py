"""``unity.set_material_texture@1``: the texture in one slot of a material."""

from __future__ import annotations

from pydantic import Field

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_shared import TEXT_FAILURES, VALUE_FAILURES, asset_path, failures


class SetMaterialTexture(Arguments):
    """``slot`` is the shader property (``_MainTex``); without a ``texture`` the slot is emptied."""

    material: str = asset_path()
    slot: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    texture: str | None = asset_path(default=None)


CAPABILITY = Capability(
    id="unity.set_material_texture@1",
    application="unity",
    summary="Put a texture into a slot of a material, or empty the slot; tiling and offset stay.",
    arguments=SetMaterialTexture,
    outputs={"material": "unity_path"},
    effects=frozenset({"unity.serialized.write"}),
    preconditions=(
        "the material has the slot",
        "the texture is an imported texture, a cubemap or a render texture of the project",
    ),
    postconditions=("the slot refers to the texture itself, not to a sprite of it",),
    failures=failures(*TEXT_FAILURES, *VALUE_FAILURES, "unity.asset_wrong_kind", "unity.meta_damaged"),
)
