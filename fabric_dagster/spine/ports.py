"""What the law asks of an event store: append signed, read in order, prove the chain.

The event format is fixed here; stores keep the signed bytes as they were signed and verify those.

Rules kept here:

* Positions are contiguous from 1 and taken inside the store's write lock; versions count per stream.
* ``digest`` chains: sha256 over the stored bytes, which hold the previous event's digest.
* An idempotency key that was used before returns the event that used it; nothing is appended twice.
* Timestamps are claims; only positions order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fabric_dagster.errors import Fault


#: The stream of the trust root's versions: one event a version (``governance/rotation.py``).
TRUST_STREAM = "trust"


class Signer(Protocol):
    """An identity that can sign: its key never leaves it."""

    @property
    def identity(self) -> str:
        """Whose key it is, as the trust root names it."""
        ...

    @property
    def keyid(self) -> str:
        """The digest of the public key."""
        ...

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature (64 bytes) of ``message``."""
        ...


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to append. ``body`` must have a canonical form."""

    stream: str
    type: str
    body: Mapping[str, Any]
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An event as stored and verified on read."""

    position: int
    stream: str
    version: int
    type: str
    body: Mapping[str, Any]
    #: identity that signed it, as the trust root names the key.
    actor: str
    keyid: str
    recorded_at: str
    workspace: str
    branch: str
    previous: str
    digest: str
    idempotency_key: str | None = None
    #: the run whose event this is; ``None`` on every other stream.
    run: str | None = None


@dataclass(frozen=True, slots=True)
class SpineReport:
    """What verifying the chain found. Any doubt is a fault."""

    events: int
    head: str
    #: each with its code: which guarantee does not hold, and where.
    faults: tuple[Fault, ...] = field(default=())

    @property
    def sound(self) -> bool:
        """Whether nothing at all is wrong."""
        return not self.faults


class EventStore(Protocol):
    """The append-only signed log."""

    workspace: str
    branch: str

    def append(
        self,
        events: Sequence[NewEvent],
        *,
        signer: Signer,
        expected: Mapping[str, int] | None = None,
    ) -> list[Event]:
        """Append all or none, under one lock. ``expected`` maps stream → version that it must have now.

        Empty appends are refused; a stale ``expected`` raises ``Conflict`` (``spine.conflict``).
        """
        ...

    def read(
        self,
        stream: str | None = None,
        *,
        after: int = 0,
        types: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Iterator[Event]:
        """Events with position > ``after``, in order; signatures verified as they are read."""
        ...

    def by_key(self, idempotency_key: str) -> Event | None:
        """The event that used this idempotency key, if any."""
        ...

    def streams(self, prefix: str) -> list[str]:
        """The names of all streams that begin with ``prefix``, sorted; found by index, not by reading."""
        ...

    def head(self) -> tuple[int, str]:
        """Position and digest of the newest event: ``(0, "")`` when empty."""
        ...

    def verify(self, since: int = 0, *, jobs: int | None = None) -> SpineReport:
        """Check positions, chain, signatures and trust of everything after ``since``, on ``jobs`` cores."""
        ...
