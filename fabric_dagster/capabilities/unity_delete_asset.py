"""``unity.delete_asset@1``: delete an asset or a folder that nothing refers to."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_shared import TEXT_FAILURES, asset_path, failures


class DeleteAsset(Arguments):
    """A folder goes with everything in it."""

    asset: str = asset_path()


CAPABILITY = Capability(
    id="unity.delete_asset@1",
    application="unity",
    summary="Delete an asset or a folder with its .meta, only when nothing refers to it.",
    arguments=DeleteAsset,
    outputs={},
    effects=frozenset({"unity.asset.delete"}),
    preconditions=(
        "no file outside of what is deleted holds one of its GUIDs",
        "no script loads it from Resources by its name",
        "it is no code: what names a class or an assembly cannot be seen here",
    ),
    postconditions=("neither the asset nor its .meta is there; an emptied folder is gone",),
    failures=failures(*TEXT_FAILURES, "unity.asset_in_use", "unity.asset_wrong_kind"),
)
