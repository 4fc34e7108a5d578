"""The loopback server that the plugin dials, and the one session that it serves.

Rules kept here:

* Only 127.0.0.1; a handshake with another Host, path or a web page's Origin is refused before it becomes a
  socket. One session: a plugin that proves itself again replaces the old one, whose request is then lost.
* Requests go one at a time, numbered; a reply counts only if it names the request that is waited for, in
  this session. Late, old and foreign replies are counted and ignored.
* Whatever may mutate is recorded before it is sent. If the socket, the time or the reply's form breaks
  before a typed end, its completion is unknown: recorded so, and never sent again.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from filelock import FileLock, Timeout
from pydantic import ValidationError
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from fabric_dagster.digests import digest_of
from fabric_dagster.errors import CheckFailed, FabricError, NeedsPerson, OperationFailed
from fabric_dagster.supervisor import watch
from resources.keys import private_folder
from resources.photoshop.uxp import pairing
from resources.photoshop.uxp.ledger import photoshop_ledger
from resources.photoshop.uxp.messages import (
    Accepted,
    Challenge,
    Failed,
    Incoming,
    Opening,
    Request,
    RequestParams,
    Result,
    decode,
    decode_proof,
    encode,
    failure_of,
    notification,
)
from resources.photoshop.uxp.methods import METHODS, MOST_BYTES, Method
from resources.photoshop.uxp.schema import schema_digest

if TYPE_CHECKING:
    from http import HTTPStatus
    from pathlib import Path

    from websockets.http11 import Request as Handshake
    from websockets.http11 import Response
    from websockets.sync.server import Server, ServerConnection

    from fabric_dagster.contracts.base import Contract
    from resources.photoshop.uxp.messages import Proof

ADDRESS: Final = "127.0.0.1"
PATH: Final = "/fabric"
HANDSHAKE_SECONDS: Final = 10.0
#: Connections at once, proven or not: a stranger can't fill the process with threads.
MOST_CONNECTIONS: Final = 4
#: Frames that belong to no waiting request before the plugin counts as broken.
MOST_STRAYS: Final = 64
#: What a plugin's socket may send as Origin; a web page always sends its own.
ORIGINS: Final = frozenset({None, "null", "file://"})
#: Close codes of our own (4000 to 4999 are free for applications).
NOT_PAIRED, REPLACED, BROKEN, OTHER_SCHEMA = 4401, 4409, 4400, 4426


@dataclass(slots=True)
class Link:
    """One proven socket. ``None`` in ``inbox`` means that it ended."""

    session: str
    socket: ServerConnection
    proof: Proof
    inbox: queue.SimpleQueue[Incoming | FabricError | None] = field(default_factory=queue.SimpleQueue)
    number: int = 0
    ended: bool = False


class Bridge:
    """The server over the pairing and the ledger in ``folder``; a context manager."""

    def __init__(self, folder: Path, *, port: int = pairing.PORT, seconds: float | None = None) -> None:
        self._folder = folder
        self._port = port
        #: replaces every method's own time limit: for tests.
        self._seconds = seconds
        self.ledger = photoshop_ledger(folder)
        self._server: Server | None = None
        self._thread: threading.Thread | None = None
        self._lock: FileLock | None = None
        self._pairing: pairing.Pairing | None = None
        self._turn = threading.Lock()
        self._state = threading.Condition()
        self._link: Link | None = None
        #: replies that no request was waiting for, in this process.
        self.strays = 0

    def __enter__(self) -> Self:
        """Open it."""
        self.open()
        return self

    def __exit__(self, *_fault: object) -> None:
        """Close it."""
        self.close()

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._port

    def open(self) -> None:
        """Listen. What an ended process left without an end becomes uncertain now.

        Raises ``UsageFault`` (``uxp.not_paired``), ``OperationFailed`` (``photoshop.not_connected``) where
        another process serves this home or has the port.
        """
        if self._server is not None:
            return
        self._pairing = pairing.load(self._folder)
        private_folder(self._folder)
        self._lock = FileLock(self._folder / "bridge.lock")
        try:
            self._lock.acquire(timeout=0)
            self._server = serve(
                self._serve,
                ADDRESS,
                self._port,
                process_request=self._admit,
                compression=None,
                server_header=None,
                open_timeout=HANDSHAKE_SECONDS,
                # A save may hold Photoshop's script thread for minutes: the deadline of a request decides.
                ping_interval=None,
                close_timeout=2,
                max_size=MOST_BYTES,
            )
        except (Timeout, OSError) as fault:
            self.close()
            raise OperationFailed(
                "photoshop.not_connected",
                f"another process holds the connection to Photoshop (port {self._port})",
                mend="let it finish, or end it",
            ) from fault
        self._port = int(self._server.socket.getsockname()[1])
        self.ledger.lose_unended()
        self._thread = threading.Thread(target=self._server.serve_forever, name="uxp-bridge", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and end the session."""
        server, self._server = self._server, None
        if server is not None:
            link = self._link
            server.shutdown()
            if link is not None:
                with contextlib.suppress(ConnectionClosed, OSError):
                    link.socket.close()
            if self._thread is not None:
                self._thread.join(timeout=5)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def wait(self, seconds: float) -> Proof:
        """What the plugin says of itself, once it is there; else ``photoshop.not_connected``."""
        with self._state:
            self._state.wait_for(lambda: self._link is not None, timeout=seconds)
            return self._connected().proof

    def call(self, method: str, body: dict[str, Any], *, partition: str = "") -> Contract:
        """Ask once and wait for the typed end.

        Raises ``OperationFailed`` (a registered code: not done, nothing left), ``NeedsPerson``
        (``photoshop.uncertain``: nobody knows), ``ValidationError`` never: arguments are checked before.
        """
        entry = METHODS[method]
        arguments = entry.arguments.model_validate(body).body()
        with self._turn:
            with self._state:
                link = self._connected()
            link.number += 1
            number = f"{link.session}-{link.number}"
            identity = digest_of(
                "fabric.photoshop-request.v1",
                {"id": number, "partition": partition, "method": method, "body": arguments},
            )
            params = RequestParams(session=link.session, identity=identity, arguments=arguments)
            text = encode(Request(id=number, method=method, params=params))
            if not entry.read_only:
                self.ledger.record(identity, link.session, method, partition)
            try:
                link.socket.send(text)
            except (ConnectionClosed, OSError):
                self._lose(link, entry, identity, "the connection ended while the request was sent")
            return self._ended(link, entry, identity, number)

    def _ended(self, link: Link, entry: Method, identity: str, number: str) -> Contract:
        """Wait for the end of request ``number``; its result."""
        limit = self._seconds or entry.seconds
        deadline = time.monotonic() + limit
        while True:
            frame = self._frame(link, entry, identity, deadline, limit)
            if isinstance(frame, Accepted):
                if frame.params.id == number and not entry.read_only:
                    self._acknowledge(identity)
            elif frame.id != number:
                self.strays += 1
                if self.strays > MOST_STRAYS:
                    self._lose(link, entry, identity, "the plugin answers requests that nobody made")
            elif isinstance(frame, Failed):
                raise self._failed(link, entry, identity, frame)
            else:
                return self._result(link, entry, identity, frame)

    def _frame(self, link: Link, entry: Method, identity: str, deadline: float, limit: float) -> Incoming:
        """The next frame, or the loss of the request; the task's watch may end the wait."""
        while True:
            left = max(0.0, deadline - time.monotonic())
            try:
                frame = link.inbox.get(timeout=watch.patience(left))
                break
            except queue.Empty:
                if time.monotonic() >= deadline:
                    self._lose(link, entry, identity, f"it took longer than {limit:g} s")
            try:
                watch.check()
            except FabricError as fault:
                # The task ends as its watch says; what Photoshop does with the request is nobody's to know.
                self._lost(link, entry, identity, f"it was no longer waited for: {fault.faults[0].what}")
                raise
        if frame is None:
            self._lose(link, entry, identity, "the connection ended before the answer")
        if isinstance(frame, FabricError):
            self._lose(link, entry, identity, frame.faults[0].what)
        return frame

    def _failed(self, link: Link, entry: Method, identity: str, frame: Failed) -> OperationFailed:
        """The typed failure; one that left something behind is a loss."""
        failure = failure_of(frame)
        if not entry.read_only:
            if not frame.error.data.rolled_back:
                self._lose(link, entry, identity, f"it failed halfway: {failure.faults[0].what}")
            self.ledger.move(identity, "fail", {"failure": failure.faults[0].as_dict()})
        return failure

    def _result(self, link: Link, entry: Method, identity: str, frame: Result) -> Contract:
        try:
            result = entry.result.model_validate(frame.result)
        except ValidationError:
            self._lose(link, entry, identity, "its answer is not what this method answers with")
        if not entry.read_only:
            self.ledger.move(identity, "complete", {"result": result.body()})
        return result

    def _acknowledge(self, identity: str) -> None:
        """Note it once; a plugin that says so twice changes nothing."""
        with contextlib.suppress(CheckFailed):
            self.ledger.move(identity, "acknowledge")

    def _lost(self, link: Link, entry: Method, identity: str, why: str) -> None:
        if not entry.read_only:
            self.ledger.move(identity, "lose", {"why": why})
        self._drop(link, BROKEN, "lost")

    def _lose(self, link: Link, entry: Method, identity: str, why: str) -> NoReturn:
        """Nobody knows what became of a request: record that, end the session, and stop."""
        self._lost(link, entry, identity, why)
        if entry.read_only:
            raise OperationFailed(
                "photoshop.not_connected", f"Photoshop did not answer: {why}", where=entry.name,
                mend="start Photoshop and connect the plugin",
            )  # fmt: skip
        raise NeedsPerson(
            "photoshop.uncertain",
            f"whether Photoshop did {entry.name} is unknown: {why}",
            where=identity[7:19],
            mend="look at Photoshop, then run `fabric photoshop resolve`; it is never sent again",
        )

    def _connected(self) -> Link:
        """The session, if there is one. Under ``_state``."""
        link = self._link
        if link is None or link.ended:
            raise OperationFailed(
                "photoshop.not_connected",
                f"no paired plugin is connected at {ADDRESS}:{self._port}",
                mend="start Photoshop, open the Fabric panel and connect",
            )
        return link

    def _drop(self, link: Link, code: int, reason: str) -> None:
        with self._state:
            link.ended = True
            if self._link is link:
                self._link = None
        with contextlib.suppress(ConnectionClosed, OSError):
            link.socket.close(code, reason)

    # -- the server's threads

    def _admit(self, socket: ServerConnection, request: Handshake) -> Response | None:
        """Refuse a handshake that no plugin of ours would make."""
        status = self._refusal(request)
        return None if status is None else socket.respond(status, "refused\n")

    def _refusal(self, request: Handshake) -> HTTPStatus | None:
        from http import HTTPStatus

        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if request.path != PATH:
            return HTTPStatus.NOT_FOUND
        if hosts != [f"{ADDRESS}:{self._port}"] or not {*origins} <= ORIGINS or len(origins) > 1:
            return HTTPStatus.FORBIDDEN
        server = self._server
        if server is not None and len(server.connections) > MOST_CONNECTIONS:
            return HTTPStatus.SERVICE_UNAVAILABLE
        return None

    def _serve(self, socket: ServerConnection) -> None:
        """One socket, from the handshake to its end."""
        with contextlib.suppress(ConnectionClosed, TimeoutError, OSError):
            link = self._shake_hands(socket)
            if link is None:
                return
            try:
                while True:
                    try:
                        link.inbox.put(decode(socket.recv()))
                    except CheckFailed as fault:
                        link.inbox.put(fault)
                        return
            finally:
                link.inbox.put(None)
                self._drop(link, 1000, "")

    def _shake_hands(self, socket: ServerConnection) -> Link | None:
        """A session with a plugin that has proven itself; otherwise the socket is closed."""
        paired = self._pairing
        if paired is None:
            return None
        challenge = Challenge(schema_=schema_digest(), nonce=secrets.token_hex(32))
        socket.send(notification("session.challenge", challenge))
        try:
            proof = decode_proof(socket.recv(timeout=HANDSHAKE_SECONDS))
        except CheckFailed:
            socket.close(BROKEN, "not a proof")
            return None
        words = pairing.words_of(challenge.schema_, challenge.nonce, proof.nonce)
        session = paired.session_of(words, proof.proof)
        if session is None:
            socket.close(NOT_PAIRED, "not paired")
            return None
        if proof.schema_ != challenge.schema_:
            socket.close(OTHER_SCHEMA, "other version")
            return None
        link = Link(session, socket, proof)
        opening = Opening(session=session, signature=paired.signature(words))
        with self._state:
            # Told and made the session in one step: no request goes out before, no other session between.
            socket.send(notification("session.open", opening))
            old, self._link = self._link, link
            self._state.notify_all()
        if old is not None:
            self._drop(old, REPLACED, "replaced")
        return link
