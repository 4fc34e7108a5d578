"""The composition root: the one place that sees every room. Loading it reads packs and does nothing else."""

import os
from pathlib import Path

import dagster as dg

from resources.supervision.dagster import PICTURES, FabricResource
from sensors.approvals import approvals
from sensors.cancelled import cancelled
from sensors.intake import ticket_intake
from sensors.recovery import recovery


@dg.definitions
def defs() -> dg.Definitions:
    """Packs as assets and checks, the sensors, the resources of the embedded default."""
    packs = dg.load_from_defs_folder(path_within_project=Path(__file__).parent)
    return dg.Definitions.merge(
        packs,
        dg.Definitions(
            sensors=[ticket_intake, approvals, cancelled, recovery],
            resources={"fabric": FabricResource(pictures=os.environ.get("FABRIC_PICTURES", PICTURES))},
            executor=dg.in_process_executor,
        ),
    )
