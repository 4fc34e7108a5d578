"""What makes a sequence of signed events one sound log. Any doubt is a fault, any exception too.

Checked event by event: a trusted key of its actor signed the stored bytes, positions are contiguous, each
event holds its predecessor's digest, versions are contiguous per stream. What somebody claims beside the
bytes (columns, an order) must be what was signed.

A log may be proven in ``Stretch``es side by side: each begins with the digest of the event before it, and
``join`` proves that streams go on across their borders.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import FabricError, Fault
from fabric_dagster.spine.events import prove

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fabric_dagster.spine.checkpoints import Checkpoint
    from fabric_dagster.spine.events import Trust

#: What a store may say of an event beside its bytes.
CLAIMS = ("workspace", "branch", "position", "stream", "version", "type", "idempotency_key", "digest")
#: A broken log breaks everywhere after the break: enough is enough.
MAX_FAULTS = 100


@dataclass
class Stretch:
    """What was found of the events after ``position``, one after the other."""

    position: int
    #: digest of the event at ``position``; empty at the beginning.
    head: str
    count: int = 0
    faults: list[Fault] = field(default_factory=list)
    #: stream → version of its first and its last event here.
    begins: dict[str, int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)
    #: digests at the positions that somebody watches.
    watched: dict[int, str] = field(default_factory=dict)

    def add(
        self,
        payload: bytes,
        signature: bytes,
        trust: Trust,
        claims: Sequence[Any],
        watch: Mapping[int, object],
    ) -> None:
        """Prove the next event. ``claims`` are the values of ``CLAIMS`` that its store gives."""
        at = f"event {claims[2]}"
        self.count += 1
        if claims[2] != self.position + 1:
            self.faults.append(Fault("spine.gap", f"positions jump from {self.position}", at))
        self.position = claims[2]
        try:
            document = prove(payload, signature, trust)
            digest = "sha256:" + sha256(payload).hexdigest()
            signed = (
                document["workspace"],
                document["branch"],
                document["position"],
                document["stream"],
                document["version"],
                document["type"],
                document.get("idempotency_key"),
                digest,
            )
            if signed != claims:
                name = next(n for n, a, b in zip(CLAIMS, signed, claims, strict=True) if a != b)
                self.faults.append(Fault("spine.column", f"its column {name} is not what was signed", at))
            if document["previous"] != self.head:
                self.faults.append(Fault("spine.chain", "it does not follow the event before it", at))
            self._version(at, document["stream"], document["version"])
            self.head = digest
        except Exception as fault:  # noqa: BLE001 - any exception here is a finding, never a skip
            self.faults += told(fault, at)
            # The neighbours are judged by what is claimed from here on, so that one fault is one line.
            self.head = str(claims[7])
            if isinstance(claims[3], str) and isinstance(claims[4], int):
                self.begins.setdefault(claims[3], claims[4])
                self.ends[claims[3]] = claims[4]
        if self.position in watch:
            self.watched[self.position] = self.head

    def _version(self, at: str, stream: str, version: int) -> None:
        last = self.ends.get(stream)
        if last is None:
            self.begins[stream] = version
        elif version != last + 1:
            self.faults.append(Fault("spine.version", f"its stream {stream} jumps to version {version}", at))
        self.ends[stream] = version


def join(before: Mapping[str, int], stretches: Iterable[Stretch]) -> list[Fault]:
    """The faults of all ``stretches`` in order, and of the streams that do not go on across their borders.

    ``before`` is the version of each stream before the first of them.
    """
    faults: list[Fault] = []
    versions = dict(before)
    for stretch in stretches:
        faults += stretch.faults
        for stream, version in stretch.begins.items():
            if version != versions.get(stream, 0) + 1:
                what = f"the stream {stream} jumps to version {version}"
                faults.append(Fault("spine.version", what, f"up to event {stretch.position}"))
        versions |= stretch.ends
    return faults


def compare(
    checkpoint: Checkpoint, where: str, since: int, end: int, watched: Mapping[int, str]
) -> list[Fault]:
    """What is wrong between a log proven from ``since`` to ``end`` and a signed head that lies elsewhere."""
    if checkpoint.position > end:
        what = f"the log ends at event {end}, its checkpoint at {checkpoint.position}: it was cut"
        return [Fault("spine.cut", what, where)]
    if checkpoint.position >= max(since, 1) and watched.get(checkpoint.position) != checkpoint.head:
        what = f"event {checkpoint.position} is not the event that was checkpointed"
        return [Fault("spine.replaced", what, where)]
    return []


def told(fault: Exception, where: str = "") -> list[Fault]:
    """An exception as findings; one that nobody foresaw is a finding as well."""
    if isinstance(fault, FabricError):
        return [replace(item, where=where or item.where, mend="") for item in fault.faults]
    return [Fault("spine.unreadable", f"it cannot be looked at: {fault!r}", where)]
