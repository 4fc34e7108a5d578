"""The clock of one task, where the work can see it: how long it may take, and whether it is still wanted.

Rules kept here:

* A provider works under the supervisor's watch. It asks ``check`` between its steps and while it waits for
  another process, which it ends when ``check`` raises. Both need no argument: the watch is the context's.
* What was seen before the watch ended it is kept: a partial result says how far the work came.
* A watch is only around work in a stage. Nothing that it ends can have changed anything outside.
"""

from __future__ import annotations

import contextlib
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabric_dagster.errors import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fabric_dagster.supervisor.ports import Observation

#: How often the spine is asked whether the work is still wanted, in seconds.
EVERY = 0.5
#: How long a provider that waits for another process may sleep before it asks again.
TICK = 0.25


@dataclass
class Watch:
    """``seconds`` of time from now, under ``code`` when they are over; ``look`` raises when not wanted."""

    seconds: float
    code: str
    look: Callable[[], None] = lambda: None
    mend: str = "nothing was committed; make the work smaller, or raise `budget` in home.yaml"
    seen: list[Observation] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._until = time.monotonic() + self.seconds
        self._next = time.monotonic() + EVERY

    def check(self) -> None:
        """``OperationFailed`` (``code``) when the time is over; whatever ``look`` raises when it does."""
        now = time.monotonic()
        if now >= self._until:
            raise OperationFailed(
                self.code,
                f"it took longer than the {self.seconds:g} s that it may take, and was ended",
                mend=self.mend,
            )
        if now >= self._next:
            self._next = now + EVERY
            self.look()

    def left(self) -> float:
        """Seconds that are left; never negative."""
        return max(0.0, self._until - time.monotonic())


_watch: ContextVar[Watch | None] = ContextVar("fabric_watch", default=None)


@contextlib.contextmanager
def watching(watch: Watch) -> Iterator[Watch]:
    """Work under ``watch``; what is done afterwards is looked at once more."""
    token = _watch.set(watch)
    try:
        yield watch
        watch.check()
    finally:
        _watch.reset(token)


def check() -> None:
    """Ask the watch of this context, if there is one, whether to go on."""
    watch = _watch.get()
    if watch is not None:
        watch.check()


def note(observation: Observation) -> None:
    """Keep what was seen, for the case that the work is ended before its end."""
    watch = _watch.get()
    if watch is not None:
        watch.seen.append(observation)


def patience(seconds: float) -> float:
    """How long to wait at once: ``seconds``, but a watched task asks again soon."""
    watch = _watch.get()
    return seconds if watch is None else max(0.0, min(seconds, TICK, watch.left()))
