"""``fabric cancel``: a person ends a run, at its next safe point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabric_dagster.cli.acting import AsOption
from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, note, say

if TYPE_CHECKING:
    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.services import Services

#: How long to wait for the run's next safe point, in seconds; afterwards it comes by itself.
PATIENCE = 20.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("cancel")(cancel)


def cancel(
    run: Annotated[str, typer.Argument(help="The beginning of a run's digest, or a ticket's key.")],
    identity: AsOption = "operator",
    why: Annotated[str, typer.Option("--note", help="Why; it stays with the run.")] = "no reason was given",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """End a run: a begun commit ends first, and what the run wrote into the project is taken back."""
    from fabric_dagster.cli.acting import acting
    from fabric_dagster.cli.ending import end_dagster_runs
    from fabric_dagster.cli.finding import find_run, open_hall
    from fabric_dagster.supervisor.cancelling import request_cancel

    hall = open_hall(home)
    found = find_run(hall, run)
    with acting(hall.home, "run.cancel", identity, run=found.run, reference=found.reference) as act:
        request_cancel(hall.services, found.run, act.signer, why)
        asked = end_dagster_runs(hall, found) if found.dagster_runs else []
        record = _follow(hall.services, found.run)

    def human() -> None:
        if record.state == "cancelled":
            say(f"{record.key} is cancelled. Run the ticket again to begin anew.")
        else:
            say(f"{record.key} is {record.state}; it ends at its next safe point.")
        for name in asked:
            say(f"Dagster was asked to end its run {name}.")

    emit({"run": record.document().body(), "dagster_runs": asked}, as_json=as_json, human=human)


def _follow(services: Services, run: str) -> RunRecord:
    """End the run now if nobody works on it; whoever does meets the request himself."""
    from fabric_dagster.errors import OperationFailed
    from fabric_dagster.supervisor.cancelling import follow

    note("waiting for the run's next safe point")
    try:
        with services.alone(run, PATIENCE):
            record = services.reload(run)
            follow(services, record)
            return record
    except OperationFailed as fault:
        if fault.code != "supervisor.busy":
            raise
        return services.reload(run)
