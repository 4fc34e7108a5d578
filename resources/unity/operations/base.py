"""What an operation is: how one capability is executed on a workspace, and how its outcome is looked at.

Rules kept here:

* An operation is a module of this folder that exports ``OPERATION``; being there registers it.
* ``execute`` stages bytes and nothing else; ``observe`` reads a project and believes nothing.
* ``subject`` names what an operation is about, its file first: of two with one subject the later has the last
  word, and what a later operation moves or removes is no longer looked for.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import resources.unity.operations as room
from fabric_dagster.capabilities.base import Arguments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.supervisor.ports import Observation
    from resources.unity.operations.workspace import Workspace

A = TypeVar("A", bound=Arguments)


def _nothing(_workspace: Workspace, _args: Any) -> tuple[str, ...]:  # noqa: ANN401 - takes any arguments
    return ()


def _stays(_args: Any) -> str | None:  # noqa: ANN401 - takes any arguments
    return None


@dataclass(frozen=True)
class UnityOperation(Generic[A]):
    """How ``capability`` is done; see the module's rules."""

    capability: str
    #: stages the edit; returns the outputs by name
    execute: Callable[[Workspace, A], dict[str, Any]]
    #: every postcondition, as it is on the disk now
    observe: Callable[[Workspace, A], Iterator[Observation]]
    subject: Callable[[Workspace, A], tuple[str, ...]]
    #: the names of the random choices that executing will need
    allocations: Callable[[Workspace, A], tuple[str, ...]] = _nothing
    #: the file or folder that is no longer there afterwards
    takes_away: Callable[[A], str | None] = _stays


@cache
def operations() -> Mapping[str, UnityOperation[Any]]:
    """Capability id → operation, sorted by id."""
    found: dict[str, UnityOperation[Any]] = {}
    for module in pkgutil.iter_modules(room.__path__):
        declared = getattr(importlib.import_module(f"{room.__name__}.{module.name}"), "OPERATION", None)
        if not isinstance(declared, UnityOperation):
            continue
        if declared.capability in found:
            msg = f"two operations execute {declared.capability}"
            raise TypeError(msg)
        found[declared.capability] = declared
    return dict(sorted(found.items()))
