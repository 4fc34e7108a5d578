"""A running editor that was lent the package: requests and replies as files in its mailbox.

Rules kept here:

* The mailbox lies in the project's ``Library``, the editor's own cache. The exact session is awaited: this
  deployment's nonce, this package's digest, this project, a process that lives and whose beat rises.
* A request is named by the SHA-256 of its bytes, recorded in the ledger before it is written, written once.
  The editor takes it by an atomic rename; a domain reload in between changes nothing.
* One that was not taken in time is withdrawn, by the same rename: then it is known not to have happened. One
  that was taken and has no end is uncertain, and is never sent again.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
import time
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from pydantic import Field, ValidationError

from fabric_dagster.contracts.base import Contract, Digest
from fabric_dagster.digests import canonical, digest_bytes
from fabric_dagster.errors import CheckFailed, NeedsPerson, OperationFailed
from fabric_dagster.supervisor import watch
from resources.files.durable import write_durably
from resources.files.paths import under
from resources.requests import RequestLedger, Words
from resources.unity.editors import alive

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from resources.unity.live.deployment import Deployment
    from resources.unity.project import Project

MAILBOX: Final = "Library/Fabric/toolsmith"
LOOK: Final = 0.1
LARGEST: Final = 8 << 20
#: what may change anything that outlives the session; everything else may be lost without harm
MUTATES: Final = frozenset({"session.import"})
#: what a person does about what the package refuses
MENDS: Final = {
    "unity.scene_open": "close the scene or prefab in the editor: it is never written while it is open",
    "unity.asset_unsaved": "save or revert the asset in the editor",
    "unity.editor_busy": "leave play mode, let the editor finish importing",
    "unity.not_held": "run it again: the editor let go in between",
}
WORDS: Final = Words(
    application="the Unity editor",
    uncertain="unity.uncertain",
    refused="unity.request_refused",
    status="fabric unity status",
    resolve="fabric unity resolve",
    payload_type="application/vnd.fabric.unity-resolution+json",
)


def unity_ledger(state: Path) -> RequestLedger:
    """The ledger of what was asked of running editors."""
    return RequestLedger(state, WORDS)


class SessionState(Contract):
    """``session.json``, as ``Messages.cs`` has it."""

    schema_: Literal["fabric.toolsmith-session.v1"] = Field(alias="schema")
    nonce: str
    package: str
    project: str
    unity: str
    process: int
    state: Literal["ready", "busy", "reloading"]
    beat: int
    held: bool


class Fact(Contract):
    """One thing that the editor says it sees."""

    subject: str
    found: str


class Reply(Contract):
    """How the editor says a request ended."""

    schema_: Literal["fabric.toolsmith-reply.v1"] = Field(alias="schema")
    id: str
    identity: Digest
    status: Literal["done", "refused", "failed", "lost"]
    code: str
    what: str
    facts: tuple[Fact, ...] = Field(strict=False)


class EditorSession:
    """The session that ``deployment`` is for. ``seconds`` is how long one request may take."""

    #: the package tells all that a look asks
    tells: Final = None

    def __init__(
        self, project: Project, deployment: Deployment, ledger: RequestLedger, *, seconds: float = 120.0
    ) -> None:
        self._project = project
        self._deployment = deployment
        self._ledger = ledger
        self._seconds = seconds
        self._root = under(project.root, MAILBOX)
        self.state: SessionState | None = None

    def open(self, patience: float) -> SessionState:
        """Lay out the mailbox and wait for the exact session.

        Raises ``OperationFailed``: ``unity.no_session``, ``unity.package_differs``.
        """
        self.close()
        for name in ("requests", "taken", "replies", "withdrawn"):
            (self._root / name).mkdir(parents=True)
        hello = {
            "schema": "fabric.toolsmith-hello.v1", "nonce": self._deployment.nonce,
            "package": self._deployment.package,
        }  # fmt: skip
        write_durably(self._root / "hello.json", json.dumps(hello).encode())
        deadline = time.monotonic() + patience
        first: SessionState | None = None
        while time.monotonic() < deadline:
            watch.check()
            found = self._seen()
            if found is not None and found.nonce == self._deployment.nonce:
                self._require_package(found)
                ready = found.state == "ready" and alive(found.process) and self._is_here(found)
                if ready and first is not None and found.beat > first.beat:
                    self.state = found
                    return found
                first = found
            time.sleep(LOOK)
        raise OperationFailed(
            "unity.no_session", f"no editor took the package up within {patience:g} s",
            where=self._project.root.name, mend="bring the editor's window to the front, close its dialogs",
        )  # fmt: skip

    def _require_package(self, found: SessionState) -> None:
        if found.package != self._deployment.package:
            raise OperationFailed(
                "unity.package_differs", f"the editor loaded another package than was lent: {found.package}",
                mend="close the editor, remove Library/PackageCache, open it again",
            )  # fmt: skip

    def _is_here(self, found: SessionState) -> bool:
        return found.project.rstrip("/").casefold() == self._project.root.as_posix().casefold()

    def close(self) -> None:
        """Take the mailbox away: the package lets go of whatever it holds."""
        (self._root / "hello.json").unlink(missing_ok=True)
        shutil.rmtree(self._root, ignore_errors=True)

    def call(self, method: str, args: Mapping[str, Any], *, partition: str = "") -> dict[str, str]:
        """Ask once and wait for the end: what the editor says it sees, by subject.

        Raises ``OperationFailed`` where it is known that nothing was done, ``NeedsPerson``
        (``unity.uncertain``) where nobody knows.
        """
        request = {
            "schema": "fabric.toolsmith-request.v1",
            "session": self._deployment.nonce,
            "id": secrets.token_hex(16),
            "method": method,
            "args": json.dumps(dict(args)),
        }
        data = canonical(request)
        identity = digest_bytes(data)
        mutates = method in MUTATES
        if mutates:
            self._ledger.record(identity, self._deployment.nonce, method, partition)
        name = f"{identity[7:]}.json"
        reply = None
        try:
            write_durably(self._root / "requests" / name, data)
            reply = self._ended(identity, name)
        except OSError as fault:
            self._unknown(identity, method, f"the mailbox is gone: {fault.strerror}")
        finally:
            if reply is None and mutates:
                self._note_lost(identity)
        if reply is None or reply.status == "lost" or (reply.status == "failed" and mutates):
            what = "it did not answer" if reply is None else reply.what
            self._unknown(identity, method, what)
        return self._facts(reply, identity, method)

    def _facts(self, reply: Reply, identity: str, method: str) -> dict[str, str]:
        mutates = method in MUTATES
        if reply.status != "done":
            if mutates:
                self._ledger.move(identity, "fail", {"code": reply.code, "what": reply.what})
            code = reply.code if reply.status == "refused" else "unity.batch_failed"
            raise OperationFailed(
                code, f"the editor refused: {reply.what}", where=method, mend=MENDS.get(code, "")
            )
        facts = {item.subject: item.found for item in reply.facts}
        if mutates:
            self._ledger.move(identity, "complete", {"facts": facts})
        return facts

    def _ended(self, identity: str, name: str) -> Reply | None:
        """The reply; ``None`` when nobody knows. ``OperationFailed`` (``unity.not_taken``) when withdrawn."""
        deadline = time.monotonic() + self._seconds
        while True:
            reply = self._reply(identity, name)
            if reply is not None:
                return reply
            gone = self.state is not None and not alive(self.state.process)
            if gone or time.monotonic() > deadline:
                with contextlib.suppress(FileNotFoundError):
                    (self._root / "requests" / name).rename(self._root / "withdrawn" / name)
                    self._withdrawn(
                        identity, "the editor has ended" if gone else f"{self._seconds:g} s went by"
                    )
                return self._reply(identity, name)  # it may have come in the last moment
            time.sleep(LOOK)

    def _withdrawn(self, identity: str, why: str) -> NoReturn:
        """The editor never took it: that is known, and nothing was done."""
        with contextlib.suppress(CheckFailed):  # what only looks is not in the ledger
            self._ledger.move(identity, "fail", {"code": "unity.not_taken", "what": why})
        raise OperationFailed(
            "unity.not_taken", f"the editor did not take the request: {why}; it was withdrawn",
            mend="bring the editor's window to the front, close its dialogs",
        )  # fmt: skip

    def _reply(self, identity: str, name: str) -> Reply | None:
        path = self._root / "replies" / name
        try:
            if path.is_symlink() or path.stat().st_size > LARGEST:
                return None
            reply = Reply.model_validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None  # not there yet, or no reply of ours
        return reply if reply.identity == identity else None

    def _seen(self) -> SessionState | None:
        try:
            return SessionState.model_validate_json((self._root / "session.json").read_bytes())
        except (FileNotFoundError, ValidationError, PermissionError):
            return None

    def _unknown(self, identity: str, method: str, why: str) -> NoReturn:
        if method not in MUTATES:
            raise OperationFailed(
                "unity.no_session",
                f"the editor did not answer {method}: {why}",
                mend="see the editor's console",
            )
        self._note_lost(identity)
        raise NeedsPerson(
            "unity.uncertain",
            f"whether the editor did {method} is unknown: {why}",
            where=identity[7:19],
            mend="look at the editor, then run `fabric unity resolve`; it is never sent again",
        )

    def _note_lost(self, identity: str) -> None:
        with contextlib.suppress(CheckFailed):  # it has an end already
            self._ledger.move(identity, "lose", {"why": "no end"})
