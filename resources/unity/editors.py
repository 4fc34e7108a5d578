"""Whether the editor that wrote ``Library/EditorInstance.json`` still runs.

Source: the file as Unity's code editor packages write it: ``process_id``, ``version``, ``app_path``. It stays
behind when the editor crashes. Where the system shows a process' name, another program's is not taken for it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

LARGEST = 64 << 10
HIGHEST = 2**31 - 1
#: Windows: the least right, to ask whether a process is there, and what it ends with while it runs
QUERY, STILL_ACTIVE = 0x1000, 259


def editor_runs(instance: Path) -> bool:
    """Whether the process that ``instance`` names is a running editor, as far as the system shows."""
    try:
        with instance.open("rb") as stream:
            found = json.loads(stream.read(LARGEST).decode("utf-8-sig"))
        number = found["process_id"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False  # none, or not what an editor writes
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= HIGHEST:
        return False
    return alive(number) and _is_editor(number)


def alive(number: int) -> bool:
    """Whether a process of this number runs."""
    if sys.platform == "win32":
        return _alive_on_windows(number)
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it is somebody else's
    return True


def _is_editor(number: int) -> bool:
    """False only where the system shows that the process is something else."""
    try:
        name = Path(f"/proc/{number}/comm").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True  # not shown here: nobody can tell them apart
    return "unity" in name.lower()


def _alive_on_windows(number: int) -> bool:
    import ctypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(QUERY, False, number)
    if not handle:
        return False
    try:
        code = ctypes.c_ulong()
        return bool(kernel.GetExitCodeProcess(handle, ctypes.byref(code))) and code.value == STILL_ACTIVE
    finally:
        kernel.CloseHandle(handle)
