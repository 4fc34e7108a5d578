"""``unity.set_property@1``: one value of one document, spliced into the file's own bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.capabilities.unity_set_property import PlanReference, UnityReference
from fabric_dagster.errors import OperationFailed
from resources.unity.operations.references import check_reference
from resources.unity.operations.workspace import mapped
from resources.unity.text import TextFault, apply, set_value

if TYPE_CHECKING:
    from fabric_dagster.capabilities.unity_set_property import SetProperty
    from resources.unity.operations.workspace import Workspace
    from resources.unity.text import UnityFile
    from resources.unity.text.edits import Value

META = "0"


def target_of(args: SetProperty) -> str:
    """The file that is edited: the asset, or its ``.meta`` for document ``"0"``."""
    return f"{args.asset}.meta" if args.document == META and not args.asset.endswith(".meta") else args.asset


def plain_value(args: SetProperty) -> Value:
    """The value as the text room takes it."""
    if isinstance(args.value, UnityReference):
        return args.value.body()
    if isinstance(args.value, PlanReference):
        raise TypeError("a reference to an output of the plan is resolved before its operation runs")
    return args.value


def set_property(workspace: Workspace, args: SetProperty) -> dict[str, Any]:
    """Stage the edit. Returns ``property``: the file that holds it."""
    path = target_of(args)
    workspace.check_path(path)
    if path.endswith(".meta") and args.path == "guid":
        raise OperationFailed(
            "unity.value_type",
            "a GUID is never changed: every reference to the asset would break",
            where=f"{path}:guid",
            mend="import the asset anew under another path",
        )
    file = workspace.text(path)
    value = plain_value(args)
    try:
        splices = set_value(file, args.document, args.path, value)
    except TextFault as fault:
        raise mapped(fault, path) from fault
    if isinstance(value, dict):
        check_reference(workspace, path, args.document, args.path, dict(value))
    workspace.write(path, apply(file.data, splices))
    return {"property": path}


def reads_back(file: UnityFile, args: SetProperty) -> tuple[str, str]:
    """(expected, found) of the property, both as text for people."""
    value = plain_value(args)
    try:
        found = file.read(args.document, args.path)
        same = set_value(file, args.document, args.path, value) == []
    except TextFault as fault:
        return str(value), fault.what
    return (str(value), str(value)) if same else (str(value), str(found))
