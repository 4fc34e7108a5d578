"""``fabric run|runs|show``: governed runs, and what they came to."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say

if TYPE_CHECKING:
    from fabric_dagster.supervisor.records import RunRecord
    from resources.supervision.assembly import Hall


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run")(run)
    app.command("runs")(runs)
    app.command("show")(show)


def run(
    graph: Annotated[str, typer.Argument(help="Name@MAJOR")],
    ticket: Annotated[
        Path, typer.Option("--ticket", help="A Jira issue as JSON, its attachments beside it.")
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Also where this content is done: another run of it.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Look, plan and stage; write nothing.")] = False,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """One supervisor run through Dagster, in process."""
    from fabric_dagster.cli.driving import drive, show_progress
    from fabric_dagster.cli.finding import open_hall
    from fabric_dagster.cli.html import write_html
    from fabric_dagster.cli.report import print_report, report
    from sensors.inbox import take

    hall = open_hall(home)
    _check_words(hall, graph, ticket)
    named = hall.workflow(graph)
    if dry_run:
        _dry(hall, ticket, named.compiled.reference, as_json=as_json)
        return
    show_progress(hall)
    taken = take(hall, ticket, named.compiled.reference, anew=True, again=again)
    done = taken.opened.run.state == "completed"
    record = drive(hall, taken)
    document = report(hall, record)
    with contextlib.suppress(OSError):  # the run is what it is, also where no page can be written
        document["report"] = str(write_html(hall, record, document))

    def human() -> None:
        if done:
            say(f"{record.key} is done already; nothing was repeated.")
        print_report(document)
        if "report" in document:
            say(f"\nReport    {document['report']}")

    emit(document, as_json=as_json, human=human)
    leave(record)


def _check_words(hall: Hall, graph: str, ticket: Path) -> None:
    """Refuse a graph that no pack has and a ticket that is no file: both at once, nothing recorded."""
    from fabric_dagster.errors import Fault, UsageFault

    faults = []
    if graph not in hall.workflows:
        mend = f"use one of: {', '.join(hall.workflows) or 'none'}"
        faults.append(Fault("graph.unknown", "no pack has this graph", "", mend, graph))
    if not ticket.is_file():
        mend = "name an issue's JSON file"
        faults.append(Fault("file.missing", "there is no such file", str(ticket), mend))
    if faults:
        raise UsageFault.of(faults)


def _dry(hall: Hall, path: Path, reference: str, *, as_json: bool) -> None:
    """Plan and stage in a folder that is thrown away: no event, no artifact, no materialization."""
    import tempfile
    from dataclasses import replace

    from fabric_dagster.supervisor.dry import dry_run
    from resources.artifacts.store import FolderArtifactStore
    from sensors.inbox import read_ticket

    ticket, workflow, pictures = read_ticket(hall, path, reference)
    with tempfile.TemporaryDirectory(prefix="fabric-dry-") as folder:
        aside = replace(
            hall.services,
            artifacts=FolderArtifactStore(Path(folder) / "artifacts"),
            stages=Path(folder) / "stages",
        )
        document = dry_run(aside, workflow, ticket, pictures)

    def human() -> None:
        say(
            f"{ticket.key} would run {reference} by rule {document['decision']['rule']}; nothing was written."
        )
        for part in document["partitions"]:
            say(f"  {part['partition']}")
            for item in part["operations"]:
                say(f"    {item['node']:<16} {item['capability']}")
            for change in part["changes"]:
                word = "change" if "before" in change else "create"
                say(f"    {word} {change['path']}")
        say(document["diff"])

    emit(document, as_json=as_json, human=human)


def leave(record: RunRecord) -> None:
    """End with the exit code that the run's state asks for, and say what to do."""
    if record.state == "completed":
        return
    if record.state == "reconciliation_required":
        from fabric_dagster.supervisor.opening import reconcile_first

        raise reconcile_first(record)
    if record.state == "awaiting_approval":
        from fabric_dagster.supervisor.approvals import missing

        raise missing(record)
    last = next((e for e in reversed(record.events) if e.type == "run.failed"), None)
    code = int(last.body["exit_code"]) if last is not None and record.state == "failed" else 1
    for line in record.unresolved:
        typer.echo(f"fabric: {line}", err=True)
    raise typer.Exit(code)


def runs(
    state: Annotated[str | None, typer.Option("--state", help="Only runs in this state.")] = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Every run, newest last."""
    from typing import get_args

    from fabric_dagster.cli.finding import all_runs, open_hall
    from fabric_dagster.contracts.supervisor_run import RunState
    from fabric_dagster.errors import CheckFailed, UsageFault
    from fabric_dagster.supervisor.stops import engaged

    if state is not None and state not in get_args(RunState):
        raise UsageFault(
            "run.no_state", "a run has no such state", where="--state", value=state,
            mend=f"use one of: {', '.join(get_args(RunState))}",
        )  # fmt: skip
    hall = open_hall(home)
    unsound: list[CheckFailed] = []
    found = [item for item in all_runs(hall, unsound) if state in {None, item.state}]

    def human() -> None:
        for stop in engaged(hall.services.store, hall.services.trust).values():
            say(f"{stop.kind} STOPPED by {stop.by}: {stop.reason}")
        for item in found:
            opened = item.opened.recorded_at[:19].replace("T", " ")
            say(f"{item.run[7:19]}  {opened}  {item.state:<24} {item.key:<12} {item.reference}")
        if not found:
            say("No runs yet." if state is None else f"No run is {state}.")

    emit([item.document().body() for item in found], as_json=as_json, human=human)
    if unsound:
        raise CheckFailed.of([fault for item in unsound for fault in item.faults])


def show(
    run: Annotated[str, typer.Argument(help="The beginning of a run's digest, or a ticket's key.")],
    page: Annotated[bool, typer.Option("--page", help="Write the report as a page, too.")] = False,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """One run: states, tasks, evidence, checks, artifacts, unresolved criteria."""
    from fabric_dagster.cli.finding import find_run, open_hall
    from fabric_dagster.cli.html import write_html
    from fabric_dagster.cli.report import print_report, report

    hall = open_hall(home)
    record = find_run(hall, run)
    document = report(hall, record)
    if page:
        document["report"] = str(write_html(hall, record, document))

    def human() -> None:
        print_report(document)
        if page:
            say(f"\nReport    {document['report']}")

    emit(document, as_json=as_json, human=human)
