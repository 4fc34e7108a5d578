"""``fabric artifacts``: prove the stored bytes, remove what nothing refers to."""

from __future__ import annotations

from typing import Annotated

import typer

from fabric_dagster.cli.commands.spine import BranchOption
from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, note, say
from fabric_dagster.errors import CheckFailed, Fault

HOUR = 3600.0


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="The artifact store: prove it, clear it up.", no_args_is_help=True)
    group.command("verify")(verify)
    group.command("gc")(gc)
    app.add_typer(group, name="artifacts")


def verify(branch: BranchOption = "main", home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Read every artifact and compare it with its name; name those that runs cite and that are gone."""
    from fabric_dagster.cli.finding import runs_of_log
    from fabric_dagster.cli.remains import cited
    from resources.artifacts.collect import faults_of
    from resources.home import Home

    place = Home.find(home)
    artifacts = place.open_artifacts(branch)
    count, faults = faults_of(artifacts)
    log = place.open_ledger(branch)
    try:
        wanted = cited(runs_of_log(log))
    finally:
        log.close()
    gone = [
        Fault(
            "artifact.missing",
            "the artifact store has no such bytes",
            where=f"run of {key}",
            mend="restore the store from a backup, or run again from the step that made them",
            value=digest,
        )
        for digest, key in wanted.items()
        if not artifacts.has(digest)
    ]
    words = f"{count} artifacts, {len(faults) or 'none'} damaged, {len(gone) or 'none'} missing"
    faults = [*faults, *gone]
    document = {"artifacts": count, "sound": not faults, "faults": [fault.as_dict() for fault in faults]}
    emit(document, as_json=as_json, human=lambda: say(words))
    if faults:
        raise CheckFailed.of(faults)


def gc(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")
    ] = False,
    grace: Annotated[
        float, typer.Option("--grace-hours", min=1.0, help="What was put within these is kept.")
    ] = 24.0,
    branch: BranchOption = "main",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Remove artifacts that no event of any branch refers to, directly or through another artifact."""
    import time

    from resources.artifacts.collect import collect
    from resources.home import Home

    found = Home.find(home)
    note("Proving the log")
    first = found.open_ledger()
    branches = sorted({other for workspace, other in first.logs() if workspace == found.workspace})
    first.close()
    logs = [found.open_ledger(other) for other in branches]
    try:
        before = time.time() - grace * HOUR
        done = collect(found.open_artifacts(branch), logs, before, dry_run=dry_run)
    finally:
        for log in logs:
            log.close()
    document = {
        "dry_run": dry_run,
        "kept": done.kept,
        "young": done.young,
        "removed": done.removed,
        "bytes": done.bytes,
    }
    verb = "would go" if dry_run else "removed"
    words = (
        f"{len(done.removed)} artifacts {verb} ({done.bytes} bytes); {done.kept} kept, {done.young} too young"
    )
    emit(document, as_json=as_json, human=lambda: say("\n".join([*done.removed, words])))
