"""Lets an interrupt wait until a begun commit has its end.

Rules kept here: the first interrupt (Ctrl-C, a termination) waits and is delivered afterwards, as whoever
handles it wants it; a second one is not held back. Only Python's main thread gets signals; elsewhere, and for
signals that somebody handles outside of Python, nothing is changed.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SIGNALS = tuple(
    number
    for name in ("SIGINT", "SIGTERM", "SIGBREAK")
    if (number := getattr(signal, name, None)) is not None
)


class _Held:
    """The handlers as they were, and the interrupts that wait."""

    def __init__(self) -> None:
        found = {number: signal.getsignal(number) for number in SIGNALS}
        # None: somebody outside of Python handles it. Ignored: it interrupts nothing.
        self.before = {n: handler for n, handler in found.items() if handler not in {None, signal.SIG_IGN}}
        self.waiting: list[int] = []

    def hold(self, number: int, _frame: FrameType | None) -> None:
        """Keep the first; give up holding at the second."""
        self.waiting.append(number)
        if len(self.waiting) > 1:
            self.release()

    def release(self) -> None:
        """Put the handlers back and deliver the last that waits."""
        for number, handler in self.before.items():
            signal.signal(number, handler)
        if self.waiting:
            number = self.waiting[-1]
            self.waiting.clear()
            signal.raise_signal(number)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back the first interrupt until the block has ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held = _Held()
    for number in held.before:
        signal.signal(number, held.hold)
    try:
        yield
    finally:
        held.release()
