"""Whether template and ticket pictures are still what was commissioned and filed.

Only this sees a template that was saved over with the same picture in it, or with anything added behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Params, Unjudgeable, Validator

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView


class SourceUntouched(Params):
    """Takes nothing."""


def judge(view: EvidenceView, _params: SourceUntouched) -> Outcome:
    """Compare every source's bytes with the commission's and the ticket's digests."""
    outcome = Outcome()
    evidence = view.evidence
    commissioned = evidence.commission.scope.templates
    names = sorted({view.decision.template, *evidence.templates} - {""})
    for name in names:
        wanted = commissioned.get(name, "a commissioned digest")
        try:
            outcome.equal(wanted, view.template(name).digest, f"template {name}")
        except Unjudgeable as fault:
            outcome.wrong.append(fault.finding)
    for name in sorted(evidence.ticket.files):
        try:
            _, art = view.art(name)
            outcome.equal(evidence.ticket.files[name].digest, art.digest, f"ticket {name}")
        except Unjudgeable as fault:
            outcome.wrong.append(fault.finding)
    outcome.figures["sources"] = str(len(names) + len(evidence.ticket.files))
    return outcome


VALIDATOR = Validator(
    id="source_untouched@1",
    summary="Templates and ticket pictures have the bytes that were commissioned and filed.",
    params=SourceUntouched,
    judge=judge,
)
