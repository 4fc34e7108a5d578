"""What a validator is: one question about the artifacts, answered from source facts and bytes alone.

Rules kept here:

* A validator is a module exporting ``VALIDATOR``; its ``judge`` takes an ``EvidenceView`` and its frozen
  parameters and returns an ``Outcome``. It holds no state.
* An outcome lists what was wrong (expected, found, where); a passed one lists what was looked at.
* What cannot be judged is raised as ``Unjudgeable`` and counts as failed, as does any other exception.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import ConfigDict

from fabric_dagster.contracts.base import Contract
from fabric_dagster.contracts.evidence import Finding

if TYPE_CHECKING:
    import numpy as np

    from fabric_dagster.validators.view import EvidenceView

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*@[1-9][0-9]*")
#: How many findings an outcome keeps; the rest is counted.
MOST_FINDINGS = 24
LONGEST_TEXT = 400


class Params(Contract):
    """Base of a validator's parameters: frozen, unknown keys refused.

    Lists of a pack's YAML arrive as lists, so tuples take them too.
    """

    model_config = ConfigDict(strict=False)


P = TypeVar("P", bound=Params)


class Unjudgeable(Exception):
    """The question cannot be answered from this evidence; the check has failed."""

    def __init__(self, expected: str, found: str, where: str = "") -> None:
        self.finding = finding(expected, found, where)
        super().__init__(f"{where}: expected {expected}, found {found}")


@dataclass
class Outcome:
    """What judging came to; a validator fills it with ``must`` and returns it."""

    wrong: list[Finding] = field(default_factory=list)
    looked: list[Finding] = field(default_factory=list)
    #: measured figures, as text for people
    figures: dict[str, str] = field(default_factory=dict)
    #: title → picture ``(h, w, 3 or 4)`` uint8 RGB(A)
    pictures: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether something was looked at and nothing was wrong."""
        return not self.wrong and bool(self.looked)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong, or, where nothing was, what was looked at."""
        shown = self.wrong or self.looked
        if len(shown) <= MOST_FINDINGS:
            return tuple(shown)
        rest = len(shown) - MOST_FINDINGS + 1
        return (*shown[: MOST_FINDINGS - 1], finding("as above", f"{rest} more of the same kind"))

    def must(self, holds: object, expected: object, found: object, where: str = "") -> bool:
        """Record one thing that was looked at, and whether it is as expected."""
        (self.looked if holds else self.wrong).append(finding(str(expected), str(found), where))
        return bool(holds)

    def equal(self, expected: object, found: object, where: str = "") -> bool:
        """``must`` for things that are equal or not."""
        return self.must(expected == found, expected, found, where)


def finding(expected: str, found: str, where: str = "") -> Finding:
    """A finding with texts of bounded length."""
    return Finding(expected=_bounded(expected), found=_bounded(found), where=_bounded(where))


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


@dataclass(frozen=True)
class Validator(Generic[P]):
    """One declared question; see the module's rules."""

    id: str
    #: what holds where it passed, as one sentence
    summary: str
    params: type[P]
    judge: Callable[[EvidenceView, P], Outcome]

    def __post_init__(self) -> None:
        if not IDENTIFIER.fullmatch(self.id):
            msg = f"a validator's id is name@N, not {self.id!r}"
            raise ValueError(msg)


#: A validator whose parameters' type is nobody's business.
AnyValidator = Validator[Any]
