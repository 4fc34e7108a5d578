"""``fabric commission|suspend|resume|revoke``: where a graph may execute, and that it may not any more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.acting import AsOption
from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, say

if TYPE_CHECKING:
    from fabric_dagster.governance.history import History
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import EventStore
    from resources.supervision.scoping import CommissionScope

DAYS = 90
GraphArgument = Annotated[str, typer.Argument(help="Name@MAJOR")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; recorded for good.")]
DigestOption = Annotated[
    str | None, typer.Option("--digest", help="Which revision, by the beginning of the graph's digest.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("commission")(commission)
    app.command("suspend")(suspend)
    app.command("resume")(resume)
    app.command("revoke")(revoke)


def commission(
    graph: GraphArgument,
    *,
    scope: Annotated[
        Path | None, typer.Option("--scope", help="YAML or JSON: where, with what, until when.")
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a scope with what is here now; seals nothing.")
    ] = False,
    identity: AsOption = "commissioner",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Seal scope, effects, approval policy, SOP revisions, providers and expiry for the published graph."""
    from fabric_dagster.cli.acting import acting
    from fabric_dagster.cli.finding import find_workflow, open_hall
    from fabric_dagster.errors import Refused, UsageFault
    from fabric_dagster.governance.commissioning import commission as do
    from fabric_dagster.governance.history import history
    from resources.supervision.scoping import commission_of

    hall = open_hall(home)
    workflow = find_workflow(hall, graph)
    if template == (scope is not None):
        raise UsageFault(
            "commission.scope", "give either --scope FILE or --template", where=graph, mend="give one of them"
        )
    if scope is None:
        _print_template(hall, workflow, as_json=as_json)
        return
    wanted = _read_scope(scope)
    compiled = workflow.compiled
    with acting(
        hall.home, "graph.commission", identity, reference=compiled.reference, graph=compiled.digest
    ) as act:
        found = history(act.store, act.trust, compiled.digest)
        published = found.published[-1].certified.certificate if found.published else None
        if published is None:
            raise Refused(
                "authority.unpublished" if found.certified else "authority.uncertified",
                f"the graph is {found.state}, not published",
                where=compiled.reference,
                value=compiled.digest,
                mend=f"`fabric lifecycle {compiled.reference}` says what comes next",
            )
        document = commission_of(hall, workflow, published, wanted, identity)
        do(act.store, act.signer, document, act.trust)

    def human() -> None:
        say(f"{document.reference} {document.graph[:19]} is commissioned by {identity}")
        say(f"  until     {document.expires}")
        say(f"  writes    {', '.join(document.scope.writes)}")
        say(f"  effects   {', '.join(document.effects)}")
        say(f"  approval  {document.approval}")
        say(f"Next: `fabric run {document.reference} --ticket FILE`.")

    emit({"commission": document.body(), "digest": document.digest}, as_json=as_json, human=human)


def _print_template(hall: Any, workflow: Any, *, as_json: bool) -> None:  # noqa: ANN401 - Hall, Workflow
    import yaml

    from fabric_dagster.governance.qualification import qualify
    from resources.supervision.scoping import scope_now

    found = qualify(workflow.pack, workflow.compiled, hall.bindings(workflow))
    places = {
        str(value).rpartition("/")[0]
        for case in found.cases
        for value in case.values.values()
        if isinstance(value, str) and value.startswith("Assets/")
    }
    body = scope_now(
        hall, workflow, tuple(sorted(places)), until=datetime.now(UTC) + timedelta(days=DAYS)
    ).body()

    def human() -> None:
        say(
            f"# The scope of a commission of {workflow.compiled.reference}, with what is here now. Narrow it:"
        )
        say("# writes (folders under the project), effects, inputs, approval (none or visual), expires.")
        say(
            "# Digests and providers are sealed as they stand; where they are not so any more, it is refused."
        )
        say(yaml.safe_dump(body, sort_keys=False, allow_unicode=True).rstrip())

    emit(body, as_json=as_json, human=human)


