"""Recovery across Photoshop and Unity: what is reset, what is taken back, and what counts as recovered."""

import pytest
from governed import GRAPH, do, go, kinds, leftovers, opened, tree, write_ticket

from fabric_dagster.errors import CheckFailed, NeedsPerson, OperationFailed
from fabric_dagster.supervisor import judging
from fabric_dagster.supervisor.reconciliation import reconcile
from resources.unity.provider import HeadlessUnity


@pytest.fixture
def unity_refuses(monkeypatch):
    """How often Unity refuses the picture's size, by what is put in."""
    plain, left = HeadlessUnity.stage, []

    def stage(self, plan, folder):
        if left:
            raise OperationFailed(left.pop(), "the picture is 3 by 3 pixels")
        return plain(self, plan, folder)

    monkeypatch.setattr(HeadlessUnity, "stage", stage)
    return left


@pytest.fixture
def misjudged(hall):
    """Let checks fail: ``misjudged(check, params)``; ``misjudged()`` puts everything right."""
    checks = hall.workflow(GRAPH).pack.pack.checks
    plain = dict(checks)

    def change(name=None, **params):
        checks.update(plain)
        if name is not None:
            checks[name] = params

    yield change
    change()


def wrong_title(misjudged):
    """The game must not say what the ticket says: goal_met fails."""
    misjudged("goal_met@1", icon="icon", texts={"displayName": "offer_id"})


def states(record, partition):
    """The states of a partition's tasks."""
    return [item.state for item in record.tasks if item.task.partition == partition]


def test_unity_cannot_take_the_picture(hall, ticket, unity_refuses):
    """A failure in Unity that Photoshop must mend resets both; what was verified above is not repeated."""
    run = opened(hall, ticket)
    go(hall, run, "icon_handoff")
    unity_refuses.append("unity.dimensions")
    with pytest.raises(OperationFailed) as found:
        do(hall, run, "unity_1")
    record = hall.services.reload(run)
    assert ("unity.dimensions", "running", {}) == (found.value.code, record.state, record.handoffs)
    assert ["task.result", "recovery.followed"] == kinds(record)[-2:]
    assert ["photoshop_1", "icon_handoff", "unity_1", "verdict"] == record.events[-1].body["reset"]
    record = go(hall, run)
    assert ("completed", ["abandoned", "succeeded"], ["abandoned", "succeeded"]) == (
        record.state,
        states(record, "photoshop_1"),
        states(record, "unity_1"),
    )
    assert 1 == kinds(record).count("decision.made")
    assert 2 == kinds(record).count("handoff.sealed")
    assert [] == leftovers(hall.home.path)


def test_attempts_end(hall, ticket, unity_refuses):
    """The edge may be followed once: the second failure ends the run at exactly that, nothing written."""
    before = tree(hall.home.project)
    run = opened(hall, ticket)
    unity_refuses.extend(["unity.dimensions"] * 2)
    for _ in range(2):
        with pytest.raises(OperationFailed):
            go(hall, run)
    record = hall.services.reload(run)
    assert ("failed", 1, before) == (record.state, sum(record.recoveries.values()), tree(hall.home.project))
    assert "unity.dimensions" in record.unresolved[0]


def test_failed_check_recovers(hall, ticket, misjudged):
    """A check fails in Unity because of the picture: the import is undone and all is made and judged anew."""
    before = tree(hall.home.project)
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    wrong_title(misjudged)
    assert not do(hall, run, "unity_1 checks").passed
    misjudged()
    record = hall.services.reload(run)
    assert ("running", before, {}) == (record.state, tree(hall.home.project), record.handoffs)
    expected = ["verdict.recorded", "compensation.begun", "compensation.done", "recovery.followed"]
    assert expected == kinds(record)[-4:]
    assert record.verdict("photoshop_1") is None or record.task("photoshop_1").state == "abandoned"
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "icon_handoff")
    assert found.value.code == "supervisor.out_of_order"
    record = go(hall, run)
    assert ("completed", ["abandoned", "succeeded"]) == (record.state, states(record, "unity_1"))
    judged = [(item.side, item.passed) for item in record.verdicts]
    sides = [("photoshop_1", True), ("unity_1", False), ("photoshop_1", True), ("unity_1", True)]
    assert [*sides, ("run", True)] == judged


def test_still_wrong_is_no_success(hall, ticket, misjudged):
    """Made anew and wrong again: no retried ok counts, the run ends at the check and nothing stands."""
    before = tree(hall.home.project)
    run = opened(hall, ticket)
    wrong_title(misjudged)
    for _ in range(2):
        go(hall, run, "unity_1 checks")
    record = hall.services.reload(run)
    assert ("failed", before) == (record.state, tree(hall.home.project))
    assert "goal_met@1" in record.unresolved[0]
    assert [] == leftovers(hall.home.path)


def test_a_check_without_an_edge_ends_it(hall, ticket, misjudged):
    """Where one failed check has an edge and another has none, nothing is followed."""
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    wrong_title(misjudged)
    hall.workflow(GRAPH).pack.pack.checks["project_diff@1"] = {"properties": ["icon"]}
    do(hall, run, "unity_1 checks")
    record = hall.services.reload(run)
    assert ("failed", 0, 2) == (
        record.state,
        kinds(record).count("recovery.followed"),
        len(record.unresolved),
    )


