"""``fabric spine verify|tail``: prove the event log, look at it."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say
from fabric_dagster.errors import CheckFailed

if TYPE_CHECKING:
    from fabric_dagster.spine.ports import Event, SpineReport

POLL_SECONDS = 0.5
SHOWN = 8


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="The signed event log: prove it, look at it.", no_args_is_help=True)
    group.command("verify")(verify)
    group.command("tail")(tail)
    app.add_typer(group, name="spine")


def verify(
    since: Annotated[int, typer.Option(min=0, help="Begin after this position; 0 proves everything.")] = 0,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Prove positions, chain, signatures, columns, the database file and the checkpoint."""
    from resources.home import Home

    store = Home.find(home).open_ledger()
    began = time.perf_counter()
    report = store.verify(since)
    seconds = time.perf_counter() - began
    store.close()
    document = {
        "sound": report.sound,
        "events": report.events,
        "since": since,
        "head": report.head,
        "faults": [fault.as_dict() for fault in report.faults],
    }
    emit(document, as_json=as_json, human=lambda: _say(report, since, seconds))
    if not report.sound:
        mend = "stop using this log and restore it from a backup"
        raise CheckFailed.of(replace(fault, mend=mend) for fault in report.faults)


def _say(report: SpineReport, since: int, seconds: float) -> None:
    after = f" after {since}" if since else ""
    if report.sound:
        say(f"sound: {report.events} events{after}, each signed, chained and in its place ({seconds:.2f} s)")
        say(f"head:  {report.head or 'none'}")
    else:
        say(f"NOT sound: {len(report.faults)} faults in {report.events} events{after}")


def tail(
    number: Annotated[int, typer.Option("-n", min=0, help="How many of the newest events.")] = 20,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with new ones until stopped.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """The newest events, each proven as it is read; with --follow and --json one JSON object a line."""
    from resources.home import Home

    store = Home.find(home).open_ledger()
    position, _ = store.head()
    after = max(0, position - number)
    events = list(store.read(after=after))
    if not follow:
        emit([_document(event) for event in events], as_json=as_json, human=lambda: _print(events))
        return
    while True:
        for event in events:
            say(json.dumps(_document(event), ensure_ascii=False) if as_json else _line(event))
            after = event.position
        # Flushed by line end on a terminal only: a pipe's reader wants to see it now, too.
        sys.stdout.flush()
        time.sleep(POLL_SECONDS)
        events = list(store.read(after=after))


def _document(event: Event) -> dict[str, Any]:
    return {
        "position": event.position,
        "recorded_at": event.recorded_at,
        "type": event.type,
        "stream": event.stream,
        "version": event.version,
        "actor": event.actor,
        "keyid": event.keyid,
        "digest": event.digest,
        "previous": event.previous,
        **({"idempotency_key": event.idempotency_key} if event.idempotency_key is not None else {}),
        "body": event.body,
    }


def _print(events: list[Event]) -> None:
    if not events:
        say("no events")
    for event in events:
        say(_line(event))


def _line(event: Event) -> str:
    name, _, digest = event.stream.partition(":")
    stream = event.stream if not digest.startswith("sha256:") else f"{name}:{digest[7 : 7 + SHOWN]}…"
    moment = event.recorded_at[:19].replace("T", " ")
    return f"{event.position:>6}  {moment}  {event.actor:<12}  {event.type:<28}  {stream}@{event.version}"
