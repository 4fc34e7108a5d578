"""An ``any`` join through Dagster: one parent fails, and the other carries the run to its verdict."""

import json
import shutil

import dagster as dg
import pytest
from governed import GRAPH, ask_for_approval, end_validator, kinds, opened, tree, write_ticket

from assets.component import packs_definitions
from fabric_dagster.errors import CheckFailed, OperationFailed
from fabric_dagster.supervisor.approvals import decide, waiting
from fabric_dagster.supervisor.execution import run_partition
from fabric_dagster.supervisor.joins import absent
from resources.home import CHECKOUT, Home
from resources.photoshop.provider import HeadlessPhotoshop
from resources.setup import initialise
from resources.supervision.assembly import Hall, hall
from resources.supervision.dagster import FabricResource
from resources.supervision.demonstration import make_executable
from sensors.asking import selection

#: a second way to the icon: the same template, opened, filled, exported and sealed once more.
OTHER_WAY = """\
  - id: open_template_b
    capability: photoshop.open_duplicate@1
    needs: [asset_decision]
    args: {source: {$ref: asset_decision.template}, copy: icon_b.psd}
  - id: place_art_b
    capability: photoshop.replace_smart_object@1
    needs: [open_template_b]
    args: {layer: {$ref: asset_decision.art_layer}, contents: {$ref: input.art}, scope: layer}
  - id: export_icon_b
    capability: photoshop.export_png@1
    needs: [place_art_b]
    args: {preset: {$ref: asset_decision.preset}, out: icon_b.png}
  - id: icon_handoff_b
    capability: fabric.seal_handoff@1
    needs: [export_icon_b]
    args: {artifact: {$ref: export_icon_b.png}}

  - id: import_icon
"""


def two_ways(folder):
    """The pack ``offers`` with a graph that takes the icon from either of two exports."""
    shutil.copytree(CHECKOUT / "packs/offers", folder / "offers")
    path = folder / "offers/graphs/create_offer_icon_and_integrate.yaml"
    text = path.read_text(encoding="utf-8")
    judged = [f"  - {{id: {name}, after: export_icon_b}}\n" for name in ("png_valid@1", "art_in_place@1")]
    for old, new in (
        ("  - id: import_icon\n", OTHER_WAY),
        ("    needs: [icon_handoff]\n", "    needs: [icon_handoff, icon_handoff_b]\n    join: any\n"),
        ("{$ref: icon_handoff.artifact}", "{$ref: any.artifact}"),
        ("validators:\n", "validators:\n" + "".join(judged)),
    ):
        assert old in text, old
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def joined_home(tmp_path_factory):
    """A home whose graph joins two ways, and a snapshot beside it."""
    root = tmp_path_factory.mktemp("joined")
    two_ways(root / "packs")
    initialise(Home(root / "home"))
    config = root / "home/home.yaml"
    packs = json.dumps((root / "packs").as_posix())
    config.write_text(
        config.read_text(encoding="utf-8").replace("packs: []", f"packs: [{packs}]"), encoding="utf-8"
    )
    first = Hall(Home(root / "home"))
    make_executable(first, first.workflow(GRAPH), lambda _line: None)
    first.services.store.close()
    shutil.copytree(root / "home", root / "snapshot", symlinks=True)
    yield root
    end_validator(root / "home")