def _read_scope(path: Path) -> CommissionScope:
    from fabric_dagster.documents import MAX_BYTES, check, load_yaml
    from fabric_dagster.errors import UsageFault
    from resources.supervision.scoping import CommissionScope

    try:
        with path.open("rb") as reader:
            data = reader.read(MAX_BYTES + 1)
    except OSError as fault:
        raise UsageFault(
            "file.missing",
            f"it cannot be read: {fault.strerror}",
            where=str(path),
            mend="`fabric commission GRAPH --template` prints one",
        ) from None
    return check(CommissionScope, load_yaml(data, str(path)))


def suspend(
    graph: GraphArgument,
    *,
    reason: ReasonOption,
    digest: DigestOption = None,
    identity: AsOption = "commissioner",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Pause a commissioned graph: nothing of it begins or commits until it is resumed."""
    _end("graph.suspend", "graph.suspended", graph, reason, digest, identity, home, as_json=as_json)


def resume(
    graph: GraphArgument,
    *,
    reason: ReasonOption,
    digest: DigestOption = None,
    identity: AsOption = "commissioner",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Let a suspended graph go on under the same commission."""
    _end("graph.resume", "graph.resumed", graph, reason, digest, identity, home, as_json=as_json)


def revoke(
    graph: GraphArgument,
    *,
    reason: ReasonOption,
    digest: DigestOption = None,
    identity: AsOption = "commissioner",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """End everything that stands for a graph: certificates, publications, commission. For good."""
    _end("graph.revoke", "graph.revoked", graph, reason, digest, identity, home, as_json=as_json)


def _end(
    action: str,
    kind: str,
    reference: str,
    reason: str,
    digest: str | None,
    identity: str,
    home: Path | None,
    *,
    as_json: bool,
) -> None:
    """Needs no pack: a graph can be stopped whose pack does not load any more."""
    from fabric_dagster.cli.acting import acting
    from fabric_dagster.governance import commissioning
    from fabric_dagster.governance.history import history
    from fabric_dagster.governance.lifecycle import NEXT, VERBS
    from resources.home import Home

    verbs = {
        "graph.suspended": commissioning.suspend,
        "graph.resumed": commissioning.resume,
        "graph.revoked": commissioning.revoke,
    }
    place = Home.find(home).require()
    with acting(place, action, identity, reference=reference) as act:
        found = _revision(act.store, act.trust, reference, kind, digest)
        event = verbs[kind](act.store, act.signer, found.graph, reference, reason, act.trust)
        state = history(act.store, act.trust, found.graph).state

    def human() -> None:
        say(f"{reference} {found.graph[:19]} is {VERBS[kind]} by {identity}: {reason}")
        say(f"Next: {NEXT[state].format(graph=reference)}.")

    document = {"reference": reference, "graph": found.graph, "state": state, "event": event.position}
    emit(document, as_json=as_json, human=human)


def _revision(store: EventStore, trust: TrustRoot, reference: str, kind: str, digest: str | None) -> History:
    """The one revision of ``reference`` that ``kind`` may happen to, or that ``digest`` names."""
    from fabric_dagster.errors import UsageFault
    from fabric_dagster.governance.history import revisions
    from fabric_dagster.governance.lifecycle import follows

    known = revisions(store, trust, reference)
    if digest is not None:
        beginning = digest.removeprefix("sha256:")
        found = [item for item in known if beginning and item.graph[7:].startswith(beginning)]
    else:
        found = [item for item in known if follows(item.state, kind) is not None] or known[-1:]
    if len(found) != 1:
        places = ", ".join(f"{item.graph[7:19]} ({item.state})" for item in found or known)
        raise UsageFault(
            "lifecycle.which",
            "no revision of this graph was ever certified here" if not known else "which revision is meant?",
            where=reference,
            mend=f"give --digest: {places}" if known else "see `fabric lifecycle`",
        )
    return found[0]
