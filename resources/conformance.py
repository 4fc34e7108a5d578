"""What conformance suites share: a case, an observation in it, and what a case came to in an application.

A suite is a tuple of cases that any provider of a port can run: the project's tests run it over fakes, a
``qualify`` command in the application itself. Every case is in the record, also one that failed or was not
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from pydantic import Field

from fabric_dagster.contracts.base import Contract
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.ports import Observation

if TYPE_CHECKING:
    from fabric_dagster.supervisor.ports import Provider

Bench = TypeVar("Bench")
Verdict = Literal["passed", "failed", "not_asked"]


@dataclass(frozen=True, slots=True)
class Case(Generic[Bench]):
    """One thing that a provider must do. ``needs`` are the capabilities without which it is not asked."""

    name: str
    about: str
    needs: frozenset[str]
    run: Callable[[Bench], Iterable[Observation]]


class Seen(Contract):
    """One observation of a case."""

    subject: str
    expected: str
    found: str
    holds: bool


class CaseRecord(Contract):
    """What one case came to; ``fault`` is the line of an error that ended it."""

    case: str
    about: str
    verdict: Verdict
    fault: str | None = None
    observations: tuple[Seen, ...] = Field(default=(), strict=False)


def seen(subject: str, expected: object, found: object) -> Observation:
    """An observation that holds where both are equal."""
    return Observation(subject, str(expected), str(found), holds=expected == found)


def recorded(case: Case[Bench], provider: Provider, bench: Callable[[], Bench]) -> CaseRecord:
    """Run ``case`` on a new bench, whatever becomes of it; only where ``provider`` serves what it needs."""
    if not case.needs <= provider.serves:
        return CaseRecord(case=case.name, about=case.about, verdict="not_asked")
    found: list[Seen] = []
    fault = None
    try:
        found.extend(Seen(**item.as_dict()) for item in case.run(bench()))
    except FabricError as error:
        fault = str(error.faults[0])
    passed = fault is None and bool(found) and all(item.holds for item in found)
    return CaseRecord(
        case=case.name,
        about=case.about,
        verdict="passed" if passed else "failed",
        fault=fault,
        observations=tuple(found),
    )


def all_passed(cases: Iterable[CaseRecord]) -> bool:
    """Whether every case that was asked passed, and something was asked."""
    verdicts = [case.verdict for case in cases]
    return "failed" not in verdicts and "passed" in verdicts
