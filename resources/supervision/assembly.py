"""A home's ``Services``, once a process, so that worker processes stay warm from step to step."""

from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from fabric_dagster.digests import digest_file
from fabric_dagster.errors import InvalidDocument, OperationFailed
from fabric_dagster.governance.authority import authorize_execution
from fabric_dagster.supervisor.services import Services
from fabric_dagster.supervisor.workflows import Workflow, load_workflows
from resources.home import Home
from resources.supervision.scoping import project_identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.qualification import Bindings
    from fabric_dagster.supervisor.ports import Provider
    from resources.ledger.store import SqlEventStore
    from resources.validator.client import ValidatorClient

#: How long a step waits for another process on the same run or project, in seconds.
PATIENCE = 300
#: How often whoever waits looks whether that is still of use.
LOOK = 0.5

APPLICATIONS = ("photoshop", "unity")

#: Stands for a run where only what a provider is, is asked.
NO_RUN = "sha256:" + "0" * 64


class Hall:
    """The opened home of one process."""

    def __init__(self, home: Home) -> None:
        self.home = home.require()
        #: told of every event of a run; `fabric run` shows progress with it.
        self.tell: Callable[[str, Mapping[str, Any]], None] = lambda _kind, _body: None

    @cached_property
    def workflows(self) -> dict[str, Workflow]:
        """Every workflow, by reference."""
        return load_workflows(self.home.packs)

    def workflow(self, reference: str) -> Workflow:
        """The workflow ``Name@MAJOR``."""
        try:
            return self.workflows[reference]
        except KeyError:
            raise InvalidDocument(
                "graph.unknown",
                f"no pack holds the graph {reference!r}",
                mend=f"use one of: {', '.join(self.workflows) or 'none'}",
            ) from None

    @cached_property
    def validator(self) -> ValidatorClient:
        """The validator's program, started warm."""
        from resources.validator.client import ValidatorClient

        client = ValidatorClient(self.home.validator)
        client.start()
        return client

    @cached_property
    def services(self) -> Services:
        """The supervisor's surroundings."""
        home = self.home
        store = home.open_ledger()
        return Services(
            store=store,
            artifacts=home.open_artifacts(),
            trust=store.trust,
            runtime=home.signer("runtime"),
            judge=self.validator,
            provider=self.provider,
            authorize=self.authorize,
            manifest=self._manifest,
            hold=self.hold,
            project=home.project,
            templates=home.templates,
            stages=home.stages,
            budget=home.config.budget,
            tell=self._told,
        )

    def _told(self, kind: str, body: Mapping[str, Any]) -> None:
        """``tell`` may be set after the services were made."""
        self.tell(kind, body)

    def provider(self, application: str, run: str, key: str) -> Provider:
        """The embedded provider of ``application``; Photoshop delivers into a folder of the run's own."""
        if application == "photoshop":
            # Journals of a run's own: one that waits for reconciliation blocks no other run's delivery.
            places = self.home.deliveries / key / run[7:19], self.home.transactions / "photoshop" / run[7:23]
            if self.home.config.photoshop == "uxp":
                from resources.photoshop.uxp.provider import UxpPhotoshop
                from resources.photoshop.uxp.shared import FOLDER, shared_bridge

                return UxpPhotoshop(*places, shared_bridge(self.home.path / FOLDER))
            from resources.photoshop.provider import HeadlessPhotoshop

            return HeadlessPhotoshop(*places, fonts=(self.home.fonts,))
        if self.home.config.unity == "live":
            from resources.unity.live.configured import live_unity

            return live_unity(self.home)
        from resources.unity.provider import HeadlessUnity

        return HeadlessUnity(self.home.project, self.home.transactions / "unity")

    def _manifest(self) -> dict[str, str]:
        from resources.unity.manifest import tree_manifest

        return dict(tree_manifest(self.home.project))

    def authorize(self, workflow: Workflow, store: SqlEventStore | None = None) -> Commission:
        """The live commission for exactly this workflow in this home, read from the spine (``store``)."""
        return authorize_execution(
            self.services.store if store is None else store,
            trust=self.services.trust if store is None else store.trust,
            reference=workflow.compiled.reference,
            graph_digest=workflow.compiled.digest,
            pack_digest=workflow.pack.digest,
            workspace=self.home.workspace,
            home_id=self.home.id,
            now=datetime.now(UTC),
            effects=workflow.compiled.graph.effects,
            providers=self.provider_versions(workflow),
            sops={name: item.digest for name, item in workflow.pack.pack.citations.items()},
            templates=self.template_digests(workflow),
            bindings=self.bindings(workflow),
            project=self.project_id,
        )

    def bindings(self, workflow: Workflow) -> Bindings:
        """What the graph stands on as it is here now: validators, capabilities, compatibility, recovery."""
        from fabric_dagster.validators.bindings import bindings_of

        return bindings_of(workflow.compiled)

    @cached_property
    def served(self) -> frozenset[str]:
        """Every capability that this home's providers serve."""
        return frozenset().union(*(self.provider(name, NO_RUN, "none").serves for name in APPLICATIONS))

    @cached_property
    def project_id(self) -> str:
        """The identity of the project's root: where it lies. A copy elsewhere is another project."""
        return project_identity(self.home.project)

    def provider_versions(self, workflow: Workflow) -> dict[str, str]:
        """Application → ``provider/version`` that serves ``workflow`` here."""
        applications = {part.application for part in workflow.compiled.partitions} - {"fabric"}
        found = {name: self.provider(name, NO_RUN, "none") for name in sorted(applications)}
        return {name: f"{item.name}/{item.version}" for name, item in found.items()}

    def template_digests(self, workflow: Workflow) -> dict[str, str]:
        """File name → digest of the pack's templates as they lie there now; a missing one is left out."""
        files = {item.file: self.home.templates / item.file for item in workflow.pack.pack.templates.values()}
        there = {name: path for name, path in files.items() if path.is_file() and not path.is_symlink()}
        return {name: digest_file(path) for name, path in sorted(there.items())}

    @contextlib.contextmanager
    def hold(
        self, name: str, look: Callable[[], None] = lambda: None, patience: float | None = None
    ) -> Iterator[None]:
        """An inter-process lock by name under the home; the system releases it when its holder dies.

        Whoever waits calls ``look`` twice a second, which raises where waiting has become useless. Who holds
        it may hold it again.
        """
        folder = self.home.path / "locks"
        folder.mkdir(exist_ok=True)
        lock = FileLock(folder / f"{name}.lock", is_singleton=True)
        longest = PATIENCE if patience is None else patience
        until = time.monotonic() + longest
        while True:
            try:
                lock.acquire(timeout=max(0.0, min(LOOK, until - time.monotonic())))
            except Timeout:
                look()
                if time.monotonic() < until:
                    continue
                raise OperationFailed(
                    "supervisor.busy",
                    f"another process has been working on this for {longest:g} seconds",
                    where=name,
                    mend="let it finish or end it, then run this again",
                ) from None
            break
        try:
            yield
        finally:
            lock.release()


@cache
def hall(path: Path) -> Hall:
    """The one ``Hall`` of this process for the home at ``path``."""
    return Hall(Home(path))
