"""An editor in batch mode: started, watched by its log, ended with everything that it started.

Rules kept here: the exit code and the log decide nothing by themselves; they only explain why a result file
is not there. An editor whose log stands still is ended, and told apart by the log's end: a licence that is
waited for, a dialog that nobody can click, or a hang.

Sources: Unity's manual on command line arguments; the reports that the tests of this room name.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor import watch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TAIL: Final = 64 << 10
SHOWN: Final = 400
LOOK: Final = 0.2
#: seconds that an ended editor has to go before it is killed
GRACE: Final = 5.0
#: Windows: a process group of its own
NEW_GROUP: Final = 0x200

LICENCE: Final = re.compile(
    r"no valid unity editor license|license (?:activation|is) (?:not|failed|invalid|expired)"
    r"|failed to activate(?:/update)? license|unity license (?:information|service).*(?:error|failed)"
    r"|\[licensing::[^\]]*\].*(?:error|failed|timed? ?out|handshake)"
    r"|com\.unity\.editor\.headless was not found",
    re.IGNORECASE,
)
WAITS_FOR_LICENCE: Final = re.compile(r"licens", re.IGNORECASE)
MODAL: Final = re.compile(
    r"displaydialog|modal dialog|enter safe mode\?|api ?updater.*(?:go ahead|backup)"
    r"|opening project in non-matching",
    re.IGNORECASE,
)
SCRIPT_ERROR: Final = re.compile(
    r"^(?P<at>[^\r\n]{1,300}?\(\d+,\d+\)): error (?P<what>CS\d{4}: [^\r\n]{0,200})", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: for the whole run, and for which the log may stand still."""

    whole: float = 3600.0
    still: float = 300.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How an editor ended by itself. ``code`` explains, it never decides."""

    code: int
    seconds: float
    log: str

    @property
    def script_errors(self) -> tuple[str, ...]:
        """The compiler's errors that the log's end tells, each once."""
        found = (f"{item['at']}: {item['what']}" for item in SCRIPT_ERROR.finditer(self.log))
        return tuple(dict.fromkeys(found))

    @property
    def last_lines(self) -> str:
        """The end of the log, for people."""
        lines = [line.strip() for line in self.log.splitlines() if line.strip()]
        return " | ".join(lines)[-SHOWN:]


def run_editor(command: Sequence[str], log: Path, limits: Limits) -> Ended:
    """Run ``command`` (an editor that writes ``log``) to its end, under the supervisor's watch.

    Raises ``OperationFailed``: ``unity.editor_missing``, ``unity.licence``, ``unity.modal``, ``unity.hang``,
    or what the watch raises; in all cases no process of the editor stays.
    """
    log.unlink(missing_ok=True)
    try:
        process = subprocess.Popen(  # noqa: S603 - the editor that the home's owner configured; no shell
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=os.name != "nt", creationflags=NEW_GROUP if os.name == "nt" else 0,
        )  # fmt: skip
    except OSError as fault:
        raise OperationFailed(
            "unity.editor_missing", f"the editor cannot be started: {fault.strerror}", where=str(command[0]),
            mend="name the editor's executable",
        ) from None  # fmt: skip
    began = time.monotonic()
    size, grown = -1, began
    try:
        while process.poll() is None:
            watch.check()
            now = time.monotonic()
            found = log.stat().st_size if log.exists() else 0
            if found != size:
                size, grown = found, now
            if now - grown > limits.still:
                raise _standing(_tail(log), f"its log has stood still for {limits.still:g} s")
            if now - began > limits.whole:
                raise _standing(_tail(log), f"it has taken {limits.whole:g} s")
            time.sleep(LOOK)
    finally:
        end(process)
    ended = Ended(process.returncode, time.monotonic() - began, _tail(log))
    if ended.code != 0 and LICENCE.search(ended.log):
        raise _failed("unity.licence", "the editor has no valid licence", ended.log)
    return ended


def end(process: subprocess.Popen[bytes]) -> None:
    """End ``process`` and everything that it started; nothing where it has ended."""
    if os.name == "nt":
        if process.poll() is None:
            tree = ["taskkill", "/PID", str(process.pid), "/T", "/F"]
            subprocess.run(tree, check=False, capture_output=True)  # noqa: S603 - a fixed program of Windows
        process.wait()
        return
    for sign in (signal.SIGTERM, signal.SIGKILL):
        # The group, also when its leader has ended: helpers (licensing, package manager) outlive an editor.
        try:
            os.killpg(process.pid, sign)
        except (ProcessLookupError, PermissionError):
            break
        try:
            process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def no_result(ended: Ended, what: str) -> OperationFailed:
    """Why there is no result file, as far as the log explains it."""
    errors = ended.script_errors
    if errors:
        return compile_failed(errors)
    if MODAL.search(ended.log):
        return _failed("unity.modal", f"{what}; the log tells of a dialog", ended.log)
    return _failed("unity.no_report", f"{what} (the editor ended with {ended.code})", ended.log)


def compile_failed(errors: Sequence[str]) -> OperationFailed:
    """The failure of scripts that do not compile."""
    return OperationFailed(
        "unity.compile_failed", f"scripts do not compile: {errors[0]}"
        + (f", and {len(errors) - 1} more" if len(errors) > 1 else ""), mend="mend the scripts",
    )  # fmt: skip


def _standing(log: str, why: str) -> OperationFailed:
    """An editor that gets no further: what its log's end says it waits for."""
    if MODAL.search(log):
        return _failed("unity.modal", f"the editor shows a dialog that nobody can answer: {why}", log)
    end_ = "\n".join(log.splitlines()[-20:])
    if WAITS_FOR_LICENCE.search(end_):
        return _failed("unity.licence", f"the editor waits for its licence: {why}", log)
    return _failed("unity.hang", f"the editor gets no further: {why}", log)


def _failed(code: str, what: str, log: str) -> OperationFailed:
    return OperationFailed(
        code, what, value=Ended(0, 0, log).last_lines or "an empty log", mend="see the editor's log"
    )


def _tail(log: Path) -> str:
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - TAIL))
            return stream.read(TAIL).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
