"""The ledger of request identities: what was sent to a live application, and how each request ended.

Rules kept here:

* A request is recorded, on the disk, before it is sent; its identity can be recorded once, ever.
* What was sent and has no end when its process, socket or time ends is ``uncertain``. Nothing that can
  mutate is sent while anything is uncertain, and nothing here or elsewhere sends it again.
* An uncertain request ends by one thing: a decision that an identified operator signed, with evidence.
* Moves are a table; what it does not hold is refused.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from fabric_dagster.digests import canonical, dsse_open, dsse_sign
from fabric_dagster.errors import CheckFailed, NeedsPerson, OperationFailed, UsageFault
from fabric_dagster.governance.roles import require
from resources.keys import close_to_others, private_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Signer

State = Literal["sent", "acknowledged", "completed", "failed", "uncertain", "resolved"]
Event = Literal["acknowledge", "complete", "fail", "lose", "resolve"]
Decision = Literal["happened", "did_not_happen"]

FILE: Final = "requests.sqlite"
MOST_EVIDENCE: Final = 4096

#: (state, event) → state
MOVES: Final[dict[tuple[State, Event], State]] = {
    ("sent", "acknowledge"): "acknowledged",
    ("sent", "complete"): "completed",
    ("sent", "fail"): "failed",
    ("sent", "lose"): "uncertain",
    ("acknowledged", "complete"): "completed",
    ("acknowledged", "fail"): "failed",
    ("acknowledged", "lose"): "uncertain",
    ("uncertain", "resolve"): "resolved",
}

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS request (
  identity TEXT PRIMARY KEY, session TEXT NOT NULL, method TEXT NOT NULL, partition TEXT NOT NULL,
  state TEXT NOT NULL, sent_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS move (
  number INTEGER PRIMARY KEY, identity TEXT NOT NULL REFERENCES request, state TEXT NOT NULL,
  at TEXT NOT NULL, detail TEXT NOT NULL) STRICT;
"""


