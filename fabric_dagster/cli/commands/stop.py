"""``fabric stop core|effects|off|status``: the emergency stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fabric_dagster.cli.acting import AsOption
from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say

if TYPE_CHECKING:
    from fabric_dagster.supervisor.stops import Stop


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("stop")(stop)


def stop(
    what: Annotated[
        Literal["core", "effects", "off", "status"],
        typer.Argument(help="core: end advice. effects: block commits. off: release both. status: look."),
    ],
    identity: AsOption = "admin",
    reason: Annotated[
        str, typer.Option("--reason", help="Why; people read it wherever the stop is met.")
    ] = "no reason was given",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Engage or release an emergency stop, or look. It holds at every run's next safe point."""
    from fabric_dagster.cli.acting import acting
    from fabric_dagster.supervisor.stops import engage, engaged, release
    from resources.home import Home

    place = Home.find(home).require()
    store = place.open_ledger()
    released: tuple[str, ...] = ()
    try:
        if what != "status":
            action = "stop.effects" if what == "off" else f"stop.{what}"
            with acting(place, action, identity, store=store) as act:
                if what == "off":
                    released = release(store, act.trust, act.signer, reason)
                else:
                    engage(store, act.trust, act.signer, what, reason)
        standing = engaged(store, store.trust)
    finally:
        store.close()
    document = {
        "stops": [standing[kind].as_dict() for kind in sorted(standing)],
        "released": list(released),
    }
    emit(document, as_json=as_json, human=lambda: _print(standing, released))


def _print(standing: dict[str, Stop], released: tuple[str, ...]) -> None:
    for kind in released:
        say(f"{kind:<8} released")
    for kind, found in sorted(standing.items()):
        since = f" since {found.since[:19].replace('T', ' ')}" if found.since else ""
        say(f"{kind:<8} STOPPED by {found.by}{since}: {found.reason}")
    if not standing:
        say("Nothing is stopped.")
