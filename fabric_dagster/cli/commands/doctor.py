"""``fabric doctor``: what is configured, reachable, pinned, missing; what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say

if TYPE_CHECKING:
    from fabric_dagster.cli.findings import Finding


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """What is configured, reachable, pinned or missing, and what to do about it. Exit 1 if anything fails."""
    from fabric_dagster.cli.diagnosis import diagnose, worst
    from resources.home import Home

    found = diagnose(Home.find(home))
    state = worst(found)
    document = {"state": state, "findings": [finding.as_dict() for finding in found]}
    emit(document, as_json=as_json, human=lambda: _print(found))
    if state == "fail":
        raise typer.Exit(1)


def _print(found: list[Finding]) -> None:
    width = max(len(finding.name) for finding in found)
    for finding in found:
        say(f"{finding.state:<4}  {finding.name:<{width}}  {finding.what}")
        if finding.mend:
            say(f"{'':<4}  {'':<{width}}  → {finding.mend}")
