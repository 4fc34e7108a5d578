"""``fabric pictures``: the artifact store's pictures for Dagster's UI, where no `fabric dev` serves them."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from fabric_dagster.cli.output import HomeOption, say

LAST_PORT = 65535


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("pictures")(pictures)


def pictures(
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=LAST_PORT, help="Where it listens.")] = 3070,
    home: HomeOption = None,
) -> None:
    """Serve the pictures of the artifact store, read-only, on loopback, until it is ended."""
    from fabric_dagster.errors import UsageFault
    from resources.home import Home
    from resources.supervision.pictures import HOST, picture_server

    found = Home.find(home).require()
    try:
        server = picture_server(found.open_artifacts(), port)
    except OSError as fault:
        raise UsageFault(
            "pictures.port",
            f"port {port} cannot be used: {fault.strerror}",
            mend="end the program that listens there, or use another with --port",
        ) from fault
    say(f"Pictures  http://{HOST}:{port}/DIGEST.png   (Ctrl-C ends it)")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        raise typer.Exit from None
    finally:
        server.server_close()
