"""Everything that the supervisor works with, handed in: ports, the workflow, and the runtime's key.

The supervisor is handed no validator key: verdicts come signed from the validator's own program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.projection import load_run, stream_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from fabric_dagster.artifacts.ports import ArtifactStore
    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.evidence import BlindEvidence
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import Event, EventStore, Signer
    from fabric_dagster.supervisor.ports import Provider
    from fabric_dagster.supervisor.projection import RunRecord
    from fabric_dagster.supervisor.workflows import Workflow


class Judge(Protocol):
    """The independent validator's program, as seen from here."""

    def judge(self, evidence: BlindEvidence, out: Path) -> Mapping[str, Any]:
        """A DSSE envelope around a signed verdict on ``evidence``; pictures go to ``out``."""
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
    #: an inter-process lock by name, released by the system when its holder dies.
    hold: Callable[[str], AbstractContextManager[None]]
    project: Path
    templates: Path
    stages: Path
    #: told of every event that a run appends, for progress.
    tell: Callable[[str, Mapping[str, Any]], None] = lambda _kind, _body: None

    def append(self, run: RunRecord, kind: str, body: Mapping[str, Any], key: str | None = None) -> Event:
        """Append one event to a run's stream, signed by the runtime. ``key`` makes it idempotent."""
        event = NewEvent(stream_of(run.run), kind, body, f"{run.run}:{key}" if key else None)
        appended = self.store.append([event], signer=self.runtime)[0]
        self.tell(kind, body)
        return appended

    def reload(self, run: RunRecord | str) -> RunRecord:
        """The run as the spine has it now."""
        return load_run(self.store, run if isinstance(run, str) else run.run)
