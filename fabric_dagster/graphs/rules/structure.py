"""Structure: ids, edges, circles, joins, bindings, and the brief and the verdict at the two ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabric_dagster.graphs.case import BRIEF, VERDICT, Case, listed
from fabric_dagster.graphs.order import circle
from fabric_dagster.graphs.partitions import CONTROL
from fabric_dagster.graphs.refs import ANY, INPUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.errors import Fault

#: Ids that the kernel uses itself: the sources of references that are no nodes, and the names of application
#: partitions.
_RESERVED = re.compile(rf"{INPUT}|{ANY}|(?:photoshop|unity)_[0-9]+")


def ids(case: Case) -> Iterator[Fault]:
    """Each id stands once, and none is a name that the kernel uses itself."""
    for place, node in enumerate(case.graph.nodes):
        path = ("nodes", place, "id")
        if case.index[node.id] != place:
            first = case.source.where(("nodes", case.index[node.id], "id"))
            yield case.fault(
                path, "duplicate_node", f"this node's id stands at {first} already", "rename it", node.id
            )
        if _RESERVED.fullmatch(node.id):
            yield case.fault(path, "reserved_id", "this id is reserved", "rename the node", node.id)


def edges(case: Case) -> Iterator[Fault]:
    """Each need exists and stands once; ``any`` joins two parents or more, in a node of an application."""
    for place, node in enumerate(case.graph.nodes):
        seen: set[str] = set()
        for number, need in enumerate(node.needs):
            path = ("nodes", place, "needs", number)
            if need not in case.nodes:
                yield case.fault(
                    path, "unknown_need", f"{node.id} needs a node that is not there", "name a node", need
                )
            elif need in seen:
                yield case.fault(path, "duplicate_need", f"{node.id} needs this twice", "keep one", need)
            seen.add(need)
        if node.join == "any" and len(seen) < 2:  # noqa: PLR2004 - a choice is between two
            yield case.fault(
                ("nodes", place, "join"),
                "join_of_one",
                f"{node.id} joins any of {len(seen)} parents: there is nothing to choose",
                "give it two parents or more, or leave join out",
                node.join,
            )
        elif node.join == "any" and case.applications[node.id] == CONTROL:
            yield case.fault(
                ("nodes", place, "join"),
                "join_on_control",
                f"{node.id} is a control, which stands for every one of its parents",
                "let a node of an application join them, or leave join out",
                node.join,
            )


def alternatives(case: Case) -> Iterator[Fault]:
    """What an ``any`` join chooses from can fail apart: its parents lie in two partitions or more."""
    for name in sorted(case.any_joins) if case.partitions else ():
        parents = case.parents[name]
        if len(parents) > 1 and len({case.partition_of[need].id for need in parents}) == 1:
            yield case.fault(
                case.at(name, "join"),
                "join_of_one_partition",
                f"the parents of {name} run and fail as one: there is nothing to choose",
                "join nodes of different partitions, or leave join out",
                listed(parents),
            )


def circles(case: Case) -> Iterator[Fault]:
    """The nodes have an order."""
    if found := circle(case.parents, case.order):
        shown = " → ".join((*found, found[0]))
        yield case.fault(
            case.at(found[0], "needs"), "cycle", "the needs of these nodes run in a circle", "cut it", shown
        )


def bindings(case: Case) -> Iterator[Fault]:
    """Each node binds a registered capability in its exact version."""
    for place, node in enumerate(case.graph.nodes):
        if node.capability in case.registry:
            continue
        name = node.capability.partition("@")[0]
        versions = [known for known in case.registry if known.partition("@")[0] == name]
        kin = versions or [known for known in case.registry if known.startswith(name.partition(".")[0] + ".")]
        yield case.fault(
            ("nodes", place, "capability"),
            "unknown_capability",
            f"{node.id} binds a capability that is not registered" + (" in this version" if versions else ""),
            f"registered are: {listed(kin or case.registry)}",
            node.capability,
        )


def ends(case: Case) -> Iterator[Fault]:
    """One brief, above everything; one independent verdict, below everything that has an effect."""
    briefs = [name for name, node in case.nodes.items() if node.capability == BRIEF]
    verdicts = [name for name, node in case.nodes.items() if node.capability == VERDICT]
    for code, capability, found in (("brief", BRIEF, briefs), ("verdict", VERDICT, verdicts)):
        if len(found) != 1:
            path = case.at(found[1], "capability") if found else ("nodes",)
            yield case.fault(
                path,
                f"{code}_count",
                f"a graph has exactly one node of {capability}, this one has {len(found)}",
                "keep one" if found else "add it",
                listed(found) if found else None,
            )
    if len(briefs) == 1:
        for name, above in case.parents.items():
            if name != briefs[0] and not above and not case.nodes[name].needs:
                yield case.fault(
                    case.at(name),
                    "before_brief",
                    f"{name} needs nothing, and so does not come after the ticket's source facts",
                    f"let it need {briefs[0]}, or something below it",
                    name,
                )
            elif name == briefs[0] and above:
                mend = "remove its needs"
                yield case.fault(
                    case.at(name, "needs"), "brief_not_first", f"{name} must come first", mend, listed(above)
                )
    if len(verdicts) == 1:
        judged = case.ancestors[verdicts[0]]
        for name, bound in case.capabilities.items():
            if bound.effects and name not in judged:
                yield case.fault(
                    case.at(verdicts[0], "needs"),
                    "verdict_misses_effect",
                    f"{verdicts[0]} does not come after {name}, which has effects",
                    f"let it need {name}, or something below it",
                    name,
                )


RULES = (ids, edges, alternatives, circles, bindings, ends)