@pytest.mark.parametrize("died", ["before", "after"])
def test_died_while_taking_back(hall, ticket, misjudged, monkeypatch, died):
    """Killed amidst the undo: somebody looks first, then the edge is followed, from the spine alone."""
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    plain = HeadlessUnity.undo

    def undo(self, transaction):
        if died == "after":
            plain(self, transaction)
        raise KeyboardInterrupt

    wrong_title(misjudged)
    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "undo", undo)
        with pytest.raises(KeyboardInterrupt):
            do(hall, run, "unity_1 checks")
    with pytest.raises(NeedsPerson):
        do(hall, run, "unity_1")
    record = reconcile(hall.services, run)
    assert {"before": "succeeded", "after": "compensated"}[died] == record.task("unity_1").state
    if died == "after":
        misjudged()
        with pytest.raises(CheckFailed) as found:
            go(hall, run)
        assert found.value.code == "fabric.verdict_failed"
    else:
        do(hall, run, "unity_1 checks")
        misjudged()
    assert "recovery.followed" == kinds(hall.services.reload(run))[-1]
    record = go(hall, run)
    assert ("completed", 1) == (record.state, sum(record.recoveries.values()))


def test_whole_run_fails(hall, ticket, monkeypatch):
    """A handoff from a source that is none of the run's: the whole run's verdict takes everything back."""
    before = tree(hall.home.project)
    run = opened(hall, ticket)
    go(hall, run, "unity_1 checks")
    plain = judging.run_evidence

    def foreign(*args):
        evidence = plain(*args)
        sealed = evidence.handoffs["icon_handoff"]
        other = sealed.model_copy(update={"lineage": {**sealed.lineage, "art": "sha256:" + "3" * 64}})
        return evidence.model_copy(update={"handoffs": {"icon_handoff": other}})

    monkeypatch.setattr(judging, "run_evidence", foreign)
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "verdict")
    record = hall.services.reload(run)
    assert ("fabric.verdict_failed", "failed") == (found.value.code, record.state)
    assert "handoffs_delivered@1" in record.unresolved[0]
    assert ("failed", "compensated") == (record.task("verdict").state, record.task("unity_1").state)
    assert before == tree(hall.home.project)


def test_whole_run_is_the_validators(hall, ticket):
    """The verdict on the whole run is a task of the validator's, signed by its key, on all bytes."""
    record = go(hall, opened(hall, ticket))
    task, verdict = record.judging(), record.verdict("run")
    assert ("fabric/validator", "verdict", "succeeded") == (
        task.task.specialist,
        task.task.partition,
        task.state,
    )
    said, evidence = judging.trusted_verdict(hall.services, record, verdict)
    names = {item.id for item in said.checks}
    assert {
        "goal_met@1",
        "project_diff@1",
        "source_untouched@1",
        "handoffs_delivered@1",
        "sides_judged@1",
    } <= names
    assert {"photoshop_1", "unity_1"} == set(evidence.verdicts)
    assert verdict.envelope == record.events[-1].body["verdicts"][-1]


def test_nothing_completes_without_it(hall, ticket):
    """Whoever appends it: a completion without the whole run's passed verdict is refused."""
    run = opened(hall, ticket)
    record = go(hall, run, "unity_1 checks")
    with pytest.raises(CheckFailed) as found:
        hall.services.append(record, "run.completed", {"verdicts": [], "unresolved": []})
    assert ("fabric.verdict_missing", "running") == (found.value.code, hall.services.reload(run).state)


def test_validator_did_not_answer(hall, ticket, monkeypatch):
    """A validator that is away leaves the run waiting; its task is issued anew when it is back."""

    def away(*_args, **_kwargs):
        raise OperationFailed("validator.unavailable", "it does not answer")

    run = opened(hall, ticket)
    go(hall, run, "unity_1 checks")
    with monkeypatch.context() as patch:
        patch.setattr(type(hall.services.judge), "judge", away)
        with pytest.raises(OperationFailed):
            do(hall, run, "verdict")
    assert "running" == hall.services.reload(run).state
    record = go(hall, run)
    assert ("completed", ["abandoned", "succeeded"]) == (record.state, states(record, "verdict"))


@pytest.fixture
def other(tmp_path):
    """A ticket of another offer in the same project."""
    return write_ticket(tmp_path / "tickets", "OFFER-777", offer_id="mega_bundle", title="Mega Bundle")


def test_another_run_in_between_is_no_surprise(hall, ticket, other):
    """What another governed run changes after the manifest is not this run's; a person's edit is."""
    run, second = opened(hall, ticket), opened(hall, other)
    go(hall, run, "unity_1")
    go(hall, second, "unity_1")
    assert "completed" == go(hall, second).state
    assert do(hall, run, "unity_1 checks").passed
    path = hall.home.project / "Assets/Data/Offers/daily_deal.asset"
    path.write_bytes(path.read_bytes() + b"# theirs\n")
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "verdict")
    assert "daily_deal" in str(found.value)


def test_taken_back_in_between(hall, ticket, other, misjudged):
    """Another run's import that was undone meanwhile counts as it is now, too."""
    run, second = opened(hall, ticket), opened(hall, other)
    go(hall, second, "unity_1")
    go(hall, run, "unity_1")
    wrong_title(misjudged)
    do(hall, second, "unity_1 checks")
    misjudged()
    assert "completed" == go(hall, run).state
    assert "completed" == go(hall, second).state


def test_unknown_in_between_waits_for_a_person(hall, ticket, other, monkeypatch):
    """While another run's commit has no known end, nobody is judged by the tree: exit 4 names that run."""
    run, second = opened(hall, ticket), opened(hall, other)
    go(hall, run, "unity_1")
    go(hall, second, "icon_handoff")
    plain = HeadlessUnity.commit

    def commit(self, *args):
        plain(self, *args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "commit", commit)
        with pytest.raises(KeyboardInterrupt):
            do(hall, second, "unity_1")
    with pytest.raises(NeedsPerson) as found:
        do(hall, run, "unity_1 checks")
    assert second[7:19] in found.value.faults[0].mend
    reconcile(hall.services, second)
    assert "completed" == go(hall, run).state
    assert "completed" == go(hall, second).state
