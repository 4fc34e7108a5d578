"""Dagster shows what the spine says: events, verdicts, tags, cancellation; and can repeat no effect."""

import json

import dagster as dg
import pytest
from governed import ASSET, GRAPH, go, kinds, opened, tree

from fabric_dagster.errors import OperationFailed
from fabric_dagster.validators.verdicts import open_verdict
from resources.unity.provider import HeadlessUnity
from sensors.cancelled import cancelled


def test_every_step_cites_its_event(floor, ticket):
    """Each materialization and check names an event of this very run, of the kind that made it."""
    run = opened(floor.hall, ticket)
    result = floor.materialize("OFFER-101", {"fabric/run": run})
    record = floor.hall.services.reload(run)
    by_digest = {event.digest: event.type for event in record.events}
    expected = {
        "ticket_brief": "run.opened",
        "asset_decision": "decision.made",
        "icon_handoff": "handoff.sealed",
        "verdict": "run.completed",
    }
    made = {
        event.asset_key.path[-1]: event.step_materialization_data.materialization.metadata
        for event in result.get_asset_materialization_events()
    }
    assert {node.id for node in floor.graph.graph.nodes} == made.keys()
    for node, shown in made.items():
        assert expected.get(node, "task.result") == by_digest[shown["fabric/event"].value]
        assert run == shown["fabric/run"].value
    for check in result.get_asset_check_evaluations():
        assert "verdict.recorded" == by_digest[check.metadata["fabric/event"].value]


@pytest.mark.parametrize("failing", [None, "project_diff@1"])
def test_checks_are_the_signed_verdict(floor, ticket, failing):
    """What Dagster recorded of each check is what the validator signed: failed ones, and what only warns."""
    checks = floor.hall.workflow(GRAPH).pack.pack.checks
    plain = checks.get("project_diff@1")
    if failing:
        checks[failing] = {"properties": ["icon"]}
    try:
        run = opened(floor.hall, ticket)
        result = floor.materialize("OFFER-101", {"fabric/run": run})
    finally:
        checks["project_diff@1"] = plain
    record = floor.hall.services.reload(run)
    signed = {}
    for item in record.verdicts:
        envelope = json.loads(floor.hall.services.artifacts.get(item.envelope))
        verdict = open_verdict(envelope, floor.hall.services.trust)
        for check in verdict.checks:
            level = dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN
            subject = (check.after, check.id.replace("@", "_v"))
            signed[subject] = (check.passed, level, check.summary, verdict.digest)
    shown = {
        (item.asset_key.path[-1], item.check_name): (
            item.passed,
            item.severity,
            item.description,
            item.metadata["fabric/verdict"].value,
        )
        for item in result.get_asset_check_evaluations()
    }
    judged = {subject for subject in signed if subject[0] in {key.path[-1] for key in _checked(floor)}}
    assert {subject: signed[subject] for subject in judged} == shown
    assert (failing is None) == all(passed for passed, *_ in shown.values())


def _checked(floor):
    return {key.asset_key for key in floor.definitions.resolve_asset_graph().asset_check_keys}


def test_a_warning_blocks_nothing(floor, ticket, monkeypatch):
    """A validator that only warns is yellow in Dagster, as it was signed, and the run completes."""
    import dataclasses

    from assets.factory import workflow_assets, workflow_checks
    from assets.specs import intake_spec

    workflow = floor.hall.workflow(GRAPH)
    sides = {
        side: tuple(item.model_copy(update={"blocking": item.id != "project_diff@1"}) for item in bindings)
        for side, bindings in workflow.compiled.validators.items()
    }
    compiled = dataclasses.replace(workflow.compiled, validators=sides)
    checks = workflow.pack.pack.checks
    monkeypatch.setitem(checks, "project_diff@1", {"properties": ["icon"]})
    monkeypatch.setitem(floor.hall.workflows, GRAPH, dataclasses.replace(workflow, compiled=compiled))
    floor.definitions = dg.Definitions(
        assets=[intake_spec(), *workflow_assets(workflow.pack, compiled, pools=False)],
        asset_checks=list(workflow_checks(compiled, pools=False)),
        resources={"fabric": floor.fabric},
        executor=dg.in_process_executor,
    )
    run = opened(floor.hall, ticket)
    result = floor.materialize("OFFER-101", {"fabric/run": run})
    (warned,) = [item for item in result.get_asset_check_evaluations() if not item.passed]
    assert ("project_diff_v1", dg.AssetCheckSeverity.WARN) == (warned.check_name, warned.severity)
    assert "completed" == floor.hall.services.reload(run).state


