"""Whether every atlas packs what exists, and no sprite is packed twice.

Only this sees a sprite in two atlases, a member that leads nowhere in an untouched atlas, and packed sprites,
which the editor derives, that were edited.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Params, Validator
from fabric_dagster.validators.kernels.project import TEXTURE
from fabric_dagster.validators.kernels.sheets import ATLASES, FOLDER, packables, packed, sprite_ids
from fabric_dagster.validators.kernels.touched import touched
from resources.unity.text import TextFault, UnityFile

if TYPE_CHECKING:
    from fabric_dagster.validators.kernels.project import Tree
    from fabric_dagster.validators.view import EvidenceView

DERIVED = ("m_PackedSprites", "m_PackedSpriteNamesToIndex")


class AtlasesSound(Params):
    """Nothing to set."""


def judge(view: EvidenceView, params: AtlasesSound) -> Outcome:  # noqa: ARG001 - there are none
    """Expand every atlas of the project."""
    outcome = Outcome()
    found = touched(view)
    owners: dict[tuple[str, int], list[str]] = {}
    atlases = [path for path in sorted(found.tree.files) if PurePosixPath(path).suffix.lower() in ATLASES]
    for atlas in atlases:
        members = packables(found.tree, atlas)
        for file_id, guid in members:
            why = _wrong(found.tree, file_id, guid)
            outcome.must(not why, "a folder or a sprite that exists", why or "so", atlas)
        for sprite in packed(found.tree, members):
            owners.setdefault(sprite, []).append(atlas)
        if atlas in found.changed:
            _derived(outcome, view, found.tree, atlas)
    for (texture, file_id), names in sorted(owners.items()):
        if len(names) > 1:
            where = f"{texture}, sprite {file_id}"
            outcome.must(holds=False, expected="packed once", found=", ".join(names), where=where)
    outcome.must(holds=True, expected="every atlas looked at", found=str(len(atlases)), where="project")
    outcome.figures.update(atlases=str(len(atlases)), sprites=str(len(owners)))
    return outcome


def _wrong(tree: Tree, file_id: int, guid: str) -> str:
    target = tree.asset_of(guid)
    if target is None:
        return f"no asset has the GUID {guid}"
    if file_id == FOLDER:
        return "" if target in tree.folders else f"{target} is no folder"
    meta = f"{target}.meta"
    if meta not in tree.files or b"\nTextureImporter:" not in tree.read(meta):
        return "" if target.startswith("Library/") else f"{target} is no texture"
    sprites = sprite_ids(tree.unity(meta))
    if not sprites:
        return f"{target} has no sprite"
    return "" if file_id == TEXTURE or file_id in sprites else f"{target} has no sprite {file_id}"


def _derived(outcome: Outcome, view: EvidenceView, tree: Tree, atlas: str) -> None:
    before = view.before(atlas)
    if before is None:
        return
    was, now = UnityFile(before.data), tree.unity(atlas)
    for span in now.documents:
        for name in DERIVED:
            pair = []
            for file in (was, now):
                try:
                    pair.append(file.read(span.file_id, name))
                except TextFault:
                    pair.append([])
            outcome.must(
                pair[0] == pair[1], "the packed sprites as the editor left them", "edited", f"{atlas}, {name}"
            )


VALIDATOR = Validator(
    id="atlases_sound@1",
    summary="Every atlas packs sprites that exist, none of them twice, and its derived part is untouched.",
    params=AtlasesSound,
    judge=judge,
)
