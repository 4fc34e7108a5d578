"""Serves pictures of the artifact store on loopback, read-only, so that Dagster's UI can show them.

Rules kept here: loopback only; only GET and HEAD of ``/DIGEST.png``; only bytes that are a PNG and have
that digest; a foreign ``Host`` is refused. Nothing that grants authority lives here.
"""

from __future__ import annotations

import re
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import FabricError

if TYPE_CHECKING:
    from fabric_dagster.artifacts.ports import ArtifactStore

HOST = "127.0.0.1"
PORT = 3070
PNG = b"\x89PNG\r\n\x1a\n"
_PATH = re.compile(r"/([0-9a-f]{64})\.png")


def picture_server(artifacts: ArtifactStore, port: int = PORT) -> ThreadingHTTPServer:
    """A server that is bound but not yet serving; call ``serve_forever``."""
    return ThreadingHTTPServer((HOST, port), partial(_Handler, artifacts))


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, artifacts: ArtifactStore, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        self.artifacts = artifacts
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        """Answer with a picture, or 404."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Answer with a picture's headers, or 404."""
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        found = _PATH.fullmatch(self.path)
        host = (self.headers.get("Host") or "").partition(":")[0]
        if found is None or host not in {HOST, "localhost"}:
            self.send_error(404)
            return
        try:
            data = self.artifacts.get(f"sha256:{found[1]}")
        except FabricError:
            data = b""
        if not data.startswith(PNG):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "public, max-age=31536000, immutable")
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        """Say nothing: a line a picture helps nobody."""
