"""Reads the inbox: which tickets are new, what each says, and what a tick should ask for.

Plain Python; ``intake.py`` makes a Dagster sensor of it, and ``fabric run`` takes one ticket through the
very same function.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabric_dagster.digests import digest_bytes, digest_of
from fabric_dagster.errors import FabricError, Fault, InvalidDocument, Refused
from fabric_dagster.supervisor.opening import Opened, open_run, refuse_ticket
from fabric_dagster.tickets.files import TicketFiles
from fabric_dagster.tickets.issue import read_issue
from fabric_dagster.tickets.parse import named_graph, parse_ticket

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fabric_dagster.contracts.ticket import Ticket
    from fabric_dagster.supervisor.workflows import Workflow
    from resources.supervision.assembly import Hall

#: A sensor asks for at most this many runs a tick.
AT_MOST = 50
MAX_BYTES = 4 << 20

#: After one of these, tickets that authority had refused are looked at again.
GOVERNANCE = ("graph.certified", "graph.commissioned", "graph.revoked")


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
    #: refused by authority: it is looked at again when something changes there.
    by_authority: bool


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
    workflow = hall.workflow(reference or named_graph(issue))
    files = TicketFiles(attachments=path.parent / issue.key, roots=hall.home.inputs)
    served = hall.served
    ticket = parse_ticket(issue, workflow.compiled.graph, workflow.pack.pack, files, served)
    pictures = {name: files.resolve(ticket.inputs[name]) for name in ticket.files}
    return ticket, workflow, pictures


def take(hall: Hall, path: Path, reference: str | None = None) -> Taken:
    """Take one ticket in: its run is open on the spine afterwards. Refusals are events, then raised."""
    try:
        ticket, workflow, pictures = read_ticket(hall, path, reference)
    except InvalidDocument as fault:
        with path.open("rb") as reader:
            content = digest_bytes(reader.read(MAX_BYTES + 1))
        refuse_ticket(hall.services, path.stem, content, fault)
        raise
    return Taken(ticket, workflow, open_run(hall.services, workflow, ticket, pictures))


def look(hall: Hall, cursor: str | None) -> Tick:
    """One look at the inbox: what changed since ``cursor``, at most ``AT_MOST`` runs."""
    seen: Mapping[str, str] = json.loads(cursor) if cursor else {}
    tick, now = Tick(), {}
    authority = _authority(hall)
    for path in sorted(hall.home.inbox.glob("*.json")):
        signature = _signature(path)
        if seen.get(path.name) in {signature, f"{signature}@{authority}"} or len(tick.taken) >= AT_MOST:
            if path.name in seen:
                now[path.name] = seen[path.name]
            continue
        now[path.name] = signature
        try:
            taken = take(hall, path)
            if taken.opened.run.state != "completed":
                tick.taken.append(taken)
        except FabricError as fault:
            refused = isinstance(fault, Refused)
            tick.turned.append(Turned(path.name, fault.faults, refused))
            if refused:
                now[path.name] = f"{signature}@{authority}"
        except FileNotFoundError:
            del now[path.name]
    tick.cursor = json.dumps(now, sort_keys=True)
    return tick


def _authority(hall: Hall) -> int:
    """The position of the newest act of governance: what authority refused may be let in after the next."""
    acts = hall.services.store.read(types=GOVERNANCE)
    return max((event.position for event in acts), default=0)


def _signature(path: Path) -> str:
    """What a look costs when nothing changed: names, sizes and times of the ticket and its attachments."""
    stats = []
    folder = path.with_suffix("")
    for item in (path, *(sorted(folder.iterdir()) if folder.is_dir() else ())):
        try:
            found = item.stat()
        except OSError:
            continue
        stats.append([item.name.encode("unicode_escape").decode(), str(found.st_mtime_ns), found.st_size])
    return digest_of("fabric.inbox-entry.v1", stats)
