"""Verdicts: believed for their signature and subject alone, and what follows when one fails."""

import base64
import json

import pytest
from governed import ASSET, GRAPH, do, go, kinds, leftovers, opened, tree

from fabric_dagster.errors import CheckFailed, NeedsPerson, OperationFailed, Refused
from fabric_dagster.supervisor.projection import stream_of
from resources.unity.provider import HeadlessUnity
from resources.validator.client import ValidatorClient

OFFER = ASSET.format("starter_pack")
ELSEWHERE = ASSET.format("mega_bundle")


@pytest.fixture
def strict(hall):
    """A pack whose integration fails: the title may not change, though the ticket asks for one."""
    checks = hall.workflow(GRAPH).pack.pack.checks
    plain = checks["project_diff@1"]
    checks["project_diff@1"] = {"properties": ["icon"]}
    yield checks
    checks["project_diff@1"] = plain


@pytest.mark.usefixtures("strict")
def test_failed_verdict_is_taken_back(hall, ticket):
    """A failed verdict undoes the Unity transaction byte for byte and ends the run at its checks."""
    before = tree(hall.home.project)
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    assert before != tree(hall.home.project)
    verdict = do(hall, run, "unity_1 checks")
    record = hall.services.reload(run)
    assert (False, "failed", "compensated") == (verdict.passed, record.state, record.task("unity_1").state)
    assert before == tree(hall.home.project)
    assert ["verdict.recorded", "compensation.begun", "compensation.done", "run.failed"] == kinds(record)[-4:]
    assert "project_diff@1" in record.unresolved[0]
    assert record.events[-1].body["code"] == "fabric.verdict_failed"
    assert [] == leftovers(hall.home.path)


def test_tampered_between_commit_and_judge(hall, ticket):
    """Somebody's edit of another file between commit and judging is found, kept, and ours taken back."""
    before = tree(hall.home.project)
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    other = hall.home.project / ELSEWHERE
    other.write_bytes(other.read_bytes() + b"# theirs\n")
    assert not do(hall, run, "unity_1 checks").passed
    after = tree(hall.home.project)
    assert {ELSEWHERE} == {path for path in before if before[path] != after[path]}
    assert before.keys() == after.keys()


def test_failed_export_delivers_nothing_on(hall, ticket, monkeypatch):
    """A failed verdict on the export ends the run before anything is sealed or imported."""
    from fabric_dagster.supervisor import judging

    plain = judging.side_evidence

    def evidence(*args):
        found = plain(*args)
        art = found.ticket_files["art"]
        return found.model_copy(
            update={"artifacts": {**found.artifacts, "export_icon.png": art}}  # another picture
        )

    monkeypatch.setattr(judging, "side_evidence", evidence)
    run = opened(hall, ticket)
    go(hall, run, "photoshop_1")
    assert not do(hall, run, "photoshop_1 checks").passed
    record = hall.services.reload(run)
    assert ("failed", {}) == (record.state, record.handoffs)
    monkeypatch.undo()
    with pytest.raises(Refused) as found:
        do(hall, run, "icon_handoff")
    assert "run.ended" == found.value.code


def test_run_again_after_a_failed_verdict(hall, ticket, strict):
    """Reopened after the mend, only the failed side is done again."""
    from fabric_dagster.supervisor.failures import reopen

    run = opened(hall, ticket)
    go(hall, run, "unity_1 checks")
    strict["project_diff@1"] = {"properties": ["icon", "displayName"]}
    reopen(hall.services, hall.workflow(GRAPH), hall.services.reload(run), "operator")
    record = go(hall, run)
    assert "completed" == record.state
    assert ["photoshop_1", "unity_1", "unity_1", "verdict"] == [item.task.partition for item in record.tasks]
    assert [] == leftovers(hall.home.path)


@pytest.mark.usefixtures("strict")
def test_refused_undo_waits(hall, ticket):
    """Where the bytes are no longer ours nothing is taken back: a person looks, exit 4."""
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    path = hall.home.project / OFFER
    path.write_bytes(path.read_bytes() + b"# mine\n")
    mine = tree(hall.home.project)
    with pytest.raises(NeedsPerson) as found:
        do(hall, run, "unity_1 checks")
    record = hall.services.reload(run)
    assert ("run.reconciliation_required", 4) == (found.value.code, found.value.exit_code)
    assert ("reconciliation_required", mine) == (record.state, tree(hall.home.project))
    for step in ("unity_1", "unity_1 checks", "verdict"):
        with pytest.raises(NeedsPerson):
            do(hall, run, step)


def test_validator_unavailable(hall, ticket, monkeypatch):
    """No verdict is no pass: the run waits where it is and goes on when the validator is there."""

    def judge(*_args, **_kwargs):
        raise OperationFailed("validator.unavailable", "it does not answer")

    run = opened(hall, ticket)
    go(hall, run, "photoshop_1")
    with monkeypatch.context() as patch:
        patch.setattr(ValidatorClient, "judge", judge)
        with pytest.raises(OperationFailed):
            do(hall, run, "photoshop_1 checks")
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "icon_handoff")
    assert found.value.code == "fabric.verdict_missing"
    assert "completed" == go(hall, run).state


