"""What the supervisor asks of the outside: one port per kind of thing, implemented in ``resources/``.

Rules kept here:

* A provider works on a *stage*: a private folder. Nothing outside it changes before ``commit``.
* What a provider says is never proof: ``observe`` re-opens, re-hashes and re-parses what is there now.
* All file effects of one partition commit as one journaled transaction under a root, by compare-and-swap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fabric_dagster.contracts.physical_plan import PhysicalPlan

#: The application that works on the project's tree, which all runs share; a delivery is one run's own.
PROJECT = "unity"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a transaction, as a POSIX path under its root; ``None`` means that it does not exist."""

    path: str
    before: str | None
    after: str | None

    def as_dict(self) -> dict[str, Any]:
        """The JSON form; an absent side is left out."""
        return {k: v for k, v in (("path", self.path), ("before", self.before), ("after", self.after)) if v}


@dataclass(frozen=True, slots=True)
class Produced:
    """An output of a node. ``path`` is the file in the stage, or ``None`` for a plain ``value``."""

    node: str
    name: str
    kind: str
    path: Path | None = None
    value: Any = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """One fact that was looked at, with what was expected."""

    subject: str
    expected: str
    found: str
    holds: bool

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"subject": self.subject, "expected": self.expected, "found": self.found, "holds": self.holds}


@dataclass(frozen=True, slots=True)
class Staged:
    """What executing a bound plan in its stage came to. Nothing outside the stage has changed."""

    changes: tuple[FileChange, ...]
    produced: tuple[Produced, ...]
    observations: tuple[Observation, ...] = ()
    warnings: tuple[str, ...] = ()
    #: unified diff of text changes, for people.
    diff: str = ""
    #: how sure the specialist says it is, for people; it is recorded and opens no gate.
    confidence: str | None = None


#: What stands at a transaction's target now: nothing of it, all of it, a part, or somebody else's bytes.
Standing = Literal["before", "after", "partial", "foreign"]


class Provider(Protocol):
    """The hands of one application on one instance of it (a project, a delivery folder)."""

    @property
    def application(self) -> str:
        """``photoshop`` or ``unity``."""
        ...

    @property
    def name(self) -> str:
        """What kind of provider it is, e.g. ``headless``."""
        ...

    @property
    def version(self) -> str:
        """Its version; a commission names it."""
        ...

    @property
    def serves(self) -> frozenset[str]:
        """The capability ids that this provider can execute."""
        ...

    @property
    def root(self) -> Path:
        """The folder under which ``commit`` writes."""
        ...

    def allocate(self, plan: PhysicalPlan) -> dict[str, str]:
        """Draw the random choices that executing ``plan`` will need, by name (GUIDs, ids)."""
        ...

    def stage(self, plan: PhysicalPlan, stage: Path) -> Staged:
        """Execute the bound ``plan`` inside ``stage``; its inputs lie there under their plan paths.

        Calls ``watch.check`` between its steps and while it waits, and ends what it started when that raises.
        Raises ``OperationFailed`` with one of the capability's failure codes.
        """
        ...

    def commit(self, stage: Path, staged: Staged, transaction: str) -> None:
        """Apply ``staged`` under ``root`` as transaction ``transaction``; ``Conflict`` if anything changed.

        The undo journal stays until ``forget``.
        """
        ...

    def standing(self, transaction: str, changes: tuple[FileChange, ...]) -> Standing:
        """What is there now, by reading the bytes; finishes nothing, repairs nothing."""
        ...

    def recover(self, transaction: str) -> Standing:
        """Bring an interrupted transaction to ``after`` or ``before`` from its journal; idempotent."""
        ...

    def undo(self, transaction: str) -> None:
        """Restore what ``transaction`` wrote; ``Conflict`` where the bytes are no longer ours."""
        ...

    def forget(self, transaction: str) -> None:
        """Drop the undo journal of a finished transaction."""
        ...

    def abandon(self, transaction: str) -> None:
        """Drop the journal of a transaction that a person has settled by hand; touch no file of theirs."""
        ...

    def observe(self, plan: PhysicalPlan, staged: Staged) -> tuple[Observation, ...]:
        """Check the postconditions of ``plan`` on what is there now: re-open, re-hash, re-parse."""
        ...
