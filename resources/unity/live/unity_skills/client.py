"""The two requests that are ever made of a Unity-Skills server: its health, and a dry run.

Rules kept here: loopback alone, no proxy; the instance is the one that the registry names for this very
project and that says so itself. A domain reload drops the connection and may move the server to another
port: the registry is read again, for as long as one takes. Both requests change nothing, so asking again does
no harm.
"""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from fabric_dagster.errors import CheckFailed
from resources.unity.editors import alive

ADDRESS: Final = "127.0.0.1"
PORTS: Final = range(1024, 65536)
STALE: Final = 120.0
LARGEST: Final = 8 << 20
TIMEOUT: Final = 30.0
#: seconds that a domain reload may take, and between two tries in it
RELOAD, AGAIN = 30.0, 0.5
REGISTRY: Final = Path(".unity_skills") / "registry.json"


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply: JSON and the headers that bind it."""

    document: dict[str, Any]
    request_id: str
    agent_id: str


class SkillsClient:
    """The server of ``project``, found through ``registry``; ``agent`` is this client's own id."""

    def __init__(self, project: Path, registry: Path, agent: str) -> None:
        self._project = project
        self._registry = registry
        self._agent = agent

    def health(self) -> dict[str, Any]:
        """``/health``, of an instance that is the one that the registry names."""
        entry, answer = self._ask("GET", "/health?live=1", None)
        found = answer.document
        if found.get("service") != "UnitySkills" or found.get("instanceId") != entry.get("id"):
            raise CheckFailed(
                "unity_skills.other_instance", "another server answers at this address",
                value=str(found.get("instanceId")), mend="close the other editor, or wait a little",
            )  # fmt: skip
        return found

    def dry_run(self, name: str, args: dict[str, Any]) -> Answer:
        """A dry run of ``name``. The mode is part of the address that is written here and nowhere else."""
        return self._ask("POST", f"/skill/{name}?mode=dryRun", json.dumps(args).encode())[1]

    def _ask(self, method: str, path: str, body: bytes | None) -> tuple[dict[str, Any], Answer]:
        until = time.monotonic() + RELOAD
        while True:
            entry = self._entry()
            try:
                return entry, self._once(int(entry["port"]), method, path, body)
            except (OSError, http.client.HTTPException) as fault:
                if time.monotonic() > until:
                    raise CheckFailed(
                        "unity_skills.no_answer",
                        f"the server does not answer: {fault or type(fault).__name__}",
                        where=f"{ADDRESS}:{entry['port']}", mend="open the project, start its server",
                    ) from None  # fmt: skip
                time.sleep(AGAIN)

    def _once(self, port: int, method: str, path: str, body: bytes | None) -> Answer:
        connection = http.client.HTTPConnection(ADDRESS, port, timeout=TIMEOUT)
        try:
            headers = {"X-Agent-Id": self._agent, "Content-Type": "application/json"}
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            data = reply.read(LARGEST)  # a longer one is no JSON any more
            try:
                document = json.loads(data, parse_constant=_no_number)
            except (ValueError, RecursionError):
                document = None
            if not isinstance(document, dict):
                raise CheckFailed("unity_skills.bad_reply", "the reply is no JSON object", where=path)
            if reply.status != http.client.OK or document.get("status") == "error":
                code = document.get("errorCode", reply.status)
                raise CheckFailed(
                    "unity_skills.refused", f"the server refuses: {str(document.get('error', ''))[:200]}",
                    where=path, value=str(code), mend="see the failure's code in its documentation",
                )  # fmt: skip
            return Answer(document, reply.getheader("X-Request-Id", ""), reply.getheader("X-Agent-Id", ""))
        finally:
            connection.close()

    def _entry(self) -> dict[str, Any]:
        """The registry's entry for the project, whose process lives and which is not stale."""
        try:
            with self._registry.open("rb") as stream:
                document = json.loads(stream.read(LARGEST))
        except (OSError, ValueError, RecursionError):
            document = {}
        wanted = self._project.as_posix().rstrip("/").casefold()
        for key, entry in document.items() if isinstance(document, dict) else ():
            if not isinstance(entry, dict) or key.replace("\\", "/").rstrip("/").casefold() != wanted:
                continue
            port, pid = entry.get("port"), entry.get("pid")
            if not (isinstance(port, int) and port in PORTS and isinstance(pid, int) and pid > 0):
                continue
            if time.time() - _seconds(entry.get("last_active")) <= STALE and alive(pid):
                return entry
        raise CheckFailed(
            "unity_skills.no_instance", "no running editor has registered a server for this project",
            where=str(self._project), mend="open the project, start its server in the panel",
        )  # fmt: skip


def _no_number(text: str) -> None:
    """Refuse ``NaN`` and its like, which are no JSON."""
    raise ValueError(text)


def _seconds(value: object) -> float:
    """A time as seconds, or as ISO 8601; anything else is long ago."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        return 0.0