def test_tags_both_ways(floor, ticket):
    """A run by hand is tagged with the supervisor run that it worked on, and the spine names it."""
    run = opened(floor.hall, ticket)
    result = floor.materialize("OFFER-101")
    tags = floor.instance.get_run_by_id(result.run_id).tags
    record = floor.hall.services.reload(run)
    assert (run, "OFFER-101", floor.graph.digest) == (
        tags["fabric/run"],
        tags["fabric/ticket"],
        tags["fabric/graph"],
    )
    assert [result.run_id] == record.dagster_runs


# -- cancelled in Dagster


def _cancel(floor, run, **tags):
    """Have Dagster cancel a run with these tags, and tell the sensor."""
    job = dg.GraphDefinition("cancelled", node_defs=[]).to_job()
    made = floor.instance.create_run_for_job(job, tags={"fabric/run": run, **tags})
    event = dg.DagsterEvent("PIPELINE_CANCELED", "cancelled")
    floor.instance.report_dagster_event(event, run_id=made.run_id)
    context = dg.build_run_status_sensor_context(
        sensor_name="cancelled",
        dagster_instance=floor.instance,
        dagster_run=floor.instance.get_run_by_id(made.run_id),
        dagster_event=event,
    )
    cancelled(context, fabric=floor.fabric)
    return made.run_id


def test_cancelled_in_dagster(floor, ticket):
    """The run is cancelled on the spine; the runtime signs, and says that nobody was identified."""
    run = opened(floor.hall, ticket)
    go(floor.hall, run, "photoshop_1 checks")
    dagster_run = _cancel(floor, run)
    record = floor.hall.services.reload(run)
    asked = next(event for event in record.events if event.type == "cancel.requested")
    assert ("cancelled", "runtime") == (record.state, asked.actor)
    assert "identified no person" in asked.body["why"]
    assert dagster_run in asked.body["why"]


@pytest.mark.parametrize("step", ["photoshop_1 checks", "verdict"])
def test_cancelled_changes_no_more(floor, ticket, step):
    """What is completed stays so; what `fabric run` drives is not cancelled by its Ctrl-C."""
    run = opened(floor.hall, ticket)
    state = go(floor.hall, run, step).state
    head = floor.hall.services.store.head()
    _cancel(floor, run, **({} if step == "verdict" else {"fabric/driver": "in-process"}))
    assert (state, head) == (floor.hall.services.reload(run).state, floor.hall.services.store.head())


def test_a_doublet_was_cancelled(floor, ticket):
    """While another Dagster run of it lives, the run goes on."""
    run = opened(floor.hall, ticket)
    job = dg.GraphDefinition("alive", node_defs=[]).to_job()
    alive = floor.instance.create_run_for_job(job, tags={"fabric/run": run})
    floor.instance.report_dagster_event(dg.DagsterEvent("PIPELINE_START", "alive"), run_id=alive.run_id)
    _cancel(floor, run)
    assert "opened" == floor.hall.services.reload(run).state


def test_unknown_completion_is_looked_at_first(floor, ticket, monkeypatch):
    """A run that was cancelled in the middle of a commit waits for reconciliation, not for luck."""
    run = opened(floor.hall, ticket)
    go(floor.hall, run, "icon_handoff")

    def dies(*_args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "commit", dies)
        with pytest.raises(KeyboardInterrupt):
            go(floor.hall, run, "unity_1")
    _cancel(floor, run)
    record = floor.hall.services.reload(run)
    assert "reconciliation_required" == record.state
    assert "run.cancelled" not in kinds(record)