class Joined:
    """The line on that home."""

    def __init__(self, root, instance):
        shutil.rmtree(root / "home")
        shutil.copytree(root / "snapshot", root / "home", symlinks=True)
        hall.cache_clear()
        self.hall, self.instance = hall(Home(root / "home").path), instance
        self.graph = self.hall.workflow(GRAPH).compiled
        self.definitions = dg.Definitions.merge(
            packs_definitions(root / "packs", pools=False),
            dg.Definitions(
                resources={"fabric": FabricResource(home=str(root / "home"))},
                executor=dg.in_process_executor,
            ),
        )

    def materialize(self, key, run, selection=None):
        """One Dagster run of everything, or of these assets."""
        self.instance.add_dynamic_partitions(f"tickets__{self.graph.workflow}", [key])
        job = self.definitions.resolve_implicit_global_asset_job_def()
        return job.execute_in_process(
            instance=self.instance,
            partition_key=key,
            tags={"fabric/run": run},
            asset_selection=selection
            or [dg.AssetKey([self.graph.workflow, name]) for name in self.graph.nodes],
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )

    def shown(self, node):
        """The metadata of a node's last materialization."""
        event = self.instance.get_latest_materialization_event(dg.AssetKey([self.graph.workflow, node]))
        return event.asset_materialization.metadata


@pytest.fixture
def joined(joined_home):
    """The line on the restored home."""
    with dg.DagsterInstance.ephemeral() as instance:
        line = Joined(joined_home, instance)
        yield line
        line.hall.services.store.close()


def fail(monkeypatch, *partitions):
    """Let the stage of these partitions fail for good."""
    plain = HeadlessPhotoshop.stage

    def stage(self, plan, folder):
        if plan.partition in partitions:
            raise OperationFailed("photoshop.layer_not_found", "the template has no layer Art/Art")
        return plain(self, plan, folder)

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)


@pytest.mark.parametrize(
    ("failing", "serving"), [("photoshop_1", "photoshop_2"), ("photoshop_2", "photoshop_1")]
)
def test_one_way_fails(joined, ticket, monkeypatch, failing, serving):
    """The failed way is typed data, in Dagster too; the other one serves the join, and the run completes."""
    run = opened(joined.hall, ticket)
    fail(monkeypatch, failing)
    result = joined.materialize("OFFER-101", run)
    assert result.success
    record = joined.hall.services.reload(run)
    assert ("completed", {failing}) == (record.state, set(record.absorbed))
    handoff = {"photoshop_1": "icon_handoff", "photoshop_2": "icon_handoff_b"}
    assert {failing, handoff[failing]} == absent(joined.graph, record)
    assert {handoff[serving]} == set(record.handoffs)
    assert {serving, "unity_1", "run"} == {item.side for item in record.verdicts}
    node = {"photoshop_1": "export_icon", "photoshop_2": "export_icon_b"}
    for name in (node[failing], handoff[failing]):
        assert "photoshop.layer_not_found" == joined.shown(name)["code"].value
    assert "fabric/task" in joined.shown(node[serving])
    checks = result.get_asset_check_evaluations()
    assert set() != {item.check_name for item in checks if item.asset_key.path[-1] == node[failing]}
    assert {False} == {item.passed for item in checks if item.asset_key.path[-1] == node[failing]}


def test_a_failed_verdict_is_absorbed(joined, ticket, monkeypatch):
    """So is a verdict that fails: what was made stays unused, and the other way serves."""
    from fabric_dagster.supervisor import judging

    plain = judging.side_evidence

    def evidence(services, workflow, run, side, commission):
        found = plain(services, workflow, run, side, commission)
        if side != "photoshop_1":
            return found
        other = {**found.artifacts, "export_icon.png": found.ticket_files["art"]}
        return found.model_copy(update={"artifacts": other})

    monkeypatch.setattr(judging, "side_evidence", evidence)
    run = opened(joined.hall, ticket)
    assert joined.materialize("OFFER-101", run).success
    record = joined.hall.services.reload(run)
    assert ("completed", {"photoshop_1"}) == (record.state, set(record.absorbed))
    assert {"icon_handoff_b"} == set(record.handoffs)
    assert joined.materialize("OFFER-101", run).success


def test_both_ways_serve(joined, ticket):
    """Where both succeed both are judged, and the first by its id serves."""
    run = opened(joined.hall, ticket)
    assert joined.materialize("OFFER-101", run).success
    record = joined.hall.services.reload(run)
    assert ("completed", {}, {"icon_handoff", "icon_handoff_b"}) == (
        record.state,
        record.absorbed,
        set(record.handoffs),
    )
    task = record.task("unity_1")
    assert ["inputs/icon_handoff.png"] == [item.name for item in task.task.inputs]


