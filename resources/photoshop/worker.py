"""The worker process: parses and edits untrusted files, one request at a time, and stays warm.

Started as ``python -m resources.photoshop.worker``; requests and replies are JSON lines on standard input
and output. Rules kept here:

* It dies with its parent: a thread watches standard input, and its end ends the process at once, also
  in the middle of a request.
* Memory is bounded with ``RLIMIT_AS`` on Linux. macOS does not enforce it and Windows has nothing like it
  for a process of its own making: there the file, layer and pixel limits, all checked before anything is
  decoded, bound it.
* Every fault leaves as typed data. No traceback crosses the pipe.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

from fabric_dagster.errors import FabricError
from resources.photoshop.psd.limits import Limits

STATM = Path("/proc/self/statm")


def main() -> None:
    """Serve requests until standard input ends."""
    # An interrupt reaches the whole group: the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Libraries that print must not write into the protocol.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_watch, args=(sys.stdin.buffer, requests), daemon=True).start()
    from resources.photoshop import engine

    engine.warm_up()
    while True:
        request = json.loads(requests.get())
        reply = {"id": request["id"], **_answer(engine, request)}
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def _watch(stream: BinaryIO, requests: queue.SimpleQueue[bytes]) -> None:
    """Queue each line; when the parent is gone, go too."""
    for line in stream:
        requests.put(line)
    os._exit(0)


def _answer(engine: Any, request: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - the module
    limits = Limits(**request["limits"])
    _bound_memory(limits.memory)
    try:
        return {
            "result": getattr(engine, engine.METHODS[request["method"]])(**request["params"], limits=limits)
        }
    except FabricError as error:
        faults = [{**fault.as_dict(), "value": fault.value} for fault in error.faults]
        return {"error": {"class": type(error).__name__, "faults": faults}}
    except MemoryError:
        return _over(limits)
    except OSError as fault:
        if fault.filename is None and fault.errno is None:
            return _unable(fault)  # a library's complaint about the bytes, not the system's about a file
        named = f": {fault.filename}" if fault.filename else ""
        what = f"the system says: {fault.strerror or fault}{named}"
        return _failed("photoshop.file_unavailable", what, "check the path and its permissions")
    except Exception as fault:  # the worker is the boundary: whatever a library raises becomes data  # noqa: BLE001
        return _over(limits) if _starved(fault) else _unable(fault)


def _starved(fault: Exception) -> bool:
    """Whether a library says in its own words that there was no memory: OpenCV, or the system's loader."""
    text = str(fault)
    return (
        "Insufficient memory" in text
        or (isinstance(fault, ImportError) and "failed to map" in text)
        # What extensions raise that lost the MemoryError on their way.
        or (isinstance(fault, SystemError) and "without exception set" in text)
    )


def _over(limits: Limits) -> dict[str, Any]:
    what = f"the document needs more than the {limits.memory >> 20} MiB it may use"
    return _failed("photoshop.memory_limit", what, "raise the limit or use a smaller document")


def _unable(fault: Exception) -> dict[str, Any]:
    what = f"the engine could not work with this document ({type(fault).__name__}: {str(fault)[:200]})"
    return _failed("photoshop.engine_failed", what, "take an undamaged copy, or save it again in Photoshop")


def _failed(code: str, what: str, mend: str) -> dict[str, Any]:
    faults = [{"code": code, "what": what, "mend": mend, "where": "", "value": None}]
    return {"error": {"class": "OperationFailed", "faults": faults}}


def _bound_memory(extra: int) -> None:
    """Allow ``extra`` bytes of address space beyond what the process has now."""
    if sys.platform == "win32" or not STATM.exists():
        return
    import resource

    used = int(STATM.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + extra
    resource.setrlimit(
        resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
    )


if __name__ == "__main__":
    main()