# -- Dagster's own retries


def line_job():
    """The line as a job that Dagster can find again, on the home that the environment names."""
    from assets.component import packs_definitions
    from resources.home import CHECKOUT
    from resources.supervision.dagster import FabricResource

    definitions = dg.Definitions.merge(
        packs_definitions(CHECKOUT / "packs", pools=False),
        dg.Definitions(
            jobs=[dg.define_asset_job("line", dg.AssetSelection.groups("create_offer_icon_and_integrate"))],
            resources={"fabric": FabricResource()},
            executor=dg.in_process_executor,
        ),
    )
    return definitions.resolve_job_def("line")


@pytest.fixture
def stored(hall, monkeypatch):
    """The home's instance, and a function that executes the line's job on it, new or again."""
    monkeypatch.setenv("DAGSTER_HOME", str(hall.home.dagster))
    monkeypatch.setenv("FABRIC_HOME", str(hall.home.path))
    with dg.DagsterInstance.get() as instance:
        instance.add_dynamic_partitions("tickets__create_offer_icon_and_integrate", ["OFFER-101"])

        def execute(run, again=None):
            tags = {"fabric/run": run, "dagster/partition": "OFFER-101", "dagster/max_retries": "3"}
            return dg.execute_job(
                dg.reconstructable(line_job),
                instance=instance,
                tags=tags,
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
                reexecution_options=again,
            )

        yield instance, execute


def test_reexecuted_whole(hall, ticket, stored):
    """A Dagster re-execution of a completed run shows the verified results and repeats no effect."""
    run = opened(hall, ticket)
    _, execute = stored
    first = execute(run)
    before, events = tree(hall.home.project), kinds(hall.services.reload(run))
    again = execute(run, dg.ReexecutionOptions(parent_run_id=first.run_id))
    assert (True, True) == (first.success, again.success)
    assert (before, [*events, "dagster.linked"]) == (
        tree(hall.home.project),
        kinds(hall.services.reload(run)),
    )


def test_reexecuted_from_failure(hall, ticket, stored, monkeypatch):
    """A retry from failure: the failed run has ended on the spine, and Dagster cannot start it again."""
    run = opened(hall, ticket)
    instance, execute = stored

    def fails(*_args):
        raise OperationFailed("unity.reference_missing", "planted")

    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "stage", fails)
        first = execute(run)
    assert (False, "failed") == (first.success, hall.services.reload(run).state)
    head = hall.services.store.head()[0]
    again = execute(run, dg.ReexecutionOptions.from_failure(first.run_id, instance))
    record = hall.services.reload(run)
    assert (False, "failed") == (again.success, record.state)
    later = {event.type for event in record.events if event.position > head}
    assert later <= {"dagster.linked"}
    assert 2 == len(instance.get_runs())  # whatever the tag asks for, nothing was retried by itself


def test_retried_over_a_broken_commit(hall, ticket, stored, monkeypatch):
    """A retry over a commit whose end is unknown stops for a person; the target is not written again."""
    run = opened(hall, ticket)
    instance, execute = stored
    plain = HeadlessUnity.commit

    def dies(self, *args):
        plain(self, *args)
        raise RuntimeError("the worker was killed just after its commit")

    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "commit", dies)
        first = execute(run)
    after = tree(hall.home.project)
    again = execute(run, dg.ReexecutionOptions.from_failure(first.run_id, instance))
    record = hall.services.reload(run)
    assert (False, False, "reconciliation_required") == (first.success, again.success, record.state)
    assert (after, 2) == (tree(hall.home.project), kinds(record).count("commit.begun"))
    assert (hall.home.project / ASSET.format("starter_pack")).is_file()
