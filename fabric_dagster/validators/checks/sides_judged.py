"""Whether every artifact of the run was judged before, and passed, by a validator whose key is pinned.

Opens each side's signed verdict again. Only this sees an artifact that no verdict covers, one that was
swapped after its verdict, and a verdict of another run, under another commission or by a wrong key.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from fabric_dagster.contracts.evidence import BlindEvidence
from fabric_dagster.governance.qualification import compile_reference
from fabric_dagster.validators.base import Outcome, Params, Unjudgeable, Validator
from fabric_dagster.validators.verdicts import open_verdict
from fabric_dagster.validators.view import BEFORE

if TYPE_CHECKING:
    from fabric_dagster.contracts.evidence import SideVerdict
    from fabric_dagster.validators.view import EvidenceView


class SidesJudged(Params):
    """Takes nothing."""


def judge(view: EvidenceView, _params: SidesJudged) -> Outcome:
    """Open every side's verdict; compare what it covers with what there is."""
    outcome = Outcome()
    compiled = compile_reference(view.pack, view.evidence.ticket.graph)
    outcome.equal(compiled.digest, view.evidence.graph, "graph")
    sides = {node: part.id for part in compiled.partitions for node in part.nodes}
    covered = {
        side: _side(view, outcome, side, given) for side, given in sorted(view.evidence.verdicts.items())
    }
    for name, fact in sorted(view.evidence.artifacts.items()):
        if not name.startswith(BEFORE):
            # By the verdict on the side that made it: others stand on it, and do not judge it.
            side = sides.get(name.rpartition(".")[0], "no side")
            outcome.equal(fact.digest, covered.get(side, {}).get(name, f"in no verdict on {side}"), name)
    outcome.figures["sides"] = str(len(view.evidence.verdicts))
    return outcome


def _side(view: EvidenceView, outcome: Outcome, side: str, given: SideVerdict) -> dict[str, str]:
    """Artifact → digest, as the verdict on ``side`` was given on them."""
    now = view.evidence
    try:
        then = BlindEvidence.model_validate_json(view.read(given.evidence, f"evidence of {side}").data)
        envelope = json.loads(view.read(given.envelope, f"verdict on {side}").data)
    except (ValidationError, ValueError) as fault:
        raise Unjudgeable("a verdict and its evidence", str(fault).splitlines()[0], side) from fault
    verdict = open_verdict(envelope, view.trust, then)
    outcome.must(verdict.passed, "a passed verdict", "a failed one", side)
    for what, expected, found in (
        ("run", now.run, verdict.run),
        ("graph", now.graph, verdict.graph),
        ("side", side, verdict.side),
        ("commission", now.commission.digest, then.commission.digest),
        ("ticket", now.ticket.digest, then.ticket.digest),
    ):
        outcome.equal(expected, found, f"{side}, {what}")
    return {name: fact.digest for name, fact in then.artifacts.items()}


VALIDATOR = Validator(
    id="sides_judged@1",
    summary="Every artifact is covered by a passed verdict of a pinned validator, on these very bytes.",
    params=SidesJudged,
    judge=judge,
)
