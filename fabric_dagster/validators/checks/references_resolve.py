"""Whether every reference out of touched files, and every one into the picture, leads to an object.

Only this sees a dangling reference beside the one that was set, a sprite field that shows a texture, and
references elsewhere to sprites that a re-import took away.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Unjudgeable, Validator
from fabric_dagster.validators.kernels.derive import ProjectNames, project_tree
from fabric_dagster.validators.kernels.project import BUILT_IN, SCRIPT, SERIALIZED, TEXTURE, Tree, legal_ids
from resources.unity.text import Reference, TextFault, UnityFile, scan_references

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView

#: the reference type of what an importer made
IMPORTED = 3
LOCAL = re.compile(rb"\{fileID: (-?\d+)\}")


class ReferencesResolve(ProjectNames):
    """``sprites``: properties of the asset that hold sprites, where a texture is never legal."""

    sprites: tuple[str, ...] = ("icon",)


def judge(view: EvidenceView, params: ReferencesResolve) -> Outcome:
    """Follow every reference out of touched files, then every one into re-imported pictures."""
    outcome = Outcome()
    tree = project_tree(view)
    asset = str(view.decided(params.asset))
    touched = {path for path, digest in tree.files.items() if view.manifest.get(path) != digest}
    others = {str(view.decided(name)) for name in (*params.created, *params.edited)}
    missing = sorted(({asset} | others) - tree.files.keys())
    outcome.must(not missing, "every decided asset", f"without {', '.join(missing)}" if missing else "so")
    named = ({asset, f"{view.decided(params.destination)}.meta"} | others) & tree.files.keys()
    count = 0
    for path in sorted(touched | named):
        if _is_text(path):
            count += _out_of(outcome, view, tree, path)
    _sprites(outcome, tree, asset, params)
    count += _into(outcome, tree, str(view.decided(params.destination)))
    for guid, paths in sorted(tree.guids.items()):
        if len(paths) > 1 and any(path in touched or f"{path}.meta" in touched for path in paths):
            outcome.must(holds=False, expected="one asset a GUID", found=", ".join(sorted(paths)), where=guid)
    outcome.figures["references"] = str(count)
    outcome.must(holds=True, expected="every reference followed", found=f"{count} references", where=asset)
    return outcome


def _is_text(path: str) -> bool:
    return path.endswith(".meta") or PurePosixPath(path).suffix.lower() in SERIALIZED


def _out_of(outcome: Outcome, view: EvidenceView, tree: Tree, path: str) -> int:
    file = tree.unity(path)
    references = list(scan_references(file.data))
    for reference in references:
        why = _broken(view, tree, path, reference)
        if why:
            shown = f"fileID {reference.file_id}, guid {reference.guid}"
            outcome.must(
                holds=False,
                expected="an object that exists",
                found=f"{shown}: {why}",
                where=_at(file, path, reference),
            )
    own = {span.file_id for span in file.documents}
    if not path.endswith(".meta"):
        for match in LOCAL.finditer(file.data):
            local = match[1].decode()
            if local not in own | {"0"}:
                outcome.must(
                    holds=False, expected="an object of this file", found=f"fileID {local}", where=path
                )
    return len(references)


def _broken(view: EvidenceView, tree: Tree, path: str, reference: Reference) -> str:
    """Why a reference leads nowhere; empty where it does not, or where nobody can know."""
    if BUILT_IN.fullmatch(reference.guid):
        return ""
    target = tree.asset_of(reference.guid)
    if target is None:
        # Scripts of packages that the editor keeps elsewhere: standing there before is all that can be known.
        known = int(reference.file_id) == SCRIPT and _stood_before(view, path, reference)
        return "" if known else "no asset has this GUID"
    if target.startswith("Library/") or target in tree.folders:
        return ""
    return _wrong_object(tree, target, reference)


def _wrong_object(tree: Tree, target: str, reference: Reference) -> str:
    if target not in tree.files:
        return f"{target} has a .meta and no file"
    legal = legal_ids(tree, target)
    if legal is not None and int(reference.file_id) not in legal:
        return f"{target} holds no such object"
    native = PurePosixPath(target).suffix.lower() in SERIALIZED - {".prefab", ".unity"}
    return (
        f"{target} is referred to by type {reference.kind}" if native and reference.kind == IMPORTED else ""
    )


def _stood_before(view: EvidenceView, path: str, reference: Reference) -> bool:
    if view.manifest.get(path) is None:
        return False
    try:
        before = view.before(path)
    except Unjudgeable:
        return False
    return before is not None and any(
        (one.guid, one.file_id) == (reference.guid, reference.file_id) for one in scan_references(before.data)
    )


def _sprites(outcome: Outcome, tree: Tree, asset: str, params: ReferencesResolve) -> None:
    """A sprite property never shows a texture itself."""
    file = tree.unity(asset)
    for span in file.documents:
        for name in params.sprites:
            try:
                value = file.read(span.file_id, name)
            except TextFault:
                continue
            if isinstance(value, dict):
                found = str(value.get("fileID"))
                outcome.must(found != str(TEXTURE), "a sprite", f"fileID {found}", f"{asset}, {name}")


def _into(outcome: Outcome, tree: Tree, destination: str) -> int:
    """References of all other files to the imported picture lead to what it holds now."""
    guids = [guid for guid, paths in tree.guids.items() if destination in paths]
    if len(guids) != 1 or f"{destination}.meta" not in tree.files:
        outcome.must(holds=False, expected="one GUID", found=str(len(guids)), where=f"{destination}.meta")
        return 0
    legal = legal_ids(tree, destination)
    wanted = guids[0].encode()
    count = 0
    for path in sorted(tree.files):
        if not _is_text(path):
            continue
        data = tree.read(path)
        if wanted not in data:
            continue
        for reference in scan_references(data):
            if reference.guid != guids[0]:
                continue
            count += 1
            if legal is not None and int(reference.file_id) not in legal:
                outcome.must(
                    holds=False,
                    expected=f"an object of {destination}",
                    found=f"fileID {reference.file_id}",
                    where=path,
                )
    return count


def _at(file: UnityFile, path: str, reference: Reference) -> str:
    return f"{path}:{file.data.count(10, 0, reference.start) + 1}"


VALIDATOR = Validator(
    id="references_resolve@1",
    summary="Every reference of the touched files, and every one into the picture, leads to an object.",
    params=ReferencesResolve,
    judge=judge,
)
