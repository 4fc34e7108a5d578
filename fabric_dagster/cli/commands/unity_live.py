"""``fabric unity status|restore|resolve|qualify|try-skill``: what concerns a real editor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, note, say
from fabric_dagster.errors import InvalidDocument, UsageFault

if TYPE_CHECKING:
    from resources.home import Home

ProjectFolder = Annotated[
    Path | None, typer.Argument(metavar="PROJECT", help="The folder that holds Assets; default the home's.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the group ``unity``, whose module comes before this one."""
    group = next(item.typer_instance for item in app.registered_groups if item.name == "unity")
    if group is None:
        msg = "the group `unity` is not registered"
        raise TypeError(msg)
    group.command("status")(status)
    group.command("restore")(restore)
    group.command("resolve")(resolve)
    group.command("qualify")(qualify)
    group.command("try-skill")(try_skill)


def status(project: ProjectFolder = None, home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Whether an editor is open, what our package left in the project, what is uncertain. Changes nothing."""
    from resources.unity.live.deployment import Deployments
    from resources.unity.live.provider import LiveUnity
    from resources.unity.live.session import unity_ledger

    place, root = _places(home, project)
    live = LiveUnity(root, state=place.unity)
    ledger = unity_ledger(place.unity)
    found: dict[str, Any] = {
        "project": str(root),
        "editor_open": live.editor_is_open(),
        "deployments": [item.body() for item in Deployments(live.project, place.unity).pending()],
        "uncertain": [
            {**item.as_dict(), "history": ledger.history(item.identity)} for item in ledger.uncertain()
        ],
    }

    def human() -> None:
        say(f"{root}: {'an editor has it open' if found['editor_open'] else 'no editor has it open'}")
        for item in found["deployments"]:
            say(f"Package in the project: {item['id'][:12]}  {item['state']}  {item['why']}".rstrip())
        for item in found["uncertain"]:
            why = item["history"][-1].get("why", "")
            say(f"Uncertain: {item['identity'][7:19]}  {item['method']}  {item['sent_at'][:19]}  {why}")

    emit(found, as_json=as_json, human=human)
    if found["deployments"] or found["uncertain"]:
        raise typer.Exit(4)


def restore(project: ProjectFolder = None, home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Take our package out of the project's manifest again, where an operation was cut off."""
    from resources.unity.live.deployment import Deployments
    from resources.unity.project import open_project

    place, root = _places(home, project)
    deployments = Deployments(open_project(root), place.unity)
    with deployments.alone():
        done = deployments.restore_all()
    told = (
        f"{len(done)} taken back; the manifest is as it was." if done else "Nothing was left in the project."
    )
    emit({"project": str(root), "restored": list(done)}, as_json=as_json, human=lambda: say(told))


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
    from resources.setup import keys_folder
    from resources.unity.live.session import unity_ledger

    place = _home(home)
    signer = load_signer(keys_folder(place, identity), identity)
    done = unity_ledger(place.unity).resolve(request, signer, place.trust_root(), decision, evidence)
    emit(
        {**done.as_dict(), "state": "resolved", "decision": decision, "by": identity},
        as_json=as_json,
        human=lambda: say(f"{identity} decided: {done.method} {decision.replace('_', ' ')}. Run it again."),
    )


def qualify(  # noqa: PLR0917 - one option a choice
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="The folder that holds Assets.")],
    editor: Annotated[
        Path | None, typer.Option("--editor", help="The editor's executable; works on a copy of PROJECT.")
    ] = None,
    running: Annotated[
        bool,
        typer.Option("--running", help="Use the editor that has PROJECT open; it is written to."),
    ] = False,
    mcp: Annotated[
        str | None, typer.Option("--mcp", help="With --running: the MCP server's address on this machine.")
    ] = None,
    target: Annotated[
        str, typer.Option("--target", help="What a player is built for.")
    ] = "StandaloneLinux64",
    out: Annotated[Path | None, typer.Option("--out", help="Where the signed record goes.")] = None,
    identity: Annotated[
        str, typer.Option("--as", help="Who qualifies; signs with that identity's key.")
    ] = "builder",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Run the conformance cases with a real editor; a signed record of what came of it."""
    from resources.files.durable import write_durably
    from resources.keys import load_signer, private_folder
    from resources.setup import keys_folder
    from resources.unity.live.batch import BatchEditor
    from resources.unity.live.qualify import qualify as run

    if (editor is None) == (not running):
        raise UsageFault("unity.no_editor", "which editor?", mend="give either --editor or --running")
    place = _home(home)
    signer = load_signer(keys_folder(place, identity), identity)
    private_folder(place.unity)
    batch = None if editor is None else BatchEditor((str(editor),), library=place.unity / "library-qualify")
    record, envelope = run(
        project, place.unity, signer, place.trust_root(), batch=batch, mcp=mcp, target=target, tell=note
    )
    stamp = record.ran_at[:19].replace(":", "").replace("-", "")
    written = out or place.unity / f"qualification-{stamp}.dsse.json"
    write_durably(written, (json.dumps(envelope, indent=2) + "\n").encode())

    def human() -> None:
        say(f"Unity {record.version or 'of unknown version'}, {record.route}, package {record.package[7:19]}")
        for case in record.cases:
            say(f"  {case.verdict:<9} {case.case:<10} {case.about}")
            for item in case.observations:
                if not item.holds:
                    say(f"            {item.subject}: expected {item.expected}, found {item.found}")
            if case.fault:
                say(f"            {case.fault}")
        say(f"Signed record: {written}")

    document = {"record": record.body(), "passed": record.passed, "file": str(written)}
    emit(document, as_json=as_json, human=human)
    if not record.passed:
        raise typer.Exit(1)


def try_skill(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="The folder that holds Assets.")],
    operation: Annotated[str, typer.Argument(help="A reviewed operation of Unity-Skills.")],
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="Its arguments, as a JSON object.")],
    registry: Annotated[
        Path | None, typer.Option("--registry", help="Default ~/.unity_skills/registry.json.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Try a reviewed operation of the pinned Unity-Skills without effect: an inert candidate."""
    from resources.unity.live.unity_skills.adapter import try_operation
    from resources.unity.live.unity_skills.client import REGISTRY
    from resources.unity.project import open_project

    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise InvalidDocument("unity_skills.argument", "the arguments are no JSON object", value=arguments)
    where = registry or Path.home() / REGISTRY
    candidate = try_operation(open_project(project), where, operation, given)

    def human() -> None:
        say(f"{candidate.operation} at {candidate.revision[:12]}: valid, tried without effect")
        say(f"  plan {candidate.plan.source}, rollback {candidate.rollback.source}")
        say(f"  audit {candidate.audit.last}")
        say(f"  {candidate.digest}  It grants nothing.")

    emit(candidate.body(), as_json=as_json, human=human)


def _home(home: Path | None) -> Home:
    from resources.home import Home

    return Home.find(home).require()


def _places(home: Path | None, project: Path | None) -> tuple[Home, Path]:
    place = _home(home)
    return place, place.project if project is None else project
