"""``fabric spine``: prove the event log, look at it, hand it on, bring its database up to date."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say
from fabric_dagster.errors import CheckFailed, UsageFault

if TYPE_CHECKING:
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Event, SpineReport

SHOWN = 8
#: These say that nobody changed anything: there is another mend than a backup.
MENDS = {
    "spine.unanchored": "if you know why it is missing, run `fabric spine anchor`",
    "spine.checkpoint": "find out who wrote it; move it away, then run `fabric spine anchor`",
}

BranchOption = Annotated[str, typer.Option("--branch", help="The branch whose log is meant.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="The signed event log: prove it, look at it, hand it on.", no_args_is_help=True)
    for command in (verify, tail, export, migrate, anchor):
        group.command(command.__name__)(command)
    app.add_typer(group, name="spine")


def verify(
    bundle: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A bundle; without it, the home's log.")
    ] = None,
    since: Annotated[int, typer.Option(min=0, help="Begin after this position; 0 proves everything.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; by default one a core.")] = None,
    trust: Annotated[
        Path | None, typer.Option(help="With FILE: the trust root that you were given; else the home's.")
    ] = None,
    branch: BranchOption = "main",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Prove positions, chain, signatures, columns, the database and the signed heads outside it."""
    from resources.home import Home

    began = time.perf_counter()
    document: dict[str, Any] = {}
    if bundle is None:
        if trust is not None:
            raise UsageFault("spine.bad_option", "--trust goes with FILE", mend="the home has its own")
        store = Home.find(home).open_ledger(branch)
        report = store.verify(since, jobs=jobs)
        store.close()
    else:
        if since or jobs:
            raise UsageFault("spine.bad_option", "a bundle is proven whole", mend="leave --since and --jobs")
        from resources.ledger.bundles import prove_bundle

        report, root = prove_bundle(bundle, _trust(trust, Home.find(home)))
        document = {"bundle": str(bundle), "trust": root.digest}
    seconds = time.perf_counter() - began
    document = {
        "sound": report.sound,
        "events": report.events,
        "since": since,
        "head": report.head,
        **document,
        "faults": [fault.as_dict() for fault in report.faults],
    }
    emit(document, as_json=as_json, human=lambda: _say(report, since, seconds))
    if not report.sound:
        mend = "stop using this log and restore it from a backup"
        raise CheckFailed.of(replace(fault, mend=MENDS.get(fault.code, mend)) for fault in report.faults)


def _trust(given: Path | None, home: Any) -> TrustRoot:  # noqa: ANN401 - a Home, imported where it is used
    """The trust root that a bundle is verified with: never the bundle's own."""
    from fabric_dagster.governance.trust import MAX_BYTES, TrustRoot

    if given is None:
        if not home.exists:
            raise UsageFault(
                "spine.no_trust",
                "there is no trust root to verify the bundle with",
                mend="give the one that its owner gave you with --trust",
            )
        store = home.open_ledger()
        store.close()
        root: TrustRoot = store.trust
        return root
    try:
        with given.open("rb") as reader:
            return TrustRoot.parse(reader.read(MAX_BYTES + 1), str(given))
    except OSError as fault:
        raise UsageFault(
            "spine.no_trust", f"it cannot be read: {fault.strerror}", where=str(given)
        ) from fault


def _say(report: SpineReport, since: int, seconds: float) -> None:
    after = f" after {since}" if since else ""
    if report.sound:
        say(f"sound: {report.events} events{after}, each signed, chained and in its place ({seconds:.2f} s)")
        say(f"head:  {report.head or 'none'}")
    else:
        say(f"NOT sound: {len(report.faults)} faults in {report.events} events{after}")


def export(
    file: Annotated[Path, typer.Argument(help="Where to write the bundle; one that is there is replaced.")],
    branch: BranchOption = "main",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """The whole log as one file that others can verify without this program (docs/spine.md)."""
    from resources.home import Home
    from resources.ledger.bundles import export_log

    store = Home.find(home).open_ledger(branch)
    count = export_log(store, file)
    store.close()
    document = {"bundle": str(file), "events": count, "trust": store.trust.digest}
    emit(
        document,
        as_json=as_json,
        human=lambda: say(f"{count} events in {file}; whoever verifies it needs the trust root, too"),
    )


def migrate(home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Bring the ledger's database and the artifacts' folders up to date. Back them up before."""
    from resources.artifacts.place import adopt
    from resources.home import Home
    from resources.ledger.schema import REVISION

    found = Home.find(home)
    before = found.migrate_ledger()
    store = found.open_ledger()
    position = store.anchor(found.signer("admin"))
    store.close()
    moved = adopt(found.artifacts, found.open_artifacts())
    done = "is" if before == REVISION else f"was {before} and is now"
    document = {"from": before, "to": REVISION, "events": position, "artifacts_moved": moved}
    words = f"the schema {done} {REVISION}; {position} events, {moved} artifacts moved"
    emit(document, as_json=as_json, human=lambda: say(words))


def anchor(
    identity: Annotated[str, typer.Option("--as", help="Whose key signs the head.")] = "admin",
    branch: BranchOption = "main",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Prove the whole log, then write its signed head wherever one is missing. Never replaces one."""
    from resources.home import Home

    found = Home.find(home)
    store = found.open_ledger(branch)
    position = store.anchor(found.signer(identity))
    places = [item.where for item in store.anchors.all()]
    store.close()
    document = {"events": position, "anchors": places}
    emit(
        document, as_json=as_json, human=lambda: say("\n".join([f"{position} events, anchored in", *places]))
    )


def tail(
    number: Annotated[int, typer.Option("-n", min=0, help="How many of the newest events.")] = 20,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with new ones until stopped.")
    ] = False,
    branch: BranchOption = "main",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """The newest events, each proven as it is read; with --follow and --json one JSON object a line."""
    from fabric_dagster.spine.subscription import subscribe
    from resources.home import Home

    store = Home.find(home).open_ledger(branch)
    position, _ = store.head()
    after = max(0, position - number)
    if not follow:
        events = list(store.read(after=after))
        emit([_document(event) for event in events], as_json=as_json, human=lambda: _print(events))
        return
    for event in subscribe(store, after):
        say(json.dumps(_document(event), ensure_ascii=False) if as_json else _line(event))
        # Flushed by line end on a terminal only: a pipe's reader wants to see it now, too.
        sys.stdout.flush()


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
        **({"run": event.run} if event.run is not None else {}),
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
