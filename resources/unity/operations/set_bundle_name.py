"""``unity.set_bundle_name@1``: two values of a ``.meta``."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import OperationFailed
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.set_property import value_observed, write_value
from resources.unity.text.nodes import Mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_set_bundle_name import SetBundleName
    from fabric_dagster.supervisor.ports import Observation
    from resources.unity.operations.workspace import Workspace

META = "0"
SCRIPTS = frozenset({".cs", ".dll", ".asmdef", ".asmref"})


def set_bundle_name(workspace: Workspace, args: SetBundleName) -> dict[str, Any]:
    """Stage the ``.meta``. Returns ``asset``."""
    workspace.check_path(args.asset)
    if PurePosixPath(args.asset).suffix.lower() in SCRIPTS:
        raise OperationFailed("unity.asset_wrong_kind", "a script is in no bundle", where=args.asset)
    if not workspace.exists(args.asset):
        raise OperationFailed("unity.asset_missing", "there is no such asset", where=args.asset)
    for where, value in _values(workspace, args).items():
        write_value(workspace, f"{args.asset}.meta", META, where, value)
    return {"asset": args.asset}


def _values(workspace: Workspace, args: SetBundleName) -> dict[str, str]:
    """Property path → value."""
    file = workspace.text(f"{args.asset}.meta")
    root = file.root(file.documents[0])
    entries = root.entries if isinstance(root, Mapping) else []
    names = [entry.key for entry in entries if entry.key.endswith("Importer")]
    if len(names) != 1:
        raise OperationFailed(
            "unity.meta_damaged",
            "the .meta has no importer block",
            where=f"{args.asset}.meta",
            mend="let the editor import the asset once, then run this again",
        )
    return {
        f"{names[0]}.assetBundleName": args.bundle or "",
        f"{names[0]}.assetBundleVariant": args.variant or "",
    }


def _observed(workspace: Workspace, args: SetBundleName) -> Iterator[Observation]:
    for where, value in _values(workspace, args).items():
        yield from value_observed(workspace, f"{args.asset}.meta", META, where, value)


OPERATION: UnityOperation[SetBundleName] = UnityOperation(
    capability="unity.set_bundle_name@1",
    execute=set_bundle_name,
    observe=_observed,
    subject=lambda _workspace, args: (f"{args.asset}.meta", "bundle"),
)
