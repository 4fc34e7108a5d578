"""``fabric init``: keys, ledger, artifact store, sample template and Unity project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabric_dagster.cli.output import JsonFlag, emit, note, say

if TYPE_CHECKING:
    from resources.setup import Report

HomeOption = Annotated[
    Path | None,
    typer.Option("--home", help="The home's folder. [default: $FABRIC_HOME, else .fabric in the checkout]"),
]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("init")
    def init(home: HomeOption = None, as_json: JsonFlag = False) -> None:
        """Make what a home lacks: keys, ledger, artifact store, sample template and Unity project."""
        from resources.home import Home
        from resources.setup import initialise

        report = initialise(Home.find(home), lambda step: note(f"init: {step}"))
        emit(report.as_dict(), as_json=as_json, human=lambda: _print(report))
        for warning in report.warnings:
            typer.echo(f"fabric: warning: {warning}", err=True)


def _print(report: Report) -> None:
    width = max(len(name) for name, _, _ in report.parts)
    for name, place, state in report.parts:
        say(f"{state}  {name:<{width}}  {place}")
    say()
    say("Next: `fabric demo` runs the main job; `fabric doctor` looks everything over.")
