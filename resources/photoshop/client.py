"""Our side of the worker process: start it once, ask it, bound it, and outlive it.

Rules kept here: a request ends in a result or in one typed failure, within its time limit; a worker that
hung, crashed or broke the protocol is killed and the next request gets a new one, and so is one whose task
was ended by its watch; a child process that was forked from us never shares our worker.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.errors import FabricError, Fault, InvalidDocument, OperationFailed, UsageFault
from fabric_dagster.supervisor import watch
from resources.photoshop.psd.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

CLASSES: Final = {cls.__name__: cls for cls in (InvalidDocument, OperationFailed, UsageFault)}
ROOT: Final = Path(__file__).resolve().parents[2]
START_SECONDS: Final = 60.0
QUIT_SECONDS: Final = 2.0
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Worker:
    """One warm worker process. Thread-safe: requests take turns."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Nothing starts before the first request."""
        self.limits = limits or Limits()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._owner = os.getpid()
        self._number = 0

    @property
    def pid(self) -> int | None:
        """The running worker's process id."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def call(self, method: str, params: dict[str, Any], *, limits: Limits | None = None) -> Any:  # noqa: ANN401
        """The JSON result of ``method``; raises the worker's typed error, or a ``photoshop.*`` failure
        when it took too long (``time_limit``) or died (``worker_died``).
        """  # noqa: D205
        bounds = limits or self.limits
        with self._lock:
            fresh = self._ensure()
            self._number += 1
            request = {"id": self._number, "method": method, "params": params, "limits": bounds.as_dict()}
            reply = self._exchange(request, bounds.seconds + (START_SECONDS if fresh else 0), bounds)
        if "error" in reply:
            raise _error(reply["error"])
        return reply["result"]

    def close(self) -> None:
        """End the worker: close its input, then kill what is left."""
        process, self._process = self._process, None
        if process is None or os.getpid() != self._owner:
            return
        with contextlib.suppress(OSError):
            if process.stdin:
                process.stdin.close()
        try:
            process.wait(timeout=QUIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()

    def _ensure(self) -> bool:
        """Have a living worker; answers whether it was just started."""
        if os.getpid() != self._owner:
            self._process, self._owner = None, os.getpid()
        if self._process is not None and self._process.poll() is None:
            return False
        self.close()
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "resources.photoshop.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._lines = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(self._process, self._lines), daemon=True).start()
        return True

    def _exchange(self, request: dict[str, Any], seconds: float, limits: Limits) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None:
            raise self._died(None)
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = self._answer(seconds)
        except queue.Empty:
            self._kill()
            raise OperationFailed(
                "photoshop.time_limit",
                f"the document took longer than {limits.seconds:g} s and was given up",
                mend="raise the limit or use a smaller document",
            ) from None
        except OSError as fault:
            raise self._died(self._kill()) from fault
        except BaseException:
            # Ended by the task's watch or by an interrupt: what it works on is no longer wanted.
            self._kill()
            raise
        try:
            reply: dict[str, Any] = json.loads(line) if line is not None else {}
        except ValueError:
            reply = {}
        if reply.get("id") != request["id"]:
            raise self._died(self._kill())
        return reply

    def _answer(self, seconds: float) -> bytes | None:
        """The next line within ``seconds``, else ``queue.Empty``; raises when the task's watch does."""
        until = time.monotonic() + seconds
        while True:
            left = max(0.0, until - time.monotonic())
            try:
                return self._lines.get(timeout=watch.patience(left))
            except queue.Empty:
                watch.check()
                if time.monotonic() >= until:
                    raise

    def _kill(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        with contextlib.suppress(OSError):
            process.kill()
        code = process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()
        return code

    @staticmethod
    def _died(code: int | None) -> OperationFailed:
        return OperationFailed(
            "photoshop.worker_died",
            f"the worker process ended while it worked on the document (exit code {code})",
            mend="the document may be hostile or too large; nothing was written",
        )


def _listen(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    """Queue reply lines; ``None`` when the worker's output ends."""
    if process.stdout is not None:
        with contextlib.suppress(ValueError, OSError):
            for line in process.stdout:
                lines.put(line)
    lines.put(None)


def _error(error: dict[str, Any]) -> FabricError:
    cls = CLASSES.get(error["class"], OperationFailed)
    faults = [
        Fault(f["code"], f["what"], f.get("where", ""), f.get("mend", ""), f.get("value"))
        for f in error["faults"]
    ]
    return cls.of(faults)


class Pool:
    """Warm workers, by default one a core: documents are worked on side by side, each in its own process.

    A worker starts when all others are busy, so a caller that asks for one thing at a time has one.
    """

    def __init__(self, size: int | None = None, limits: Limits | None = None) -> None:
        """Nothing starts before the first request."""
        self.limits = limits or Limits()
        self.size = size or os.cpu_count() or 1
        self._fill()

    def _fill(self) -> None:
        """Have all workers free; a child process that was forked from us gets its own."""
        self._owner = os.getpid()
        self._workers = [Worker(self.limits) for _ in range(self.size)]
        #: the last one that was given back is warm, so it is the first to be taken
        self._free: queue.LifoQueue[Worker] = queue.LifoQueue()
        for worker in self._workers:
            self._free.put(worker)

    @property
    def pids(self) -> list[int]:
        """The running workers' process ids."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    def call(self, method: str, params: dict[str, Any], *, limits: Limits | None = None) -> Any:  # noqa: ANN401
        """``Worker.call`` on a worker that is free, waiting for one where none is. Thread-safe."""
        if os.getpid() != self._owner:
            self._fill()
        worker = self._taken()
        try:
            return worker.call(method, params, limits=limits)
        finally:
            self._free.put(worker)

    def each(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        """Every call's result, in order, worked on side by side; a failed one's place holds its error."""

        def one(context: Context, call: tuple[str, dict[str, Any]]) -> Any:  # noqa: ANN401 - the worker's JSON
            try:
                return context.run(self.call, *call)
            except FabricError as error:
                return error

        # A thread has no context of its own: the task's watch goes with each call.
        contexts = [copy_context() for _ in calls]
        with ThreadPoolExecutor(self.size) as threads:
            return list(threads.map(one, contexts, calls))

    def close(self) -> None:
        """End every worker."""
        for worker in self._workers:
            worker.close()

    def _taken(self) -> Worker:
        while True:
            try:
                return self._free.get(timeout=watch.patience(START_SECONDS))
            except queue.Empty:
                watch.check()


@cache
def shared() -> Pool:
    """The process-wide workers."""
    pool = Pool()
    atexit.register(pool.close)
    return pool