@dataclass(frozen=True, slots=True)
class Words:
    """What the ledger of one application says: its name, its two failure codes, the commands that mend."""

    application: str
    uncertain: str
    refused: str
    status: str
    resolve: str
    payload_type: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it stands."""

    identity: str
    session: str
    method: str
    partition: str
    state: State
    sent_at: str

    def as_dict(self) -> dict[str, str]:
        """The JSON form."""
        return {name: str(getattr(self, name)) for name in self.__slots__}


class RequestLedger:
    """The ledger in ``folder``, which may not exist yet, of the application that ``words`` names."""

    def __init__(self, folder: Path, words: Words) -> None:
        self.path = folder / FILE
        self._words = words

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        private_folder(self.path.parent)
        try:
            with closing(sqlite3.connect(self.path, isolation_level=None, timeout=30)) as base:
                # FULL: a transaction is on the disk when COMMIT returns.
                base.execute("PRAGMA synchronous = FULL")
                base.executescript(_TABLES)
                close_to_others(self.path)
                base.execute("BEGIN IMMEDIATE")
                yield base
                base.execute("COMMIT")
        except sqlite3.DatabaseError as fault:
            raise OperationFailed(
                "requests.ledger_failed", f"the ledger of requests cannot be used: {fault}",
                where=str(self.path),
                mend=f"restore it from a backup: without it nothing is sent to {self._words.application}",
            ) from fault  # fmt: skip

    def record(self, identity: str, session: str, method: str, partition: str) -> None:
        """Record that ``identity`` is about to be sent; refuses one that was recorded before."""
        with self._open() as base:
            self._settled(base)
            if base.execute("SELECT 1 FROM request WHERE identity = ?", (identity,)).fetchone():
                raise OperationFailed(
                    self._words.refused, "this very request was sent before", value=identity,
                    mend="a request is never sent again: stage the plan anew",
                )  # fmt: skip
            row = (identity, session, method, partition, "sent", _now())
            base.execute("INSERT INTO request VALUES (?, ?, ?, ?, ?, ?)", row)
            _note(base, identity, "sent", {})

    def move(self, identity: str, event: Event, detail: dict[str, Any] | None = None) -> State:
        """Note what became of a request; its new state. Refuses what the table does not hold."""
        with self._open() as base:
            return _move(base, identity, event, detail or {})

    def lose_unended(self) -> tuple[Recorded, ...]:
        """Call uncertain what has no end. Only for whoever holds the port: nobody else is sending."""
        with self._open() as base:
            found = _select(base, "state IN ('sent', 'acknowledged')")
            for item in found:
                _move(base, item.identity, "lose", {"why": "the process that sent it ended"})
        return found

    def uncertain(self) -> tuple[Recorded, ...]:
        """What waits for a decision, oldest first."""
        if not self.path.exists():
            return ()
        with self._open() as base:
            return _select(base, "state = 'uncertain'")

    def all(self) -> tuple[Recorded, ...]:
        """Every request, oldest first."""
        if not self.path.exists():
            return ()
        with self._open() as base:
            return _select(base, "1")

    def history(self, identity: str) -> list[dict[str, Any]]:
        """Every move of a request, in order."""
        with self._open() as base:
            rows = base.execute(
                "SELECT state, at, detail FROM move WHERE identity = ? ORDER BY number", (identity,)
            ).fetchall()
        return [{"state": state, "at": at, **json.loads(detail)} for state, at, detail in rows]

    def require_settled(self) -> None:
        """``NeedsPerson`` (the code for it) while anything is uncertain."""
        with self._open() as base:
            self._settled(base)

    def _settled(self, base: sqlite3.Connection) -> None:
        found = _select(base, "state = 'uncertain'")
        if found:
            name, method = self._words.application, found[0].method
            raise NeedsPerson(
                self._words.uncertain,
                f"whether {name} did {method} is unknown; nothing is sent before that is decided",
                where=found[0].identity[7:19],
                mend=f"look at {name}, then run `{self._words.resolve}`",
            )

    def resolve(
        self, begins: str, operator: Signer, trust: TrustRoot, decision: Decision, evidence: str
    ) -> Recorded:
        """End an uncertain request by what ``operator`` found. It is not sent again, whatever was found.

        ``begins`` is the beginning of its identity, with or without ``sha256:``.
        """
        require(trust, operator, "run.reconcile")
        if not evidence.strip() or len(evidence) > MOST_EVIDENCE:
            raise UsageFault(
                "requests.no_evidence", f"the evidence must have 1 to {MOST_EVIDENCE} characters",
                mend="say what was looked at and what was there",
            )  # fmt: skip
        with self._open() as base:
            found = [
                item
                for item in _select(base, "state = 'uncertain'")
                if item.identity.removeprefix("sha256:").startswith(begins.removeprefix("sha256:"))
            ]
            if len(found) != 1:
                raise UsageFault(
                    "requests.no_such_request", f"{len(found)} uncertain requests begin so", value=begins,
                    mend=f"see `{self._words.status}`",
                )  # fmt: skip
            (item,) = found
            body = {**item.as_dict(), "decision": decision, "evidence": evidence, "by": operator.identity}
            envelope = dsse_sign(self._words.payload_type, canonical(body), operator.keyid, operator.sign)
            _move(base, item.identity, "resolve", {"resolution": envelope})
        return item

    def resolution(self, identity: str, trust: TrustRoot) -> dict[str, Any] | None:
        """The decision on a request with its signature verified, or ``None``."""
        last = self.history(identity)[-1:]
        if not last or last[0]["state"] != "resolved":
            return None
        payload: dict[str, Any] = {}
        envelope = last[0]["resolution"]

        def verify(signature: bytes, message: bytes) -> bool:
            return any(trust.signed_by_role(role, signature, message) for role in ("operator", "validator"))

        payload = json.loads(dsse_open(envelope, self._words.payload_type, verify))
        if payload.get("identity") != identity:
            raise CheckFailed("requests.resolution_foreign", "the decision is about another request")
        return payload


def _select(base: sqlite3.Connection, where: str) -> tuple[Recorded, ...]:
    """Requests by one of this module's own conditions."""
    columns = "identity, session, method, partition, state, sent_at"
    rows = base.execute(f"SELECT {columns} FROM request WHERE {where} ORDER BY rowid").fetchall()  # noqa: S608 - our own words
    return tuple(Recorded(*row) for row in rows)


def _move(base: sqlite3.Connection, identity: str, event: Event, detail: dict[str, Any]) -> State:
    row = base.execute("SELECT state FROM request WHERE identity = ?", (identity,)).fetchone()
    target = MOVES.get((row[0], event)) if row else None
    if target is None:
        raise CheckFailed(
            "requests.no_such_move", f"a request that is {row[0] if row else 'unknown'} can't {event}",
            value=identity,
        )  # fmt: skip
    base.execute("UPDATE request SET state = ? WHERE identity = ?", (target, identity))
    _note(base, identity, target, detail)
    return target


def _note(base: sqlite3.Connection, identity: str, state: State, detail: dict[str, Any]) -> None:
    values = (identity, state, _now(), json.dumps(detail, sort_keys=True))
    base.execute("INSERT INTO move (identity, state, at, detail) VALUES (?, ?, ?, ?)", values)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
