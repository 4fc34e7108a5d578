"""Opens a run for an accepted ticket, or refuses it; the only way for a run to come to be.

Rules kept here (design/DETAILS.md, "Run identity"):

* run = digest(workspace, graph digest, partition key, ticket digest, ordinal).
* The ordinal counts accepted changes of the block, so that A → B → A runs again and A → A does not.
* A run that did not complete is not gone on with under another commission: the ticket is accepted anew.
* A ticket that is done stays done, whatever is commissioned later, until a person asks for it again: with
  ``fabric run --again``, or with a backfill in Dagster under another commission (``renewed``).
* A newer revision of a ticket supersedes older runs of it. Where the completion of one is unknown, it stays
  as it is and the newer run waits until somebody looked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric_dagster.contracts.ticket import Ticket
from fabric_dagster.digests import canonical, digest_of
from fabric_dagster.errors import CheckFailed, FabricError, InvalidDocument, NeedsPerson, Refused
from fabric_dagster.governance.roles import lawful
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.projection import sound_part, stream_of
from fabric_dagster.supervisor.services import disk_told
from fabric_dagster.supervisor.stages import tidy

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


#: States in which a run is ended by a newer revision of its ticket.
SUPERSEDED = frozenset({"opened", "running", "awaiting_approval", "failed", "stopped"})
#: States in which a person's own command runs the same content anew, as another run.
ENDED_BY_PERSON = frozenset({"stopped", "cancelled"})
#: States in which a rerun under another commission is another run.
RENEWED = frozenset({"opened", "running", "awaiting_approval", "failed", "completed"})


def ticket_stream(key: str) -> str:
    """The spine's stream of one ticket."""
    return f"ticket:{key}"


@dataclass(frozen=True)
class Opened:
    """A run that may execute, and the key under which a sensor may request it once."""

    run: RunRecord
    run_key: str


def open_run(
    services: Services,
    workflow: Workflow,
    ticket: Ticket,
    pictures: dict[str, Path],
    *,
    anew: bool = False,
    again: bool = False,
) -> Opened:
    """The run of ``ticket``; refused without a live commission for exactly this graph.

    ``pictures`` are the files that the ticket names, by input name; their bytes go to the artifact store,
    so that a later change of the attachment changes nothing that was accepted. ``anew`` accepts a content
    again whose run a person ended: with a retake or a cancellation. ``again`` does that for one that is
    done, too.
    """
    compiled = workflow.compiled
    try:
        commission = services.authorize(workflow)
    except Refused as fault:
        refuse_ticket(services, ticket.key, ticket.digest, fault)
        raise
    with disk_told():
        for name, file in ticket.files.items():
            if services.artifacts.put_file(pictures[name]) != file.digest:
                raise InvalidDocument(
                    "ticket.changed", "the picture changed while it was read", where=file.path
                )
        document = services.artifacts.put_bytes(canonical(ticket.body()))
    ordinal = _accept(services, ticket, compiled.reference)
    run = _identity(services, compiled.digest, ticket, ordinal)
    over = {"completed"} if again else frozenset[str]()
    over |= ENDED_BY_PERSON if anew or again else frozenset()
    if _unfinished_elsewhere(services, run, commission.digest) or _is(services, run, over):
        ordinal = _accept(services, ticket, compiled.reference, again=True)
        run = _identity(services, compiled.digest, ticket, ordinal)
    body = {
        "run": run,
        "reference": compiled.reference,
        "graph": compiled.digest,
        "pack": workflow.pack.digest,
        "partition_key": ticket.key,
        "ticket": ticket.digest,
        "ticket_document": document,
        "ordinal": ordinal,
        "commission": commission.digest,
        "goal": compiled.graph.goal,
    }
    if services.store.by_key(f"{run}:opened") is None:
        opened = NewEvent(stream_of(run), "run.opened", body, f"{run}:opened")
        link = {"run": run, "graph": compiled.digest}
        linked = NewEvent(ticket_stream(ticket.key), "run.linked", link, f"{run}:linked")
        services.store.append([opened, linked], signer=services.runtime)
    _supersede(services, ticket.key, compiled.reference, run)
    return Opened(services.reload(run), f"{ticket.key}:{ticket.digest}:{ordinal}:{commission.digest}")


