"""Whether every slice of a touched sprite sheet that was there is there, under the same id.

Only this sees an id that a rename or a re-slice changed where nothing of the touched files refers to it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Params, Validator
from fabric_dagster.validators.kernels.project import PICTURES
from fabric_dagster.validators.kernels.sheets import block, slices
from fabric_dagster.validators.kernels.touched import META, touched
from resources.unity.text import UnityFile

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView


class SlicesKept(Params):
    """``removable``: names of slices that may be gone."""

    removable: tuple[str, ...] = ()


def judge(view: EvidenceView, params: SlicesKept) -> Outcome:
    """Compare the sheets of touched textures with what they were, and their tables with each other."""
    outcome = Outcome()
    found = touched(view)
    count = 0
    for texture in found.metas(PICTURES):
        path = f"{texture}{META}"
        meta = found.tree.unity(path)
        now = slices(meta)
        count += len(now)
        _sound(outcome, meta, path)
        before = view.before(path)
        if before is None:
            continue
        ids = {item.file_id: item for item in now}
        for was in slices(UnityFile(before.data)):
            here = ids.get(was.file_id)
            if here is None:
                gone = was.name in params.removable
                outcome.must(gone, f"the slice {was.name} with id {was.file_id}", "none", path)
            else:
                outcome.equal(was.sprite_id, here.sprite_id, f"{path}, spriteID of {here.name}")
    outcome.must(holds=True, expected="every slice looked at", found=str(count), where="touched textures")
    outcome.figures["slices"] = str(count)
    return outcome


def _sound(outcome: Outcome, meta: UnityFile, path: str) -> None:
    """One id and one name a slice; the tables say the same."""
    now = slices(meta)
    for kind, values in (("id", [item.file_id for item in now]), ("name", [item.name for item in now])):
        twice = sorted(value for value, times in Counter(values).items() if times > 1 or not value)
        outcome.must(not twice, f"one {kind} a slice", f"{', '.join(map(repr, twice))}", path)
    pairs = {item.name: item.file_id for item in now}
    importer = block(meta)
    sheet = importer.get("spriteSheet")
    names = sheet.get("nameFileIdTable") if isinstance(sheet, dict) else None
    if isinstance(names, dict) and names:
        outcome.must(names == pairs, "the name table as the slices", _differing(names, pairs), path)
    rows = importer.get("internalIDToNameTable")
    for row in rows if isinstance(rows, list) else []:
        first = row.get("first") if isinstance(row, dict) else None
        if isinstance(first, dict) and first.get("213") in pairs.values() and isinstance(row, dict):
            name = str(row.get("second"))
            outcome.must(
                pairs.get(name) == first["213"], f"id {first['213']} of {name}", str(pairs.get(name)), path
            )


def _differing(names: dict[str, object], pairs: dict[str, str]) -> str:
    keys = sorted({*names, *pairs} - {key for key in pairs if names.get(key) == pairs[key]})
    return ", ".join(keys) or "so"


VALIDATOR = Validator(
    id="slices_kept@1",
    summary="Every slice of a touched sheet keeps its id, and the sheet's tables agree.",
    params=SlicesKept,
    judge=judge,
)
