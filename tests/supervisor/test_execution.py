"""The seven steps around a sealed partition."""

import stat

import pytest
from governed import ASSET, ICON, do, go, kinds, leftovers, opened, tree

from fabric_dagster.errors import CheckFailed, Conflict, OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.artifacts.store import FolderArtifactStore
from resources.photoshop.provider import HeadlessPhotoshop
from resources.unity.provider import HeadlessUnity

OFFER = ASSET.format("starter_pack")


@pytest.mark.parametrize("step", ["photoshop_1", "icon_handoff", "unity_1", "verdict"])
def test_out_of_order(hall, ticket, step):
    """A partition whose needs are not done is refused, whoever asks, and nothing is written."""
    run = opened(hall, ticket)
    before = tree(hall.home.project)
    with pytest.raises(CheckFailed) as found:
        do(hall, run, step)
    assert found.value.code == "supervisor.out_of_order"
    assert ["run.opened"] == kinds(hall.services.reload(run))
    assert before == tree(hall.home.project)


@pytest.mark.parametrize("step", ["photoshop_1 checks", "unity_1 checks"])
def test_nothing_to_judge(hall, ticket, step):
    """What was not made is not judged."""
    with pytest.raises(CheckFailed) as found:
        do(hall, opened(hall, ticket), step)
    assert found.value.code == "supervisor.nothing_to_judge"


def test_replay_has_no_effect(hall, ticket):
    """Every step of a completed run, asked for again, returns the same and leaves the spine as it is."""
    run = opened(hall, ticket)
    go(hall, run)
    head, files = hall.services.store.head(), tree(hall.home.path / "deliveries")
    project = tree(hall.home.project)
    assert "completed" == go(hall, run).state
    for step in ("photoshop_1", "unity_1"):
        outcome = do(hall, run, step)
        reported = [e for e in hall.services.reload(run).events if e.type == "task.result"]
        assert outcome.replayed
        assert outcome.event in {event.digest for event in reported}
    assert (head, files, project) == (
        hall.services.store.head(),
        tree(hall.home.path / "deliveries"),
        tree(hall.home.project),
    )


@pytest.mark.parametrize("changed", [OFFER, ICON.format("starter_pack")])
def test_target_changed_since(hall, ticket, changed):
    """What was verified before is looked at again: a target that others changed is a conflict and kept."""
    run = opened(hall, ticket)
    go(hall, run, "unity_1 checks")
    path = hall.home.project / changed
    path.write_bytes(path.read_bytes() + b"\n")
    head = hall.services.store.head()
    for step in ("unity_1", "verdict"):
        with pytest.raises(Conflict) as found:
            do(hall, run, step)
        assert found.value.code == "supervisor.target_changed"
    assert head == hall.services.store.head()
    path.write_bytes(path.read_bytes()[:-1])
    assert "completed" == go(hall, run).state


def test_stored_bytes_changed_since(hall, ticket):
    """An artifact whose stored bytes are damaged is not handed on."""
    run = opened(hall, ticket)
    outcome = go(hall, run, "photoshop_1 checks").task("photoshop_1")
    png = next(item for item in outcome.result.artifacts if item.kind == "png")
    path = hall.services.artifacts.path(png.digest)
    path.chmod(stat.S_IWRITE | stat.S_IREAD)
    path.write_bytes(b"damaged")
    for step in ("photoshop_1", "icon_handoff"):
        with pytest.raises(CheckFailed) as found:
            do(hall, run, step)
        assert found.value.code == "artifact.corrupt"


def test_changed_underneath(hall, ticket, monkeypatch):
    """A file that changes between staging and commit is left alone; the run ends at exactly that."""
    run = opened(hall, ticket)
    go(hall, run, "icon_handoff")
    path = hall.home.project / OFFER
    plain = HeadlessUnity.commit

    def commit(self, stage, staged, transaction):
        path.write_bytes(path.read_bytes() + b"# mine\n")
        return plain(self, stage, staged, transaction)

    monkeypatch.setattr(HeadlessUnity, "commit", commit)
    before = tree(hall.home.project)
    with pytest.raises(Conflict) as found:
        do(hall, run, "unity_1")
    monkeypatch.undo()
    record = hall.services.reload(run)
    after = tree(hall.home.project)
    assert {OFFER} == {item for item in before if before[item] != after[item]}
    assert path.read_bytes().endswith(b"# mine\n")
    assert before.keys() == after.keys()
    assert ("transaction.changed_underneath", "failed") == (found.value.code, record.state)
    assert [] == leftovers(hall.home.path)


