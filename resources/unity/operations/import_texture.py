"""``unity.import_texture@1``: the picture, its ``.meta``, and the ``.meta`` of each new folder.

Rules kept here: an existing GUID, slices and sprite ids stay; a GUID-only stub keeps its GUID and gets a full
block; a new block copies the project's newest sibling of a version that this editor reads, else the table.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from fabric_dagster.contracts.importer_profile import BUILT_IN, ImporterProfile
from fabric_dagster.errors import Fault, OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.files.paths import under
from resources.unity.importers.shapes import shape_of
from resources.unity.importers.sprites import texture_objects
from resources.unity.importers.textures import apply_profile, copied_meta, new_meta, profile_faults
from resources.unity.index import IMPORTER, read_guid
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.folders import metas_for, new_folders, refuse_odd_destination
from resources.unity.operations.pictures import read_png
from resources.unity.text import TextFault, UnityFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_import_texture import ImportTexture
    from resources.unity.operations.workspace import Workspace

SERIALIZED = re.compile(rb"^TextureImporter:\r?\n(?:  .*\r?\n)*?  serializedVersion: (\d+)\r?$", re.MULTILINE)
PLATFORM = re.compile(rb"^  - serializedVersion: (\d+)\r?$", re.MULTILINE)
TEXTURES = frozenset({".png", ".jpg", ".jpeg", ".psd", ".tga", ".tif", ".tiff", ".bmp", ".gif", ".exr"})
LARGEST_SOURCE = 256 << 20
SHOWN = 5


def needed_allocations(workspace: Workspace, destination: str) -> tuple[str, ...]:
    """The names of the random choices that importing to ``destination`` will need."""
    workspace.check_path(destination)
    names = [f"guid:{folder}" for folder in new_folders(workspace, destination)]
    meta = workspace.read(f"{destination}.meta")
    if meta is None:
        names.append(f"guid:{destination}")
    if meta is None or IMPORTER.search(meta) is None:
        names.append(f"sprite:{destination}")
    return tuple(names)


def import_texture(workspace: Workspace, args: ImportTexture, source: Path) -> dict[str, Any]:
    """Stage the import of the real file ``source``; returns ``texture`` and, if there is one, ``sprite``."""
    profile = chosen_profile(args.profile)
    destination = args.destination
    workspace.check_path(destination)
    refuse_odd_destination(workspace, destination)
    data = _read_source(source, args.source)
    picture = read_png(data, args.source)
    wrong = profile.dimensions.faults(picture.width, picture.height)
    if wrong:
        raise OperationFailed.of(
            Fault(
                "unity.dimensions",
                f"{why} ({picture.width} x {picture.height})",
                args.source,
                "export it in a size that the profile allows",
            )
            for why in wrong
        )
    metas_for(workspace, destination)
    meta = _meta(workspace, destination, profile)
    workspace.write(destination, data)
    workspace.write(f"{destination}.meta", meta)
    return _outputs(destination, meta)


def chosen_profile(profile: str | ImporterProfile) -> ImporterProfile:
    """The profile itself, or the built-in one of that name."""
    if isinstance(profile, ImporterProfile):
        return profile
    if profile not in BUILT_IN:
        raise OperationFailed(
            "unity.profile_unknown",
            "no built-in profile has this name",
            value=profile,
            mend=f"use one of {', '.join(BUILT_IN)}, or give the profile itself",
        )
    return BUILT_IN[profile]


def _read_source(source: Path, name: str) -> bytes:
    try:
        if source.stat().st_size > LARGEST_SOURCE:
            raise OperationFailed(
                "unity.source_not_png", f"the source is larger than {LARGEST_SOURCE >> 20} MiB", where=name
            )
        return source.read_bytes()
    except OSError as fault:
        raise OperationFailed(
            "unity.source_not_png",
            f"the source cannot be read: {fault.strerror}",
            where=name,
            mend="give a PNG file",
        ) from fault


def _meta(workspace: Workspace, destination: str, profile: ImporterProfile) -> bytes:
    old = workspace.read(f"{destination}.meta")
    if old is None:
        return _fresh(workspace, destination, profile, workspace.new_guid(destination))
    guid = read_guid(old)
    if guid is None:
        raise OperationFailed(
            "unity.meta_damaged",
            "the .meta has no GUID",
            where=f"{destination}.meta",
            mend="restore it, or delete it where nothing refers to the asset",
        )
    if IMPORTER.search(old) is None:
        return _fresh(workspace, destination, profile, guid)
    try:
        new = apply_profile(old, profile)
    except OperationFailed as fault:
        raise OperationFailed(
            fault.code, fault.faults[0].what, where=f"{destination}.meta", mend=fault.faults[0].mend
        ) from fault
    _refuse_lost_objects(workspace, destination, guid, old, new)
    return new


def _refuse_lost_objects(workspace: Workspace, destination: str, guid: str, old: bytes, new: bytes) -> None:
    """A profile may not take away an object that something refers to, as a plain texture has no sprite."""
    lost = texture_objects(UnityFile(old)).legal - texture_objects(UnityFile(new)).legal
    if not lost:
        return
    users = workspace.users_of(guid, lost)
    if users:
        shown = ", ".join(users[:SHOWN]) + (", …" if len(users) > SHOWN else "")
        raise OperationFailed(
            "unity.profile_conflict",
            f"the profile takes away a sprite that {len(users)} files refer to",
            where=f"{destination}.meta",
            mend=f"keep it a sprite, or change first: {shown}",
        )


def _fresh(workspace: Workspace, destination: str, profile: ImporterProfile, guid: str) -> bytes:
    sprite_id = workspace.new_sprite_id(destination)
    for sibling in _siblings(workspace, destination):
        try:
            return copied_meta(sibling.data, guid, sprite_id, profile)
        except (TextFault, OperationFailed):
            continue  # a damaged sibling is nobody's model
    return new_meta(shape_of(workspace.project.version), guid, sprite_id, profile)


class _Sibling(NamedTuple):
    rank: tuple[int, int, int, bool]
    path: str
    data: bytes


def _siblings(workspace: Workspace, destination: str) -> list[_Sibling]:
    """The project's texture metas that its editor reads: newest shape first, then the same folder."""
    try:
        newest = shape_of(workspace.project.version)
        limit = (newest.serialized_version, newest.platform_version)
    except OperationFailed:
        limit = (99, 99)
    folder = destination.rpartition("/")[0]
    found = []
    for path in sorted(workspace.index.guids):
        if PurePosixPath(path).suffix.lower() not in TEXTURES:
            continue
        data = workspace.read(f"{path}.meta") or b""
        version, platform = SERIALIZED.search(data), PLATFORM.search(data)
        if version is None or platform is None:
            continue
        steps = (int(version[1]), int(platform[1]))
        if steps[0] > limit[0] or steps[1] > limit[1]:
            continue
        fields = data[: platform.start()].count(b"\n")
        found.append(_Sibling((*steps, fields, path.rpartition("/")[0] == folder), path, data))
    return sorted(found, key=lambda item: (*(-int(part) for part in item.rank), item.path))


