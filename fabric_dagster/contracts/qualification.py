"""``fabric.qualification.v1`` and ``fabric.review.v1``: what a no-write pass over a frozen corpus came to.

The builder makes the first, the separate validator derives it again by itself and signs the second. Neither
grants anything; a certifier consumes the review once.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Digest, Document, NodeId


class CaseResult(Contract):
    """One case of the corpus: a ticket, what was expected of it and what came of it."""

    id: str
    #: ``accepted`` with a decision and bound plans, or ``refused`` with codes.
    outcome: Literal["accepted", "refused"]
    passed: bool
    ticket: Digest | None = None
    rule: str | None = None
    #: the decided values, as JSON.
    values: dict[str, Any] = Field(default_factory=dict)
    #: application partition → digest of its bound plan.
    plans: dict[NodeId, Digest] = Field(default_factory=dict)
    #: partition → digest of its control: a control's bound arguments, and the checks that would judge it.
    controls: dict[NodeId, Digest] = Field(default_factory=dict)
    #: codes of the refusal, sorted.
    codes: tuple[str, ...] = Field(default=(), strict=False)
    #: why the case failed, for people.
    why: str | None = None


class Bindings(Contract):
    """What a graph's certificate stands on besides graph and pack, each by its digest.

    Compatibility, recovery and capabilities are inside of the graph's digest too; they are named here so that
    a change is not only refused but told by its name.
    """

    #: built-in validator → digest of its code, parameters and shared measures; a pack's are in the pack's.
    validators: dict[str, Digest]
    #: capability → digest of its declaration.
    capabilities: dict[str, Digest]
    compatibility: Digest
    recovery: Digest


class Qualification(Document):
    """Every case of one corpus on one sealed graph. Its digest is the results digest."""

    SCHEMA: ClassVar[str] = "fabric.qualification.v1"

    schema_: Literal["fabric.qualification.v1"] = Field(alias="schema")
    reference: str
    graph: Digest
    pack: Digest
    corpus: Digest
    bindings: Bindings
    cases: tuple[CaseResult, ...] = Field(min_length=1, strict=False)

    @property
    def passed(self) -> bool:
        """Whether every case came out as the corpus expects."""
        return all(case.passed for case in self.cases)


class Review(Document):
    """What the validator signs: bound to graph, pack, corpus and results. Only a passed one is signed."""

    SCHEMA: ClassVar[str] = "fabric.review.v1"

    schema_: Literal["fabric.review.v1"] = Field(alias="schema")
    reference: str
    graph: Digest
    pack: Digest
    corpus: Digest
    results: Digest
    bindings: Bindings
    cases: int = Field(ge=1)
    passed: Literal[True]
    #: drawn by the validator for each review, so that each makes a receipt of its own, consumed once.
    nonce: str = Field(pattern=r"^[0-9a-f]{32}$")
