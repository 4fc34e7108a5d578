"""``fabric.ticket.v1``: the typed, fenced input of a Jira issue (design/TICKET.md)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract, Digest, Document


class TicketFile(Contract):
    """A picture that the block names. ``path`` is how the block wrote it; ``digest`` is of its bytes."""

    path: str
    digest: Digest
    size: int
    #: ``png``, ``psd`` or ``psb``: what the bytes are, not what the name says.
    format: Literal["png", "psd", "psb"]
    width: int
    height: int


class Ticket(Document):
    """One accepted ticket.

    The identity covers the parsed block and the bytes of the files that it names; neither the issue's
    key nor its prose is part of it (design/TICKET.md).
    """

    SCHEMA: ClassVar[str] = "fabric.ticket.v1"
    UNSIGNED: ClassVar[frozenset[str]] = frozenset({"key", "summary"})

    schema_: Literal["fabric.ticket.v1"] = Field(alias="schema")
    key: str = Field(pattern=r"^[A-Z][A-Z0-9_]{0,30}-[1-9][0-9]{0,9}$")
    summary: str = ""
    #: ``Name@MAJOR``
    graph: str = Field(pattern=r"^[A-Z][A-Za-z0-9]{2,79}@[1-9][0-9]*$")
    #: the block's values, normalised to NFC text, by input name.
    inputs: dict[str, str]
    #: the files among the inputs, by input name.
    files: dict[str, TicketFile] = Field(default_factory=dict)
