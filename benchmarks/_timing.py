"""Where time goes, seen from outside: functions are wrapped for a while, product code is not touched.

A function's own time is charged to its category, and what it calls in another category to that one, so that
the categories of a run add up to the whole. Only the thread that measures is counted.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: owner (class or module), attribute, category
Mark = tuple[Any, str, str]
REST = "everything else"


class Stopwatch:
    """Exclusive seconds and calls by category."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self._stack = [REST]
        self._since = time.perf_counter()
        self._thread = threading.get_ident()

    def _turn(self) -> None:
        now = time.perf_counter()
        self.seconds[self._stack[-1]] += now - self._since
        self._since = now

    def enter(self, category: str) -> None:
        """What follows is charged to ``category``."""
        self._turn()
        self._stack.append(category)
        self.calls[category] += 1

    def leave(self) -> None:
        """Back to what called."""
        self._turn()
        self._stack.pop()

    def stop(self) -> None:
        """Charge what is left."""
        self._turn()

    def wrap(self, function: Callable[..., Any], category: str) -> Callable[..., Any]:
        """``function``, charged to ``category``."""

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != self._thread:
                return function(*args, **kwargs)
            self.enter(category)
            try:
                return function(*args, **kwargs)
            finally:
                self.leave()

        return timed


@contextlib.contextmanager
def watched(marks: Iterable[Mark]) -> Iterator[Stopwatch]:
    """Time what runs inside by the categories of ``marks``."""
    watch = Stopwatch()
    kept = []
    try:
        for given, name, category in marks:
            owner = next(item for item in getattr(given, "__mro__", (given,)) if name in item.__dict__)
            found = owner.__dict__[name]
            kept.append((owner, name, found))
            if isinstance(found, staticmethod | classmethod):
                setattr(owner, name, type(found)(watch.wrap(found.__func__, category)))
            else:
                setattr(owner, name, watch.wrap(found, category))
        yield watch
    finally:
        watch.stop()
        for owner, name, found in kept:
            setattr(owner, name, found)
