"""One decision: which rule of the pack applies to a ticket, and what follows from it.

Rules kept here: exactly one rule applies, or nothing is decided; every quote of that rule stands in the SOP
it cites; each decided value becomes what its declared type says (a template's file, a layer, a preset, a
profile, a path with its placeholders filled). A filled path stays under ``Assets/``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.expert_pack import DecisionRule, Evidence
from fabric_dagster.errors import OperationFailed
from fabric_dagster.intelligence.evidence import holds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.contracts.skill_graph import Node, SkillGraph
    from fabric_dagster.contracts.ticket import Ticket
    from fabric_dagster.intelligence.packs import LoadedPack

CAPABILITY = "fabric.asset_decision@1"
ROLE = "role:"
PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Decision:
    """``values`` by the decision node's output names; ``sources``: which inputs each was filled from."""

    rule: str
    values: Mapping[str, Any]
    template: str
    evidence: tuple[Evidence, ...]
    sources: Mapping[str, tuple[str, ...]]


def decision_node(graph: SkillGraph) -> Node | None:
    """The graph's ``fabric.asset_decision`` node, where it has one."""
    return next((node for node in graph.nodes if node.capability == CAPABILITY), None)


def decide(pack: LoadedPack, reference: str, ticket: Ticket) -> Decision:
    """What the pack decides for ``ticket``.

    Raises ``OperationFailed`` with ``fabric.no_rule``, ``fabric.ambiguous_rule``,
    ``fabric.evidence_missing`` or ``fabric.out_of_scope`` (a decided path is no path under ``Assets/``).
    """
    rules = [rule for rule in pack.pack.rules if rule.graph == reference and _applies(rule, ticket.inputs)]
    where = f"{pack.pack.name}/pack.yaml"
    asked = ", ".join(f"{key}={value}" for key, value in ticket.inputs.items())
    if not rules:
        raise OperationFailed(
            "fabric.no_rule",
            f"no rule of pack {pack.pack.name!r} for {reference} applies to this ticket",
            where=where,
            mend="add a rule for this case to the pack and certify it",
            value=asked,
        )
    if len(rules) > 1:
        raise OperationFailed(
            "fabric.ambiguous_rule",
            f"several rules apply: {', '.join(rule.id for rule in rules)}",
            where=where,
            mend="make the pack's rules exclude each other",
            value=asked,
        )
    (rule,) = rules
    for evidence in rule.evidence:
        if not holds(evidence, pack.sops):
            raise OperationFailed(
                "fabric.evidence_missing",
                f"rule {rule.id!r}: the quote does not stand in {evidence.citation!r} at its cited digest",
                where=where,
                mend="cite a sentence that stands in the SOP, word for word",
                value=evidence.quote,
            )
    return _resolve(pack, rule, pack.graphs[reference].graph, ticket.inputs)


def _applies(rule: DecisionRule, inputs: Mapping[str, str]) -> bool:
    return all(inputs.get(key) == value for key, value in rule.when.items())


def _resolve(pack: LoadedPack, rule: DecisionRule, graph: SkillGraph, inputs: Mapping[str, str]) -> Decision:
    node = decision_node(graph)
    kinds = node.outputs if node is not None else {}
    named = next((rule.decide[name] for name, kind in kinds.items() if kind == "psd"), "")
    values: dict[str, Any] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for name, kind in kinds.items():
        written = rule.decide[name]
        if kind == "psd":
            values[name] = pack.pack.templates[written].file
        elif kind == "layer":
            values[name] = pack.pack.templates[named].roles[written.removeprefix(ROLE)]
        elif kind == "preset":
            values[name] = pack.pack.presets[written]
        elif kind == "profile":
            values[name] = pack.pack.profiles[written]
        elif isinstance(written, str):
            sources[name] = tuple(dict.fromkeys(PLACEHOLDER.findall(written)))
            values[name] = PLACEHOLDER.sub(lambda found: inputs[found[1]], written)
            if kind == "unity_path":
                _under_assets(rule, name, values[name])
        else:
            values[name] = written
    template = pack.pack.templates[named].file if named else ""
    return Decision(rule.id, values, template, rule.evidence, sources)


def unity_path_fault(path: str) -> str | None:
    """Why ``path`` is no plain POSIX path under ``Assets/``, or ``None``."""
    parts = path.split("/")
    if parts[0] != "Assets" or len(parts) < 2:  # noqa: PLR2004 - Assets and something in it
        return "it does not lie under Assets/"
    if any(part in {"", ".", ".."} or part[-1] in ". " or set(part) & set('<>:"\\|?*') for part in parts):
        return "it holds a part that climbs, is empty, or is no file name"
    return None if path.isprintable() else "it holds a control character"


def _under_assets(rule: DecisionRule, name: str, path: str) -> None:
    if why := unity_path_fault(path):
        raise OperationFailed(
            "fabric.out_of_scope",
            f"rule {rule.id!r} decides a {name} that is refused: {why}",
            mend="decide a plain path under Assets/",
            value=path,
        )
