"""Removes artifacts that nothing refers to, and proves the ones that are kept.

Rules kept here:

* What any event of any branch of the workspace names is kept, what a kept artifact's bytes name, and so on;
  a name in the payload of a signed envelope counts.
* What was put within the grace period is kept: the event that will name it may not be written yet.
* A log that is not sound, or a kept artifact that cannot be read, stops it before anything is removed.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabric_dagster.errors import CheckFailed, FabricError, Fault

if TYPE_CHECKING:
    from collections.abc import Iterable

    from resources.artifacts.place import AnyArtifactStore
    from resources.ledger.store import SqlEventStore

NAMED = re.compile(rb"sha256:[0-9a-f]{64}")
#: What a signed envelope holds, as JSON writes it: a digest in it is a digest in the file.
ENCODED = re.compile(rb'"((?:[A-Za-z0-9+/]{4}){16,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)"')
#: Envelopes within envelopes.
DEPTH = 4
#: A larger file is no document, and is searched for plain names only.
MAX_DOCUMENT = 16 << 20
CHUNK = 1 << 20
#: One byte less than a digest's name: what may lie across two chunks.
OVERLAP = 70


@dataclass
class Collection:
    """What a collection found and did."""

    kept: int = 0
    #: younger than the grace period, referred to by nothing yet.
    young: int = 0
    removed: list[str] = field(default_factory=list)
    bytes: int = 0


def collect(
    store: AnyArtifactStore, logs: Iterable[SqlEventStore], before: float, *, dry_run: bool = False
) -> Collection:
    """Remove from ``store`` what was last put ``before`` that time and nothing in ``logs`` refers to.

    ``logs`` are all branches of the store's workspace; where one is not sound, ``CheckFailed``
    (``artifact.unproven``).
    """
    # First what is there, then what is referred to: what is put meanwhile is not looked at.
    there = set(store.digests())
    kept: set[str] = set()
    for log in logs:
        report = log.verify()
        if not report.sound:
            raise CheckFailed(
                "artifact.unproven",
                f"the log {log.workspace}/{log.branch} is not sound: {report.faults[0]}",
                mend="nothing was removed; run `fabric spine verify`",
            )
        for payload, _ in log.stored(log.head()[0]):
            kept |= names_in(payload) & there
    waiting = list(kept)
    while waiting:
        found = (_names_in(store, waiting.pop()) & there) - kept
        kept |= found
        waiting += found
    done = Collection(kept=len(kept))
    for digest in sorted(there - kept):
        size, young = store.size(digest), store.modified(digest) >= before
        if young or not (dry_run or store.discard(digest, before)):
            done.young += 1
            continue
        done.removed.append(digest)
        done.bytes += size
    return done


def faults_of(store: AnyArtifactStore) -> tuple[int, list[Fault]]:
    """How many artifacts there are, and every one that is not what its name says."""
    count = 0
    faults: list[Fault] = []
    for digest in store.digests():
        count += 1
        try:
            store.verify(digest)
        except FabricError as fault:
            faults += fault.faults
    return count, faults


def names_in(data: bytes, depth: int = DEPTH) -> set[str]:
    """Every digest that is written in ``data``, plainly or in the payload of an envelope."""
    found = {name.decode() for name in NAMED.findall(data)}
    for encoded in ENCODED.findall(data) if depth else ():
        found |= names_in(base64.b64decode(encoded), depth - 1)
    return found


def _names_in(store: AnyArtifactStore, digest: str) -> set[str]:
    """Every digest that an artifact's bytes name."""
    if store.size(digest) <= MAX_DOCUMENT:
        return names_in(store.get(digest))
    found: set[str] = set()
    rest = b""
    with store.path(digest).open("rb") as reader:
        while chunk := reader.read(CHUNK):
            found |= {name.decode() for name in NAMED.findall(rest + chunk)}
            rest = chunk[-OVERLAP:] if len(chunk) >= OVERLAP else (rest + chunk)[-OVERLAP:]
    return found
