"""What a decision expects to find in the target project, checked before anything starts.

In every Unity capability the argument ``asset`` names an asset that exists already. Where a decided path
feeds it and the project has no such file, the ticket's own values are wrong (an offer that nobody made), and
the fault says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import Fault, InvalidDocument
from fabric_dagster.intelligence.decide import decision_node
from fabric_dagster.tickets.fence import open_fence

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.contracts.skill_graph import SkillGraph
    from fabric_dagster.intelligence.decide import Decision
    from fabric_dagster.tickets.issue import Issue

ARGUMENT = "asset"


def existing_assets(graph: SkillGraph, decision: Decision) -> dict[str, str]:
    """Decided name → project path that must exist before the run."""
    node = decision_node(graph)
    if node is None:
        return {}
    references = {
        argument.get("$ref")
        for item in graph.nodes
        if isinstance(argument := item.args.get(ARGUMENT), dict) and item.capability.startswith("unity.")
    }
    return {name: str(value) for name, value in decision.values.items() if f"{node.id}.{name}" in references}


def target_faults(
    issue: Issue, graph: SkillGraph, decision: Decision, exists: Callable[[str], bool]
) -> list[Fault]:
    """One ``ticket.not_in_project`` for each asset that ``exists`` denies, at the key it came from."""
    faults = []
    for name, path in existing_assets(graph, decision).items():
        if exists(path):
            continue
        try:
            fence = open_fence(issue)
        except InvalidDocument:  # the issue changed since it was decided; its name still helps
            fence = None
        key = next(iter(decision.sources.get(name, ())), None)
        faults.append(
            Fault(
                "ticket.not_in_project",
                f"key {key!r}: the project has no {path}" if key else f"the project has no {path}",
                fence.where(key) if fence else issue.name,
                "name one that the project has; a ticket never makes it",
                str(fence.values.get(key)) if fence and key else path,
            )
        )
    return faults
