"""Approval in Dagster: requested up to the picture, gone on with after a signed decision, never round it."""

import dagster as dg
import pytest
from governed import GRAPH, ask_for_approval, go, kinds, write_ticket

from assets.names import approval_key
from fabric_dagster.cli.driving import drive
from fabric_dagster.errors import OperationFailed
from fabric_dagster.governance.commissioning import revoke
from fabric_dagster.supervisor.approvals import decide
from resources.photoshop.provider import HeadlessPhotoshop
from sensors.approvals import approvals
from sensors.inbox import take
from sensors.recovery import recovery


@pytest.fixture
def visual(floor):
    """The line under a commission that asks for visual approval."""
    ask_for_approval(floor.hall)
    return floor


def tick(floor, cursor=None):
    """One tick of the approvals sensor."""
    context = dg.build_sensor_context(instance=floor.instance, cursor=cursor)
    return approvals(context, fabric=floor.fabric)


def names(keys):
    """The nodes behind asset keys."""
    return [key.path[-1] for key in keys]


def approve(floor, run, **given):
    """Decide as the approver."""
    given = {"given": True, "note": "fine", **given}
    return decide(floor.hall.services, run, floor.hall.home.signer("approver"), **given)


@pytest.fixture
def shown(visual):
    """A ticket from the inbox whose picture waits, and the Dagster run that made it."""
    write_ticket(visual.hall.home.inbox)
    (request,) = visual.tick().run_requests
    result = visual.materialize("OFFER-101", request.tags, names(request.asset_selection))
    return request, result


def test_the_first_half_ends_cleanly(visual, shown):
    """What comes after the picture was not requested; the Dagster run is green and holds no worker."""
    request, result = shown
    assert ["ticket_brief", "asset_decision", "open_template", "place_art", "export_icon"] == names(
        request.asset_selection
    )
    assert result.success
    record = visual.hall.services.reload(request.tags["fabric/run"])
    assert ("awaiting_approval", [result.run_id]) == (record.state, record.dagster_runs)
    assert [] == tick(visual).run_requests


def test_goes_on_once(visual, shown):
    """After the approval Dagster is told of it and asked for the rest, once, with the same tags."""
    request, _ = shown
    run = request.tags["fabric/run"]
    before = tick(visual)
    _, decision = approve(visual, run)
    first = tick(visual, before.cursor)
    (rest,) = first.run_requests
    assert (request.tags, "OFFER-101") == (rest.tags, rest.partition_key)
    assert ["icon_handoff", "import_icon", "wire_icon", "set_title", "verdict"] == names(rest.asset_selection)
    (told,) = first.asset_events
    shown_ = {key: value.value for key, value in told.metadata.items()}
    assert approval_key(visual.graph, "icon_handoff") == told.asset_key
    assert (decision.picture, decision.decided.digest, "approver") == (
        shown_["approved digest"],
        shown_["fabric/event"],
        shown_["approver"],
    )
    assert decision.picture == told.tags["dagster/data_version"]
    visual.instance.report_runless_asset_event(told)
    assert ([], first.cursor) == (tick(visual, first.cursor).run_requests, tick(visual, first.cursor).cursor)
    again = tick(visual)  # a lost cursor
    assert ([rest.run_key], []) == ([item.run_key for item in again.run_requests], again.asset_events)
    result = visual.materialize("OFFER-101", rest.tags, names(rest.asset_selection))
    record = visual.hall.services.reload(run)
    assert (True, "completed", 2) == (result.success, record.state, len(record.dagster_runs))
    assert [] == tick(visual).run_requests
    (sealed,) = result.asset_materializations_for_node("create_offer_icon_and_integrate__icon_handoff")
    assert decision.decided.digest == sealed.metadata["fabric/approval"].value


def test_not_round_it(visual, shown, failures):
    """The downstream assets, materialized by hand, are refused: nothing of Unity's side is touched."""
    request, _ = shown
    run = request.tags["fabric/run"]
    visual.instance.report_runless_asset_event(
        dg.AssetMaterialization(approval_key(visual.graph, "icon_handoff"), partition="OFFER-101")
    )
    for selection in (
        ["icon_handoff", "import_icon", "wire_icon", "set_title", "verdict"],
        ["import_icon", "wire_icon", "set_title", "verdict"],
        [node.id for node in visual.graph.graph.nodes],
    ):
        result = visual.materialize("OFFER-101", {}, selection)
        code, exit_code = failures(result)[0][1:]
        assert (code, exit_code) in {("approval.missing", 4), ("supervisor.out_of_order", 1)}
    record = visual.hall.services.reload(run)
    assert ("awaiting_approval", {}, None) == (record.state, record.handoffs, record.task("unity_1"))
    assert 1 == kinds(record).count("approval.requested")


