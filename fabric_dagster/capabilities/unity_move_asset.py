"""``unity.move_asset@1``: move or rename an asset or a folder; its GUID and every reference stay."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_shared import TEXT_FAILURES, asset_path, failures


class MoveAsset(Arguments):
    """``to`` is the whole new path; a file keeps its suffix."""

    asset: str = asset_path()
    to: str = asset_path()


CAPABILITY = Capability(
    id="unity.move_asset@1",
    application="unity",
    summary="Move or rename an asset or a folder with its .meta; references by GUID stay as they are.",
    arguments=MoveAsset,
    outputs={"asset": "unity_path"},
    effects=frozenset({"unity.asset.move", "unity.meta.write", "unity.serialized.write"}),
    preconditions=(
        "the asset has a .meta with a GUID, and nothing stands at the new path",
        "no name on the new path differs from an existing one only by case",
        "a script keeps its name, which is its class's",
    ),
    postconditions=(
        "every file stands at its new path with its bytes and its .meta's GUID; the old paths are gone",
        "a native asset's object and a scene's entry in the build settings follow the new name",
        "every new folder has a .meta; an emptied folder is gone",
    ),
    failures=failures(
        *TEXT_FAILURES,
        "unity.allocation_missing",
        "unity.asset_exists",
        "unity.asset_wrong_kind",
        "unity.guid_clash",
        "unity.meta_damaged",
        "unity.document_missing",
        "unity.path_missing",
        "unity.value_type",
    ),
)
