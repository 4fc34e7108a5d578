"""The two emergency stops: ``core`` ends advice, ``effects`` blocks every commit at its next safe point.

Rules kept here (design/DETAILS.md, "Stops"):

* A stop is what the signed events of the stream ``stop`` say: it outlives every process, and it holds for
  every process of the workspace. An event whose signer may not stop counts as not there.
* ``FABRIC_CORE=off`` in the environment stops core besides, whatever the events say; nothing in the
  environment lets it go again.
* A stop ends nothing half: work meets it between steps, and what met it can be resumed once it is released.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from fabric_dagster.errors import Refused
from fabric_dagster.governance.roles import lawful, require
from fabric_dagster.spine.ports import NewEvent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import EventStore, Signer

STREAM = "stop"
CORE_VARIABLE = "FABRIC_CORE"
STOPPED = "authority.stopped"

Kind = Literal["core", "effects"]


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop that is engaged: by whom and why. Who stopped by the environment left no name."""

    kind: str
    by: str
    reason: str
    since: str = ""

    def as_dict(self) -> dict[str, str]:
        """The JSON form."""
        parts = {"kind": self.kind, "by": self.by, "reason": self.reason, "since": self.since}
        return {key: value for key, value in parts.items() if value}


def engaged(
    store: EventStore, trust: TrustRoot, environment: Mapping[str, str] | None = None
) -> dict[str, Stop]:
    """Kind → the stop that is engaged now, from the spine and the environment (default: the process's)."""
    found: dict[str, Stop] = {}
    for event in store.read(STREAM):
        kind = str(event.body.get("kind"))
        if kind not in get_args(Kind) or not lawful(event, trust):
            continue
        if event.type == "stop.engaged":
            found[kind] = Stop(kind, event.actor, str(event.body.get("reason", "")), event.recorded_at)
        elif event.type == "stop.released":
            found.pop(kind, None)
    if (environment if environment is not None else os.environ).get(CORE_VARIABLE, "").lower() == "off":
        found.setdefault("core", Stop("core", "the environment", f"{CORE_VARIABLE}=off"))
    return found


def refuse_stopped(store: EventStore, trust: TrustRoot, where: str = "") -> None:
    """Raise ``Refused`` (``authority.stopped``) while effects are stopped."""
    stop = engaged(store, trust).get("effects")
    if stop is not None:
        raise Refused(
            STOPPED,
            f"effects are stopped by {stop.by}: {stop.reason}",
            where=where,
            mend="nothing was committed; run it again after `fabric stop off`",
        )


def engage(store: EventStore, trust: TrustRoot, signer: Signer, kind: Kind, reason: str) -> None:
    """Engage a stop; one that stands already is left as it is. ``Refused`` unless ``signer`` may."""
    require(trust, signer, f"stop.{kind}")
    if kind not in engaged(store, trust, {}):
        _append(store, signer, "stop.engaged", kind, reason)


def release(store: EventStore, trust: TrustRoot, signer: Signer, reason: str) -> tuple[str, ...]:
    """Release every stop that the spine has; answers which. ``Refused`` unless ``signer`` may."""
    for kind in get_args(Kind):
        require(trust, signer, f"stop.{kind}")
    standing = tuple(sorted(engaged(store, trust, {})))
    for kind in standing:
        _append(store, signer, "stop.released", kind, reason)
    return standing


def _append(store: EventStore, signer: Signer, event: str, kind: str, reason: str) -> None:
    store.append([NewEvent(STREAM, event, {"kind": kind, "reason": reason})], signer=signer)
