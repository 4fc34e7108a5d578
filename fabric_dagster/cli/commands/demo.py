"""``fabric demo``: the main job on embedded defaults, from nothing to a report."""

from __future__ import annotations

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, note, say

GRAPH = "CreateOfferIconAndIntegrate@1"
TICKET = "OFFER-101.json"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """One ticket becomes a finished offer icon: ticket, PSD, PNG, Unity project, blind checks, report."""
    from fabric_dagster.cli.commands.run import leave
    from fabric_dagster.cli.driving import drive, show_progress
    from fabric_dagster.cli.html import write_html
    from fabric_dagster.cli.report import print_report, report
    from resources.home import Home
    from resources.setup import initialise
    from resources.supervision.assembly import hall as open_hall
    from resources.supervision.demonstration import make_executable
    from sensors.inbox import take

    place = Home.find(home)
    note("Setting up the home")
    initialise(place, lambda step: note(f"  {step}"))
    hall = open_hall(place.path)
    workflow = hall.workflow(GRAPH)
    note("Making the sample graph executable here (a demo: one person holds every key)")
    make_executable(hall, workflow, lambda line: note(f"  {line}"))
    note("Running the ticket through Dagster")
    show_progress(hall)
    taken = take(hall, workflow.pack.folder / "tickets" / TICKET, GRAPH)
    done = taken.opened.run.state == "completed"
    record = drive(hall, taken)
    document = report(hall, record)
    page = write_html(hall, record, document)
    document["report"] = str(page)

    def human() -> None:
        if done:
            say(f"{record.key} is done already; nothing was repeated.\n")
        print_report(document)
        say(f"\nReport    {page}")
        say("UI        `make dev` (or `fabric dev`), then http://127.0.0.1:3000")
        say(f"Next      copy another ticket and its folder from {workflow.pack.folder / 'tickets'}")
        say(f"          into {place.inbox} while the UI is open")

    emit(document, as_json=as_json, human=human)
    leave(record)
