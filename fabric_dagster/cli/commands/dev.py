"""``fabric dev``: the Dagster UI on this home, with its daemon and the pictures."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from fabric_dagster.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("dev")(dev)


def dev(
    port: Annotated[int, typer.Option("--port", "-p", help="Where the UI listens.")] = 3000,
    home: Annotated[
        Path | None, typer.Option("--home", help="The home; default $FABRIC_HOME, else .fabric.")
    ] = None,
) -> None:
    """Open the Dagster UI: lineage, runs, check reports; tickets in the inbox start runs."""
    from fabric_dagster.errors import UsageFault
    from resources.home import CHECKOUT, Home
    from resources.supervision.pictures import picture_server

    found = Home.find(home).require()
    try:
        server = picture_server(found.open_artifacts())
    except OSError as fault:
        raise UsageFault(
            "dev.port",
            f"the picture server's port is taken: {fault.strerror}",
            mend="end the other `fabric dev`",
        ) from fault
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say(f"Home      {found.path}")
    say(f"Inbox     {found.inbox}   (drop KEY.json and its folder KEY/ here)")
    say(f"UI        http://127.0.0.1:{port}   (Ctrl-C ends it)")
    environment = os.environ | {"DAGSTER_HOME": str(found.dagster), "FABRIC_HOME": str(found.path)}
    workspace = CHECKOUT / "workspace.yaml"
    command = [
        sys.executable,
        "-m",
        "dagster",
        "dev",
        "-w",
        str(workspace),
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    process = subprocess.Popen(command, env=environment, cwd=found.path)  # noqa: S603 - our own program
    try:
        code = process.wait()
    except KeyboardInterrupt:
        code = process.wait()
    finally:
        server.shutdown()
    raise typer.Exit(max(code, 0))
