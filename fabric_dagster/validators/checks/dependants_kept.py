"""Whether everything that refers to what the run touched or took away still leads to an object.

Only this sees an untouched file whose reference lost its target: a deleted asset, a sprite that is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Params, Validator
from fabric_dagster.validators.kernels.project import legal_ids
from fabric_dagster.validators.kernels.touched import META, guid_before, holds_references, touched
from resources.unity.text import scan_references

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView


class DependantsKept(Params):
    """Nothing to set."""


def judge(view: EvidenceView, params: DependantsKept) -> Outcome:  # noqa: ARG001 - there are none
    """Follow every reference to a touched or vanished GUID."""
    outcome = Outcome()
    found = touched(view)
    tree = found.tree
    gone = {guid_before(view, path.removesuffix(META)) for path in found.gone if path.endswith(META)}
    lost = {guid for guid in gone if guid is not None and tree.asset_of(guid) is None}
    by_guid = {guid: paths[0] for guid, paths in tree.guids.items() if len(paths) == 1}
    mine = {asset: guid for guid, asset in by_guid.items()}
    of_interest = {mine[asset]: asset for asset in found.metas() if asset in mine}
    legal = {guid: legal_ids(tree, asset) for guid, asset in of_interest.items() if asset in tree.files}
    count = 0
    for path in sorted(tree.files):
        if not holds_references(path):
            continue
        data = tree.read(path)
        for guid in sorted(lost):
            there = guid.encode() in data.lower()
            if there:
                outcome.must(holds=False, expected="nothing that is gone", found=f"GUID {guid}", where=path)
        for reference in scan_references(data):
            ids = legal.get(reference.guid)
            if ids is None:
                continue
            count += 1
            if int(reference.file_id) not in ids:
                outcome.must(
                    holds=False,
                    expected=f"an object of {of_interest[reference.guid]}",
                    found=f"fileID {reference.file_id}",
                    where=path,
                )
    outcome.must(
        holds=True, expected="every dependant followed", found=f"{count} references", where="project"
    )
    outcome.figures.update(references=str(count), gone=str(len(lost)))
    return outcome


VALIDATOR = Validator(
    id="dependants_kept@1",
    summary="Everything that refers to a touched asset leads to an object, and nothing to one that is gone.",
    params=DependantsKept,
    judge=judge,
)
