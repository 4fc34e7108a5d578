"""The event store over a database: append under the lock, read with proof, verify everything.

Rules kept here:

* Positions, versions, idempotency and expected versions are all decided inside the write lock.
* A log is one workspace and branch: every query names both, so that no other log's rows are ever seen.
* An append extends only a log whose head is what its bytes and the checkpoint say.
* Reading proves each event's signature (once a process for the same bytes), and the chain between events
  wherever it sees neighbours.
"""

from __future__ import annotations

import re
import weakref
from datetime import UTC, datetime
from heapq import merge
from itertools import islice, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import CheckFailed, Conflict, InvalidDocument, Refused, UsageFault
from fabric_dagster.spine import events as format_
from fabric_dagster.spine.chain import CLAIMS
from fabric_dagster.spine.events import Place, SealedEvent, open_event, same_intent, seal
from fabric_dagster.spine.ports import TRUST_STREAM
from resources.ledger.anchors import Anchors
from resources.ledger.database import Database, dialect_of
from resources.ledger.faults import broken, cut, missing
from resources.ledger.queries import INSERT, Queries
from resources.ledger.schema import EVENTS
from resources.ledger.verify import Log, verify_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Row

    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.checkpoints import Checkpoint
    from fabric_dagster.spine.ports import Event, NewEvent, Signer, SpineReport

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
PAGE = 500
_SIGNED = attrgetter(*CLAIMS)
MOST_PROVEN = 20_000


