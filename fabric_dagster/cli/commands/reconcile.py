"""``fabric reconcile``: what stands where a commit has no known end, as seen by the validator or a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say

if TYPE_CHECKING:
    from fabric_dagster.supervisor.records import RunRecord
    from resources.supervision.assembly import Hall

VALIDATOR = "validator"
#: a person's account is some lines
MAX_BYTES = 1 << 20
STANDING = {"after": "as it was to be written", "before": "as it was before"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reconcile")(reconcile)


def reconcile(
    run: Annotated[
        str | None, typer.Argument(help="The beginning of a run's digest, or a ticket's key.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every run whose completion is unknown.")] = False,
    identity: Annotated[
        str, typer.Option("--as", help="Who looks: the validator's own program, or an operator.")
    ] = VALIDATOR,
    observed: Annotated[
        Path | None,
        typer.Option(
            "--observed", help='An operator\'s account: JSON {"standing": "before"|"after", "note": TEXT}'
        ),
    ] = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Record what was seen of an unknown completion, then decide. Nothing is repeated."""
    from fabric_dagster.cli.finding import all_runs, find_run, open_hall
    from fabric_dagster.errors import UsageFault
    from fabric_dagster.supervisor.reconciliation import waiting

    if everything == (run is not None):
        raise UsageFault("reconcile.which", "name one run, or say --all", mend="see `fabric runs`")
    if observed is not None and (everything or identity == VALIDATOR):
        raise UsageFault(
            "reconcile.observed",
            "an account is a person's, of one run; the validator says only what it sees itself",
            where="--observed",
            mend="name the run, and say `--as operator`",
        )
    hall = open_hall(home)
    account = None if observed is None else _account(observed)
    found = waiting(all_runs(hall)) if run is None else [find_run(hall, run)]
    looked = [_look(hall, item, identity, account) for item in found]
    seen = [(record, _newest(record)) for record in looked]

    def human() -> None:
        for record, last in seen:
            say(f"{record.key}  {identity} found all {STANDING[last['standing']]}: {last['decision']}.")
            say(f"{record.key}  the run is {record.state}; run the ticket again to go on from there.")
        if not seen:
            say("No run waits for reconciliation.")

    documents = [{"run": record.document().body(), "observation": last} for record, last in seen]
    emit(documents if everything else documents[0], as_json=as_json, human=human)


def _look(hall: Hall, run: RunRecord, identity: str, account: dict[str, Any] | None) -> RunRecord:
    """One run; a person signs with their own key, the validator in its own program."""
    from fabric_dagster.cli.acting import acting
    from fabric_dagster.supervisor.reconciliation import reconcile as decide

    if identity == VALIDATOR:
        return decide(hall.services, run.run)
    with acting(hall.home, "run.reconcile", identity, run=run.run, reference=run.reference) as act:
        return decide(hall.services, run.run, act.signer, account)


def _newest(run: RunRecord) -> dict[str, Any]:
    return dict(next(e.body for e in reversed(run.events) if e.type == "reconciliation.observed"))


def _account(path: Path) -> dict[str, Any]:
    from fabric_dagster.errors import UsageFault

    try:
        with path.open("rb") as reader:
            data = reader.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageFault("reconcile.observed", "an account is not that large", where=str(path))
        return json.loads(data)  # type: ignore[no-any-return] # judged later
    except (OSError, ValueError, RecursionError) as fault:
        raise UsageFault("reconcile.observed", f"no JSON could be read: {fault}", where=str(path)) from fault
