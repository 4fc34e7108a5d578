"""Takes back what a side wrote, and stops where the end of an effect is unknown.

Rules kept here:

* Beginning and end of a compensation are events; one that is refused or interrupted is unknown completion,
  like a commit is: durable, and never gone on with before somebody looked.
* Only a registered capability takes back, and only where the bytes are still ours. What an application
  cannot take back (a delivery in a run's own folder) stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.opening import reconcile_first
from fabric_dagster.supervisor.services import Step
from fabric_dagster.supervisor.shield import uninterrupted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fabric_dagster.supervisor.records import RunRecord, TaskRecord
    from fabric_dagster.supervisor.services import Services


def application(task: TaskRecord) -> str:
    """The application whose specialist was given ``task``."""
    return task.task.specialist.partition("/")[0]


def _capability(task: TaskRecord) -> str:
    return f"{application(task)}.undo_transaction@1"


def take_back(
    services: Services,
    run: RunRecord,
    task: TaskRecord,
    before: Sequence[Step] = (),
    after: Sequence[Step] = (),
) -> None:
    """Undo what ``task`` wrote; ``before`` is appended with its beginning, ``after`` with its end.

    Where there is nothing to undo, or no capability for it, both are appended at once. ``NeedsPerson`` where
    the undo is refused.
    """
    capability = _capability(task)
    if capability not in capabilities() or task.transaction is None or not task.changes:
        if before or after:
            services.append_all(run, *before, *after)
        return
    begun = {"task": task.digest, "capability": capability, "transaction": task.transaction}
    with services.at_project(application(task)), uninterrupted():
        services.append_all(run, *before, Step("compensation.begun", begun))
        provider = services.provider(application(task), run.run, run.key)
        try:
            provider.undo(task.transaction)
        except FabricError as fault:
            require_reconciliation(services, run, task, fault)
        done = {"task": task.digest, "standing": provider.standing(task.transaction, task.changes)}
        services.append_all(run, Step("compensation.done", done), *after)


def undoable(run: RunRecord, partitions: Iterable[str]) -> list[TaskRecord]:
    """What stands of ``partitions`` and a registered capability can take back, newest first."""
    tasks = [task for task in map(run.task, partitions) if task is not None and task.state == "succeeded"]
    known = [task for task in tasks if task.changes and _capability(task) in capabilities()]
    return sorted(known, key=lambda task: task.issued.version, reverse=True)


def take_back_all(
    services: Services,
    run: RunRecord,
    tasks: Sequence[TaskRecord],
    before: Sequence[Step],
    after: Sequence[Step],
) -> None:
    """Take back each of ``tasks``: ``before`` is appended with the first, ``after`` with the last."""
    if not tasks:
        services.append_all(run, *before, *after)
    for place, task in enumerate(tasks, start=1):
        take_back(services, run, task, before if place == 1 else (), after if place == len(tasks) else ())


def require_reconciliation(
    services: Services, run: RunRecord, task: TaskRecord, cause: FabricError | None = None
) -> NoReturn:
    """Record unknown completion, durably, and stop; ``cause`` is what made it unknown."""
    body = {
        "task": task.digest,
        "transaction": task.transaction,
        "why": f"the commit of {task.task.partition} was begun and has no result",
    }
    services.append(run, "reconciliation.required", body, f"reconcile:{task.digest}:{len(run.events)}")
    raise reconcile_first(run) from cause
