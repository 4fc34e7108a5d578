"""Whether the project holds the sealed picture, imported exactly as the certified profile says.

Only this sees a wrong importer setting, an importer block that is not whole, a GUID that changed on
re-import, or slices that were lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fabric_dagster.contracts.importer_profile import ImporterProfile
from fabric_dagster.validators.base import Outcome, Unjudgeable, Validator
from fabric_dagster.validators.kernels import png
from fabric_dagster.validators.kernels.derive import ProjectNames, project_tree
from fabric_dagster.validators.kernels.project import guid_of, importer_of
from resources.unity.text import TextFault, UnityFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.validators.view import EvidenceView

IMPORTER = "TextureImporter"
DEFAULT = "DefaultTexturePlatform"
#: keys of the block in every file that Unity wrote, from 2018.1 (serializedVersion 5) on, and since when
ALWAYS = frozenset({
    "alignment", "alphaIsTransparency", "alphaUsage", "assetBundleName", "assetBundleVariant", "bumpmap",
    "compressionQuality", "compressionQualitySet", "cubemapConvolution", "externalObjects",
    "generateCubemap", "grayScaleToAlpha", "isReadable", "lightmap", "maxTextureSize", "maxTextureSizeSet",
    "mipmaps", "nPOTScale", "platformSettings", "seamlessCubemap", "serializedVersion",
    "singleChannelComponent", "spriteBorder", "spriteExtrude", "spriteMeshType", "spriteMode",
    "spritePivot", "spritePixelsToUnits", "spriteSheet", "spriteTessellationDetail", "textureFormat",
    "textureFormatSet", "textureSettings", "textureShape", "textureType", "userData",
})  # fmt: skip
SINCE: dict[int, frozenset[str]] = {
    7: frozenset({"spriteGenerateFallbackPhysicsShape", "streamingMipmaps", "streamingMipmapsPriority"}),
    10: frozenset({"internalIDToNameTable"}),
    11: frozenset({"applyGammaDecoding"}),
    12: frozenset({"flipbookColumns", "flipbookRows", "ignorePngGamma", "vTOnly"}),
}
OLDEST, NEWEST = 5, 13
#: digits of a random GUID that differ from each other; a hand-made one has fewer
LEAST_DIGITS = 6


class ImportProfile(ProjectNames):
    """Names of the picture's and the project's parts."""


def judge(view: EvidenceView, params: ImportProfile) -> Outcome:
    """Compare the project's file with the sealed one and its ``.meta`` with the profile, key by key."""
    outcome = Outcome()
    tree = project_tree(view)
    path = str(view.decided(params.destination))
    meta_path = f"{path}.meta"
    sealed = view.artifact(("artifact", "png"), params.export)
    outcome.equal(sealed.digest, tree.files.get(path, "no file"), path)
    profile = _profile(view.decided(params.profile), params.profile)
    meta = tree.unity(meta_path)
    _whole(outcome, meta, meta_path)
    if importer_of(meta) == IMPORTER:
        _settings(outcome, meta, profile, meta_path)
    size = png.examine(sealed.data)
    faults = profile.dimensions.faults(size.width, size.height)
    outcome.must(not faults, "dimensions that the profile allows", "; ".join(faults) or "so", path)
    before = view.before(meta_path)
    guid = guid_of(meta.data)
    _identity(outcome, before.data if before else None, guid, meta_path)
    if before is not None:
        _kept(outcome, before.data, meta, profile, meta_path)
    outcome.figures["guid"] = str(guid)
    return outcome


def _profile(value: Any, where: str) -> ImporterProfile:  # noqa: ANN401 - a pack's value
    try:
        return ImporterProfile.model_validate(value)
    except ValidationError as fault:
        found = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in fault.errors(include_url=False)
        )
        raise Unjudgeable("a certified importer profile", found, where) from fault


