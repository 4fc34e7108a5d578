"""``fabric run`` without a daemon: recovery in rounds, what dead drivers left, exit codes of what stops."""

import dagster as dg
import pytest
from governed import ASSET, GRAPH, go, kinds, leftovers, opened, tree

from fabric_dagster.cli.driving import IN_PROCESS, drive
from fabric_dagster.errors import Conflict, OperationFailed, Refused
from resources.photoshop.provider import HeadlessPhotoshop
from sensors.inbox import take


@pytest.fixture
def instance(hall, monkeypatch):
    """The home's own Dagster instance."""
    monkeypatch.setenv("DAGSTER_HOME", str(hall.home.dagster))
    with dg.DagsterInstance.get() as found:
        yield found


def test_drives_to_the_end(hall, ticket, instance):
    """One call, one Dagster run, a completed run; the second call starts nothing."""
    assert "completed" == drive(hall, take(hall, ticket, GRAPH)).state
    (run,) = instance.get_runs()
    assert (dg.DagsterRunStatus.SUCCESS, IN_PROCESS) == (run.status, run.tags["fabric/driver"])
    head = hall.services.store.head()
    assert "completed" == drive(hall, take(hall, ticket, GRAPH)).state
    assert (1, head) == (len(instance.get_runs()), hall.services.store.head())


def test_recovery_in_rounds(hall, ticket, instance, monkeypatch):
    """A registered failure is followed by a second Dagster run of the same supervisor run."""
    plain, deaths = HeadlessPhotoshop.stage, iter([True, True])

    def stage(self, plan, folder):
        if next(deaths, None):
            raise OperationFailed("photoshop.worker_died", "the worker ended")
        return plain(self, plan, folder)

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)
    record = drive(hall, take(hall, ticket, GRAPH))
    assert ("completed", 3) == (record.state, len(record.dagster_runs))
    found = [instance.get_run_by_id(item).status.value for item in record.dagster_runs]
    assert ["FAILURE", "FAILURE", "SUCCESS"] == found
    assert {record.run} == {run.tags["fabric/run"] for run in instance.get_runs()}


def test_recovery_ends(hall, ticket, instance, monkeypatch):
    """Followed as often as the edge says, then the run has failed and the driver stops."""

    def stage(*_args):
        raise OperationFailed("photoshop.worker_died", "the worker ended")

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)
    record = drive(hall, take(hall, ticket, GRAPH))
    assert ("failed", 3) == (record.state, len(instance.get_runs()))
    monkeypatch.undo()
    assert "completed" == drive(hall, take(hall, ticket, GRAPH)).state


def _left(instance, run, driver):
    tags = {"fabric/run": run, **({"fabric/driver": IN_PROCESS} if driver else {})}
    found = instance.create_run_for_job(dg.GraphDefinition("left", node_defs=[]).to_job(), tags=tags)
    instance.report_dagster_event(dg.DagsterEvent("PIPELINE_START", found.job_name), run_id=found.run_id)
    return found.run_id


def test_left_behind_is_closed(hall, ticket, instance):
    """A Dagster run whose driver died is closed; one that the daemon launched is the daemon's."""
    taken = take(hall, ticket, GRAPH)
    run = taken.opened.run.run
    mine, daemons, others = (
        _left(instance, run, driver=True),
        _left(instance, run, driver=False),
        _left(instance, "sha256:other", driver=True),
    )
    assert "completed" == drive(hall, taken).state
    assert ["FAILURE", "STARTED", "STARTED"] == [
        instance.get_run_by_id(item).status.value for item in (mine, daemons, others)
    ]


def test_left_behind_of_a_completed_run(hall, ticket, instance):
    """Also where the supervisor run was completed just before the driver died; its stage and journals go."""
    taken = take(hall, ticket, GRAPH)
    run = taken.opened.run.run
    go(hall, run)
    left = _left(instance, run, driver=True)
    (hall.home.stages / run[7:23] / "unity_1-1").mkdir(parents=True)
    drive(hall, taken)
    assert "FAILURE" == instance.get_run_by_id(left).status.value
    assert [] == leftovers(hall.home.path)


def test_refused_in_the_middle(hall, ticket):
    """A refusal of a step ends the command with exit 3 and its own code; mended, the run goes on."""
    taken = take(hall, ticket, GRAPH)
    go(hall, taken.opened.run.run, "photoshop_1 checks")
    template = hall.home.templates / "offer_icon.psd"
    original = template.read_bytes()
    template.write_bytes(original + b"\0")
    with pytest.raises(Refused) as found:
        drive(hall, taken)
    assert ("authority.template_drift", 3) == (found.value.code, found.value.exit_code)
    assert 1 == str(found.value).count("authority.template_drift")
    template.write_bytes(original)
    assert "completed" == drive(hall, taken).state


def test_done_but_changed_since(hall, ticket):
    """A completed run whose files were changed since is not called done without a word."""
    taken = take(hall, ticket, GRAPH)
    drive(hall, taken)
    path = hall.home.project / ASSET.format("starter_pack")
    path.write_bytes(path.read_bytes() + b"# mine\n")
    before = tree(hall.home.project)
    with pytest.raises(Conflict) as found:
        drive(hall, taken)
    assert ("supervisor.target_changed", before) == (found.value.code, tree(hall.home.project))


def test_reopened_by_running_again(hall, ticket, monkeypatch):
    """A failed run is run again by a person's own command, from what failed on."""

    def stage(*_args):
        raise OperationFailed("photoshop.time_limit", "too long")

    with monkeypatch.context() as patch:
        patch.setattr(HeadlessPhotoshop, "stage", stage)
        assert "failed" == drive(hall, take(hall, ticket, GRAPH)).state
    record = drive(hall, take(hall, ticket, GRAPH))
    assert ("completed", 1) == (record.state, kinds(record).count("run.reopened"))
    assert 2 == kinds(record).count("commit.begun")


def test_unexpected_exception_is_said(hall, ticket, monkeypatch):
    """What is no typed failure is said with its step, and the run stays where it was."""
    monkeypatch.setattr(HeadlessPhotoshop, "stage", lambda *_args: 1 / 0)
    run = opened(hall, ticket)
    with pytest.raises(Exception, match="division by zero") as found:
        drive(hall, take(hall, ticket, GRAPH))
    assert ("dagster.step_failed", 1) == (found.value.code, found.value.exit_code)
    monkeypatch.undo()
    assert "running" == hall.services.reload(run).state
    assert "completed" == drive(hall, take(hall, ticket, GRAPH)).state
