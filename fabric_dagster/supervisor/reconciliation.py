"""Ends unknown completion: an identified validator looks at what is there, and only that decides.

Rules kept here:

* Nothing here calls a mutation. A half-applied transaction is brought back to ``before`` from its journal;
  that restores, it never goes on.
* The observation is signed by the observer's own key, which is not the runtime's.
* ``after`` adopts the task's intended result, ``before`` dismisses the attempt; anything else stays
  unresolved until a person says what holds (``observed``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fabric_dagster.errors import NeedsPerson, Refused, UsageFault
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.projection import stream_of

if TYPE_CHECKING:
    from fabric_dagster.spine.ports import Signer
    from fabric_dagster.supervisor.projection import RunRecord, TaskRecord
    from fabric_dagster.supervisor.services import Services

Decision = Literal["adopted", "dismissed", "compensated"]

#: (what stands there, was it a compensation?) → what follows.
DECISIONS: dict[tuple[str, bool], Decision] = {
    ("after", False): "adopted",
    ("before", False): "dismissed",
    ("after", True): "adopted",
    ("before", True): "compensated",
}


def reconcile(
    services: Services, run_id: str, observer: Signer, observed: dict[str, Any] | None = None
) -> RunRecord:
    """Record what ``observer`` saw of the run's unknown completion and decide.

    ``observed`` is a person's account (``{"standing": "before"|"after", "note": TEXT}``) for a target whose
    bytes are neither; without it the journal and the bytes are looked at.
    """
    if observer.identity == services.runtime.identity:
        raise Refused(
            "authority.not_independent",
            "the runtime cannot reconcile its own work",
            mend="use `--as validator`",
        )
    with services.hold(f"run-{run_id[7:23]}"):
        run = services.reload(run_id)
        task = _unknown(run)
        standing, account = _look(services, run, task, observed)
        if (standing, task.compensating) not in DECISIONS:
            raise NeedsPerson(
                "run.reconciliation_required",
                f"what is there is neither what stood before nor what was written ({standing})",
                where=run.key,
                mend='look at it, then give --observed FILE: {"standing": "before" or "after", "note": …}',
            )
        body = {
            "task": task.digest,
            "transaction": task.transaction,
            "standing": standing,
            "decision": DECISIONS[standing, task.compensating],
            "observer": observer.identity,
            "account": account,
        }
        event = NewEvent(
            stream_of(run.run), "reconciliation.observed", body, f"{run.run}:seen:{len(run.events)}"
        )
        services.store.append([event], signer=observer)
        return services.reload(run)


def _unknown(run: RunRecord) -> TaskRecord:
    task = next((item for item in run.tasks if item.state == "reconciliation_required"), None)
    if run.state != "reconciliation_required" or task is None:
        raise UsageFault(
            "run.nothing_to_reconcile",
            f"the run is {run.state}; nothing waits for reconciliation",
            where=run.key,
        )
    return task


def _look(
    services: Services, run: RunRecord, task: TaskRecord, observed: dict[str, Any] | None
) -> tuple[str, dict[str, Any]]:
    provider = services.provider(task.task.specialist.partition("/")[0], run.run, run.key)
    found = provider.standing(task.transaction or "", task.changes)
    if found == "partial":
        found = provider.recover(task.transaction or "")
    account: dict[str, Any] = {"found": found, "files": [change.as_dict() for change in task.changes]}
    if observed is not None and found not in {"before", "after"}:
        if observed.keys() != {"standing", "note"} or observed["standing"] not in {"before", "after"}:
            raise UsageFault(
                "reconcile.observed",
                "the account must hold exactly `standing` (before or after) and `note`",
                mend='for example {"standing": "before", "note": "restored from version control"}',
            )
        account["note"] = str(observed["note"])
        return str(observed["standing"]), account
    return found, account
