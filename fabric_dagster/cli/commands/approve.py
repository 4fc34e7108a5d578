"""``fabric approve|retake``: a person's visual decision, signed, on exactly the picture that waits."""

from __future__ import annotations

from typing import Annotated

import typer

from fabric_dagster.cli.acting import AsOption
from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say

RunArgument = Annotated[str, typer.Argument(help="The beginning of a run's digest, or a ticket's key.")]
NoteOption = Annotated[str, typer.Option("--note", help="Why; for a retake, what is to be changed.")]
PictureOption = Annotated[
    str | None, typer.Option("--picture", help="The digest (or its beginning) of the picture that was seen.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("approve")(approve)
    app.command("retake")(retake)


def approve(
    run: RunArgument,
    identity: AsOption = "approver",
    note: NoteOption = "",
    picture: PictureOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Approve the picture that waits: its bytes, and the plan that made them."""
    _decide(run, identity, note, picture, home, given=True, as_json=as_json)


def retake(
    run: RunArgument,
    identity: AsOption = "approver",
    note: NoteOption = "",
    picture: PictureOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask for another picture, saying what is to be changed; this run ends."""
    _decide(run, identity, note, picture, home, given=False, as_json=as_json)


def _decide(
    run: str,
    identity: str,
    note: str,
    picture: str | None,
    home: HomeOption,
    *,
    given: bool,
    as_json: bool,
) -> None:
    from fabric_dagster.cli.acting import acting
    from fabric_dagster.cli.finding import find_run, open_hall
    from fabric_dagster.cli.report import picture_file
    from fabric_dagster.supervisor.approvals import decide

    hall = open_hall(home)
    found = find_run(hall, run)
    about = {"run": found.run, "reference": found.reference}
    with acting(hall.home, "run.approve", identity, store=hall.services.store, **about) as act:
        record, decision = decide(
            hall.services, found.run, act.signer, given=given, note=note, picture=picture
        )
    where = picture_file(hall, record, decision.side, decision.picture)

    def human() -> None:
        say(f"Picture   {where}")
        say(f"          {decision.picture}")
        say(f"Plan      {decision.plan}")
        say(f"{'Approved' if given else 'Retake':<8}  {record.key}, signed by {decision.by}")
        if given:
            say("The run goes on by the sensor `approvals`, or when the ticket is run again.")
        else:
            say("The run has ended. Change the ticket, or run it again, for another picture.")

    emit(
        {"run": record.document().body(), "decision": {**decision.as_dict(), "path": where}},
        as_json=as_json,
        human=human,
    )