def test_no_way_is_left(joined, ticket, monkeypatch):
    """The last way's failure ends the run at exactly that, with nothing written."""
    before = tree(joined.hall.home.project)
    run = opened(joined.hall, ticket)
    fail(monkeypatch, "photoshop_1", "photoshop_2")
    assert not joined.materialize("OFFER-101", run).success
    record = joined.hall.services.reload(run)
    assert ("failed", before) == (record.state, tree(joined.hall.home.project))
    assert 1 == kinds(record).count("failure.absorbed")
    assert "photoshop.layer_not_found" in record.unresolved[0]


def test_a_join_waits_for_all(joined, tmp_path):
    """A join does not run while one of its parents may still serve: who is first decides nothing."""
    from fabric_dagster.supervisor import controls
    from fabric_dagster.supervisor.judging import judge_side

    run = opened(joined.hall, write_ticket(tmp_path / "tickets"))
    services, workflow = joined.hall.services, joined.hall.workflow(GRAPH)
    controls.make_decision(services, workflow, run)
    run_partition(services, workflow, run, "photoshop_2")
    judge_side(services, workflow, run, "photoshop_2")
    controls.seal_handoff(services, workflow, run, "icon_handoff_b")
    with pytest.raises(CheckFailed) as found:
        run_partition(services, workflow, run, "unity_1")
    assert found.value.code == "supervisor.out_of_order"


def _visual(joined, ticket):
    """A run under visual approval, its pictures made by what Dagster is asked for at first."""
    ask_for_approval(joined.hall)
    run = opened(joined.hall, ticket)
    assert joined.materialize(
        "OFFER-101", run, selection(joined.hall.services.reload(run), joined.hall)
    ).success
    return run


def _approve(joined, run, **which):
    signer = joined.hall.home.signer("approver")
    return decide(joined.hall.services, run, signer, given=True, note="", **which)[0]


def test_both_ways_are_approved(joined, ticket):
    """Two pictures wait, each for its own decision; the run goes on when none waits any more."""
    run = _visual(joined, ticket)
    first, second = waiting(joined.hall.services.reload(run))
    assert {"photoshop_1", "photoshop_2"} == {first.side, second.side}
    assert first.picture == second.picture  # the same art by the same means
    assert first.plan != second.plan
    assert "awaiting_approval" == _approve(joined, run).state
    assert "running" == _approve(joined, run).state
    record = joined.hall.services.reload(run)
    assert joined.materialize("OFFER-101", run, selection(record, joined.hall)).success
    assert "completed" == joined.hall.services.reload(run).state


def test_one_way_fails_and_one_is_approved(joined, ticket, monkeypatch):
    """What is absent is not waited for: the other picture's approval lets the run go on."""
    fail(monkeypatch, "photoshop_1")
    run = _visual(joined, ticket)
    assert ["photoshop_2"] == [item.side for item in waiting(joined.hall.services.reload(run))]
    assert "running" == _approve(joined, run).state
    record = joined.hall.services.reload(run)
    assert joined.materialize("OFFER-101", run, selection(record, joined.hall)).success
    assert "completed" == joined.hall.services.reload(run).state


def test_the_report_tells_of_it(joined, ticket, monkeypatch, capsys):
    """What was gone on without is said with its failure, to people and in the run's document."""
    from fabric_dagster.cli.report import print_report, report

    run = opened(joined.hall, ticket)
    fail(monkeypatch, "photoshop_1")
    assert joined.materialize("OFFER-101", run).success
    document = report(joined.hall, joined.hall.services.reload(run))
    print_report(document)
    said = capsys.readouterr().out
    assert "photoshop.layer_not_found" == document["run"]["absorbed"]["photoshop_1"][0]["code"]
    assert "Without   photoshop_1, whose failure a join absorbs" in said
