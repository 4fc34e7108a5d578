"""What waits on the spine for somebody to go on with it, and how Dagster is asked for that.

Rules kept here:

* An event asks once: while a Dagster run of its supervisor run lives nothing is asked for, and nothing is
  forgotten; the cursor stays before the first event that still waits.
* Only what the supervisor lets run now is asked for, and each step checks that again.
* Whatever Dagster run it is, its tags lead to the one supervisor run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import dagster as dg

from assets.names import GRAPH_TAG, PROJECT_TAG, RUN_TAG, TICKET_TAG, node_key
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.approvals import wanted
from sensors.inbox import AT_MOST

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from fabric_dagster.spine.ports import Event
    from fabric_dagster.supervisor.records import RunRecord
    from resources.supervision.assembly import Hall

EVERY_SECONDS = 15
GOES_ON = frozenset({"running", "awaiting_approval"})


@dataclass
class Waiting:
    """What one look at the spine found: runs to go on with, each with the event that asks for it."""

    found: list[tuple[RunRecord, Event]] = field(default_factory=list)
    #: the position up to which nothing waits any more.
    cursor: int = 0


def waiting(
    context: dg.SensorEvaluationContext,
    hall: Hall,
    types: Sequence[str],
    due: Callable[[RunRecord, Event], bool],
) -> Waiting:
    """The runs that events of ``types`` after the sensor's cursor ask to go on with, and are still ``due``.

    A cursor that people set to anything else means: look at everything.
    """
    cursor = context.cursor or ""
    seen = Waiting(cursor=int(cursor) if cursor.isdecimal() else 0)
    later = False
    for event in hall.services.store.read(after=seen.cursor, types=types):
        run = _sound(context, hall, event)
        if run is not None and run.state in GOES_ON and due(run, event):
            if lives(context.instance, run) or len(seen.found) >= AT_MOST:
                later = True
                continue
            seen.found.append((run, event))
        if not later:
            seen.cursor = event.position
    return seen


def _sound(context: dg.SensorEvaluationContext, hall: Hall, event: Event) -> RunRecord | None:
    """The run that ``event`` is of; ``None`` where its stream is unsound, which holds up no other run."""
    try:
        return hall.services.reload(event.stream.removeprefix("run:"))
    except FabricError as fault:
        context.log.warning("%s is passed over: %s", event.stream, fault)
        return None


def lives(instance: dg.DagsterInstance, run: RunRecord) -> bool:
    """Whether a Dagster run of ``run`` waits or goes on."""
    return any(not item.is_finished for item in instance.get_runs(dg.RunsFilter(tags={RUN_TAG: run.run})))


def selection(run: RunRecord, hall: Hall, among: Container[str] | None = None) -> list[dg.AssetKey]:
    """The assets that a Dagster run of ``run`` is to be asked for now; ``Refused`` where none may run.

    ``among`` are the partitions that are meant; ``None``: all.
    """
    workflow = hall.workflow(run.reference)
    compiled = workflow.compiled
    parts = wanted(compiled, run, hall.services.trust, hall.authorize(workflow))
    meant = (part for part in parts if among is None or part in among)
    return [node_key(compiled, node) for part in meant for node in compiled.partition(part).nodes]


def request(run: RunRecord, hall: Hall, run_key: str, keys: list[dg.AssetKey]) -> dg.RunRequest:
    """The request of a Dagster run of ``keys`` for ``run``; Dagster makes one for ``run_key``, ever."""
    return dg.RunRequest(
        run_key=run_key, partition_key=run.key, asset_selection=keys, tags=tags_of(run, hall)
    )


def tags_of(run: RunRecord, hall: Hall) -> dict[str, str]:
    """The tags that lead from a Dagster run to the supervisor run."""
    project = hall.home.id[7:23]
    return {RUN_TAG: run.run, TICKET_TAG: run.key, GRAPH_TAG: run.body["graph"], PROJECT_TAG: project}
