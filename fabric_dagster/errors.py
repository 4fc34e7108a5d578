"""Errors that carry their own diagnosis.

Rules kept here:

* Every error has a stable ``code``, says *what* is wrong, *where*, and how to *mend* it. The command
  line, Dagster's failure description and a web page print the same line.
* A reader of a document reports all of its faults at once: an error holds one fault or many.
* The class decides the exit code (design/CLI.md); nothing else does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong.

    ``code`` is dotted and stable (``ticket.unknown_key``); ``where`` is ``file:line`` or a path within
    the document; ``value`` is the offending value as it was read, shortened for people.
    """

    code: str
    what: str
    where: str = ""
    mend: str = ""
    value: str | None = None

    def __str__(self) -> str:
        """One line: where, what, value, mend, code."""
        head = f"{self.where}: " if self.where else ""
        value = f" (found {shorten(self.value)})" if self.value is not None else ""
        mend = f". {self.mend[:1].upper()}{self.mend[1:]}" if self.mend else ""
        return one_line(f"{head}{self.what}{value}{mend} [{self.code}]")

    def as_dict(self) -> dict[str, str]:
        """The JSON form; absent parts are left out."""
        parts = {"code": self.code, "what": self.what, "where": self.where, "mend": self.mend}
        if self.value is not None:
            parts["value"] = shorten(self.value)
        return {key: text for key, text in parts.items() if text}


def shorten(text: str, limit: int = 80) -> str:
    """Quote ``text`` for an error line: escaped, at most ``limit`` characters of it."""
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return repr(shown)


def one_line(text: str) -> str:
    """Escape what would break a line or a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class FabricError(Exception):
    """Base of all errors that a person may see."""

    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        code: str,
        what: str,
        *,
        where: str = "",
        mend: str = "",
        value: str | None = None,
    ) -> None:
        """Make an error of one fault."""
        self.faults: tuple[Fault, ...] = (Fault(code, what, where, mend, value),)
        super().__init__(str(self.faults[0]))

    @classmethod
    def of(cls, faults: Iterable[Fault]) -> FabricError:
        """Make an error of all ``faults`` (at least one); what is said twice is said once."""
        found = tuple(dict.fromkeys(faults))
        if not found:
            msg = "an error needs at least one fault"
            raise ValueError(msg)
        first = found[0]
        error = cls(first.code, first.what, where=first.where, mend=first.mend, value=first.value)
        error.faults = found
        error.args = ("\n".join(map(str, found)),)
        return error

    @property
    def code(self) -> str:
        """The code of the first fault."""
        return self.faults[0].code


class InvalidDocument(FabricError):
    """A document (ticket, graph, pack, plan, PSD, Unity file) is not what it must be. Exit 1."""


class CheckFailed(FabricError):
    """The thing asked about is not so: a chain is broken, a verdict is negative. Exit 1."""


class UsageFault(FabricError):
    """The call's own words are off. Exit 2."""

    exit_code = 2


class Refused(FabricError):
    """Authority says no. Exit 3."""

    exit_code = 3


class NeedsPerson(FabricError):
    """Stopped at an exact, durable blocker: reconciliation or approval. Exit 4."""

    exit_code = 4


class OperationFailed(FabricError):
    """A provider's operation ended in one of its capability's typed failure codes. Exit 1."""


class Conflict(OperationFailed):
    """Something changed underneath: compare-and-swap refused. Nothing was written. Exit 1."""
