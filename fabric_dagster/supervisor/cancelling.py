"""Cancellation: a person asks for a run's end, and it comes at the next safe point.

Rules kept here:

* The request is a signed event by somebody who may cancel; one that nobody lawful signed counts as not there.
* Never inside a commit: a begun commit ends first, and where its end is unknown somebody looks first.
* A cancelled run leaves nothing unjudged behind: what its sides wrote is taken back where the bytes are still
  ours. Taking back is an effect, so a stop of effects holds that, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import UsageFault
from fabric_dagster.governance.roles import lawful, require
from fabric_dagster.supervisor.compensation import require_reconciliation, take_back_all, undoable
from fabric_dagster.supervisor.machine import ENDED
from fabric_dagster.supervisor.opening import reconcile_first
from fabric_dagster.supervisor.services import Step, ended
from fabric_dagster.supervisor.stages import tidy
from fabric_dagster.supervisor.stops import refuse_stopped

if TYPE_CHECKING:
    from fabric_dagster.spine.ports import Signer
    from fabric_dagster.supervisor.records import CancelRecord, RunRecord
    from fabric_dagster.supervisor.services import Services


def request_cancel(services: Services, run_id: str, signer: Signer, why: str) -> RunRecord:
    """Record that ``signer`` wants the run to end. Waits for nobody; asked twice it is asked once.

    ``Refused`` (``authority.denied``) unless ``signer`` may; ``UsageFault`` (``run.over``) for an ended run.
    """
    require(services.trust, signer, "run.cancel")
    run = services.reload(run_id)
    if run.state in ENDED:
        raise UsageFault(
            "run.over",
            f"the run is {run.state}: there is nothing to cancel",
            where=run.key,
            mend=f"see `fabric show {run.run[7:19]}`",
        )
    if wanted(services, run) is None:
        services.append_all(run, Step("cancel.requested", {"why": why}), signer=signer)
    return run


def wanted(services: Services, run: RunRecord) -> CancelRecord | None:
    """The cancellation that somebody lawfully asked for and that has not been followed yet."""
    if run.state in ENDED:
        return None
    return next((item for item in run.cancels if lawful(item.event, services.trust)), None)


def refuse_cancelled(services: Services, run: RunRecord) -> None:
    """The safe point between steps: follow a cancellation that was asked for, then ``Refused``.

    The caller holds the run, and no commit of its own is begun.
    """
    if wanted(services, run) is not None:
        follow(services, run)
        raise ended(run)


def follow(services: Services, run: RunRecord) -> None:
    """End the run as it was asked for; the run is held, so nobody is in the middle of anything.

    ``NeedsPerson`` where a commit's end is unknown; ``Refused`` where effects are stopped and something would
    have to be taken back.
    """
    asked = wanted(services, run)
    if asked is None:
        return
    if run.state == "reconciliation_required":
        raise reconcile_first(run)
    for task in run.tasks:
        if task.state == "committing":
            require_reconciliation(services, run, task)
    written = [task for task in undoable(run, {item.task.partition for item in run.tasks}) if not task.kept]
    if written:
        refuse_stopped(services.store, services.trust, run.key)
    why = "the run was cancelled before the commit"
    open_ = [task for task in run.tasks if task.state == "issued"]
    abandoned = [
        Step("task.abandoned", {"task": task.digest, "why": why}, f"abandon:{task.digest}") for task in open_
    ]
    stays = [
        task.task.partition
        for task in run.tasks
        if task.state == "succeeded" and task.changes and task not in written
    ]
    body = {"by": asked.event.actor, "why": asked.why, "stays": stays}
    end = Step("run.cancelled", body, "cancelled")
    take_back_all(services, run, written, (), (*abandoned, end))
    tidy(services, run)
