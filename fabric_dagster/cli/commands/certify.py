"""``fabric certify`` and ``fabric publish``: a receipt consumed once, a certificate made available."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fabric_dagster.cli.acting import AsOption
from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say

MAX_BYTES = 1 << 20


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("certify")(certify)
    app.command("publish")(publish)


def certify(
    graph: Annotated[str, typer.Argument(help="Name@MAJOR")],
    *,
    receipt: Annotated[Path, typer.Option("--receipt", help="The validator's signed receipt.")],
    identity: AsOption = "certifier",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Consume a validator's signed receipt, once, for the graph exactly as it is."""
    from fabric_dagster.cli.acting import acting
    from fabric_dagster.cli.finding import find_workflow, open_hall
    from fabric_dagster.governance.certification import certify as do

    hall = open_hall(home)
    compiled = find_workflow(hall, graph).compiled
    envelope = _envelope(receipt)
    with acting(
        hall.home, "graph.certify", identity, reference=compiled.reference, graph=compiled.digest
    ) as act:
        made = do(act.store, act.signer, envelope, act.trust, graph=compiled.digest)

    def human() -> None:
        say(f"{made.reference} {made.graph[:19]} is certified by {identity}: {made.digest}")
        say(f"The receipt {made.receipt[:19]} of {made.validator} is consumed.")
        say(f"Next: `fabric publish {made.reference}`, by a publisher.")

    emit({"certificate": made.body(), "digest": made.digest}, as_json=as_json, human=human)


def publish(
    graph: Annotated[str, typer.Argument(help="Name@MAJOR")],
    *,
    identity: AsOption = "publisher",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Make the graph's newest certificate available for commissioning; lets nothing execute."""
    from fabric_dagster.cli.acting import acting
    from fabric_dagster.cli.finding import find_workflow, open_hall
    from fabric_dagster.governance.publishing import publish as do

    hall = open_hall(home)
    compiled = find_workflow(hall, graph).compiled
    with acting(
        hall.home, "graph.publish", identity, reference=compiled.reference, graph=compiled.digest
    ) as act:
        made = do(act.store, act.signer, compiled.digest, compiled.reference, act.trust)

    def human() -> None:
        say(f"{made.reference} {made.graph[:19]} is published by {identity}: certificate {made.digest[:19]}")
        say(f"Next: `fabric commission {made.reference} --template > scope.yaml`, narrow it, then")
        say(f"      `fabric commission {made.reference} --scope scope.yaml`, by a commissioner.")

    emit({"published": made.digest, "graph": made.graph}, as_json=as_json, human=human)


def _envelope(path: Path) -> dict[str, Any]:
    """The receipt's envelope; ``UsageFault`` for a file that cannot be read, ``InvalidDocument`` else."""
    from fabric_dagster.errors import InvalidDocument, UsageFault

    try:
        with path.open("rb") as reader:
            data = reader.read(MAX_BYTES + 1)
    except OSError as fault:
        raise UsageFault(
            "file.missing", f"it cannot be read: {fault.strerror}", where=str(path), mend="name a receipt"
        ) from None
    try:
        value = json.loads(data) if len(data) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidDocument(
            "receipt.invalid",
            "this is no receipt",
            where=str(path),
            mend="`fabric validator sign GRAPH --out FILE` writes one",
        )
    return value
