"""The line in Dagster: definitions of every pack, an instance in memory, the home as the resource."""

import dagster as dg
import pytest
from governed import GRAPH

from assets.component import packs_definitions
from resources.home import CHECKOUT
from resources.supervision.dagster import FabricResource


class Floor:
    """What a test of the line works with."""

    def __init__(self, hall, instance):
        self.hall, self.instance = hall, instance
        self.fabric = FabricResource(home=str(hall.home.path))
        self.definitions = dg.Definitions.merge(
            packs_definitions(CHECKOUT / "packs", pools=False),
            dg.Definitions(resources={"fabric": self.fabric}, executor=dg.in_process_executor),
        )
        self.graph = hall.workflow(GRAPH).compiled

    def materialize(self, key, tags=None, selection=None):
        """Run the workflow for one ticket, as a run started by hand would."""
        self.instance.add_dynamic_partitions(f"tickets__{self.graph.workflow}", [key])
        job = self.definitions.resolve_implicit_global_asset_job_def()
        nodes = selection or [node.id for node in self.graph.graph.nodes]
        return job.execute_in_process(
            instance=self.instance,
            partition_key=key,
            tags=tags or {},
            asset_selection=[self.key(node) for node in nodes],
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )

    def key(self, node):
        """The asset key of a node."""
        return dg.AssetKey([self.graph.workflow, node])

    def tick(self, cursor=None):
        """One tick of the intake sensor."""
        from sensors.intake import ticket_intake

        context = dg.build_sensor_context(instance=self.instance, cursor=cursor)
        return ticket_intake(context, fabric=self.fabric)


@pytest.fixture
def floor(hall):
    """The line on the restored home."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield Floor(hall, instance)


def failures(result):
    """(step, code, exit code) of every failed step."""
    found = []
    for event in result.filter_events(lambda item: item.is_step_failure):
        data = event.step_failure_data.user_failure_data
        meta = data.metadata if data else {}
        found.append(
            (event.step_key, meta["code"].value, meta["exit_code"].value) if meta else (event.step_key,)
        )
    return found


@pytest.fixture(name="failures")
def _failures():
    return failures
