"""The program ``fabric``: finds the commands, runs one, turns errors into lines and exit codes.

A command is a module in ``commands/`` with a function ``register(app)``; being there registers it.
Command modules import the standard library, ``typer`` and ``fabric_dagster.errors`` at their top and
everything heavier inside the command's function, so that ``fabric --help`` stays quick.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
import sys
import threading
from typing import TYPE_CHECKING

from fabric_dagster.errors import FabricError, UsageFault, one_line

if TYPE_CHECKING:
    import click
    import typer

INTERRUPTED = 130
USAGE = 2


def build() -> typer.Typer:
    """The program with every command registered."""
    import typer

    from fabric_dagster import __version__
    from fabric_dagster.cli import commands
    from fabric_dagster.cli.sections import Sections

    app = typer.Typer(
        name="fabric",
        cls=Sections,
        help="A governed production line for game art, on Dagster.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # boxes would cost half of the time that `--help` takes
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
    # Where whoever called closed a stream, Python has none: nothing is said there, and nothing fails.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - lives as long as we
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - the same
    # Whoever terminates us interrupts us: what is begun ends typed, and the exit code says so. Only the main
    # thread may say that; elsewhere (tests, an embedding program) its owner has.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = _run(arguments)
        # What is still held back is written now, where a full disk or a closed pipe can still be told.
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as fault:
        if os.environ.get("FABRIC_TRACEBACK"):
            raise
        sys.stderr.write(f"fabric: {_unforeseen(fault)}\n")
        code = 1
    if code == INTERRUPTED:
        sys.stderr.write("fabric: interrupted\n")
    sys.exit(code)


def _unforeseen(fault: Exception) -> str:
    """What no command turned into an error of ours: the system's refusal, or a defect; one line even so."""
    if isinstance(fault, OSError):
        place = f": {one_line(os.fsdecode(fault.filename))}" if fault.filename else ""
        return f"{fault.strerror or fault}{place} [os.{fault.errno}]"
    what = one_line(f"{type(fault).__name__}: {fault}")
    mend = "Run it again with FABRIC_TRACEBACK=1 and report what that prints"
    return f"this is a defect of the program: {what}. {mend} [fabric.defect]"


def _run(arguments: list[str] | None) -> int:
    """Run the command and print what it raises; the exit code."""
    # Imported here, so that an interrupt of the very start is caught by whoever called.
    import click

    try:
        return build()(args=arguments, prog_name="fabric", standalone_mode=False) or 0
    except FabricError as error:
        if os.environ.get("FABRIC_TRACEBACK"):
            raise
        return _complain(error)
    except click.exceptions.NoArgsIsHelpError:
        return USAGE  # the help is printed
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        return _complain(_usage(error))


def _complain(error: FabricError) -> int:
    """Print one line for each fault; the exit code."""
    for fault in error.faults:
        sys.stderr.write(f"fabric: {fault}\n")
    return error.exit_code


def _usage(error: click.ClickException) -> UsageFault:
    """What the argument parser found, as an error of ours: one line that says where to look."""
    context = getattr(error, "ctx", None)  # a usage error's alone
    path = context.command_path if context else "fabric"
    # Both parsers add their guess to the message: said once, as the mend.
    what, _, guess = error.format_message().partition(" Did you mean ")
    guess = guess.partition("?")[0]
    return UsageFault(
        "cli.usage",
        what.rstrip("."),
        where=path.removeprefix("fabric").strip(),
        mend=f"did you mean {guess}? See `{path} --help`" if guess else f"see `{path} --help`",
    )