def renewed(services: Services, workflow: Workflow, run: RunRecord) -> RunRecord:
    """The run that a person's rerun of the whole ticket works on.

    That is ``run``, unless it was done, or left, under another commission or for another revision of the
    graph than those in force: then the same content, as it was accepted, is accepted anew. Where nothing is
    in force it is ``run``, and each step refuses by itself.
    """
    try:
        commission = services.authorize(workflow)
    except Refused:
        return run
    in_force = (commission.digest, workflow.compiled.digest)
    if (run.body["commission"], run.body["graph"]) == in_force or run.state not in RENEWED:
        return run
    ticket = Ticket.model_validate_json(services.artifacts.get(run.body["ticket_document"]))
    pictures = {name: services.artifacts.path(file.digest) for name, file in ticket.files.items()}
    return open_run(services, workflow, ticket, pictures, again=True).run


def refuse_ticket(services: Services, key: str, digest: str, fault: FabricError) -> None:
    """Say on the spine that a ticket was refused, with all reasons; once per content."""
    body = {"digest": digest, "faults": [item.as_dict() for item in fault.faults]}
    identity = digest_of("fabric.refusal.v1", body)
    event = NewEvent(ticket_stream(key), "ticket.refused", body, f"{key}:refused:{identity}")
    services.store.append([event], signer=services.runtime)


def runs_of(services: Services, key: str) -> list[RunRecord]:
    """Every run of a ticket, oldest first; of one that somebody else wrote into, what stands before that."""
    events = services.store.read(ticket_stream(key), types=["run.linked"])
    links = (event for event in events if lawful(event, services.trust))
    found = (sound_part(services.store, str(event.body.get("run")), services.trust) for event in links)
    return [item for item in found if item is not None]


def _identity(services: Services, graph: str, ticket: Ticket, ordinal: int) -> str:
    parts = [services.store.workspace, graph, ticket.key, ticket.digest, ordinal]
    return digest_of("fabric.supervisor-run.v1", parts)


def _unfinished_elsewhere(services: Services, run: str, commission: str) -> bool:
    """Whether ``run`` was opened under another commission and is not done: what was decided there is void."""
    opened = services.store.by_key(f"{run}:opened")
    if opened is None or opened.body["commission"] == commission:
        return False
    return services.reload(run).state in SUPERSEDED


def _is(services: Services, run: str, states: AbstractSet[str]) -> bool:
    """Whether ``run`` was opened and is in one of ``states`` now."""
    if not states or services.store.by_key(f"{run}:opened") is None:
        return False
    return services.reload(run).state in states


def _accept(services: Services, ticket: Ticket, reference: str, *, again: bool = False) -> int:
    """The ordinal of this content: that of the newest acceptance if it is the same, else the next.

    ``again`` accepts the same content anew.
    """
    stream = ticket_stream(ticket.key)
    accepted = [
        event
        for event in services.store.read(stream, types=["ticket.accepted"])
        if lawful(event, services.trust) and event.body.get("reference") == reference
    ]
    if accepted and accepted[-1].body.get("digest") == ticket.digest and not again:
        return len(accepted)
    ordinal = len(accepted) + 1
    body = {"digest": ticket.digest, "reference": reference, "ordinal": ordinal, "summary": ticket.summary}
    event = NewEvent(stream, "ticket.accepted", body, f"{ticket.key}:{reference}:accepted:{ordinal}")
    services.store.append([event], signer=services.runtime)
    return ordinal


def _supersede(services: Services, key: str, reference: str, newest: str) -> None:
    """End what older revisions of the ticket left open; what is in the middle of a commit is not touched."""
    for older in runs_of(services, key):
        if older.run == newest or older.reference != reference or older.state not in SUPERSEDED:
            continue
        with services.alone(older.run):
            try:
                run = services.reload(older)
            except CheckFailed:
                continue  # somebody else wrote into it: it goes no further by itself
            unknown = any(task.state == "committing" for task in run.tasks)
            if run.state in SUPERSEDED and not unknown:
                body = {"by": newest, "unresolved": [f"superseded by {newest}"]}
                services.append(run, "run.superseded", body)
                tidy(services, run)


def reconciling(services: Services, run: RunRecord) -> RunRecord | None:
    """Another run of the same ticket whose completion is unknown, if there is one."""
    for other in runs_of(services, run.key):
        unknown = other.state == "reconciliation_required" or any(
            task.state == "committing" for task in other.tasks
        )
        if other.run != run.run and unknown:
            return other
    return None


def reconcile_first(run: RunRecord) -> NeedsPerson:
    """The exact blocker of unknown completion."""
    return NeedsPerson(
        "run.reconciliation_required",
        "a commit was begun and its end is unknown; nothing is repeated before it was looked at",
        where=run.key,
        mend=f"run `fabric reconcile {run.run[7:19]} --as validator`",
    )
