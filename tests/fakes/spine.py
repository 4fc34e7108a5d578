"""An event log in memory: positions, versions, keys, signatures and the chain as the port asks for."""

from fabric_dagster.digests import canonical, digest_bytes
from fabric_dagster.errors import CheckFailed, Conflict, UsageFault
from fabric_dagster.spine.ports import Event


class MemoryEventStore:
    """``fabric_dagster.spine.ports.EventStore``; ``before_append`` may raise, as a dying process would."""

    branch = "main"

    def __init__(self, trust, workspace="default"):
        self.trust, self.workspace = trust, workspace
        self.events = []
        self.before_append = lambda _events: None

    def append(self, events, *, signer, expected=None):
        """All or none, at the expected versions; a key that was used returns its event."""
        if not events:
            raise UsageFault("spine.empty", "nothing to append")
        self.before_append(events)
        for stream, version in (expected or {}).items():
            known = [self.by_key(e.idempotency_key) for e in events if e.idempotency_key]
            if self._version(stream) != version and not (known and all(known)):
                raise Conflict("spine.conflict", "somebody appended first", where=stream)
        added, ahead = [], list(self.events)
        for new in events:
            used = new.idempotency_key and next(
                (e for e in ahead if e.idempotency_key == new.idempotency_key), None
            )
            if used:
                if (used.stream, used.type, canonical(used.body)) != (
                    new.stream,
                    new.type,
                    canonical(dict(new.body)),
                ):
                    raise Conflict("spine.key_reused", "the key was used for something else")
                added.append(used)
                continue
            previous = ahead[-1].digest if ahead else ""
            body = [previous, new.stream, new.type, dict(new.body), signer.identity, signer.keyid]
            data = canonical(body)
            if not self.trust.verify(signer.keyid, signer.sign(data), data):
                raise CheckFailed("spine.signature", "the signature does not verify")
            event = Event(
                len(ahead) + 1,
                new.stream,
                1 + sum(e.stream == new.stream for e in ahead),
                new.type,
                dict(new.body),
                signer.identity,
                signer.keyid,
                "2026-01-01T00:00:00.000000Z",
                self.workspace,
                self.branch,
                previous,
                digest_bytes(data),
                new.idempotency_key,
                new.stream.removeprefix("run:") if new.stream.startswith("run:") else None,
            )
            ahead.append(event)
            added.append(event)
        self.events = ahead
        return added

    def read(self, stream=None, *, after=0, types=None, limit=None):
        """Events in order."""
        found = [
            e
            for e in self.events
            if e.position > after and stream in {None, e.stream} and (types is None or e.type in types)
        ]
        return iter(found[:limit])

    def by_key(self, key):
        """The event that used this key."""
        return next((e for e in self.events if e.idempotency_key == key), None)

    def head(self):
        """Position and digest of the newest event."""
        return (len(self.events), self.events[-1].digest) if self.events else (0, "")

    def streams(self, prefix):
        """The names of all streams that begin with ``prefix``."""
        return sorted({e.stream for e in self.events if e.stream.startswith(prefix)})

    def _version(self, stream):
        return sum(e.stream == stream for e in self.events)
