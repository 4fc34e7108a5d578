"""The program ``fabric``: finds the commands, runs one, turns errors into lines and exit codes.

A command is a module in ``commands/`` with a function ``register(app)``; being there registers it.
Command modules import the standard library, ``typer`` and ``fabric_dagster.errors`` at their top and
everything heavier inside the command's function, so that ``fabric --help`` stays quick.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys

import typer

from fabric_dagster import __version__
from fabric_dagster.cli import commands
from fabric_dagster.errors import FabricError

INTERRUPTED = 130
USAGE = 2


def build() -> typer.Typer:
    """The program with every command registered."""
    app = typer.Typer(
        name="fabric",
        help="A governed production line for game art, on Dagster.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def root(
        version: bool = typer.Option(False, "--version", help="Print the version and stop."),
    ) -> None:
        if version:
            sys.stdout.write(f"fabric {__version__}\n")
            raise typer.Exit

    for module in sorted(pkgutil.iter_modules(commands.__path__), key=lambda item: item.name):
        importlib.import_module(f"{commands.__name__}.{module.name}").register(app)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the program; never lets a traceback reach a person unless ``FABRIC_TRACEBACK`` is set."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        build()(args=arguments, prog_name="fabric")
    except FabricError as error:
        if os.environ.get("FABRIC_TRACEBACK"):
            raise
        for fault in error.faults:
            sys.stderr.write(f"fabric: {fault}\n")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("fabric: interrupted\n")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as fault:
        if os.environ.get("FABRIC_TRACEBACK"):
            raise
        sys.stderr.write(f"fabric: {fault.strerror or fault}: {fault.filename or ''} [os.{fault.errno}]\n")
        sys.exit(1)
