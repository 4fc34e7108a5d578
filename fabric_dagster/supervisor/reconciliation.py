"""Ends unknown completion: an identified validator looks at what is there, and only that decides.

Rules kept here:

* Nothing here calls a mutation. A half-applied transaction is brought back to ``before`` from its journal;
  that restores, it never goes on.
* The observation is signed by the observer's own key, which is not the runtime's: by default the validator's
  program, which looks by itself and signs nothing that it does not see.
* ``after`` adopts the task's intended result, ``before`` dismisses the attempt; anything else stays
  unresolved until a person says what holds (``observed``). Bytes that speak for themselves outweigh that.
* A person's account ends the interrupted journal, which could be followed no more; it touches no file.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import NeedsPerson, Refused, UsageFault
from fabric_dagster.governance.roles import require
from fabric_dagster.supervisor.compensation import application, require_reconciliation
from fabric_dagster.supervisor.machine import IN_FLIGHT
from fabric_dagster.supervisor.services import Step
from fabric_dagster.validators.observing import DECISIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabric_dagster.spine.ports import Signer
    from fabric_dagster.supervisor.records import RunRecord, TaskRecord
    from fabric_dagster.supervisor.services import Services


def reconcile(
    services: Services, run_id: str, observer: Signer | None = None, observed: dict[str, Any] | None = None
) -> RunRecord:
    """Record what was seen of the run's unknown completion, and decide.

    Without an ``observer`` the validator's own program looks, and signs only what it finds itself. A person
    (an operator) can look instead, with ``observed`` an account for a target whose bytes are neither what
    stood before nor what was written: ``{"standing": "before"|"after", "note": TEXT}``.
    """
    if observer is not None:
        _independent(services, observer)
    with services.alone(run_id):
        run = services.reload(run_id)
        task = _unknown(services, run)
        with services.at_project(application(task)):
            standing, account = _look(services, run, task, observed)
            if (standing, task.compensating) not in DECISIONS:
                raise NeedsPerson(
                    "run.reconciliation_required",
                    f"what is there is neither what stood before nor what was written ({standing})",
                    where=run.key,
                    mend="look at it, then use `fabric reconcile RUN --as operator --observed FILE`, "
                    'with {"standing": "before" or "after", "note": …} in FILE',
                )
            signer = observer or services.judge.observer(Path(account["root"]))
            _independent(services, signer)
            body = {
                "task": task.digest,
                "transaction": task.transaction,
                "standing": standing,
                "decision": DECISIONS[standing, task.compensating],
                "observer": signer.identity,
                "account": account,
            }
            services.append_all(run, Step("reconciliation.observed", body), signer=signer)
        return run


def _independent(services: Services, observer: Signer) -> None:
    if services.runtime.identity in {observer.identity, services.trust.identity_of(observer.keyid)}:
        raise Refused(
            "authority.not_independent",
            "the runtime cannot reconcile its own work",
            mend="use `--as validator`",
        )
    require(services.trust, observer, "run.reconcile")


def waiting(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """The runs among ``runs`` whose completion is unknown."""
    return [run for run in runs if any(task.state in IN_FLIGHT for task in run.tasks)]


def _unknown(services: Services, run: RunRecord) -> TaskRecord:
    """The task whose completion is unknown. We hold the run, so nobody is in the middle of a commit."""
    task = next((item for item in run.tasks if item.state in IN_FLIGHT), None)
    if task is None:
        raise UsageFault(
            "run.nothing_to_reconcile",
            f"the run is {run.state}; nothing waits for reconciliation",
            where=run.key,
        )
    if task.state == "committing":
        with suppress(NeedsPerson):
            require_reconciliation(services, run, task)
    return task


def _look(
    services: Services, run: RunRecord, task: TaskRecord, observed: dict[str, Any] | None
) -> tuple[str, dict[str, Any]]:
    """What stands there, after its journal brought it to one side or the other where it could."""
    provider = services.provider(application(task), run.run, run.key)
    transaction = task.transaction or ""
    found = provider.standing(transaction, task.changes)
    if found != "foreign":
        # Also where all is as before or after: a journal that was interrupted there blocks the next commit.
        provider.recover(transaction)
        found = provider.standing(transaction, task.changes)
    account: dict[str, Any] = {
        "found": found,
        "root": str(provider.root),
        "compensating": task.compensating,
        "files": [change.as_dict() for change in task.changes],
    }
    if observed is None or found in {"before", "after"}:
        return found, account
    if (
        not isinstance(observed, dict)
        or observed.keys() != {"standing", "note"}
        or observed["standing"] not in {"before", "after"}
        or not isinstance(observed["note"], str)
    ):
        raise UsageFault(
            "reconcile.observed",
            "the account must hold exactly `standing` (before or after) and `note`",
            mend='for example {"standing": "before", "note": "restored from version control"}',
        )
    account["note"] = observed["note"]
    provider.abandon(transaction)
    return str(observed["standing"]), account
