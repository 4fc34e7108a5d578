"""Every refusal of authority is an event: who wanted what, and why not.

Rules kept here:

* Whoever refuses a command or a step records it, on the stream ``refusals``, signed by the one that refuses
  (the home's runtime where it has a key). Each attempt is an event of its own.
* A refusal that cannot be recorded (no key, a log that is not sound) is still a refusal: recording never
  raises, and never turns a refusal into anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import FabricError
from fabric_dagster.spine.ports import NewEvent

if TYPE_CHECKING:
    from fabric_dagster.spine.ports import Event, EventStore, Signer

STREAM = "refusals"
REFUSED = "authority.refused"
#: an event is no place for a thousand faults
MOST_FAULTS = 20


def record_refusal(
    store: EventStore, signer: Signer, action: str, fault: FabricError, *, actor: str, **about: str
) -> Event | None:
    """Record that ``actor`` was refused ``action``; the event, or ``None`` where the log would not have it.

    ``about`` names what it was about: ``reference``, ``graph``, ``run``; text only.
    """
    body = {
        "action": action,
        "actor": actor,
        "code": fault.code,
        "faults": [item.as_dict() for item in fault.faults[:MOST_FAULTS]],
        **about,
    }
    try:
        return store.append([NewEvent(STREAM, REFUSED, body)], signer=signer)[0]
    except (FabricError, OSError):
        return None  # the caller exits with the refusal itself
