"""A warm validator program, one per process and validator home, shared by whoever asks.

Rules kept here:

* The program gets an environment of its own: what a system needs to start Python and nothing else, so no
  key, token or password of the run's process reaches it.
* One request at a time. A program that died, says nonsense or overran its time is ended; the request is
  sent once more to a fresh one unless time is up. Judging has no effects, so asking twice is safe.
* A process that was forked starts a program of its own. The program ends with this process: its input ends.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import fabric_dagster
import resources
from fabric_dagster.errors import FabricError, Fault, OperationFailed
from fabric_dagster.spine.checkpoints import PAYLOAD_TYPE as CHECKPOINT
from fabric_dagster.supervisor import watch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fabric_dagster.contracts.evidence import BlindEvidence

TIMEOUT = 120.0
#: seconds within which the program has imported its libraries, on a slow machine
START_SECONDS = 60.0
#: what Python and the system's loader need; everything else stays here
PASSED_ON = (
    "PATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG",
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "TMPDIR", "PATHEXT", "COMSPEC",
)  # fmt: skip
STDERR_LINES = 20


class _Dead(Exception):
    """The program cannot answer; the text says why."""


class _Program:
    """One running program and the threads that read from it."""

    def __init__(self, home: Path) -> None:
        self.pid = os.getpid()
        self.ready: Mapping[str, Any] | None = None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._complaints: deque[str] = deque(maxlen=STDERR_LINES)
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        # -P: a file in the working folder must not stand in for a module of the program's.
        command = [sys.executable, "-P", "-m", "fabric_dagster.validators", "serve", "--home", str(home)]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment | {"PYTHONPATH": roots(), "PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "2"},
            encoding="utf-8",
            errors="replace",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._readers = [
            threading.Thread(target=self._drain_output, daemon=True),
            threading.Thread(target=self._drain_complaints, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def await_ready(self, until: float) -> None:
        """Return when the program is warm; ``_Dead`` if it never is."""
        if self.ready is None:
            first = self._receive(until)
            if "ready" not in first:
                raise _Dead("it did not say that it is ready")
            self.ready = first["ready"]

    def ask(self, request: Mapping[str, Any], until: float) -> dict[str, Any]:
        """The answer to ``request``; ``_Dead`` if there is none."""
        self.await_ready(min(until, time.monotonic() + START_SECONDS))
        try:
            stdin = self._process.stdin
            if stdin is None:
                raise _Dead("its input is closed")
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
        except (OSError, ValueError) as fault:
            raise _Dead(self._why()) from fault
        answer = self._receive(until)
        if answer.get("id") != request["id"]:
            raise _Dead("it answered another question")
        return answer

    def end(self) -> None:
        """End the program; it has nothing to save."""
        if self.pid != os.getpid():
            return  # the parent's program, seen from a fork
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(1)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _receive(self, until: float) -> dict[str, Any]:
        line = self._line(until)
        if line is None:
            raise _Dead(self._why())
        try:
            answer = json.loads(line)
        except ValueError:
            raise _Dead("it answered what is no JSON") from None
        if not isinstance(answer, dict):
            raise _Dead("it answered what is no object")
        return answer

    def _line(self, until: float) -> str | None:
        """The next line; raises when the caller's watch does."""
        while True:
            try:
                return self._lines.get(timeout=watch.patience(max(0.0, until - time.monotonic())))
            except queue.Empty:
                watch.check()
                if time.monotonic() >= until:
                    raise _Dead("it did not answer in time") from None

    def _drain_output(self) -> None:
        if self._process.stdout is not None:
            with contextlib.suppress(ValueError):  # closed while reading
                for line in self._process.stdout:
                    self._lines.put(line)
        self._lines.put(None)

    def _drain_complaints(self) -> None:
        if self._process.stderr is not None:
            with contextlib.suppress(ValueError):
                self._complaints.extend(self._process.stderr)

    def _why(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._readers[1].join(1)
        said = self._complaints[-1].strip() if self._complaints else "it said nothing"
        return f"it ended with code {self._process.returncode}: {said}"


def roots() -> str:
    """``PYTHONPATH`` of the program: where this process has the house from, installed or a checkout."""
    rooms = (fabric_dagster, resources)
    found = [os.path.dirname(os.path.dirname(str(room.__file__))) for room in rooms]  # noqa: PTH120 - text
    found += [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return os.pathsep.join(dict.fromkeys(found))


class _Shared:
    """The program of one home in this process."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.lock = threading.Lock()
        self.program: _Program | None = None

    def running(self) -> _Program:
        """The program, started if there is none; the lock is held by the caller."""
        if self.program is None or self.program.pid != os.getpid():
            try:
                self.program = _Program(self.home)
            except OSError as fault:
                raise _Dead(f"it cannot be started: {fault}") from fault
        return self.program

    def drop(self) -> None:
        """End the program, if there is one; the lock is held by the caller."""
        if self.program is not None:
            self.program.end()
            self.program = None


_shared: dict[str, _Shared] = {}
_shared_lock = threading.Lock()


def _renew_after_fork() -> None:
    """Locks of a forked process's parent may be held by threads that do not exist here."""
    global _shared_lock  # noqa: PLW0603 - one registry a process is the point
    _shared_lock = threading.Lock()
    _shared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)


@atexit.register
def _end_all() -> None:
    for shared in _shared.values():
        with contextlib.suppress(OSError):
            shared.drop()


class ValidatorClient:
    """Asks the validator whose home is ``home``. Thread-safe; clients of one home share one program."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._numbers = itertools.count(1)

    def start(self) -> None:
        """Begin to warm the program up and return at once; what goes wrong is said by ``judge``."""
        shared = self._program()
        if shared.lock.acquire(blocking=False):  # held: somebody is asking, so it runs already
            try:
                with contextlib.suppress(_Dead):
                    shared.running()
            finally:
                shared.lock.release()

    def judge(
        self,
        evidence: BlindEvidence,
        out: Path,
        timeout: float = TIMEOUT,
        *,
        check_seconds: float | None = None,
    ) -> dict[str, Any]:
        """The DSSE envelope of a signed verdict on ``evidence``; its pictures lie in ``out``.

        Raises ``OperationFailed``: ``validator.unavailable`` where the program cannot answer within
        ``timeout`` seconds, or the program's own fault.
        """
        request: dict[str, Any] = {"judge": evidence.body(), "out": str(out)}
        if check_seconds is not None:
            request["seconds"] = check_seconds
        answer = self._ask(request, timeout)
        if "fault" in answer:
            raise OperationFailed.of(Fault(**fault) for fault in answer["fault"])
        return dict(answer["envelope"])

    def keyid(self, timeout: float = TIMEOUT) -> str:
        """The keyid of the program's key, as it says."""
        return self._ready(timeout).get("keyid", "")

    def observer(self, root: Path, timeout: float = TIMEOUT) -> Observer:
        """Who signs what stands under ``root``: the program itself, once it has looked there."""
        ready = self._ready(timeout)
        return Observer(self, root, ready.get("identity", ""), ready.get("keyid", ""))

    def observe(
        self, message: bytes, root: Path, checkpoint: bytes | None = None, timeout: float = TIMEOUT
    ) -> bytes:
        """The program's signature under an observation of ``root``, or under the ``checkpoint`` after it.

        ``OperationFailed`` where the program does not see what it was to sign.
        """
        request = {"observe": base64.b64encode(message).decode(), "root": str(root)}
        if checkpoint is not None:
            request["checkpoint"] = base64.b64encode(checkpoint).decode()
        answer = self._ask(request, timeout)
        if "fault" in answer:
            raise OperationFailed.of(Fault(**fault) for fault in answer["fault"])
        return base64.b64decode(answer["signature"])

    def _ready(self, timeout: float) -> dict[str, str]:
        self._ask({"ping": True}, timeout)
        program = self._program().program
        ready = program.ready if program is not None else None
        return {name: str(ready[name]) for name in ("identity", "keyid")} if ready else {}

    def close(self) -> None:
        """End this home's program."""
        shared = self._program()
        with shared.lock:
            shared.drop()

    def _program(self) -> _Shared:
        key = os.path.normcase(self.home.resolve())
        with _shared_lock:
            return _shared.setdefault(key, _Shared(self.home.resolve()))

    def _ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        until = time.monotonic() + timeout
        shared = self._program()
        if not shared.lock.acquire(timeout=timeout):
            raise _unavailable("it is busy with another question", self.home)
        try:
            for attempt in (1, 2):
                request["id"] = next(self._numbers)
                try:
                    answer = shared.running().ask(request, until)
                except _Dead as why:
                    shared.drop()
                    if attempt == 2 or time.monotonic() >= until:  # noqa: PLR2004 - once more, then no more
                        raise _unavailable(str(why), self.home) from None
                except BaseException:
                    # Ended by a watch or by an interrupt: its answer is no longer wanted.
                    shared.drop()
                    raise
                else:
                    if answer.get("spent"):
                        shared.drop()
                    return answer
        finally:
            shared.lock.release()
        raise AssertionError  # pragma: no cover - both attempts return or raise


@dataclass(frozen=True)
class Observer:
    """The validator's program as a ``fabric_dagster.spine.ports.Signer`` of what stands under ``root``."""

    client: ValidatorClient
    root: Path
    identity: str
    keyid: str
    _signed: list[bytes] = field(default_factory=list)

    def sign(self, message: bytes) -> bytes:
        """The program's own signature (64 bytes), if it finds under ``root`` what ``message`` says.

        What is signed after an observation is the checkpoint of the log that ends with it.
        """
        if self._signed and message.split(b" ", 3)[2] == CHECKPOINT.encode():
            return self.client.observe(self._signed[-1], self.root, message)
        signature = self.client.observe(message, self.root)
        self._signed.append(message)
        return signature


def _unavailable(why: str, home: Path) -> FabricError:
    return OperationFailed(
        "validator.unavailable",
        f"the validator's program cannot answer: {why}",
        where=str(home),
        mend="run `fabric doctor`",
    )