def _outputs(destination: str, meta: bytes) -> dict[str, Any]:
    objects = texture_objects(UnityFile(meta))
    outputs: dict[str, Any] = {"texture": destination}
    if len(objects.sprites) == 1:
        (file_id,) = objects.sprites
        outputs["sprite"] = {"fileID": file_id, "guid": read_guid(meta), "type": 3}
    return outputs


def _imported(workspace: Workspace, args: ImportTexture) -> Iterator[Observation]:
    path = f"{args.destination}.meta"
    meta = workspace.read(path) or b""
    faults = profile_faults(meta, chosen_profile(args.profile))
    differs = "; ".join(f"{where} is {found}, not {expected}" for where, expected, found in faults)
    yield Observation(f"{path}: profile", "equals the profile", differs or "equals the profile", not faults)
    guid = read_guid(meta)
    owners = workspace.index.assets.get(guid or "", [])
    yield Observation(
        f"{path}: guid",
        f"{args.destination} alone",
        ", ".join(owners) or "nobody",
        owners == [args.destination],
    )


OPERATION: UnityOperation[ImportTexture] = UnityOperation(
    capability="unity.import_texture@1",
    execute=lambda workspace, args: import_texture(workspace, args, under(workspace.inputs, args.source)),
    observe=_imported,
    subject=lambda _workspace, args: (args.destination,),
    allocations=lambda workspace, args: needed_allocations(workspace, args.destination),
)
