"""Follows a log: every event after a position, once and in order, for as long as somebody listens.

Positions are contiguous and become visible in their order: whoever goes on from the last one misses nothing.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fabric_dagster.spine.ports import Event, EventStore

POLL_SECONDS = 0.5


def subscribe(
    store: EventStore,
    after: int = 0,
    types: Sequence[str] | None = None,
    stream: str | None = None,
    pause: Callable[[float], object] = time.sleep,
) -> Iterator[Event]:
    """Events with position > ``after``, and then new ones as they come; it ends only with its listener.

    ``pause`` is called with ``POLL_SECONDS`` whenever nothing is left to read.
    """
    while True:
        # Asked first: what is not found up to here need never be looked for again.
        end, _ = store.head()
        if end > after:
            for event in store.read(stream, after=after, types=types):
                after = event.position
                yield event
            after = max(after, end)
        else:
            pause(POLL_SECONDS)
