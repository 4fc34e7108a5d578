"""Whether every asset kept its GUID, has one alone, and came with its ``.meta``.

Only this sees a GUID that changed where nothing refers to it yet, a copied ``.meta`` and one typed by hand.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Params, Validator
from fabric_dagster.validators.kernels.project import guid_of
from fabric_dagster.validators.kernels.touched import META, guid_before, touched

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView

#: digits of a random GUID that differ from each other; a hand-made one has fewer
LEAST_DIGITS = 6
#: digits in a row that count up or down: once in ten million random GUIDs
LONGEST_RUN = 8


class GuidsKept(Params):
    """Nothing to set."""


def judge(view: EvidenceView, params: GuidsKept) -> Outcome:  # noqa: ARG001 - there are none
    """Look at every ``.meta`` that is new, changed or gone."""
    outcome = Outcome()
    found = touched(view)
    for path in found.present:
        if path.endswith(META):
            _kept(outcome, view, path, guid_of(found.tree.read(path)))
            _has_asset(
                outcome, path, exists=path.removesuffix(META) in found.tree.files.keys() | found.tree.folders
            )
        elif path.startswith("Assets/") and not _ignored(path):
            outcome.must(f"{path}{META}" in found.tree.files, "a .meta beside it", "none", path)
    for guid, paths in sorted(found.tree.guids.items()):
        if len(paths) > 1:
            outcome.must(holds=False, expected="one asset a GUID", found=", ".join(sorted(paths)), where=guid)
    outcome.must(
        holds=True, expected="every GUID looked at", found=str(len(found.tree.guids)), where="project"
    )
    outcome.figures["guids"] = str(len(found.tree.guids))
    return outcome


def _kept(outcome: Outcome, view: EvidenceView, path: str, guid: str | None) -> None:
    before = guid_before(view, path.removesuffix(META))
    if guid is None:
        outcome.must(holds=False, expected="a GUID", found="none", where=path)
    elif before is not None:
        outcome.equal(before, guid, f"{path}, GUID kept")
    else:
        moved = guid in _gone(view)
        outcome.must(moved or _random(guid), "a GUID drawn at random", guid, f"{path}, new GUID")


def _gone(view: EvidenceView) -> set[str | None]:
    """The GUIDs of metas that are gone from where they were: of what was moved, or deleted."""
    return view.once(
        "guids gone",
        lambda: {
            guid_before(view, path.removesuffix(META)) for path in touched(view).gone if path.endswith(META)
        },
    )


def _random(guid: str) -> bool:
    digits = [int(digit, 16) for digit in guid]
    if len(set(digits)) < LEAST_DIGITS:
        return False
    for step in (1, 15):
        run = 1
        for one, two in pairwise(digits):
            run = run + 1 if (two - one) % 16 == step else 1
            if run >= LONGEST_RUN:
                return False
    return True


def _has_asset(outcome: Outcome, path: str, *, exists: bool) -> None:
    outcome.must(exists, "the asset beside its .meta", "there" if exists else "none", path)


def _ignored(path: str) -> bool:
    """Whether Unity's importer does not see a path."""
    return any(part.startswith(".") or part.endswith(("~", ".tmp")) for part in path.split("/"))


VALIDATOR = Validator(
    id="guids_kept@1",
    summary="Every asset kept its GUID and has it alone; a new one was drawn and has its .meta.",
    params=GuidsKept,
    judge=judge,
)
