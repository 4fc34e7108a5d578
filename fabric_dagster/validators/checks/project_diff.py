"""Whether nothing changed in the project that the ticket did not ask for.

Compares the whole tree with the manifest taken before the run, and the offer property by property. Only this
sees a change elsewhere, a file more or less, another property of the offer, or bytes that were reformatted.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from fabric_dagster.governance.scope import may_write
from fabric_dagster.validators.base import Outcome, Unjudgeable, Validator
from fabric_dagster.validators.kernels.derive import ProjectNames, project_tree
from resources.unity.text import TextFault, UnityFile
from resources.unity.text.nodes import Sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.validators.kernels.project import Tree
    from fabric_dagster.validators.view import EvidenceView

LONGEST_DIFF = 12


class ProjectDiff(ProjectNames):
    """``properties``: what of the asset's document may change."""

    properties: tuple[str, ...] = ("icon", "displayName")
    document: str = "11400000"


def judge(view: EvidenceView, params: ProjectDiff) -> Outcome:
    """List every difference of the tree; allow the decided ones."""
    outcome = Outcome()
    tree, before = project_tree(view), view.manifest
    destination, asset = str(view.decided(params.destination)), str(view.decided(params.asset))
    created = [str(view.decided(name)) for name in params.created]
    edited = [str(view.decided(name)) for name in params.edited]
    allowed = {destination, f"{destination}.meta", asset, *edited}
    allowed |= {name for path in created for name in (path, f"{path}.meta")}
    for path in (destination, *created):
        allowed |= _new_folders(before, path)
    _in_scope(outcome, view, sorted(allowed))
    differing = _differing(outcome, tree, before, allowed)
    for path in (destination, *created):
        _folders(outcome, tree, path)
    _assets(outcome, view, tree, params, asset)
    outcome.must(
        holds=True, expected="only decided files differ", found=f"{differing} differ", where="project"
    )
    outcome.figures.update(files=str(len(tree.files)), differing=str(differing))
    return outcome


def _differing(outcome: Outcome, tree: Tree, before: Mapping[str, str], allowed: set[str]) -> int:
    """Count what differs; nothing may that is not ``allowed``, and nothing allowed may be gone."""
    differing = 0
    for path in sorted(before.keys() | tree.files.keys()):
        was, now = before.get(path), tree.files.get(path)
        if was == now:
            continue
        differing += 1
        what = "is new" if was is None else "is gone" if now is None else "changed"
        if path not in allowed:
            outcome.must(holds=False, expected="as before the run", found=f"it {what}", where=path)
        elif now is None:
            outcome.must(holds=False, expected="there", found="it is gone", where=path)
    return differing


def _assets(outcome: Outcome, view: EvidenceView, tree: Tree, params: ProjectDiff, asset: str) -> None:
    """A created asset is new; of an edited one only the named properties differ."""
    before = view.manifest
    created = [str(view.decided(name)) for name in params.created]
    edited = {str(view.decided(name)): names for name, names in params.edited.items()}
    for path in created:
        new = path in tree.files and path not in before
        outcome.must(new, "an asset that is new", "it existed" if path in before else "none", path)
    existing = {path: names for path, names in edited.items() if path not in created}
    if asset not in created:
        existing[asset] = params.properties
    for path, names in existing.items():
        outcome.must(path in tree.files and path in before, "an asset that existed", "none", path)
        if path in tree.files and path in before and before[path] != tree.files[path]:
            _properties(outcome, view, tree, path, params.document, names)


def _in_scope(outcome: Outcome, view: EvidenceView, allowed: list[str]) -> None:
    """What may differ lies under a prefix that the commission lets be written."""
    commission = view.evidence.commission
    outside = [path for path in allowed if not may_write(commission, path)]
    outcome.must(
        not outside,
        f"under {', '.join(commission.scope.writes) or 'nothing'} as commissioned",
        ", ".join(outside) or "so",
        "decision",
    )


def _new_folders(before: Mapping[str, str], destination: str) -> set[str]:
    """The metas of folders on the way to the destination that the run had to make."""
    parts = destination.split("/")[:-1]
    metas = {"/".join(parts[:depth]) + ".meta" for depth in range(2, len(parts) + 1)}
    return metas - before.keys()


def _folders(outcome: Outcome, tree: Tree, destination: str) -> None:
    """Every folder on the way has its ``.meta``."""
    parts = destination.split("/")[:-1]
    for depth in range(2, len(parts) + 1):
        meta = "/".join(parts[:depth]) + ".meta"
        outcome.must(
            meta in tree.files, "a .meta for the folder", "none" if meta not in tree.files else "one", meta
        )


def _properties(
    outcome: Outcome, view: EvidenceView, tree: Tree, asset: str, document: str, names: tuple[str, ...]
) -> None:
    """With the allowed values put back, the asset's bytes are what they were."""
    was = view.before(asset)
    if was is None:
        raise Unjudgeable("the asset's bytes before the run", "none", asset)
    now = tree.unity(asset)
    old, kept = _without(was.data, document, names, asset), _without(now.data, document, names, asset)
    listed = ", ".join(names)
    if old == kept:
        outcome.must(holds=True, expected=f"only {listed} differ", found="so", where=asset)
        return
    lines = [
        line
        for line in difflib.unified_diff(_lines(old), _lines(kept), lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    shown = " | ".join(lines[:LONGEST_DIFF]) or "line ends or a byte order mark"
    outcome.must(holds=False, expected=f"only {listed} differ", found=shown, where=asset)


def _without(data: bytes, document: str, names: tuple[str, ...], where: str) -> bytes:
    """The file with the values of the allowed properties cut out; of a list, the space before it too."""
    try:
        file = UnityFile(data)
        cuts = []
        for name in names:
            node = file.find(document, name).node
            start = node.start
            if isinstance(node, Sequence):
                start = len(data[:start].rstrip(b" \r\n"))
            cuts.append((start, node.end))
    except TextFault as fault:
        raise Unjudgeable("the properties that may change", f"{fault.what} [{fault.code}]", where) from fault
    for start, end in sorted(cuts, reverse=True):
        data = data[:start] + data[end:]
    return data


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


VALIDATOR = Validator(
    id="project_diff@1",
    summary="Nothing of the project differs but the picture, its .meta and the decided properties.",
    params=ProjectDiff,
    judge=judge,
)