def _whole(outcome: Outcome, meta: UnityFile, where: str) -> None:
    """A stub or a torn block is written anew by every editor that opens the project."""
    block = _read(meta, IMPORTER)
    if not isinstance(block, dict):
        outcome.must(holds=False, expected=f"a whole {IMPORTER} block", found="none", where=where)
        return
    version = str(block.get("serializedVersion", ""))
    number = int(version) if version.isdigit() else 0
    outcome.must(OLDEST <= number <= NEWEST, f"a serializedVersion from {OLDEST} to {NEWEST}", version, where)
    wanted = ALWAYS.union(*(keys for since, keys in SINCE.items() if since <= number))
    missing = sorted(wanted - block.keys())
    outcome.must(
        not missing, "every key of the block", f"without {', '.join(missing)}" if missing else "so", where
    )
    outcome.must(
        meta.data.endswith(b"\n"),
        "a final line end",
        "none" if not meta.data.endswith(b"\n") else "so",
        where,
    )


def _settings(outcome: Outcome, meta: UnityFile, profile: ImporterProfile, where: str) -> None:
    for key, wanted in profile.properties().items():
        found = _read(meta, f"{IMPORTER}.{key}")
        outcome.equal(wanted, found, f"{where}, {key}")
    rows = _platforms(meta)
    outcome.must(DEFAULT in rows, f"settings of {DEFAULT}", ", ".join(rows) or "none", where)
    for target in profile.platforms:
        twin = {"iPhone": "iOS", "iOS": "iPhone"}.get(target, target)
        outcome.must(target in rows or twin in rows, f"settings of {target}", ", ".join(rows), where)
    for target, row in rows.items():
        for key, wanted in profile.platform_properties(target).items():
            outcome.equal(wanted, row.get(key), f"{where}, platformSettings {target}, {key}")


def _platforms(meta: UnityFile) -> dict[str, Mapping[str, Any]]:
    rows = _read(meta, f"{IMPORTER}.platformSettings")
    listed = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {str(row.get("buildTarget")): row for row in listed}


def _identity(outcome: Outcome, before: bytes | None, guid: str | None, where: str) -> None:
    if guid is None:
        outcome.must(holds=False, expected="a GUID", found="none", where=where)
    elif before is not None:
        outcome.equal(guid_of(before), guid, f"{where}, GUID kept on re-import")
    else:
        digits = len(set(guid))
        outcome.must(digits >= LEAST_DIGITS, "a GUID drawn at random", guid, f"{where}, new GUID")


def _kept(outcome: Outcome, before: bytes, meta: UnityFile, profile: ImporterProfile, where: str) -> None:
    """What the profile does not name is as it was: slices, sprite ids, labels, other platforms' values."""
    try:
        was = UnityFile(before).read("0", IMPORTER)
    except TextFault:
        return  # it had no importer block: nothing to keep
    now = _read(meta, IMPORTER)
    if not isinstance(was, dict) or not isinstance(now, dict):
        return
    named = set(profile.properties())
    flat_was, flat_now = _flat(was, ""), _flat(now, "")
    for key in sorted(flat_was.keys() | flat_now.keys()):
        if key in named or key.startswith("platformSettings"):
            continue
        if flat_was.get(key) != flat_now.get(key):
            outcome.must(
                holds=False,
                expected=f"{flat_was.get(key, 'absent')} as before",
                found=flat_now.get(key, "absent"),
                where=f"{where}, {key}",
            )
    outcome.must(
        holds=True,
        expected="what the profile does not name, as before",
        found=f"{len(flat_was)} values",
        where=where,
    )


def _flat(value: Any, path: str) -> dict[str, str]:  # noqa: ANN401 - plain YAML
    if isinstance(value, dict):
        found: dict[str, str] = {}
        for key, item in value.items():
            found |= _flat(item, f"{path}.{key}" if path else str(key))
        return found or {path: "{}"}
    if isinstance(value, list):
        found = {}
        for index, item in enumerate(value):
            found |= _flat(item, f"{path}.Array.data[{index}]")
        return found or {path: "[]"}
    return {path: str(value)}


def _read(meta: UnityFile, path: str) -> Any:  # noqa: ANN401 - plain YAML
    try:
        return meta.read("0", path)
    except TextFault:
        return None


VALIDATOR = Validator(
    id="import_profile@1",
    summary="The sealed picture lies in the project, imported exactly as the certified profile says.",
    params=ImportProfile,
    judge=judge,
)
