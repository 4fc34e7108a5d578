"""What the line asks of the resource ``fabric``; the resource itself lives in ``resources/supervision``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from assets.names import RUN_TAG
from fabric_dagster.errors import UsageFault
from fabric_dagster.supervisor.opening import runs_of

if TYPE_CHECKING:
    import dagster as dg

    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


class Office(Protocol):
    """The governed surroundings of a step."""

    def services(self) -> Services:
        """The supervisor's services for the configured home."""
        ...

    def workflow(self, reference: str) -> Workflow:
        """The pack's graph ``Name@MAJOR`` as it is loaded in this process."""
        ...

    def template_digest(self, file: str) -> str:
        """The digest of a template as it lies there now."""
        ...

    def picture(self, digest: str) -> str | None:
        """Where a picture of the artifact store can be looked at, or ``None``."""
        ...


KEY = "fabric"


def office(
    context: dg.OpExecutionContext | dg.AssetExecutionContext | dg.AssetCheckExecutionContext,
) -> Office:
    """The resource of this step."""
    return cast("Office", getattr(context.resources, KEY))


def run_of(
    context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext, services: Services, reference: str
) -> str:
    """The supervisor run that this Dagster run works on: by its tag, else the ticket's newest.

    A run started by hand in the UI carries no tag. It may go on with what was accepted for its partition,
    through all the same gates; it can't bring in a ticket, nor report one ticket's run under another's key.
    """
    tagged = context.run.tags.get(RUN_TAG)
    key = context.partition_key
    if tagged:
        run = services.reload(str(tagged))
        if (run.key, run.reference) != (key, reference):
            raise UsageFault(
                "run.other_ticket",
                f"the tag {RUN_TAG} names a run of {run.key} ({run.reference})",
                where=key,
                mend="leave the tag out, or choose the partition that the run is of",
            )
        return run.run
    runs = [run for run in runs_of(services, key) if run.reference == reference]
    if not runs:
        raise UsageFault(
            "run.no_ticket",
            f"no ticket {key} was accepted for {reference}",
            where=key,
            mend="put the ticket into the inbox, or use `fabric run`",
        )
    return runs[-1].run