def utc_now() -> str:
    """RFC 3339 with microseconds. A claim: only positions order."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class SqlEventStore:
    """``fabric_dagster.spine.ports.EventStore`` on ``url``, for one ``workspace`` and ``branch``.

    ``anchors`` are folders, or URLs of ``fsspec``, where the signed head is kept, beside the place that a
    SQLite file has anyway: its own folder. A database is made where there is none, if ``create`` allows it
    and no anchor knows of a log.
    """

    def __init__(
        self,
        url: str,
        workspace: str,
        trust: TrustRoot,
        branch: str = "main",
        *,
        anchors: Sequence[str | Path] = (),
        create: bool = True,
        clock: Callable[[], str] = utc_now,
    ) -> None:
        for what, name in (("workspace", workspace), ("branch", branch)):
            if not NAME.fullmatch(name):
                raise UsageFault(
                    "spine.bad_name",
                    f"this is no {what}'s name",
                    value=name,
                    mend="use small letters, digits, '-' and '_'",
                )
        self.workspace = workspace
        self.branch = branch
        self.trust = trust
        self._clock = clock
        self._url = url
        file = dialect_of(url).file
        places = [*([] if file is None else [file.parent]), *anchors]
        self.anchors = Anchors(places, trust, workspace, branch)
        if self.anchors.far:
            # Nobody closes the store of a process that simply ends.
            weakref.finalize(self, self.anchors.flush)
        self._database = Database(url, lambda: self._may_create(create=create))
        self._queries = Queries(workspace, branch)
        self._proven: set[tuple[str, bytes]] = set()
        self._same_log = False

    def _may_create(self, *, create: bool) -> None:
        """A new database must never stand in for one that is gone."""
        for anchor in self.anchors.all():
            try:
                known = anchor.read()
            except CheckFailed:
                what = "there was a log (its head cannot be proven), and its database is not there"
            else:
                if known is None:
                    continue
                what = f"there was a log of {known.position} events, and its database is not there"
            raise CheckFailed(
                "spine.lost",
                what,
                where=anchor.where,
                mend="restore the database from a backup; nothing is begun anew in its place",
            )
        if not create:
            raise missing(dialect_of(self._url).where)

    def before_anchors(self) -> SqlEventStore:
        """This store, not asking its anchors when read: a newer trust root may have signed them."""
        self._same_log = True
        return self

    @property
    def file(self) -> Path | None:
        """The database's file, where it is one."""
        return self._database.dialect.file

    def close(self) -> None:
        """Write what anchors still wait for, and close every connection to the database."""
        self.anchors.flush()
        self._database.close()

    # -- writing

    def append(
        self,
        events: Sequence[NewEvent],
        *,
        signer: Signer,
        expected: Mapping[str, int] | None = None,
    ) -> list[Event]:
        """Append all or none, under one lock; the events as stored, earlier ones where a key was used.

        Raises ``InvalidDocument`` (``spine.empty``, ``spine.bad_event``, ``spine.too_large``), ``Conflict``
        (``spine.conflict``, ``spine.key_reused``), ``Refused`` (``spine.unknown_signer``) and ``CheckFailed``
        (``spine.cut``, ``spine.column``) where the log itself is not sound.
        """
        if not events:
            raise InvalidDocument("spine.empty", "an append holds no event", mend="append at least one")
        if self.trust.identity_of(signer.keyid) != signer.identity:
            raise Refused(
                "spine.unknown_signer",
                f"the key of {signer.identity} is not in the trust root",
                mend="sign with an identity's own key; `fabric doctor` shows which keys are pinned",
            )
        if (end := self.trust.ended(signer.keyid)) is not None:
            raise Refused(
                f"authority.key_{end.how}",
                f"the key of {signer.identity} was {end.how}: {end.reason}",
                value=signer.keyid,
                mend="sign with its present key; `fabric keys list` shows it",
            )
        for new in events:
            format_.check_new(new)
        heads = self._heads()
        with self._database.write(f"{self.workspace}/{self.branch}") as connection:
            stored, sealed = self._seal_all(connection, heads, events, signer, expected or {})
            if sealed:
                connection.execute(INSERT, [_row(item) for item in sealed])
        if sealed:
            last = sealed[-1].event
            self.anchors.advance(last.position, last.digest, signer)
        return stored

    def _seal_all(
        self,
        connection: Connection,
        heads: list[tuple[str, Checkpoint]],
        events: Sequence[NewEvent],
        signer: Signer,
        expected: Mapping[str, int],
    ) -> tuple[list[Event], list[SealedEvent]]:
        earlier = self._used_keys(connection, events)
        fresh = [new for new in events if new.idempotency_key not in earlier]
        if not fresh:
            return [_again(new, earlier[str(new.idempotency_key)]) for new in events], []
        position, previous = self._sound_head(connection, heads)
        versions = self._versions(connection, {new.stream for new in fresh} | set(expected) | {TRUST_STREAM})
        if versions[TRUST_STREAM] > len(self.trust.positions):
            raise Refused(
                "trust.outdated",
                "the trust root was changed while this program ran",
                mend="start it again; it then reads the present one",
            )
        for stream, version in expected.items():
            if versions[stream] != version:
                raise Conflict(
                    "spine.conflict",
                    f"the stream is at version {versions[stream]}, not {version}",
                    where=stream,
                    mend="read it again and decide anew",
                )
        stored: list[Event] = []
        sealed: list[SealedEvent] = []
        now = self._clock()
        for new in events:
            key = new.idempotency_key
            if key is not None and key in earlier:
                stored.append(_again(new, earlier[key]))
                continue
            position += 1
            versions[new.stream] += 1
            place = Place(self.workspace, self.branch, position, versions[new.stream], previous, now)
            item = seal(new, place, signer)
            previous = item.event.digest
            sealed.append(item)
            stored.append(item.event)
            if key is not None:
                earlier[key] = item.event
        return stored, sealed

    def _used_keys(self, connection: Connection, events: Sequence[NewEvent]) -> dict[str, Event]:
        keys = {new.idempotency_key for new in events if new.idempotency_key is not None}
        if not keys:
            return {}
        rows = connection.execute(self._queries.by_keys, {"keys": sorted(keys)})
        found = [self._open(row) for row in rows]
        return {str(event.idempotency_key): event for event in found}

    def _sound_head(self, connection: Connection, heads: list[tuple[str, Checkpoint]]) -> tuple[int, str]:
        """Position and digest of the last event, proven against its bytes and what anchors knew before."""
        row = connection.execute(self._queries.last).first()
        position, digest = (0, "") if row is None else (row.position, row.digest)
        if row is not None and not (isinstance(row.payload, bytes) and digest_bytes(row.payload) == digest):
            raise broken("spine.column", "the last event's bytes have another digest", position)
        for where, known in heads:
            there = self._digest_at(connection, known.position, (position, digest))
            if known.position > position or there != known.head:
                raise cut(known.position, position, where)
        self._same_log = True
        return position, digest

    def _heads(self) -> list[tuple[str, Checkpoint]]:
        """What the anchors know; those on other machines are asked once."""
        return self.anchors.newest(far=not self._same_log)

    def _begin(self) -> None:
        """Before the first read: that this is the log which the anchors know."""
        if not self._same_log:
            heads = self._heads()
            with self._database.read() as connection:
                self._sound_head(connection, heads)

    def _digest_at(self, connection: Connection, position: int, head: tuple[int, str]) -> str | None:
        if position == head[0]:
            return head[1]
        return connection.execute(self._queries.digest_at, {"at": position}).scalar_one_or_none()

    def _versions(self, connection: Connection, streams: set[str]) -> dict[str, int]:
        found = {}
        for stream in sorted(streams):
            row = connection.execute(self._queries.version, {"of": stream}).scalar_one_or_none()
            found[stream] = row or 0
        return found

    # -- reading

    def read(
        self,
        stream: str | None = None,
        *,
        after: int = 0,
        types: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Iterator[Event]:
        """Events with position > ``after``, in order; ``CheckFailed`` at the first that is not sound."""
        self._begin()
        if stream is None and types is not None and len(types) > 1:
            yield from islice(self._merged(sorted(set(types)), after, limit), limit)
            return
        query = self._queries.page(of_stream=stream is not None, of_types=types is not None)
        wanted: dict[str, Any] = {} if stream is None else {"of": stream, "version": 0}
        wanted |= {} if types is None else {"types": sorted(types)}
        left = limit
        last: Event | None = None
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            with self._database.read() as connection:
                rows = connection.execute(query, {**wanted, "after": after, "most": size}).all()
            for row in rows:
                found = self._open(row)
                _neighbours(last, found, whole=stream is None, gapless=types is None, first=after == 0)
                last = found
                after = found.position
                yield found
            if len(rows) < size or last is None:
                return
            if stream is not None:
                wanted["version"] = last.version
            left = None if left is None else left - len(rows)

    def _merged(self, types: list[str], after: int, limit: int | None) -> Iterator[Event]:
        """Events of several types, each read by its index: one query for all of them would sort the log."""
        # Up to one end for all: what comes while they are read would be in some of them only.
        end = self.head()[0]
        each = (self.read(types=[name], after=after, limit=limit) for name in types)
        bounded = [takewhile(lambda event: event.position <= end, events) for events in each]
        return merge(*bounded, key=attrgetter("position"))

    def by_key(self, idempotency_key: str) -> Event | None:
        """The event that used this idempotency key, if any."""
        self._begin()
        with self._database.read() as connection:
            row = connection.execute(self._queries.by_keys, {"keys": [idempotency_key]}).first()
        return None if row is None else self._open(row)

    def streams(self, prefix: str) -> list[str]:
        """The names of all streams that begin with ``prefix``, sorted."""
        self._begin()
        # Stream names are printable ASCII: nothing in one sorts after "~".
        with self._database.read() as connection:
            found = connection.execute(self._queries.streams, {"least": prefix, "most": prefix + "~~"})
            return list(found.scalars())

    def head(self) -> tuple[int, str]:
        """Position and digest of the newest event: ``(0, "")`` when empty."""
        self._begin()
        with self._database.read() as connection:
            row = connection.execute(self._queries.last).first()
        return (0, "") if row is None else (row.position, row.digest)

    def verify(self, since: int = 0, *, jobs: int | None = None) -> SpineReport:
        """Check positions, versions, chain, signatures, columns, keys, the database and the anchors.

        ``jobs`` is the number of processes; by default one for each core, where the log is long enough.
        """
        trust = self.trust
        log = Log(self._url, self.workspace, self.branch, trust.to_bytes(), dict(trust.positions))
        return verify_log(self._database, log, self.trust, self.anchors, since, jobs)

    # -- the bytes themselves

    def signed_head(self) -> tuple[int, bytes]:
        """Position and envelope of the newest signed head in a near place, of exactly this log."""
        self._begin()
        newest = max(self.anchors.envelopes(), default=None)
        if newest is None:
            raise CheckFailed(
                "spine.unanchored",
                "the log has no signed head",
                mend="it gets one with its next event; `fabric spine anchor` writes what is missing",
            )
        return newest

    def stored(self, until: int) -> Iterator[tuple[bytes, bytes]]:
        """Payload and signature of every event up to ``until``, as they are stored, unproven."""
        table = EVENTS.c
        query = select(table.position, table.payload, table.signature).where(*self._queries.here)
        query = query.where(table.position <= until).order_by(table.position).limit(PAGE)
        after = 0
        while after < until:
            with self._database.read() as connection:
                rows = connection.execute(query.where(table.position > after)).all()
            for after, payload, signature in rows:  # noqa: B007 - the last one is where the next page begins
                yield payload, signature
            if not rows:
                return

    def anchor(self, signer: Signer) -> int:
        """Write the log's head wherever none stands, after proving the whole log; how many events it has.

        Raises ``CheckFailed`` with every fault but a missing head; a head that disagrees is never replaced.
        """
        report = self.verify()
        faults = [fault for fault in report.faults if fault.code != "spine.unanchored"]
        if faults:
            raise CheckFailed.of(faults)
        position, head = self.head()
        if position:
            self.anchors.advance(position, head, signer)
            self.anchors.flush()
        return position

    # -- every log of the database

    def logs(self) -> set[tuple[str, str]]:
        """Workspace and branch of every log that the database holds or a near anchor knows of."""
        table = EVENTS.c
        with self._database.read() as connection:
            found = connection.execute(select(table.workspace, table.branch).distinct())
            there = {(row[0], row[1]) for row in found}
        return there | self.anchors.logs()

    # -- rows

    def _proven_before(self, payload: bytes, signature: bytes) -> Event | None:
        """The event, where this process has verified exactly these bytes and signature already.

        A run's stream is read again at every step; ``verify`` never asks here.
        """
        if not isinstance(payload, bytes) or (digest_bytes(payload), signature) not in self._proven:
            return None
        return format_.decode(payload)

    def _open(self, row: Row[Any]) -> Event:
        event = self._proven_before(row.payload, row.signature)
        if event is None:
            event = open_event(row.payload, row.signature, self.trust)
            if len(self._proven) >= MOST_PROVEN:
                self._proven.clear()
            self._proven.add((event.digest, row.signature))
        if tuple(row)[: len(CLAIMS)] != _SIGNED(event):
            named = (name for name in CLAIMS if getattr(row, name) != getattr(event, name))
            what = f"its column {next(named, '')} is not what was signed"
            raise broken("spine.column", what, event.position)
        return event


def _row(item: SealedEvent) -> dict[str, Any]:
    event = item.event
    return {
        "workspace": event.workspace,
        "branch": event.branch,
        "position": event.position,
        "stream": event.stream,
        "version": event.version,
        "type": event.type,
        "idempotency_key": event.idempotency_key,
        "digest": event.digest,
        "payload": item.payload,
        "signature": item.signature,
    }


def _again(new: NewEvent, earlier: Event) -> Event:
    if not same_intent(new, earlier):
        raise Conflict(
            "spine.key_reused",
            f"this idempotency key was used by event {earlier.position} for something else",
            where=earlier.stream,
            value=new.idempotency_key,
            mend="read that event; a new act needs a new key",
        )
    return earlier


def _neighbours(last: Event | None, found: Event, *, whole: bool, gapless: bool, first: bool) -> None:
    """Prove what lies between two events that were read one after the other."""
    if not gapless:
        return
    if whole and (last is not None or first):
        position, digest = (0, "") if last is None else (last.position, last.digest)
        if found.position != position + 1 or found.previous != digest:
            code = "spine.gap" if found.position != position + 1 else "spine.chain"
            raise broken(code, "it does not follow the event before it", found.position)
    elif not whole and (last is not None or first):
        version = 0 if last is None else last.version
        if found.version != version + 1:
            what = "an event of its stream before it is missing"
            raise broken("spine.version", what, found.position)
