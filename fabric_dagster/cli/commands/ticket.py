"""``fabric ticket``: reads the fenced input of a Jira issue, or prints one; writes nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, PacksOption, emit, say

if TYPE_CHECKING:
    from fabric_dagster.contracts.ticket import Ticket
    from fabric_dagster.errors import Fault
    from fabric_dagster.intelligence import Decision, LoadedPack
    from resources.home import Home

InputsOption = Annotated[
    list[Path] | None, typer.Option("--inputs", help="A folder that pictures may be read from; repeatable.")
]
MAX_BYTES = 4 << 20


def register(app: typer.Typer) -> None:
    """Add the command and its verbs."""
    group = typer.Typer(help="Check or write the fenced input of a ticket.", no_args_is_help=True)
    group.command("check")(check)
    group.command("new")(new)
    app.add_typer(group, name="ticket")


def check(
    file: Annotated[
        Path, typer.Argument(help="A Jira issue as JSON (v2 or v3), attachments in KEY/ beside it.")
    ],
    *,
    home: HomeOption = None,
    packs: PacksOption = None,
    inputs: InputsOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Print the ticket, typed and decided; or every fault with key, line and value."""
    from fabric_dagster.cli.packs import nearby
    from fabric_dagster.errors import FabricError, InvalidDocument, UsageFault

    if not file.is_file():
        raise UsageFault(
            "file.missing", "there is no such file", where=str(file), mend="name an issue's JSON file"
        )
    found = nearby(home)
    try:
        ticket, pack, decision, checked = _read(file, found, packs, tuple(inputs or ()))
    except FabricError as error:
        if as_json:
            refused = {"file": str(file), "accepted": False, "faults": _faults(error.faults)}
            emit(refused, as_json=True)
        raise InvalidDocument.of(error.faults) from None
    if not checked:
        sys.stderr.write("fabric: not checked against a project: there is no home here (`fabric init`)\n")
    document = {
        "file": str(file),
        "accepted": True,
        "key": ticket.key,
        "graph": ticket.graph,
        "digest": ticket.digest,
        "ticket": ticket.body(),
        "pack": {"name": pack.pack.name, "version": pack.pack.version, "digest": pack.digest},
        "decision": {
            "rule": decision.rule,
            "values": dict(decision.values),
            "evidence": [evidence.body() for evidence in decision.evidence],
        },
        "project_checked": checked,
    }
    emit(document, as_json=as_json, human=lambda: _print(ticket, pack, decision))


def _read(
    file: Path, home: Home | None, packs: Path | None, inputs: tuple[Path, ...]
) -> tuple[Ticket, LoadedPack, Decision, bool]:
    from fabric_dagster.cli.packs import catalog, served_here
    from fabric_dagster.errors import InvalidDocument
    from fabric_dagster.intelligence import decide
    from fabric_dagster.intelligence.targets import project_rules
    from fabric_dagster.tickets import TicketFiles, named_graph, parse_ticket, read_issue, unknown_graph

    with file.open("rb") as reader:
        issue = read_issue(reader.read(MAX_BYTES + 1), file.name)
    named = named_graph(issue)
    try:
        pack, source = catalog(home, packs).graph(named)
    except InvalidDocument as fault:
        raise unknown_graph(issue, fault) from None
    roots = (*inputs, *(home.inputs if home is not None else ()))
    files = TicketFiles(file.absolute().parent / issue.key, roots)
    project = home.project if home is not None and home.project.is_dir() else None
    also = None
    if project is not None:
        also = project_rules(pack, source.graph, lambda path: (project / path).is_file())
    ticket = parse_ticket(issue, source.graph, pack.pack, files, served_here(), also)
    return ticket, pack, decide(pack, ticket.graph, ticket), project is not None


def _faults(faults: tuple[Fault, ...]) -> list[dict[str, str]]:
    return [fault.as_dict() for fault in faults]


def _print(ticket: Ticket, pack: LoadedPack, decision: Decision) -> None:
    say(f"{ticket.key}  {ticket.graph}  {ticket.digest}")
    for name, value in ticket.inputs.items():
        picture = ticket.files.get(name)
        facts = ""
        if picture is not None:
            facts = f"  ({picture.format.upper()}, {picture.width}x{picture.height}, {picture.size} bytes)"
        say(f"  {name:<12} {value}{facts}")
    say(f"decided by rule {decision.rule} of pack {pack.pack.name} {pack.pack.version}:")
    for name, value in decision.values.items():
        shown = value if isinstance(value, str) else ", ".join(f"{k}={v}" for k, v in dict(value).items())
        say(f"  {name:<12} {shown}")
    say("on this evidence:")
    for evidence in decision.evidence:
        say(f"  {pack.pack.citations[evidence.citation].title}: {evidence.quote!r}")


def new(
    graph: Annotated[str, typer.Argument(help="Name@MAJOR, or Name.")],
    *,
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Repeatable.")
    ] = None,
    markup: Annotated[str, typer.Option("--markup", help="markdown (Cloud editor) or wiki.")] = "markdown",
    home: HomeOption = None,
    packs: PacksOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Print the fenced block, typed and checked, ready to paste into a description."""
    from fabric_dagster.cli.packs import called, catalog, nearby, served_here
    from fabric_dagster.errors import InvalidDocument, UsageFault
    from fabric_dagster.tickets import TicketFiles
    from fabric_dagster.tickets.inputs import key_faults
    from fabric_dagster.tickets.parse import check_inputs
    from fabric_dagster.tickets.writing import block_lines, fenced

    if markup not in {"markdown", "wiki"}:
        raise UsageFault("usage.markup", "no such markup", mend="use markdown or wiki", value=markup)
    given = _pairs(values or [])
    found = nearby(home)
    pack, source = called(catalog(found, packs), graph)
    files = TicketFiles(Path("attachments"), found.inputs if found is not None else ())
    named = list(key_faults(given, source.graph.inputs, lambda key: f"--set {key}" if key else ""))
    inputs, _, faults = check_inputs(given, source.graph, pack.pack, files, served_here(), look=False)
    if named or faults:
        raise InvalidDocument.of([*named, *faults])
    lines = block_lines(
        source.graph.reference, {key: inputs[key] for key in source.graph.inputs if key in inputs}
    )
    document: dict[str, Any] = {"graph": source.graph.reference, "inputs": inputs, "block": "\n".join(lines)}
    emit(document, as_json=as_json, human=lambda: say(fenced(lines, markup)))


def _pairs(words: list[str]) -> dict[str, str]:
    from fabric_dagster.errors import UsageFault

    pairs: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key or key in pairs:
            what = "the key is set twice" if key in pairs else "this is no KEY=VALUE"
            raise UsageFault("usage.set", what, mend="write --set title='Starter Pack'", value=word)
        pairs[key] = value
    return pairs
