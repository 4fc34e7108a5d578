"""Whether the Addressables groups hold each asset once, in order, under labels that exist.

Only this sees an asset in two groups, an entry whose asset is gone, an address given twice and a label that
the settings do not know.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Params, Validator
from fabric_dagster.validators.kernels.sheets import groups, labels_of
from fabric_dagster.validators.kernels.touched import touched

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView

DIGITS = 32


class AddressablesSound(Params):
    """Nothing to set."""


def judge(view: EvidenceView, params: AddressablesSound) -> Outcome:  # noqa: ARG001 - there are none
    """Look at every group; order and zombies only where the run touched the group or took an asset away."""
    outcome = Outcome()
    found = touched(view)
    every = groups(found.tree)
    where = {entry.guid: group.path for group in every for entry in group.entries}
    guids = Counter(entry.guid for group in every for entry in group.entries)
    addresses = Counter(entry.address for group in every for entry in group.entries)
    for guid, times in sorted(guids.items()):
        outcome.must(times == 1, "one entry an asset", f"{times} entries", f"{where[guid]}, {guid}")
    for address, times in sorted(addresses.items()):
        outcome.must(times == 1, "one entry an address", f"{times} entries", f"address {address}")
    for group in every:
        known = labels_of(found.tree, group.settings)
        for entry in group.entries:
            missing = [] if known is None else sorted(set(entry.labels) - set(known))
            outcome.must(
                not missing,
                "labels of the settings' table",
                ", ".join(missing),
                f"{group.path}, {entry.address}",
            )
            if group.path in found.present or found.gone:
                there = len(entry.guid) != DIGITS or found.tree.asset_of(entry.guid) is not None
                outcome.must(
                    there, "an asset that exists", f"none with {entry.guid}", f"{group.path}, {entry.address}"
                )
        if group.path in found.present:
            order = [entry.guid for entry in group.entries]
            outcome.must(order == sorted(order), "entries in the order of their GUIDs", "another", group.path)
    outcome.must(holds=True, expected="every group looked at", found=str(len(every)), where="project")
    outcome.figures.update(groups=str(len(every)), entries=str(len(guids)))
    return outcome


VALIDATOR = Validator(
    id="addressables_sound@1",
    summary="Each asset has one Addressables entry, in order, with an address and labels of its own project.",
    params=AddressablesSound,
    judge=judge,
)
