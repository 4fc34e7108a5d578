"""``fabric validator``: drives the separate validator's program, in the validator's own home."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, PacksOption, emit, say

DeskOption = Annotated[
    Path | None,
    typer.Option("--validator", help="The validator's own home; default: validator/ in the home."),
]


def register(app: typer.Typer) -> None:
    """Add the command and its verbs."""
    group = typer.Typer(help="The separate validator: own home, own key, own log.", no_args_is_help=True)
    group.command("keygen")(keygen)
    group.command("trust")(trust)
    group.command("review")(review)
    group.command("reviews")(reviews)
    group.command("sign")(sign)
    app.add_typer(group, name="validator")


def keygen(validator: DeskOption = None, home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Make the key of a new validator's home; prints what an admin pins."""
    made = _ask(_desk(validator, home, new=True), "keygen")

    def human() -> None:
        say(f"keyid   {made['keyid']}")
        say(f"public  {made['public']}")
        say(f"\nNext: an admin pins it: `fabric keys rotate validator --keep --public {made['public']}`,")
        say("      (--keep: the key stays with which runs of that home are judged), and hands over the")
        say("      trust root: `fabric keys export FILE` there, `fabric validator trust FILE` here.")

    emit(made, as_json=as_json, human=human)


def trust(
    file: Annotated[Path, typer.Argument(help="trust.json, or the envelope of `fabric keys export`.")],
    *,
    validator: DeskOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Pin the trust root in the validator's home, or follow it to its next version."""
    pinned = _ask(_desk(validator, home), "trust", str(file.absolute()))

    def human() -> None:
        say(f"pinned: version {pinned['version']}, {pinned['digest']}")
        say("Compare the digest with the one that the admin reads out from `fabric keys list`.")

    emit(pinned, as_json=as_json, human=human)


def review(
    graph: Annotated[str, typer.Argument(help="Name@MAJOR")],
    *,
    corpus: Annotated[str | None, typer.Option("--corpus", help="The corpus.")] = None,
    validator: DeskOption = None,
    packs: PacksOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Derive a candidate's qualification again from the pack's bytes, and keep the review; signs nothing."""
    from fabric_dagster.cli.packs import called, catalog, nearby

    pack, _ = called(catalog(nearby(home), packs), graph)
    words = ["review", "--pack", str(pack.folder.resolve()), "--graph", graph]
    words += [] if corpus is None else ["--corpus", corpus]
    found = _ask(_desk(validator, home), *words)

    def human() -> None:
        body = found["review"]
        say(f"{body['reference']} {body['graph'][:19]}: {body['cases']} cases passed,")
        say("derived from the pack alone")
        say(f"results  {body['results']}")
        say(f"review   {found['digest']}")
        say(f"\nNext: `fabric validator sign {body['reference']} --out receipt.json`")

    emit(found, as_json=as_json, human=human)


def reviews(validator: DeskOption = None, home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Every review on the validator's own log."""
    found = _ask(_desk(validator, home), "reviews")["reviews"]

    def human() -> None:
        for item in found:
            signed = "signed" if "receipt" in item else "not signed"
            body = item["review"]
            say(f"{item['digest'][:19]}  {body['reference']}  {body['graph'][:19]}  {signed}")
        if not found:
            say("No reviews yet.")

    emit(found, as_json=as_json, human=human)


def sign(
    wanted: Annotated[str, typer.Argument(help="A review's digest, or Name@MAJOR for its newest review.")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", help="The receipt's file; default: standard output.")
    ] = None,
    validator: DeskOption = None,
    home: HomeOption = None,
) -> None:
    """Sign the receipt of a review that the validator's log holds: an in-toto Statement in DSSE."""
    from fabric_dagster.errors import UsageFault

    if out is not None and out.exists():
        raise UsageFault("file.exists", "there is a file already", where=str(out), mend="name a new one")
    envelope = _ask(_desk(validator, home), "sign", wanted)
    if out is None:
        emit(envelope, as_json=True)
        return
    out.write_text(json.dumps(envelope, indent=2) + "\n", encoding="utf-8", newline="\n")
    say(f"The signed receipt is in {out}.")
    say(f"Next: `fabric certify GRAPH --receipt {out}`, by a certifier. It certifies once.")


def _desk(validator: Path | None, home: Path | None, *, new: bool = False) -> Path:
    """The validator's own home; it needs no other."""
    from fabric_dagster.errors import UsageFault
    from resources.home import Home

    place = validator if validator is not None else Home.find(home).require().validator
    if not new and not place.is_dir():
        raise UsageFault(
            "validator.no_home",
            "there is no validator's home",
            where=str(place),
            mend="`fabric validator keygen --validator DIR` makes one",
        )
    return place


def _ask(place: Path, *words: str) -> dict[str, Any]:
    from resources.reviewer.client import ask

    return ask(place, *words)
