"""``unity.set_bundle_name@1``: the AssetBundle that an asset or a folder is built into."""

from __future__ import annotations

from pydantic import Field, model_validator

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_shared import TEXT_FAILURES, VALUE_FAILURES, asset_path, failures

NAME = r"^[a-z0-9][a-z0-9_./-]{0,99}$"


class SetBundleName(Arguments):
    """``bundle`` in lower case, as Unity keeps it; without one the asset is in none."""

    asset: str = asset_path()
    bundle: str | None = Field(default=None, pattern=NAME)
    variant: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9_-]{0,49}$")

    @model_validator(mode="after")
    def _variant_of_a_bundle(self) -> SetBundleName:
        if self.variant is not None and self.bundle is None:
            msg = "a variant needs a bundle"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="unity.set_bundle_name@1",
    application="unity",
    summary="Set or clear the AssetBundle name and variant in an asset's or folder's .meta.",
    arguments=SetBundleName,
    outputs={"asset": "unity_path"},
    effects=frozenset({"unity.meta.write"}),
    preconditions=("the asset has a .meta with an importer block", "it is no script"),
    postconditions=("assetBundleName and assetBundleVariant read back as given",),
    failures=failures(*TEXT_FAILURES, *VALUE_FAILURES, "unity.asset_wrong_kind", "unity.meta_damaged"),
)
