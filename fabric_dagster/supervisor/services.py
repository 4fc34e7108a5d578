"""Everything that the supervisor works with, handed in: ports, the workflow, and the runtime's key.

Rules kept here:

* The supervisor is handed no validator key: verdicts come signed from the validator's own program.
* An event reaches a run's stream only where the tables allow it *now*: it is foreseen on a copy of the
  record and appended at exactly the version that the record projects. Whoever was faster is read first.
* What a step appends together is appended all or not at all.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from fabric_dagster.contracts.specialist import Budget
from fabric_dagster.errors import CheckFailed, Conflict, OperationFailed, Refused
from fabric_dagster.spine.ports import Event, NewEvent
from fabric_dagster.supervisor.machine import ENDED, WHOLE_RUN
from fabric_dagster.supervisor.ports import PROJECT
from fabric_dagster.supervisor.projection import advance, load_run, stream_of
from fabric_dagster.supervisor.stops import refuse_stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from fabric_dagster.artifacts.ports import ArtifactStore
    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.evidence import BlindEvidence
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import EventStore, Signer
    from fabric_dagster.supervisor.ports import Provider
    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.workflows import Workflow


#: How often an append is tried again because somebody else appended first.
RACES = 20


@dataclass(frozen=True)
class Step:
    """One event to append to a run; ``key`` makes it idempotent within the run."""

    kind: str
    body: Mapping[str, Any]
    key: str | None = None


class Judge(Protocol):
    """The independent validator's program, as seen from here."""

    def judge(self, evidence: BlindEvidence, out: Path) -> Mapping[str, Any]:
        """A DSSE envelope around a signed verdict on ``evidence``; pictures go to ``out``."""
        ...

    def observer(self, root: Path) -> Signer:
        """The validator as a signer of what stands under ``root``: it looks by itself before it signs."""
        ...


class Hold(Protocol):
    """An inter-process lock by name, released by the system when its holder dies."""

    def __call__(
        self, name: str, look: Callable[[], None] = ..., patience: float | None = None
    ) -> AbstractContextManager[None]:
        """Hold ``name``. Whoever waits calls ``look`` from time to time, which raises to wait no more.

        ``OperationFailed`` (``supervisor.busy``) after ``patience`` seconds; the default is the port's own.
        """
        ...


@dataclass(frozen=True)
class Services:
    """The supervisor's surroundings. One instance serves one workspace."""

    store: EventStore
    artifacts: ArtifactStore
    trust: TrustRoot
    runtime: Signer
    judge: Judge
    #: (application, run digest, partition key) → the provider instance that serves it.
    provider: Callable[[str, str, str], Provider]
    #: the live commission for exactly this workflow, or ``Refused``.
    authorize: Callable[[Workflow], Commission]
    #: ``{posix path: sha256}`` of the project as it is now.
    manifest: Callable[[], Mapping[str, str]]
    hold: Hold
    project: Path
    templates: Path
    stages: Path
    #: the limits of every task.
    budget: Budget = field(default_factory=Budget)
    #: told of every event that a run appends, for progress.
    tell: Callable[[str, Mapping[str, Any]], None] = lambda _kind, _body: None

    def append(self, run: RunRecord, kind: str, body: Mapping[str, Any], key: str | None = None) -> Event:
        """Append one event to a run's stream, signed by the runtime; ``run`` moves on with it."""
        return self.append_all(run, Step(kind, body, key))[0]

    def append_all(self, run: RunRecord, *steps: Step, signer: Signer | None = None) -> list[Event]:
        """Append ``steps`` to a run's stream, all or none; ``run`` moves on with them.

        ``Refused`` (``run.ended``) where the run has ended meanwhile, ``CheckFailed`` where no table lists
        the step.
        """
        stream, who = stream_of(run.run), signer or self.runtime
        new = [
            NewEvent(stream, item.kind, item.body, f"{run.run}:{item.key}" if item.key else None)
            for item in steps
        ]
        for _ in range(RACES):
            _foresee(run, new)
            try:
                stored = self.store.append(new, signer=who, expected={stream: run.version})
            except Conflict as fault:
                if fault.code != "spine.conflict":
                    raise
                for event in self.store.read(stream, after=run.events[-1].position):
                    advance(run, event)
                continue
            for event in stored:
                if event.position > run.events[-1].position:
                    advance(run, event)
                    self.tell(event.type, event.body)
            return stored
        raise Conflict("run.contended", "other processes keep changing the run", where=run.key)

    @contextlib.contextmanager
    def alone(self, run: str, patience: float | None = None) -> Iterator[None]:
        """Be the only process that works on ``run``; what the disk refuses is said as a typed failure.

        The lock's name is one of 256, so that locks do not pile up with runs. Nobody is left waiting while
        effects are stopped: ``Refused`` (``authority.stopped``).
        """
        with disk_told(), self.hold(f"run-{run[7:9]}", self.unstopped, patience):
            yield

    @contextlib.contextmanager
    def at_project(self, application: str) -> Iterator[None]:
        """Be the only one at the project, for an application that works on its tree."""
        if application != PROJECT:
            yield
            return
        with self.hold("project", self.unstopped):
            yield

    def unstopped(self) -> None:
        """``Refused`` (``authority.stopped``) while effects are stopped."""
        refuse_stopped(self.store, self.trust)

    def reload(self, run: RunRecord | str) -> RunRecord:
        """The run as the spine has it now."""
        return load_run(self.store, run if isinstance(run, str) else run.run, self.trust)


def _foresee(run: RunRecord, new: list[NewEvent]) -> None:
    """Refuse what the tables do not allow now. An event whose key was used is there already."""
    used = {event.idempotency_key for event in run.events} - {None}
    ahead = run.twin()
    for item in new:
        if item.idempotency_key in used:
            continue
        if run.state in ENDED and item.type in MOVES_ON:
            raise ended(run)
        if item.type == "run.completed":
            _require_verdict(ahead)
        advance(ahead, Event(0, item.stream, 0, item.type, item.body, "", "", "", "", "", "", ""))


def _require_verdict(run: RunRecord) -> None:
    """No run completes but on a passed verdict on the whole of it, by the validator's own task."""
    task, verdict = run.judging(), run.verdict(WHOLE_RUN)
    if task is None or task.state != "succeeded" or verdict is None or not verdict.passed:
        raise CheckFailed(
            "fabric.verdict_missing",
            "there is no passed verdict on the whole run",
            where=run.key,
            mend="let the independent validator judge it",
        )


ENDED_CODE = "run.ended"

#: What a step does to a run that is going on; once it has ended, that is no broken history but a refusal.
MOVES_ON = frozenset(
    {
        "decision.made",
        "task.issued",
        "task.abandoned",
        "task.result",
        "commit.begun",
        "compensation.begun",
        "approval.requested",
        "cancel.requested",
        "run.cancelled",
        "handoff.sealed",
        "verdict.recorded",
        "recovery.followed",
        "run.completed",
        "run.failed",
    }
)


def ended(run: RunRecord) -> Refused:
    """That nothing more happens in this run."""
    return Refused(
        ENDED_CODE, f"the run is {run.state}", where=run.key, mend=f"see `fabric show {run.run[7:19]}`"
    )


@contextlib.contextmanager
def disk_told() -> Iterator[None]:
    """Say what the disk refused as a typed failure."""
    try:
        yield
    except OSError as fault:
        raise OperationFailed(
            "supervisor.disk",
            f"the disk refused: {fault.strerror or fault}",
            where=str(fault.filename or ""),
            mend="free space or mend permissions, then run it again",
        ) from fault