def forged(envelope, _hall):
    """The verdict turned into a pass, with the old signature."""
    payload = json.loads(base64.b64decode(envelope["payload"]))
    payload["predicate"]["passed"] = True
    for check in payload["predicate"]["checks"]:
        check["passed"] = True
    return {**envelope, "payload": base64.b64encode(json.dumps(payload).encode()).decode()}


def by_the_runtime(envelope, hall_):
    """The same verdict, signed by the runtime's key."""
    from fabric_dagster.digests import dsse_sign

    signer = hall_.services.runtime
    payload = base64.b64decode(envelope["payload"])
    return dsse_sign(envelope["payloadType"], payload, signer.keyid, signer.sign)


@pytest.mark.parametrize("forge", [forged, by_the_runtime])
def test_forged_verdict(hall, ticket, monkeypatch, forge):
    """A verdict that the validator's key did not sign is none."""
    plain = ValidatorClient.judge
    monkeypatch.setattr(
        ValidatorClient, "judge", lambda self, *args, **kwargs: forge(plain(self, *args, **kwargs), hall)
    )
    run = opened(hall, ticket)
    go(hall, run, "photoshop_1")
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "photoshop_1 checks")
    assert found.value.code in {"envelope.untrusted", "dsse.untrusted", "verdict.invalid"}
    assert "verdict.recorded" not in kinds(hall.services.reload(run))


def test_verdict_of_another_side_or_time(hall, ticket, monkeypatch):
    """A true verdict, given on something else, is refused: each is bound to its exact evidence."""
    plain, kept = ValidatorClient.judge, []

    def judge(self, evidence, out, **kwargs):
        kept.append(plain(self, evidence, out, **kwargs))
        return kept[0]

    monkeypatch.setattr(ValidatorClient, "judge", judge)
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "unity_1 checks")
    assert found.value.code == "verdict.other_evidence"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"run": "sha256:" + "1" * 64}, "verdict.other_evidence"),
        ({"side": "unity_1"}, "verdict.other_evidence"),
    ],
)
def test_recorded_verdict_is_verified_again(hall, ticket, change, code):
    """An event that cites a verdict for other evidence lets nothing through, though the runtime signed it."""
    run = opened(hall, ticket)
    record = go(hall, run, "photoshop_1")
    from fabric_dagster.digests import canonical
    from fabric_dagster.supervisor import judging

    services, workflow = hall.services, hall.workflow(GRAPH)
    task = record.task("photoshop_1")
    commission = hall.authorize(workflow)
    evidence = judging.side_evidence(services, workflow, record, "photoshop_1", commission)
    verdict, envelope = judging._ask(services, evidence)
    other = evidence.model_copy(update=change)
    body = {
        "side": "photoshop_1",
        "task": task.digest,
        "passed": True,
        "envelope": envelope,
        "evidence": services.artifacts.put_bytes(canonical(other.body())),
        "failed": [],
    }
    services.append(record, "verdict.recorded", body)
    assert verdict.passed
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "icon_handoff")
    assert code == found.value.code


def test_handoff_needs_the_judged_bytes(hall, ticket, monkeypatch):
    """A verdict on other bytes than those that would be sealed is not enough."""
    from fabric_dagster.supervisor import controls

    run = opened(hall, ticket)
    go(hall, run, "photoshop_1 checks")
    plain = controls.trusted_verdict

    def other_bytes(*args):
        verdict, evidence = plain(*args)
        facts = {
            name: fact.model_copy(update={"digest": "sha256:" + "2" * 64})
            for name, fact in evidence.artifacts.items()
        }
        return verdict, evidence.model_copy(update={"artifacts": facts})

    monkeypatch.setattr(controls, "trusted_verdict", other_bytes)
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "icon_handoff")
    assert found.value.code == "fabric.verdict_missing"


def test_completion_needs_every_verdict(hall, ticket):
    """With one side's verdict missing the run does not complete."""
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    with pytest.raises(CheckFailed) as found:
        do(hall, run, "verdict")
    assert ("fabric.verdict_missing", "running") == (found.value.code, hall.services.reload(run).state)
    assert "run.completed" not in [e.type for e in hall.services.store.read(stream_of(run))]


@pytest.mark.usefixtures("strict")
def test_undo_that_died(hall, ticket, monkeypatch):
    """Killed in the middle of taking back: unknown, looked at, and then the run ends at its verdict."""
    from fabric_dagster.supervisor.reconciliation import reconcile

    before = tree(hall.home.project)
    run = opened(hall, ticket)
    go(hall, run, "unity_1")
    written = tree(hall.home.project)
    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "undo", _dies)
        with pytest.raises(KeyboardInterrupt):
            do(hall, run, "unity_1 checks")
    with pytest.raises(NeedsPerson):
        do(hall, run, "unity_1")
    record = reconcile(hall.services, run)
    assert ("running", "succeeded", written) == (
        record.state,
        record.task("unity_1").state,
        tree(hall.home.project),
    )
    do(hall, run, "unity_1 checks")
    record = hall.services.reload(run)
    assert ("failed", "compensated", before) == (
        record.state,
        record.task("unity_1").state,
        tree(hall.home.project),
    )


def _dies(*_args, **_kwargs):
    raise KeyboardInterrupt
