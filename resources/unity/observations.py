"""What stands in a project, against what a plan asked for: read again, parsed again, nothing believed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabric_dagster.capabilities.base import Arguments
from fabric_dagster.capabilities.unity_import_texture import ImportTexture
from fabric_dagster.capabilities.unity_set_property import SetProperty
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.ports import Observation
from resources.unity.importers.textures import profile_faults
from resources.unity.index import read_guid
from resources.unity.operations.import_texture import chosen_profile
from resources.unity.operations.set_property import reads_back, target_of
from resources.unity.operations.workspace import Workspace
from resources.unity.project import Project
from resources.unity.text import TextFault, UnityFile, scan_references


def observe_plan(project: Project, requests: Iterable[Arguments]) -> Iterator[Observation]:
    """Every postcondition of every operation, as it is on the disk now."""
    workspace = Workspace(project, project.root)
    # A later operation on the same target has the last word.
    for args in {_target(args): args for args in requests}.values():
        try:
            if isinstance(args, ImportTexture):
                yield from _imported(workspace, args)
            elif isinstance(args, SetProperty):
                yield from _set(workspace, args)
        except (FabricError, TextFault) as fault:
            where = args.destination if isinstance(args, ImportTexture) else "plan"
            yield Observation(where, "readable", str(fault), holds=False)


def _target(args: Arguments) -> tuple[str, ...]:
    if isinstance(args, SetProperty):
        return target_of(args), args.document, args.path
    return (args.destination,) if isinstance(args, ImportTexture) else (str(id(args)),)


def reference_observations(workspace: Workspace) -> Iterator[Observation]:
    """One for each touched text file: every reference that it holds leads somewhere, or did not before."""
    for path in workspace.touched():
        data = workspace.read(path) or b""
        if not (path.endswith(".meta") or data[:8].lstrip(b"\xef\xbb\xbf").startswith(b"%YAML")):
            continue
        old = {reference.guid for reference in scan_references(workspace.original(path) or b"")}
        lost = sorted(
            {
                reference.guid
                for reference in scan_references(data)
                if workspace.path_of(reference.guid) is None
                and workspace.index.classify(reference.guid) == "broken"
                and reference.guid not in old
            }
        )
        found = ", ".join(lost) if lost else "all resolve"
        yield Observation(f"{path}: references", "all resolve", found, not lost)


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


def _set(workspace: Workspace, args: SetProperty) -> Iterator[Observation]:
    path = target_of(args)
    expected, found = reads_back(UnityFile(workspace.read(path) or b""), args)
    yield Observation(f"{path}:{args.document}:{args.path}", expected, found, expected == found)
