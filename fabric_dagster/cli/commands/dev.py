"""``fabric dev``: the Dagster UI on this home, with its daemon and the pictures."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from typing import Annotated

import typer

from fabric_dagster.cli.output import HomeOption, say

HOST = "127.0.0.1"
LAST_PORT = 65535
#: what Dagster says of its own commands and parameters is not for who uses this one.
QUIET = "ignore:Function,ignore:Parameter"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("dev")(dev)


def dev(
    port: Annotated[
        int, typer.Option("--port", "-p", min=1, max=LAST_PORT, help="Where the UI listens.")
    ] = 3000,
    home: HomeOption = None,
) -> None:
    """Open the Dagster UI: lineage, runs, check reports; tickets in the inbox start runs."""
    from fabric_dagster.errors import UsageFault
    from resources.home import CHECKOUT, Home
    from resources.supervision.pictures import PORT, picture_server

    found = Home.find(home).require()
    _require_free(port)
    try:
        server = picture_server(found.open_artifacts())
    except OSError as fault:
        raise UsageFault(
            "dev.port",
            f"the pictures' port {PORT} is taken: {fault.strerror}",
            mend="end the other `fabric dev`; one runs at a time",
        ) from fault
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say(f"Home      {found.path}")
    say(f"Inbox     {found.inbox}   (drop KEY.json and its folder KEY/ here)")
    say(f"UI        http://{HOST}:{port}   (Ctrl-C ends it)")
    environment = os.environ | {"DAGSTER_HOME": str(found.dagster), "FABRIC_HOME": str(found.path)}
    environment.setdefault("PYTHONWARNINGS", QUIET)
    workspace = CHECKOUT / "workspace.yaml"
    command = [
        sys.executable,
        "-m",
        "dagster",
        "dev",
        "-w",
        str(workspace),
        "-h",
        HOST,
        "-p",
        str(port),
        "--log-level",
        "warning",
    ]
    # A script's background job is started with interrupts ignored, and Dagster would end by nothing else.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, env=environment, cwd=found.path)  # noqa: S603 - our own program
    # Whoever ends this program ends Dagster with it: its daemon would go on taking tickets unseen.
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        code = process.wait()
    except KeyboardInterrupt:
        code = process.wait()
    finally:
        server.shutdown()
    raise typer.Exit(max(code, 0))


def _require_free(port: int) -> None:
    """Say that the UI's port is taken before anything is started: Dagster would go on without a UI."""
    from fabric_dagster.errors import UsageFault

    with socket.socket() as probe:
        if os.name != "nt":  # on Windows this would let two programs share a port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as fault:
            other = port + 1 if port < LAST_PORT else port - 1
            raise UsageFault(
                "dev.port",
                f"port {port} cannot be used: {fault.strerror}",
                mend=f"end the program that listens there, or use another: `fabric dev --port {other}`",
            ) from fault
