"""``fabric photoshop pair|status|resolve|qualify``: a running Photoshop, through its plugin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, note, say
from fabric_dagster.errors import OperationFailed, UsageFault

if TYPE_CHECKING:
    from resources.home import Home

WaitOption = Annotated[float, typer.Option("--wait", min=0, max=600, help="Seconds to wait for the plugin.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the group ``photoshop``, whose module comes before this one."""
    group = next(item.typer_instance for item in app.registered_groups if item.name == "photoshop")
    if group is None:
        msg = "the group `photoshop` is not registered"
        raise TypeError(msg)
    group.command("pair")(pair)
    group.command("status")(status)
    group.command("resolve")(resolve)
    group.command("qualify")(qualify)


def pair(
    again: Annotated[
        bool, typer.Option("--again", help="End the present pairing and begin another.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Show the plugin's pairing token, once."""
    from datetime import UTC, datetime

    from resources.photoshop.uxp import pairing
    from resources.photoshop.uxp.schema import PLUGIN

    folder = _folder(_home(home))
    if (folder / pairing.FILE).exists() and not again:
        raise UsageFault(
            "uxp.paired", "a plugin is paired with this home already", where=str(folder / pairing.FILE),
            mend="use `--again` to end that pairing; its token can't be shown a second time",
        )  # fmt: skip
    token = pairing.pair(folder, datetime.now(UTC).isoformat(timespec="seconds"))
    manifest = PLUGIN / "manifest.json"

    def human() -> None:
        say(token)
        say()
        say("This token is shown once. In Photoshop 23.3 or later:")
        say(f"  1. load {manifest} with the UXP Developer Tool")
        say("  2. open the panel Fabric, paste the token, press Pair")
        say("  3. run `fabric photoshop status`")

    address = f"ws://127.0.0.1:{pairing.PORT}/fabric"
    emit(
        {"token": token, "plugin": str(manifest), "address": address},
        as_json=as_json,
        human=human,
    )


def status(wait: WaitOption = 5, home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Whether the plugin is there, what Photoshop does, what is uncertain. Changes nothing."""
    from resources.photoshop.uxp import methods

    bridge = _bridge(_home(home))
    found: dict[str, Any] = {"connected": False}
    with bridge:
        note(f"Waiting up to {wait:g} s for the plugin")
        try:
            bridge.wait(wait)
            found = {"connected": True, "host": bridge.call(methods.HOST, {}).body()}
            found["documents"] = bridge.call(methods.DOCUMENTS, {}).body()["documents"]
        except OperationFailed as fault:
            found["why"] = str(fault.faults[0])
        found["uncertain"] = [
            {**item.as_dict(), "history": bridge.ledger.history(item.identity)}
            for item in bridge.ledger.uncertain()
        ]
    emit(found, as_json=as_json, human=lambda: _tell(found))
    if not found["connected"]:
        raise typer.Exit(1)
    if found["uncertain"]:
        raise typer.Exit(4)


def resolve(
    request: Annotated[str, typer.Argument(help="The beginning of the request's identity.")],
    decision: Annotated[
        Literal["happened", "did_not_happen"], typer.Option("--decision", help="What was found.")
    ],
    evidence: Annotated[str, typer.Option("--evidence", help="What was looked at, and what was there.")],
    identity: Annotated[
        str, typer.Option("--as", help="Who decides; signs with that identity's key.")
    ] = "operator",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Record what an operator found of an uncertain request. It is never sent again."""
    from resources.keys import load_signer
    from resources.photoshop.uxp.ledger import photoshop_ledger
    from resources.setup import keys_folder

    place = _home(home)
    signer = load_signer(keys_folder(place, identity), identity)
    done = photoshop_ledger(_folder(place)).resolve(request, signer, place.trust_root(), decision, evidence)
    document = {**done.as_dict(), "state": "resolved", "decision": decision, "by": identity}
    emit(
        document,
        as_json=as_json,
        human=lambda: say(f"{identity} decided: {done.method} {decision.replace('_', ' ')}. Run it again."),
    )


def qualify(
    out: Annotated[Path | None, typer.Option("--out", help="Where the signed record goes.")] = None,
    identity: Annotated[
        str, typer.Option("--as", help="Who qualifies; signs with that identity's key.")
    ] = "builder",
    wait: WaitOption = 60,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Run the conformance cases in the running Photoshop, on copies; a signed record of what came of it."""
    from resources.files.durable import write_durably
    from resources.keys import load_signer
    from resources.photoshop.uxp.qualify import qualify as run
    from resources.setup import keys_folder

    place = _home(home)
    signer = load_signer(keys_folder(place, identity), identity)
    with _bridge(place) as bridge:
        record, envelope = run(bridge, signer, place.trust_root(), patience=wait, tell=note)
    stamp = record.ran_at[:19].replace(":", "").replace("-", "")
    target = out or _folder(place) / f"qualification-{stamp}.dsse.json"
    write_durably(target, (json.dumps(envelope, indent=2) + "\n").encode())

    def human() -> None:
        say(f"{record.application} {record.version}, plugin {record.plugin}")
        for case in record.cases:
            say(f"  {case.verdict:<9} {case.case:<12} {case.about}")
            for item in case.observations:
                if not item.holds:
                    say(f"            {item.subject}: expected {item.expected}, found {item.found}")
            if case.fault:
                say(f"            {case.fault}")
        say(f"Signed record: {target}")

    emit(
        {"record": record.body(), "passed": record.passed, "file": str(target)}, as_json=as_json, human=human
    )
    if not record.passed:
        raise typer.Exit(1)


def _home(home: Path | None) -> Home:
    from resources.home import Home

    return Home.find(home).require()


def _folder(home: Home) -> Path:
    from resources.photoshop.uxp.shared import FOLDER

    return home.path / FOLDER


def _bridge(home: Home) -> Any:  # noqa: ANN401 - imported where it is used
    from resources.photoshop.uxp.bridge import Bridge

    return Bridge(_folder(home))


def _tell(found: dict[str, Any]) -> None:
    if found["connected"]:
        host = found["host"]
        busy = "busy with a dialog or command" if host["modal"] else "idle"
        say(f"{host['application']} {host['version']}, plugin {host['plugin']}: connected, {busy}")
        for item in found["documents"]:
            say(f"  {'ours  ' if item['ours'] else 'theirs'} {item['name']}")
    else:
        say(f"Not connected: {found['why']}")
    for item in found["uncertain"]:
        why = item["history"][-1].get("why", "")
        say(f"Uncertain: {item['identity'][7:19]}  {item['method']}  {item['sent_at'][:19]}  {why}")
