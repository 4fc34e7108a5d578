"""What a ticket expects to find in the target project, checked together with the ticket's own rules.

In every Unity capability the argument ``asset`` names an asset that exists already. Where a decided path
feeds it and the project has no such file, the ticket's own values are wrong (an offer that nobody made), and
the fault names the key. No rule needs to be chosen for that: a path counts as missing when no rule that may
still apply leads to one that exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.intelligence.decide import PLACEHOLDER, decision_node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fabric_dagster.contracts.skill_graph import SkillGraph
    from fabric_dagster.intelligence.packs import LoadedPack
    from fabric_dagster.tickets.parse import MoreRules

ARGUMENT = "asset"


def existing_outputs(graph: SkillGraph) -> tuple[str, ...]:
    """The decided names whose paths must exist before the run."""
    node = decision_node(graph)
    if node is None:
        return ()
    references = {
        argument.get("$ref")
        for item in graph.nodes
        if isinstance(argument := item.args.get(ARGUMENT), dict) and item.capability.startswith("unity.")
    }
    return tuple(name for name in node.outputs if f"{node.id}.{name}" in references)


def project_rules(pack: LoadedPack, graph: SkillGraph, exists: Callable[[str], bool]) -> MoreRules:
    """For ``parse_ticket(..., also=…)``: complains of inputs that lead to an asset which ``exists`` denies.

    ``exists`` takes a POSIX path in the project. Code: ``ticket.not_in_project``.
    """
    rules = [rule for rule in pack.pack.rules if rule.graph == graph.reference]

    def look(inputs: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
        found = []
        possible = [
            rule for rule in rules if all(inputs.get(key, value) == value for key, value in rule.when.items())
        ]
        for name in existing_outputs(graph):
            written = {str(rule.decide[name]) for rule in possible}
            keys = [key for text in sorted(written) for key in PLACEHOLDER.findall(text)]
            if not keys or not all(key in inputs for key in keys):
                continue
            paths = sorted(PLACEHOLDER.sub(lambda match: inputs[match[1]], text) for text in written)
            if not any(exists(path) for path in paths):
                what = f"the project has no {' or '.join(paths)}"
                mend = "name one that the project has; a ticket never makes it"
                found.append((keys[0], "ticket.not_in_project", what, mend))
        return found

    return look
