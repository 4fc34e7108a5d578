"""Whether what was handed over is what was made, made from the run's own sources, and what arrived.

Only this sees an import of other bytes than the sealed ones, and a handoff whose lineage leads to something
that is no source of this run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.graphs.refs import ANY, Ref, find_refs
from fabric_dagster.validators.base import Outcome, Params, Validator
from fabric_dagster.validators.kernels.derive import project_tree

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView


class HandoffsDelivered(Params):
    """Takes nothing."""


def judge(view: EvidenceView, _params: HandoffsDelivered) -> Outcome:
    """Follow each handoff back to its sources and on into the project."""
    outcome = Outcome()
    evidence = view.evidence
    sources = {fact.digest for fact in (*evidence.templates.values(), *evidence.ticket_files.values())}
    sources |= {fact.digest for fact in evidence.artifacts.values()}
    for node, sealed in sorted(evidence.handoffs.items()):
        actual = view.read(sealed.artifact, f"handoff {node}")
        made = evidence.artifacts.get(sealed.source)
        outcome.equal(made.digest if made else f"the artifact {sealed.source}", actual.digest, node)
        for name, digest in sorted(sealed.lineage.items()):
            if name != "plan":
                outcome.must(digest in sources, "a source of this run", digest, f"{node}, {name}")
        if _imported(view, node):
            there = [path for path, digest in project_tree(view).files.items() if digest == actual.digest]
            outcome.must(
                there, f"{actual.digest} in the project", ", ".join(sorted(there)) or "nowhere", node
            )
    outcome.must(holds=True, expected="every handoff followed", found=str(len(evidence.handoffs)))
    outcome.figures["handoffs"] = str(len(evidence.handoffs))
    return outcome


def _imported(view: EvidenceView, handoff: str) -> bool:
    """Whether a node of Unity takes the sealed bytes, by the graph as the pack has it."""
    source = view.pack.graphs.get(view.evidence.ticket.graph)
    for node in source.graph.nodes if source else ():
        taken = {ref.source for ref in find_refs(node.args) if isinstance(ref, Ref)}
        if node.capability.startswith("unity.") and (
            handoff in taken or (ANY in taken and handoff in node.needs)
        ):
            return True
    return False


VALIDATOR = Validator(
    id="handoffs_delivered@1",
    summary="Every handoff is the artifact that was judged, from this run's sources, and has arrived whole.",
    params=HandoffsDelivered,
    judge=judge,
)
