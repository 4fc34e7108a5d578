"""The recovery sensor: once per followed edge, exactly what was reset, never beside a living run."""

import dagster as dg
import pytest
from governed import do, go, opened

from fabric_dagster.cli.driving import IN_PROCESS
from fabric_dagster.errors import OperationFailed
from fabric_dagster.spine.ports import NewEvent
from resources.photoshop.provider import HeadlessPhotoshop
from sensors.recovery import recovery


@pytest.fixture
def followed(floor, ticket, monkeypatch):
    """A run whose worker died once, in a Dagster run that has ended."""
    run = opened(floor.hall, ticket)

    def stage(*_args):
        raise OperationFailed("photoshop.worker_died", "the worker ended")

    with monkeypatch.context() as patch:
        patch.setattr(HeadlessPhotoshop, "stage", stage)
        assert not floor.materialize("OFFER-101", {"fabric/run": run}).success
    assert "running" == floor.hall.services.reload(run).state
    return run


def tick(floor, cursor=None):
    """One tick of the sensor."""
    context = dg.build_sensor_context(instance=floor.instance, cursor=cursor)
    return recovery(context, fabric=floor.fabric)


def test_requested_once(floor, followed):
    """What was reset is requested with the run's own tags; materialized, the run is completed."""
    first = tick(floor)
    (request,) = first.run_requests
    assert ("OFFER-101", followed) == (request.partition_key, request.tags["fabric/run"])
    brief = {floor.key("ticket_brief"), floor.key("asset_decision")}
    assert {floor.key(node.id) for node in floor.graph.graph.nodes} - brief == set(request.asset_selection)
    assert [] == tick(floor, first.cursor).run_requests
    assert first.run_requests[0].run_key == tick(floor).run_requests[0].run_key
    nodes = [key.path[-1] for key in request.asset_selection]
    assert floor.materialize("OFFER-101", request.tags, nodes).success
    record = floor.hall.services.reload(followed)
    assert ("completed", 2) == (record.state, len(record.dagster_runs))
    assert [] == tick(floor).run_requests


def test_an_unsound_run_holds_up_no_other(floor, followed):
    """What a pinned key that may not wrote into a run's stream stops that run alone."""
    forged = NewEvent(f"run:sha256:{'0' * 64}", "recovery.followed", {"run": "forged"})
    floor.hall.services.store.append([forged], signer=floor.hall.home.signer("builder"))
    first = tick(floor)
    assert [followed] == [request.tags["fabric/run"] for request in first.run_requests]
    assert [] == tick(floor, first.cursor).run_requests


def test_not_beside_a_living_run(floor, followed):
    """While a Dagster run of it lives the sensor waits, and asks when it has ended."""
    job = dg.GraphDefinition("alive", node_defs=[]).to_job()
    run = floor.instance.create_run_for_job(job, tags={"fabric/run": followed})
    floor.instance.report_dagster_event(dg.DagsterEvent("PIPELINE_START", "alive"), run_id=run.run_id)
    first = tick(floor)
    assert [] == first.run_requests
    floor.instance.report_run_failed(floor.instance.get_run_by_id(run.run_id))
    assert 1 == len(tick(floor, first.cursor).run_requests)


def test_not_for_what_a_driver_drives(floor, ticket, monkeypatch):
    """`fabric run` goes on by itself: nothing is requested for it."""
    run = opened(floor.hall, ticket)

    def stage(*_args):
        raise OperationFailed("photoshop.worker_died", "the worker ended")

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)
    floor.materialize("OFFER-101", {"fabric/run": run, "fabric/driver": IN_PROCESS})
    assert [] == tick(floor).run_requests


def test_gone_on_already(floor, followed):
    """A run that somebody went on with, or that has ended, asks for nothing."""
    do(floor.hall, followed, "photoshop_1")
    assert [] == tick(floor).run_requests
    assert "completed" == go(floor.hall, followed).state
    assert [] == tick(floor, "no number").run_requests


def test_goes_on_after_a_look(floor, ticket, monkeypatch):
    """After somebody looked at an unknown completion, the rest is requested: that side and all below it."""
    from fabric_dagster.supervisor.reconciliation import reconcile
    from resources.unity.provider import HeadlessUnity

    run = opened(floor.hall, ticket)
    plain = HeadlessUnity.commit

    def commit(self, *args):
        plain(self, *args)
        raise OSError(5, "the machine went away")

    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "commit", commit)
        assert not floor.materialize("OFFER-101", {"fabric/run": run}).success
    assert "reconciliation_required" == floor.hall.services.reload(run).state
    assert [] == (tick(floor).run_requests or [])
    reconcile(floor.hall.services, run)
    (request,) = tick(floor).run_requests
    nodes = [key.path[-1] for key in request.asset_selection]
    assert ["import_icon", "wire_icon", "set_title", "verdict"] == nodes
    assert floor.materialize("OFFER-101", request.tags, nodes).success
    record = floor.hall.services.reload(run)
    assert ("completed", 2) == (record.state, len(record.dagster_runs))