def test_stage_fails(hall, ticket, monkeypatch):
    """A typed failure of a provider ends task and run together, with nothing written or left."""

    def stage(_self, _plan, folder):
        (folder / "half").write_bytes(b"half")
        raise OperationFailed("photoshop.time_limit", "too long", mend="wait")

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)
    run = opened(hall, ticket)
    go(hall, run, "asset_decision")
    with pytest.raises(OperationFailed) as found:
        do(hall, run, "photoshop_1")
    record = hall.services.reload(run)
    assert ("photoshop.time_limit", "failed") == (found.value.code, record.state)
    assert ["task.issued", "task.result", "run.failed"] == kinds(record)[-3:]
    assert "photoshop.time_limit" == record.task("photoshop_1").result.failure["code"]
    assert [] == leftovers(hall.home.path)


def test_reopened_after_a_mend(hall, ticket, monkeypatch):
    """A failed run that is run again repeats what failed and nothing that had succeeded."""
    from governed import GRAPH

    from fabric_dagster.supervisor.failures import reopen

    run = opened(hall, ticket)
    go(hall, run, "icon_handoff")
    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "stage", _fails("unity.reference_missing"))
        with pytest.raises(OperationFailed):
            do(hall, run, "unity_1")
    record = reopen(hall.services, hall.workflow(GRAPH), hall.services.reload(run), "operator")
    assert ("running", []) == (record.state, record.unresolved)
    assert "completed" == go(hall, run).state
    states = [(item.task.partition, item.state) for item in hall.services.reload(run).tasks]
    done = [("photoshop_1", "succeeded"), ("unity_1", "abandoned"), ("unity_1", "succeeded")]
    assert [*done, ("verdict", "succeeded")] == states


def _fails(code):
    def fails(*_args, **_kwargs):
        raise OperationFailed(code, "planted")

    return fails


def test_postcondition_does_not_hold(hall, ticket, monkeypatch):
    """A provider's success is no proof: what is not as planned is taken back."""
    run = opened(hall, ticket)
    go(hall, run, "icon_handoff")
    before = tree(hall.home.project)
    broken = Observation("the sprite", "wired", "not wired", holds=False)
    monkeypatch.setattr(HeadlessUnity, "observe", lambda *_args: (broken,))
    with pytest.raises(OperationFailed) as found:
        do(hall, run, "unity_1")
    record = hall.services.reload(run)
    assert ("unity.postcondition_failed", "failed") == (found.value.code, record.state)
    assert before == tree(hall.home.project)
    assert broken.as_dict() in [item.model_dump() for item in record.task("unity_1").result.observations]


def test_source_written_to(hall, ticket, monkeypatch):
    """A provider that writes to its source is caught before anything is committed."""
    plain = HeadlessPhotoshop.stage

    def stage(self, plan, folder):
        found = plain(self, plan, folder)
        source = folder / plan.inputs[0].path
        source.chmod(stat.S_IWRITE | stat.S_IREAD)
        source.write_bytes(b"touched")
        return found

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)
    run = opened(hall, ticket)
    go(hall, run, "asset_decision")
    with pytest.raises(OperationFailed) as found:
        do(hall, run, "photoshop_1")
    assert found.value.code == "supervisor.source_changed"
    assert "commit.begun" not in kinds(hall.services.reload(run))


def test_left_by_a_dead_process(hall, ticket, monkeypatch):
    """Issued and never begun to commit: abandoned, its stage swept, the same choices bound again."""
    run = opened(hall, ticket)
    go(hall, run, "icon_handoff")
    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "stage", _dies)
        with pytest.raises(KeyboardInterrupt):
            do(hall, run, "unity_1")
    plan = hall.services.reload(run).task("unity_1").task.plan
    record = go(hall, run)
    tasks = [item for item in record.tasks if item.task.partition == "unity_1"]
    assert ["abandoned", "succeeded"] == [item.state for item in tasks]
    assert [1, 2] == [item.task.attempt for item in tasks]
    assert [plan, plan] == [item.task.plan for item in tasks]
    assert [] == leftovers(hall.home.path)


