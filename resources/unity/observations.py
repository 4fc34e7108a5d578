"""What stands in a project, against what a plan asked for: read again, parsed again, nothing believed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fabric_dagster.capabilities.base import Arguments
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.workspace import Workspace
from resources.unity.project import Project
from resources.unity.text import TextFault, scan_references

Request = tuple[UnityOperation[Any], Arguments]


def observe_plan(project: Project, requests: Iterable[Request]) -> Iterator[Observation]:
    """Every postcondition of every operation, as it is on the disk now."""
    workspace = Workspace(project, project.root)
    for subject, (operation, args) in _lasting(workspace, requests).items():
        try:
            yield from operation.observe(workspace, args)
        except (FabricError, TextFault) as fault:
            yield Observation(subject[0], "readable", str(fault), holds=False)


def _lasting(workspace: Workspace, requests: Iterable[Request]) -> dict[tuple[str, ...], Request]:
    """By subject, without those whose subject or file a later operation replaced or took away."""
    last: dict[tuple[str, ...], Request] = {}
    for operation, args in requests:
        gone = operation.takes_away(args)
        if gone is not None:
            last = {
                subject: request
                for subject, request in last.items()
                if not (subject[0] in {gone, f"{gone}.meta"} or subject[0].startswith(f"{gone}/"))
            }
        last[operation.subject(workspace, args)] = (operation, args)
    return last


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