def test_waits_for_the_living_run(visual, shown):
    """While the Dagster run before the gate still lives, nothing is requested, and nothing is forgotten."""
    run = shown[0].tags["fabric/run"]
    approve(visual, run)
    job = dg.GraphDefinition("alive", node_defs=[]).to_job()
    alive = visual.instance.create_run_for_job(job, tags={"fabric/run": run})
    visual.instance.report_dagster_event(dg.DagsterEvent("PIPELINE_START", "alive"), run_id=alive.run_id)
    first = tick(visual)
    assert [] == first.run_requests
    visual.instance.report_run_failed(visual.instance.get_run_by_id(alive.run_id))
    assert 1 == len(tick(visual, first.cursor).run_requests)


def test_refused_meanwhile(visual, shown):
    """What may not run any more is not requested, and holds up no other run's approval."""
    run = shown[0].tags["fabric/run"]
    approve(visual, run)
    services = visual.hall.services
    signer = visual.hall.home.signer("commissioner")
    revoke(services.store, signer, visual.graph.digest, GRAPH, "done", services.trust)
    given = next(event for event in services.reload(run).events if event.type == "approval.given")
    found = tick(visual)
    assert ([], str(given.position)) == (found.run_requests, found.cursor)


def test_retaken_is_not_gone_on_with(visual, shown):
    """A retake ends the run; the same file in the inbox asks for nothing, another title for another run."""
    run = shown[0].tags["fabric/run"]
    approve(visual, run, given=False, note="too dark")
    assert [] == tick(visual).run_requests
    assert [] == visual.tick().run_requests
    write_ticket(visual.hall.home.inbox, title="Lighter")
    (request,) = visual.tick().run_requests
    assert run != request.tags["fabric/run"]


def test_lineage_holds_the_approval(floor):
    """The picture is upstream of the person's decision, and the decision upstream of the handoff."""
    specs = {spec.key: spec for spec in floor.definitions.resolve_all_asset_specs()}
    key = approval_key(floor.graph, "icon_handoff")
    assert [floor.key("export_icon")] == [dep.asset_key for dep in specs[key].deps]
    assert key in {dep.asset_key for dep in specs[floor.key("icon_handoff")].deps}


@pytest.fixture
def home_instance(hall, monkeypatch):
    """The home's own Dagster instance."""
    monkeypatch.setenv("DAGSTER_HOME", str(hall.home.dagster))
    with dg.DagsterInstance.get() as found:
        yield found


def test_driven_without_a_daemon(hall, ticket, home_instance):
    """`fabric run` stops at the picture, does nothing while it waits, and goes on after the approval."""
    ask_for_approval(hall)
    record = drive(hall, take(hall, ticket, GRAPH))
    assert ("awaiting_approval", 1) == (record.state, len(home_instance.get_runs()))
    head = hall.services.store.head()
    assert "awaiting_approval" == drive(hall, take(hall, ticket, GRAPH)).state
    assert (head, 1) == (hall.services.store.head(), len(home_instance.get_runs()))
    decide(hall.services, record.run, hall.home.signer("approver"), given=True, note="")
    done = drive(hall, take(hall, ticket, GRAPH))
    assert ("completed", 2) == (done.state, kinds(done).count("commit.begun"))
    statuses = [run.status.value for run in home_instance.get_runs()]
    assert ["SUCCESS", "SUCCESS"] == statuses
    key = approval_key(hall.workflow(GRAPH).compiled, "icon_handoff")
    told = home_instance.fetch_materializations(key, limit=5).records
    assert ["OFFER-101"] == [item.partition_key for item in told]


def test_recovery_stops_at_the_picture(visual, ticket, monkeypatch):
    """What a recovery edge reset is requested up to the picture alone, while nobody approved one."""

    def stage(*_args):
        raise OperationFailed("photoshop.worker_died", "the worker ended")

    run = take(visual.hall, ticket, GRAPH).opened.run.run
    go(visual.hall, run, "asset_decision")
    with monkeypatch.context() as patch:
        patch.setattr(HeadlessPhotoshop, "stage", stage)
        visual.materialize("OFFER-101", {"fabric/run": run})
    context = dg.build_sensor_context(instance=visual.instance)
    (request,) = recovery(context, fabric=visual.fabric).run_requests
    assert ["open_template", "place_art", "export_icon"] == names(request.asset_selection)
