"""A workflow run through Dagster: what it shows is what the spine says, and gates hold without Dagster's."""

import dagster as dg
import pytest
from governed import GRAPH, go, kinds, opened, write_ticket

from resources.unity.provider import HeadlessUnity


def test_lineage(floor):
    """One asset a node, its parents those of the graph, from intake and template to the wired asset."""
    specs = {spec.key: spec for spec in floor.definitions.resolve_all_asset_specs()}
    for node in floor.graph.graph.nodes:
        parents = {dep.asset_key for dep in specs[floor.key(node.id)].deps}
        assert {floor.key(need) for need in node.needs} <= parents
        assert specs[floor.key(node.id)].code_version == floor.graph.nodes[node.id].digest
    assert dg.AssetKey(["intake", "tickets"]) in {d.asset_key for d in specs[floor.key("ticket_brief")].deps}
    assert dg.AssetKey(["templates", "offers", "offer_icon"]) in {
        dep.asset_key for dep in specs[floor.key("asset_decision")].deps
    }


def test_what_dagster_shows(floor, ticket):
    """Data versions are digests, metadata leads to run, task and event; checks are the signed verdicts."""
    run = opened(floor.hall, ticket)
    result = floor.materialize("OFFER-101", {"fabric/run": run})
    assert result.success
    record = floor.hall.services.reload(run)
    assert ("completed", [result.run_id]) == (record.state, record.dagster_runs)
    made = {event.asset_key: event.step_materialization_data.materialization for event in
            result.get_asset_materialization_events()}  # fmt: skip
    assert {floor.key(node.id) for node in floor.graph.graph.nodes} == made.keys()
    png = next(a for a in record.task("photoshop_1").result.artifacts if a.kind == "png")
    exported = made[floor.key("export_icon")]
    assert png.digest == exported.tags["dagster/data_version"]
    assert png.digest == made[floor.key("icon_handoff")].tags["dagster/data_version"]
    assert record.body["ticket"] == made[floor.key("ticket_brief")].tags["dagster/data_version"]
    results = {e.digest for e in record.events if e.type == "task.result"}
    for node in ("open_template", "export_icon", "import_icon", "set_title"):
        shown = made[floor.key(node)].metadata
        assert run == shown["fabric/run"].value
        assert shown["fabric/event"].value in results
        assert floor.graph.nodes[node].digest == made[floor.key(node)].tags["dagster/code_version"]
    checks = {e.check_name: e for e in result.get_asset_check_evaluations()}
    bound = [item.id.replace("@", "_v") for items in floor.graph.validators.values() for item in items]
    assert sorted(bound) == sorted(checks)
    assert all(check.passed for check in checks.values())
    assert all("fabric/verdict" in check.metadata for check in checks.values())


def test_failed_verdict_in_dagster(floor, ticket):
    """A failed check is the verdict's, red in Dagster, and what follows is not run."""
    packed = floor.hall.workflow(GRAPH).pack.pack.checks
    plain = packed["project_diff@1"]
    packed["project_diff@1"] = {"properties": ["icon"]}
    try:
        run = opened(floor.hall, ticket)
        result = floor.materialize("OFFER-101", {"fabric/run": run})
    finally:
        packed["project_diff@1"] = plain
    assert not result.success
    failed = [e.check_name for e in result.get_asset_check_evaluations() if not e.passed]
    assert ["project_diff_v1"] == failed
    assert not result.asset_materializations_for_node("create_offer_icon_and_integrate__verdict")
    assert "failed" == floor.hall.services.reload(run).state


@pytest.mark.parametrize("part", ["export_icon", "place_art", "import_icon"])
def test_half_of_a_partition(floor, ticket, part):
    """Half of a sealed partition can't be selected, and nothing is written by trying."""
    run = opened(floor.hall, ticket)
    with pytest.raises(dg.DagsterInvalidSubsetError):
        floor.materialize("OFFER-101", {"fabric/run": run}, [part])
    assert ["run.opened"] == kinds(floor.hall.services.reload(run))


def test_by_hand_without_tag(floor, ticket):
    """A run started by hand goes on with the ticket that was accepted for its partition."""
    run = opened(floor.hall, ticket)
    go(floor.hall, run, "photoshop_1")
    result = floor.materialize("OFFER-101")
    assert result.success
    record = floor.hall.services.reload(run)
    assert ("completed", 2) == (record.state, kinds(record).count("commit.begun"))


def test_one_sealed_partition_by_hand(floor, ticket, failures):
    """A partition alone, before what it needs, is refused by the supervisor though Dagster lets it start."""
    run = opened(floor.hall, ticket)
    result = floor.materialize("OFFER-101", None, ["import_icon", "wire_icon", "set_title"])
    steps = failures(result)
    assert ("supervisor.out_of_order", 1) == steps[0][1:]
    assert "commit.begun" not in kinds(floor.hall.services.reload(run))
    assert not result.get_asset_materialization_events()


def test_unknown_ticket(floor, failures):
    """A partition for which no ticket was accepted fails with our error and opens nothing."""
    result = floor.materialize("OFFER-999")
    assert ("run.no_ticket", 2) == failures(result)[0][1:]
    assert not list(floor.hall.services.store.read(types=["run.opened"]))


def test_tag_of_another_ticket(floor, ticket, tmp_path, failures):
    """One ticket's run can't be reported under another ticket's partition."""
    run = opened(floor.hall, ticket)
    other = opened(floor.hall, write_ticket(tmp_path / "tickets", "OFFER-777", offer_id="mega_bundle"))
    result = floor.materialize("OFFER-777", {"fabric/run": run})
    assert ("run.other_ticket", 2) == failures(result)[0][1:]
    assert ["opened", "opened"] == [floor.hall.services.reload(item).state for item in (run, other)]


def test_again_shows_a_replay(floor, ticket):
    """Materialized again, a completed run is looked at: same versions, no event of an effect, no new file."""
    run = opened(floor.hall, ticket)
    first = floor.materialize("OFFER-101")
    before = kinds(floor.hall.services.reload(run))
    again = floor.materialize("OFFER-101")
    assert (True, True) == (first.success, again.success)
    assert [*before, "dagster.linked"] == kinds(floor.hall.services.reload(run))
    versions = [
        {e.asset_key: e.step_materialization_data.materialization.tags["dagster/data_version"]
         for e in result.get_asset_materialization_events()}
        for result in (first, again)
    ]  # fmt: skip
    assert versions[0] == versions[1]
    shown = again.asset_materializations_for_node("create_offer_icon_and_integrate__unity_1")
    assert all(item.metadata["fabric/replayed"].value for item in shown)


def test_failure_says_the_same(floor, ticket, monkeypatch):
    """Dagster's failure carries our sentence, code and exit code, and is never retried."""
    from fabric_dagster.errors import OperationFailed

    def fails(*_args):
        raise OperationFailed("unity.reference_missing", "planted", where="wire_icon", mend="mend it")

    monkeypatch.setattr(HeadlessUnity, "stage", fails)
    opened(floor.hall, ticket)
    result = floor.materialize("OFFER-101")
    event = next(iter(result.filter_events(lambda item: item.is_step_failure)))
    data = event.step_failure_data.user_failure_data
    assert "wire_icon: planted. Mend it [unity.reference_missing]" == data.description
    assert ("unity.reference_missing", 1) == (data.metadata["code"].value, data.metadata["exit_code"].value)
    # Of the four nodes' outputs none was recorded: they are reported together or not at all.
    made = {item.asset_key for item in result.get_asset_materialization_events()}
    assert floor.key("import_icon") not in made