def _dies(*_args, **_kwargs):
    raise KeyboardInterrupt


@pytest.mark.parametrize("times", [1, 2, 3])
def test_recovery_edge(hall, ticket, monkeypatch, times):
    """``photoshop.worker_died`` is followed as often as the edge says (twice), then the run ends."""
    plain, deaths = HeadlessPhotoshop.stage, iter(range(times))

    def stage(self, plan, folder):
        if next(deaths, None) is not None:
            raise OperationFailed("photoshop.worker_died", "the worker ended")
        return plain(self, plan, folder)

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)
    run = opened(hall, ticket)
    go(hall, run, "asset_decision")
    for _ in range(times):
        with pytest.raises(OperationFailed) as found:
            do(hall, run, "photoshop_1")
        assert found.value.code == "photoshop.worker_died"
    record = hall.services.reload(run)
    assert min(times, 2) == kinds(record).count("recovery.followed")
    if times > 2:
        assert ("failed", "run.failed") == (record.state, kinds(record)[-1])
        return
    assert "completed" == go(hall, run).state
    assert times + 1 == len([t for t in hall.services.reload(run).tasks if t.task.partition == "photoshop_1"])


def test_recovery_voids_what_was_sealed(hall, ticket):
    """When a partition is reset, the handoff that was sealed from it is void, and is sealed anew."""
    from governed import GRAPH

    from fabric_dagster.supervisor.failures import dependants

    run = opened(hall, ticket)
    record = go(hall, run, "icon_handoff")
    reset = dependants(hall.workflow(GRAPH).compiled, "photoshop_1")
    assert ["photoshop_1", "icon_handoff", "unity_1", "verdict"] == reset
    body = {"on": "x.y", "at": "import_icon", "resume": "open_template", "attempt": 1, "reset": reset}
    hall.services.append(record, "recovery.followed", body)
    assert ({}, "abandoned") == (record.handoffs, record.task("photoshop_1").state)
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "unity_1")
    assert found.value.code == "supervisor.out_of_order"
    record = go(hall, run)
    assert ("completed", 2) == (record.state, kinds(record).count("handoff.sealed"))
    assert [] == leftovers(hall.home.path)


@pytest.mark.parametrize("where", ["stage", "store", "commit"])
def test_disk_full(hall, ticket, monkeypatch, where):
    """A full disk is a typed failure wherever it is met; after space was made the run goes on."""
    run = opened(hall, ticket)
    go(hall, run, "icon_handoff")
    before = tree(hall.home.project)

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        if where == "stage":
            patch.setattr("fabric_dagster.supervisor.binding.shutil.copyfile", full)
        elif where == "store":
            patch.setattr(FolderArtifactStore, "put_bytes", full)
        else:
            patch.setattr("resources.files.transaction.copy_durably", full)
        with pytest.raises(OperationFailed) as found:
            do(hall, run, "unity_1")
    assert found.value.code in {"supervisor.disk", "transaction.disk"}
    assert before == tree(hall.home.project)
    record = hall.services.reload(run)
    if record.state == "failed":
        from governed import GRAPH

        from fabric_dagster.supervisor.failures import reopen

        reopen(hall.services, hall.workflow(GRAPH), record, "operator")
    assert "completed" == go(hall, run).state
    assert [] == leftovers(hall.home.path)


def test_read_only_file(hall, ticket):
    """A file that is not checked out is not written: a typed failure, everything as it was."""
    run = opened(hall, ticket)
    go(hall, run, "icon_handoff")
    path = hall.home.project / OFFER
    path.chmod(stat.S_IREAD)
    before = tree(hall.home.project)
    with pytest.raises(OperationFailed) as found:
        do(hall, run, "unity_1")
    assert found.value.code == "transaction.read_only"
    assert (before, "failed") == (tree(hall.home.project), hall.services.reload(run).state)
