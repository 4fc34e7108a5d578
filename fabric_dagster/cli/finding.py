"""Finds what a command's words mean: a home, a run, a workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import CheckFailed, UsageFault

if TYPE_CHECKING:
    from pathlib import Path

    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.workflows import Workflow
    from resources.ledger.store import SqlEventStore
    from resources.supervision.assembly import Hall

#: fewer characters of a digest name nothing
SHORTEST = 6


def open_hall(home: Path | None) -> Hall:
    """The opened home."""
    from resources.home import Home
    from resources.supervision.assembly import hall

    return hall(Home.find(home).require().path)


def find_workflow(hall: Hall, word: str) -> Workflow:
    """The workflow ``Name@MAJOR``; ``UsageFault`` (``graph.unknown``) where no pack of the home has it."""
    if word not in hall.workflows:
        mend = f"use one of: {', '.join(hall.workflows) or 'none'}"
        raise UsageFault("graph.unknown", "no pack has this graph", value=word, mend=mend)
    return hall.workflows[word]


def all_runs(hall: Hall, unsound: list[CheckFailed] | None = None) -> list[RunRecord]:
    """Every run of the home, oldest first; see ``runs_of_log``."""
    store = hall.home.open_ledger()
    try:
        return runs_of_log(store, unsound)
    finally:
        store.close()


def runs_of_log(store: SqlEventStore, unsound: list[CheckFailed] | None = None) -> list[RunRecord]:
    """Every run of the log, oldest first, as what the runtime signed says.

    A run whose stream somebody else wrote into hides no other: what is wrong with it goes into ``unsound``.
    """
    from fabric_dagster.supervisor.projection import load_run

    found = []
    for run in dict.fromkeys(event.run for event in store.read(types=["run.opened"])):
        if run is None:  # somebody wrote it elsewhere than into a run's stream
            continue
        try:
            found.append(load_run(store, run, store.trust))
        except CheckFailed as fault:
            if unsound is not None:
                unsound.append(fault)
    return found


def find_run(hall: Hall, word: str) -> RunRecord:
    """The run that ``word`` names: the beginning of its digest (6 characters or more), or a ticket's key.

    A key means the ticket's newest run. Only that run is read, however long the log is.
    """
    from fabric_dagster.governance.roles import lawful
    from fabric_dagster.supervisor.projection import load_run, stream_of

    digest = word.removeprefix("sha256:").lower()
    store = hall.home.open_ledger()
    try:
        begun = store.streams(stream_of(f"sha256:{digest}")) if len(digest) >= SHORTEST else []
        found = [name.removeprefix("run:") for name in begun]
        if not found:
            linked = store.read(f"ticket:{word}", types=["run.linked"])
            found = [str(event.body.get("run")) for event in linked if lawful(event, store.trust)][-1:]
        if len(found) != 1:
            what = f"{len(found)} runs begin with" if found else "no run is called"
            raise UsageFault(
                "run.unknown", f"{what} {word!r}", mend="list the runs with `fabric runs`", value=word
            )
        return load_run(store, found[0], store.trust)
    finally:
        store.close()
