"""Closure: effects, validators and recovery cover exactly what the nodes do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.capabilities.base import supervised
from fabric_dagster.capabilities.effects import EFFECTS
from fabric_dagster.graphs.case import RUN_CHECKS, VERDICT, Case, check_code, listed
from fabric_dagster.graphs.partitions import CONTROL

#: That some check failed, without its name: what it takes to mend that, nobody can say beforehand.
UNNAMED = "fabric.verdict_failed"

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.contracts.skill_graph import RecoveryEdge
    from fabric_dagster.errors import Fault


def effects(case: Case) -> Iterator[Fault]:
    """The graph's effects are exactly the union of its nodes' effects."""
    causes: dict[str, list[str]] = {}
    for _, node, bound in case.bound:
        for effect in bound.effects:
            causes.setdefault(effect, []).append(node.id)
    seen: set[str] = set()
    for place, effect in enumerate(case.graph.effects):
        path = ("effects", place)
        if effect in seen:
            yield case.fault(path, "duplicate_effect", "this effect stands twice", "keep one", effect)
        elif effect not in EFFECTS:
            mend = f"use one of: {listed(EFFECTS)}"
            yield case.fault(path, "unknown_effect", "there is no such effect", mend, effect)
        elif effect not in causes and len(case.capabilities) == len(case.nodes):
            yield case.fault(
                path, "superfluous_effect", "no node has this effect", "remove it from 'effects'", effect
            )
        seen.add(effect)
    for effect in sorted(causes.keys() - seen):
        yield case.fault(
            ("effects",),
            "missing_effect",
            f"'effects' lacks one that the graph has through {listed(causes[effect])}",
            "add it to 'effects'",
            effect,
        )


def validators(case: Case) -> Iterator[Fault]:
    """Each validator judges an application's partition, once; each partition with effects is judged."""
    seen: set[tuple[str, str]] = set()
    blocked: set[str] = set()
    for place, binding in enumerate(case.graph.validators):
        path = ("validators", place, "after")
        if binding.after not in case.nodes:
            yield case.fault(
                path,
                "validator_unknown_node",
                f"{binding.id} stands after a node that is not there",
                "name a node",
                binding.after,
            )
            continue
        if (key := (binding.id, binding.after)) in seen:
            yield case.fault(
                ("validators", place),
                "duplicate_validator",
                f"it stands after {binding.after} twice",
                "keep one",
                binding.id,
            )
        seen.add(key)
        if case.applications[binding.after] == CONTROL:
            yield case.fault(
                path,
                "validator_on_control",
                f"{binding.id} judges a control, which makes nothing",
                "let it stand after a node of an application",
                binding.after,
            )
        elif binding.blocking and (side := case.partition_of.get(binding.after)):
            blocked.add(side.id)
    for side in case.partitions or ():
        caused = {effect for node in side.nodes for effect in case.capabilities[node].effects}
        if side.application != CONTROL and caused and side.id not in blocked:
            last = side.nodes[-1]
            yield case.fault(
                case.at(last),
                "unjudged_effects",
                f"the partition {side.id} ({', '.join(side.nodes)}) has effects and no blocking validator",
                f"add a validator after {last}",
                listed(caused),
            )


def recovery(case: Case) -> Iterator[Fault]:
    """Each edge follows a recoverable failure of its partition, once, to the start of one at or above it."""
    seen: set[tuple[str, str]] = set()
    for place, edge in enumerate(case.graph.recovery):
        lost = [part for part in ("at", "resume") if getattr(edge, part) not in case.nodes]
        for part in lost:
            yield case.fault(
                ("recovery", place, part),
                "recovery_unknown_node",
                "the edge names a node that is not there",
                "name a node",
                getattr(edge, part),
            )
        if "at" not in lost:
            yield from _failure(case, place, edge)
            side = case.partition_of.get(edge.at)
            if (key := (edge.on, side.id if side else edge.at)) in seen:
                yield case.fault(
                    ("recovery", place),
                    "duplicate_recovery",
                    f"a recovery edge for this failure in {key[1]} stands already",
                    "keep one",
                    edge.on,
                )
            seen.add(key)
        if not lost:
            yield from _resume(case, place, edge)


def _failure(case: Case, place: int, edge: RecoveryEdge) -> Iterator[Fault]:
    side = case.partition_of.get(edge.at)
    members = side.nodes if side else (edge.at,)
    if any(node not in case.capabilities for node in members):
        return
    declared = {failure.code: failure for node in members for failure in case.capabilities[node].failures}
    if side is not None and side.application != CONTROL:
        declared |= {failure.code: failure for failure in supervised(side.application)}
    path = ("recovery", place, "on")
    checks = _checks(case, edge.at, members)
    if edge.on in checks:
        return
    if edge.on == UNNAMED or edge.on not in declared:
        usable = {code for code, failure in declared.items() if failure.recoverable and code != UNNAMED}
        yield case.fault(
            path,
            "recovery_unknown_failure",
            f"no capability of {edge.at}'s partition, and no blocking check of it, fails with this code",
            f"recoverable there are: {listed(usable | checks)}",
            edge.on,
        )
    elif not declared[edge.on].recoverable:
        yield case.fault(
            path,
            "recovery_unrecoverable",
            f"this failure of {edge.at} cannot be recovered from",
            f"remove the edge: {declared[edge.on].mend}",
            edge.on,
        )


def _checks(case: Case, at: str, members: tuple[str, ...]) -> set[str]:
    """The codes of the blocking checks that judge the partition of ``at``; the verdict's are all of them."""
    blocking = [item for item in case.graph.validators if item.blocking]
    if case.nodes[at].capability == VERDICT:
        return {check_code(name) for name in (*RUN_CHECKS, *(item.id for item in blocking))}
    return {check_code(item.id) for item in blocking if item.after in members}


def _resume(case: Case, place: int, edge: RecoveryEdge) -> Iterator[Fault]:
    path = ("recovery", place, "resume")
    if edge.resume != edge.at and edge.resume not in case.ancestors[edge.at]:
        yield case.fault(
            path,
            "recovery_not_above",
            f"the edge resumes at a node that is neither {edge.at} nor above it",
            "name one that is",
            edge.resume,
        )
        return
    side = case.partition_of.get(edge.resume)
    if side is None:
        return
    starts = [node for node in side.nodes if not set(case.parents[node]) & set(side.nodes)]
    if edge.resume not in starts:
        yield case.fault(
            path,
            "recovery_mid_partition",
            f"{edge.resume} lies inside the partition {side.id}, which is reset as a whole",
            f"resume at its start: {listed(starts)}",
            edge.resume,
        )


RULES = (effects, validators, recovery)
