"""Invalidation: what a change takes down, and why.

Rules kept here (ADR-0009, "Abstraction hierarchy"):

* A graph, a certificate or a commission stands on *grounds*: digests by kind and name, as they were when
  it was made. It is invalid as soon as one of them is another now, or is gone.
* What is new beside them takes nothing down: nobody relied on it.
* Invalidity goes downwards: whatever stands on something invalid is invalid too, and says through what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from fabric_dagster.digests import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabric_dagster.capabilities.base import Capability
    from fabric_dagster.graphs.seal import SealedGraph

Kind = Literal[
    "graph",
    "capability",
    "knowledge",
    "validator",
    "pack_file",
    "template",
    "compatibility",
    "provider",
    "recovery",
]
#: kind → name → digest (or another exact text, such as a version range).
Grounds = Mapping[Kind, Mapping[str, str]]

RECOVERY_SCHEMA = "fabric.recovery-policy.v1"


@dataclass(frozen=True, slots=True)
class Change:
    """One ground that is not what it was; ``now`` is ``None`` where it is gone."""

    kind: Kind
    name: str
    was: str
    now: str | None

    def __str__(self) -> str:
        """A sentence for people."""
        return f"{self.kind} {self.name} is {'gone' if self.now is None else f'{self.now}, was {self.was}'}"


@dataclass(frozen=True, slots=True)
class Standing:
    """Something that stands on grounds, and on other standings by their ids."""

    id: str
    kind: Literal["graph", "qualification", "certificate", "commission"]
    grounds: Grounds = field(default_factory=dict)
    on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invalid:
    """A standing that holds no more: its own changed grounds, and the invalid standings that it stands on."""

    id: str
    kind: str
    changes: tuple[Change, ...]
    through: tuple[str, ...]


def grounds_of(  # the six things that ADR-0009 names, each from where it is known
    sealed: SealedGraph,
    capabilities: Mapping[str, Capability],
    *,
    knowledge: Mapping[str, str] | None = None,
    validators: Mapping[str, str] | None = None,
    pack_files: Mapping[str, str] | None = None,
) -> Grounds:
    """The grounds of ``sealed`` with the registry as it is now.

    ``knowledge`` maps citation ids, ``validators`` validator ids and ``pack_files`` POSIX paths to
    digests; of the validators only those count that the graph binds. A bound capability or validator that
    is not there is left out, and so reads as gone.
    """
    graph = sealed.graph
    bound = {node.capability for node in graph.nodes}
    judges = {item.id for item in graph.validators}
    known = validators or {}
    return {
        "graph": {graph.reference: sealed.digest},
        "capability": {name: capabilities[name].digest for name in sorted(bound & capabilities.keys())},
        "knowledge": dict(sorted((knowledge or {}).items())),
        "validator": {name: known[name] for name in sorted(judges & known.keys())},
        "pack_file": dict(sorted((pack_files or {}).items())),
        "compatibility": dict(sorted(graph.compatibility.items())),
        "recovery": {graph.reference: digest_of(RECOVERY_SCHEMA, [edge.body() for edge in graph.recovery])},
    }


def changes(was: Grounds, now: Grounds) -> tuple[Change, ...]:
    """What of ``was`` is another or gone in ``now``, by kind and name."""
    return tuple(
        Change(kind, name, digest, now.get(kind, {}).get(name))
        for kind in sorted(was)
        for name, digest in sorted(was[kind].items())
        if now.get(kind, {}).get(name) != digest
    )


def invalidated(standings: Iterable[Standing], now: Grounds) -> tuple[Invalid, ...]:
    """Every standing that holds no more, by id.

    A standing on an id that is not among ``standings`` is invalid through it: nothing vouches for it.
    """
    there = {item.id: item for item in standings}
    own = {name: changes(item.grounds, now) for name, item in there.items()}
    lost = {name for name, found in own.items() if found or not there.keys() >= set(there[name].on)}
    spreading = True
    while spreading:
        fallen = {name for name, item in there.items() if name not in lost and lost & set(item.on)}
        lost |= fallen
        spreading = bool(fallen)
    return tuple(
        Invalid(
            name,
            there[name].kind,
            own[name],
            tuple(sorted(item for item in there[name].on if item in lost or item not in there)),
        )
        for name in sorted(lost)
    )
