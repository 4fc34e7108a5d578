"""``unity.rename_sprite@1``: a slice's name in all three tables; its id stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.importers.slices import renamed
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.slice_sprites import name_faults, sheet, sprite_outputs
from resources.unity.text import TextFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_rename_sprite import RenameSprite
    from resources.unity.operations.workspace import Workspace


def rename_sprite(workspace: Workspace, args: RenameSprite) -> dict[str, Any]:
    """Stage the ``.meta``. Returns ``texture`` and ``sprite``."""
    file, have = sheet(workspace, args.texture)
    names = [item.name for item in have]
    faults = name_faults(args.name, args.texture)
    if faults:
        raise OperationFailed.of(faults)
    if names.count(args.sprite) != 1:
        count = names.count(args.sprite)
        raise OperationFailed(
            "unity.slices_refused",
            f"the sheet has {count} slices of this name" if count else "the sheet has no slice of this name",
            where=args.texture,
            value=args.sprite,
            mend=f"it has: {', '.join(names[:20]) or 'none'}",
        )
    if args.name != args.sprite and args.name in names:
        raise OperationFailed(
            "unity.slices_refused", "another slice has this name", where=args.texture, value=args.name
        )
    try:
        data = renamed(file.data, args.sprite, args.name)
    except TextFault as fault:
        raise OperationFailed("unity.meta_damaged", fault.what, where=f"{args.texture}.meta") from fault
    workspace.write(f"{args.texture}.meta", data)
    return sprite_outputs(args.texture, data, args.name)


def _observed(workspace: Workspace, args: RenameSprite) -> Iterator[Observation]:
    _, have = sheet(workspace, args.texture)
    names = [item.name for item in have]
    found = "so" if args.name in names and args.sprite not in names else ", ".join(names)
    yield Observation(
        f"{args.texture}.meta: {args.sprite}",
        f"named {args.name}",
        f"named {args.name}" if found == "so" else found,
        found == "so" or args.name == args.sprite,
    )


OPERATION: UnityOperation[RenameSprite] = UnityOperation(
    capability="unity.rename_sprite@1",
    execute=rename_sprite,
    observe=_observed,
    subject=lambda _workspace, args: (f"{args.texture}.meta", "name", args.sprite),
)
