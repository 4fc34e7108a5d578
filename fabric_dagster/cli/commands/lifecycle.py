"""``fabric lifecycle``: how a graph stands, what would invalidate it, and what did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say

if TYPE_CHECKING:
    from fabric_dagster.errors import Fault

SHORT = 19


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("lifecycle")(lifecycle)


def lifecycle(
    graph: Annotated[str, typer.Argument(help="Name@MAJOR")],
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """State, digests, receipts and identities; what would invalidate it, what did, and why."""
    from fabric_dagster.cli.finding import find_workflow, open_hall
    from fabric_dagster.errors import Refused
    from fabric_dagster.governance.standing import standing

    hall = open_hall(home)
    workflow = find_workflow(hall, graph)
    store = hall.home.open_ledger()
    try:
        faults: tuple[Fault, ...] = ()
        try:
            hall.authorize(workflow, store)
        except Refused as fault:
            faults = fault.faults
        compiled = workflow.compiled
        document = standing(store, store.trust, compiled.reference, compiled.digest, faults)
    finally:
        store.close()
    emit(document, as_json=as_json, human=lambda: _print(document))


def _print(document: dict[str, Any]) -> None:
    say(f"{document['reference']}  {document['graph']}")
    say(f"state  {document['state']}" + ("\n" if document["acts"] else ""))
    for act in document["acts"]:
        moment = act["at"][:16].replace("T", " ")
        what = act["type"].removeprefix("graph.")
        key = f"   its key was {act['key']} since" if "key" in act else ""
        about = act.get("digest", act.get("reason", ""))
        shown = about[:SHORT] if about.startswith("sha256:") else about
        say(f"  {moment}  {what:<13} by {act['by']:<13} {shown}{key}")
    if document["may_execute"]:
        say("\nIt may execute here, now. Until one of these changes:")
        _print_sealed(document["sealed"])
        say("\nWhat invalidates what: docs/invalidation.md.")
    else:
        say("\nIt may not execute here, now:")
        for fault in document["why_not"]:
            value = f" ({fault['value']})" if "value" in fault else ""
            say(f"  {fault['what']}{value} [{fault['code']}]")
            say(f"    → {fault.get('mend', '')}")
    for other in document["other_revisions"]:
        say(f"\nAnother revision, {other['graph'][:SHORT]}, is {other['state']}.")
    for event in document["ignored"]:
        say(f"\nEvent {event['event']} ({event['type']} by {event['by']}) counts for nothing:")
        say(f"  {event['why']}")
    say(f"\nNext: {document['next']}")


def _print_sealed(sealed: dict[str, Any]) -> None:
    for name, value in sealed.items():
        if isinstance(value, dict):
            shown = ", ".join(f"{key} {_short(item)}" for key, item in value.items())
        elif isinstance(value, list):
            shown = ", ".join(value)
        else:
            shown = _short(value)
        say(f"  {name:<14} {shown or 'none'}")


def _short(value: str) -> str:
    return value[:SHORT] if value.startswith("sha256:") else value
