"""Finds what a command's words mean: a home, a run, a workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import UsageFault

if TYPE_CHECKING:
    from pathlib import Path

    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.workflows import Workflow
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


def all_runs(hall: Hall) -> list[RunRecord]:
    """Every run of the home, oldest first."""
    from fabric_dagster.supervisor.projection import load_run

    store = hall.home.open_ledger()
    try:
        return [load_run(store, event.body["run"]) for event in store.read(types=["run.opened"])]
    finally:
        store.close()


def find_run(hall: Hall, word: str) -> RunRecord:
    """The run that ``word`` names: the beginning of its digest (6 characters or more), or a ticket's key.

    A key means the ticket's newest run. Only that run is read, however long the log is.
    """
    from fabric_dagster.supervisor.projection import load_run, stream_of

    digest = word.removeprefix("sha256:").lower()
    store = hall.home.open_ledger()
    try:
        begun = store.streams(stream_of(f"sha256:{digest}")) if len(digest) >= SHORTEST else []
        found = [name.removeprefix("run:") for name in begun]
        if not found:
            linked = [event.body["run"] for event in store.read(f"ticket:{word}", types=["run.linked"])]
            found = linked[-1:]
        if len(found) != 1:
            what = f"{len(found)} runs begin with" if found else "no run is called"
            raise UsageFault(
                "run.unknown", f"{what} {word!r}", mend="list the runs with `fabric runs`", value=word
            )
        return load_run(store, found[0])
    finally:
        store.close()
