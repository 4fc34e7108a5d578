"""``fabric keys list|rotate|revoke|export``: whose keys are pinned, and how one follows another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.acting import AsOption
from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say

if TYPE_CHECKING:
    from fabric_dagster.governance.trust import TrustRoot
    from resources.home import Home


def register(app: typer.Typer) -> None:
    """Add the command and its verbs."""
    group = typer.Typer(help="Keys and the trust root that pins them.", no_args_is_help=True)
    group.command("list")(list_)
    group.command("rotate")(rotate)
    group.command("revoke")(revoke)
    group.command("export")(export)
    app.add_typer(group, name="keys")


def list_(home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Every identity, its roles and its keys: active, retired or revoked, since which version."""
    from resources.home import Home

    place = Home.find(home).require()
    store = place.open_ledger()
    root = store.trust
    store.close()
    emit(_document(root, place), as_json=as_json, human=lambda: _print(_document(root, place)))


def rotate(
    identity: Annotated[str, typer.Argument(help="Whose key: runtime, builder, validator, …")],
    *,
    public: Annotated[
        str | None, typer.Option("--public", help="Pin this public key (base64), made where it is used.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="A spare: the present key stays active.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "routine rotation",
    by: AsOption = "admin",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Give an identity a new key. What its old key signed before still stands."""
    from resources.ceremony import read_public
    from resources.ceremony import rotate as do

    raw = None if public is None else read_public(public)

    def act(place: Home, store: Any, signer: Any) -> TrustRoot:  # noqa: ANN401 - the home's own
        return do(place, store, store.trust, signer, identity, public=raw, keep=keep, reason=reason)

    _change(home, "keys.rotate", by, act, as_json=as_json, about=identity)


def revoke(
    keyid: Annotated[str, typer.Argument(help="The key, by the beginning of its keyid.")],
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; recorded for good.")],
    everything: Annotated[
        bool, typer.Option("--everything", help="Not even what it signed before verifies.")
    ] = False,
    by: AsOption = "admin",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """End a key that was lost or stolen: nothing that it ever signed lets anything execute any more."""
    from resources.ceremony import revoke as do

    def act(_place: Home, store: Any, signer: Any) -> TrustRoot:  # noqa: ANN401 - the home's own
        return do(store, store.trust, signer, keyid, reason, everything=everything)

    _change(home, "keys.revoke", by, act, as_json=as_json, about=keyid)


def _change(
    home: Path | None,
    action: str,
    by: str,
    act: Any,  # noqa: ANN401 - (home, log, signer) → the new root
    *,
    as_json: bool,
    about: str,
) -> None:
    from fabric_dagster.cli.acting import acting
    from resources.ceremony import finish
    from resources.home import Home

    place = Home.find(home).require()
    store = place.open_ledger()
    try:
        done = finish(place, store, store.trust)
        with acting(place, action, by, store=store, about=about) as acted:
            root = act(place, store, acted.signer)
    finally:
        store.close()
    store = place.open_ledger()
    try:
        done += finish(place, store, store.trust)
    finally:
        store.close()

    def human() -> None:
        say(f"The trust root is version {root.version}, {root.digest}, signed by {by}.")
        for line in done:
            say(f"  {line}")
        say("\nNext: start `fabric dev` and every other running program of this home again.")
        say("      A validator with a home of its own follows with `fabric keys export FILE` there and")
        say("      `fabric validator trust FILE` at its place. Make a backup of trust.json and the keys.")

    emit({**_document(root, place), "done": done}, as_json=as_json, human=human)


def export(
    file: Annotated[Path, typer.Argument(help="Where the envelope of the newest version goes.")],
    *,
    version: Annotated[int | None, typer.Option("--version", min=2, help="Another version.")] = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a version of the trust root as its signed envelope (the first as it is), to hand over."""
    from fabric_dagster.errors import UsageFault
    from resources.ceremony import envelopes
    from resources.home import Home

    place = Home.find(home).require()
    store = place.open_ledger()
    try:
        recorded = dict(envelopes(store))
        root = store.trust
    finally:
        store.close()
    wanted = root.version if version is None else version
    if wanted in recorded:
        data = json.dumps(recorded[wanted], indent=2) + "\n"
    elif wanted == root.version:
        data = root.to_bytes().decode()
    else:
        raise UsageFault(
            "keys.no_version", "no such version is recorded", value=str(wanted), mend="see `fabric keys list`"
        )
    if file.exists():
        raise UsageFault("file.exists", "there is a file already", where=str(file), mend="name a new one")
    file.write_text(data, encoding="utf-8", newline="\n")
    emit(
        {"version": wanted, "file": str(file)},
        as_json=as_json,
        human=lambda: say(
            f"Version {wanted} of the trust root is in {file}; next: `fabric validator trust FILE`."
        ),
    )


def _document(root: TrustRoot, place: Home) -> dict[str, Any]:
    from fabric_dagster.errors import FabricError
    from resources.keys import load_signer
    from resources.setup import keys_folder

    identities = {}
    for name, identity in sorted(root.identities.items()):
        try:
            here = load_signer(keys_folder(place, name), name).keyid
        except FabricError:
            here = None
        identities[name] = {
            "roles": list(identity.roles),
            "keys": [
                {
                    "keyid": key.keyid,
                    "status": key.status,
                    "here": key.keyid == here,
                    **({} if key.ended is None else {"ended": key.ended.body()}),
                }
                for key in identity.keys
            ],
        }
    return {"version": root.version, "digest": root.digest, "identities": identities}


def _print(document: dict[str, Any]) -> None:
    say(f"trust root version {document['version']}  {document['digest']}\n")
    for name, identity in document["identities"].items():
        for number, key in enumerate(identity["keys"]):
            who = name if not number else ""
            here = "  here" if key["here"] else ""
            ended = key.get("ended")
            why = f"  since version {ended['version']}: {ended['reason']}" if ended else ""
            say(f"{who:<13} {key['status']:<8} {key['keyid']}{here}{why}")
