"""``unity.import_texture@1``: a picture into the project, with a full ``.meta`` from a certified profile."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.unity_shared import failures
from fabric_dagster.contracts.importer_profile import ImporterProfile


class ImportTexture(Arguments):
    """``source`` is a PNG; ``destination`` a path under ``Assets/`` or an embedded package."""

    source: str = feed("png", min_length=1, max_length=1024)
    destination: str = feed("unity_path", pattern=r"^(Assets|Packages)/.+\.png$", max_length=240)
    #: the name of a built-in profile, or the profile itself.
    profile: str | ImporterProfile = feed("profile", default="ui_sprite")


CAPABILITY = Capability(
    id="unity.import_texture@1",
    application="unity",
    summary="Import a PNG with a full .meta of the project's version; GUID and slices are kept.",
    arguments=ImportTexture,
    outputs={"texture": "unity_path", "sprite": "unity_reference"},
    effects=frozenset({"unity.asset.write", "unity.meta.write"}),
    preconditions=(
        "the source is a PNG within the profile's dimensions",
        "no asset differs from the destination only by case",
        "an existing .meta is a full TextureImporter block and has no slices that the profile would orphan",
    ),
    postconditions=(
        "the project's file has the source's bytes",
        "the .meta equals the profile and keeps GUID, slices and sprite ids",
        "every new folder has a .meta",
        "no GUID occurs twice",
    ),
    failures=(
        *failures(
            "unity.allocation_missing",
            "unity.asset_not_text",
            "unity.case_clash",
            "unity.destination_refused",
            "unity.guid_clash",
            "unity.meta_damaged",
        ),
        FailureCode("unity.source_not_png", "photoshop", True, "export the picture as a PNG again"),
        FailureCode("unity.dimensions", "photoshop", True, "export it in a size the profile allows"),
        FailureCode("unity.profile_unknown", "pack", False, "name a certified profile"),
        FailureCode("unity.profile_conflict", "pack", False, "use a profile that keeps the sheet's slices"),
        FailureCode(
            "unity.version_unknown", "operator", False, "open the project in a supported editor once"
        ),
    ),
)
