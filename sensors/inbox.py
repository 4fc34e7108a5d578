"""Reads the inbox: which tickets are new, what each says, and what a tick should ask for.

Plain Python; ``intake.py`` makes a Dagster sensor of it, and ``fabric run`` takes one ticket through the
very same function.
"""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabric_dagster.digests import digest_bytes, digest_of
from fabric_dagster.errors import FabricError, Fault, InvalidDocument, NeedsPerson, OperationFailed, Refused
from fabric_dagster.intelligence.targets import project_rules
from fabric_dagster.supervisor.opening import Opened, open_run, refuse_ticket
from fabric_dagster.tickets import TicketFiles, named_graph, parse_ticket, read_issue, unknown_graph

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fabric_dagster.contracts.ticket import Ticket
    from fabric_dagster.supervisor.workflows import Workflow
    from resources.supervision.assembly import Hall

#: A sensor asks for at most this many runs a tick.
AT_MOST = 50
MAX_BYTES = 4 << 20


@dataclass(frozen=True)
class Taken:
    """A ticket that was taken in: its run, and the workflow that it belongs to."""

    ticket: Ticket
    workflow: Workflow
    opened: Opened


@dataclass(frozen=True)
class Turned:
    """A ticket that was refused, with all reasons."""

    name: str
    faults: tuple[Fault, ...]


@dataclass
class Tick:
    """What one look at the inbox found."""

    taken: list[Taken] = field(default_factory=list)
    turned: list[Turned] = field(default_factory=list)
    cursor: str = "{}"


def read_ticket(
    hall: Hall, path: Path, reference: str | None = None
) -> tuple[Ticket, Workflow, dict[str, Path]]:
    """The typed ticket in ``path``, its workflow and its pictures; ``InvalidDocument`` with every fault.

    ``reference`` is the graph that the caller means; without it, it is the one that the block names.
    """
    with path.open("rb") as reader:
        data = reader.read(MAX_BYTES + 1)
    issue = read_issue(data, path.name)
    try:
        workflow = hall.workflow(reference or named_graph(issue))
    except InvalidDocument as fault:
        raise unknown_graph(issue, fault) from None
    files = TicketFiles(attachments=path.parent / issue.key, roots=hall.home.inputs)
    graph, project = workflow.compiled.graph, hall.home.project
    rules = project_rules(workflow.pack, graph, lambda inside: (project / inside).is_file())
    ticket = parse_ticket(issue, graph, workflow.pack.pack, files, hall.served, also=rules)
    pictures = {name: files.resolve(ticket.inputs[name]) for name in ticket.files}
    return ticket, workflow, pictures


def take(
    hall: Hall, path: Path, reference: str | None = None, *, anew: bool = False, again: bool = False
) -> Taken:
    """Take one ticket in: its run is open on the spine afterwards. Refusals are events, then raised.

    ``anew`` is a person's wish: a run of this content that a person ended is followed by another. ``again``
    is the same wish where the run is done.
    """
    try:
        ticket, workflow, pictures = read_ticket(hall, path, reference)
    except InvalidDocument as fault:
        with path.open("rb") as reader:
            content = digest_bytes(reader.read(MAX_BYTES + 1))
        refuse_ticket(hall.services, path.stem, content, fault)
        raise
    return Taken(
        ticket, workflow, open_run(hall.services, workflow, ticket, pictures, anew=anew, again=again)
    )


def look(hall: Hall, cursor: str | None) -> Tick:
    """One look at the inbox: what changed since ``cursor``, at most ``AT_MOST`` runs."""
    seen = _read_cursor(cursor)
    tick, now = Tick(), {}
    authority = hall.services.store.head()[0]
    for path in sorted(hall.home.inbox.glob("*.json")):
        signature = _signature(path)
        if seen.get(path.name) in {signature, f"{signature}@{authority}"} or len(tick.taken) >= AT_MOST:
            if path.name in seen:
                now[path.name] = seen[path.name]
            continue
        now[path.name] = signature
        try:
            _require_file(path)
            tick.taken.append(take(hall, path))
        except FileNotFoundError:
            del now[path.name]
        except FabricError as fault:
            tick.turned.append(Turned(path.name, fault.faults))
            if isinstance(fault, Refused | NeedsPerson | OperationFailed):
                # Nothing is wrong with the ticket: it is looked at again when something changes here.
                now[path.name] = f"{signature}@{hall.services.store.head()[0]}"
        except OSError as fault:
            why = f"the ticket cannot be read: {fault.strerror or fault}"
            mend = "give the runtime the right to read it"
            tick.turned.append(Turned(path.name, (Fault("ticket.unreadable", why, path.name, mend),)))
    tick.cursor = json.dumps(now, sort_keys=True)
    return tick


def _read_cursor(cursor: str | None) -> Mapping[str, str]:
    """The cursor that a tick left; anything else (people can set it) means: look at everything."""
    try:
        seen = json.loads(cursor or "{}")
    except ValueError:
        return {}
    return seen if isinstance(seen, dict) else {}


def _require_file(path: Path) -> None:
    """In the inbox, a link could name any file, and a pipe would never end."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise InvalidDocument(
            "ticket.file_irregular",
            "a ticket must be a regular file",
            where=path.name,
            mend="copy the issue itself into the inbox",
        )


def _signature(path: Path) -> str:
    """What a look costs when nothing changed: names, sizes and times of the ticket and its attachments."""
    stats = []
    folder = path.with_suffix("")
    for item in (path, *(sorted(folder.iterdir()) if folder.is_dir() else ())):
        try:
            found = item.lstat()
        except OSError:
            continue
        stats.append([item.name.encode("unicode_escape").decode(), str(found.st_mtime_ns), found.st_size])
    return digest_of("fabric.inbox-entry.v1", stats)
