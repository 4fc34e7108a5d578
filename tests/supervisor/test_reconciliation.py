"""Unknown completion: who may look, what is decided from what stands there, and that nothing is repeated."""

import json

import pytest
from governed import ASSET, do, go, kinds, leftovers, opened, tree

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import NeedsPerson, OperationFailed, Refused, UsageFault
from fabric_dagster.spine.ports import NewEvent
from fabric_dagster.supervisor.projection import stream_of
from fabric_dagster.supervisor.reconciliation import reconcile
from resources.files.transaction import FileTransactions
from resources.unity.provider import HeadlessUnity

OFFER = ASSET.format("starter_pack")
#: where the commit dies → what the validator sees, and what is decided.
DEATHS = {
    "before": ("before", "dismissed"),
    "backup": ("before", "dismissed"),
    "write": ("before", "dismissed"),
    "replace": ("before", "dismissed"),
    "mark": ("after", "adopted"),
    "after": ("after", "adopted"),
}


class Died(BaseException):
    """Stands for ``kill -9`` within a process: no handler of the code under test may see it."""


def die(hall, run, monkeypatch, death):
    """Let the commit of the Unity partition die at ``death``."""
    go(hall, run, "icon_handoff")
    with monkeypatch.context() as patch:
        plain = HeadlessUnity.commit
        if death in {"before", "after"}:

            def commit(self, *args):
                if death == "after":
                    plain(self, *args)
                raise Died

            patch.setattr(HeadlessUnity, "commit", commit)
        else:
            _die_inside(patch, death)
        with pytest.raises(Died):
            do(hall, run, "unity_1")


def _die_inside(patch, death):
    """Die in the middle of the files, with no rollback: as when the process is gone."""
    made = FileTransactions.__init__

    def init(self, root, journals, **kwargs):
        def hook(step):
            # In the second file, so that the first is in place already; there is one backup and one mark.
            kind, _, number = step.partition(":")
            if kind == death and (number == "1" or kind in {"backup", "mark"}):
                raise Died

        made(self, root, journals, **{**kwargs, "hook": hook})

    patch.setattr(FileTransactions, "__init__", init)
    patch.setattr(FileTransactions, "_give_up", _gone)


def _gone(_self, _plan, _folder, fault):
    raise fault


def operator(hall):
    """A person who may look."""
    return hall.home.signer("operator")


@pytest.mark.parametrize("death", DEATHS)
def test_every_decision(hall, ticket, monkeypatch, death):
    """What stands there decides; then the run goes on, and each effect was made once."""
    before = tree(hall.home.project)
    run = opened(hall, ticket)
    die(hall, run, monkeypatch, death)
    with pytest.raises(NeedsPerson) as found:
        do(hall, run, "unity_1")
    assert ("run.reconciliation_required", 4) == (found.value.code, found.value.exit_code)
    with pytest.raises(NeedsPerson):  # it stays so
        do(hall, run, "unity_1")
    record = reconcile(hall.services, run)
    standing, decision = DEATHS[death]
    seen = record.events[-1]
    assert (standing, decision, "validator") == (seen.body["standing"], seen.body["decision"], seen.actor)
    if standing == "before":
        assert before == tree(hall.home.project)
    record = go(hall, run)
    assert "completed" == record.state
    begun = kinds(record).count("commit.begun")
    assert begun == 2 + (decision == "dismissed")
    assert [] == leftovers(hall.home.path)
    assert hall.services.store.verify().sound


def test_without_a_run_in_between(hall, ticket, monkeypatch):
    """``reconcile`` right after the death records by itself that the completion is unknown."""
    run = opened(hall, ticket)
    die(hall, run, monkeypatch, "after")
    record = reconcile(hall.services, run)
    assert ["reconciliation.required", "reconciliation.observed"] == kinds(record)[-2:]
    assert ["runtime", "validator"] == [event.actor for event in record.events[-2:]]


def test_foreign_bytes_wait_for_a_person(hall, ticket, monkeypatch):
    """Bytes of somebody else's: nothing is decided or touched without a person's account of them."""
    run = opened(hall, ticket)
    die(hall, run, monkeypatch, "replace")
    path = hall.home.project / OFFER
    path.write_bytes(b"%YAML 1.1\n# mine\n")
    for _ in range(2):
        with pytest.raises(NeedsPerson) as found:
            reconcile(hall.services, run)
        assert "foreign" in found.value.faults[0].what
    assert "reconciliation.observed" not in kinds(hall.services.reload(run))
    assert b"%YAML 1.1\n# mine\n" == path.read_bytes()


@pytest.mark.parametrize(
    "account",
    [
        {},
        {"standing": "before"},
        {"standing": "perhaps", "note": "x"},
        {"standing": "before", "note": 3},
        [],
        "x",
    ],
)
def test_account_that_is_none(hall, ticket, monkeypatch, account):
    """An account must say what stands there, and why."""
    run = opened(hall, ticket)
    die(hall, run, monkeypatch, "replace")
    (hall.home.project / OFFER).write_bytes(b"mine")
    with pytest.raises(UsageFault) as found:
        reconcile(hall.services, run, operator(hall), account)
    assert found.value.code == "reconcile.observed"


def test_a_person_settles_it(hall, ticket, monkeypatch):
    """With a person's account the interrupted journal ends, no file is touched, and the run goes on."""
    run = opened(hall, ticket)
    path = hall.home.project / OFFER
    original = path.read_bytes()
    die(hall, run, monkeypatch, "replace")
    mine = original.replace(b"price: 4.99", b"price: 3.99")
    path.write_bytes(mine)
    account = {"standing": "before", "note": "the price was changed by hand meanwhile"}
    record = reconcile(hall.services, run, operator(hall), account)
    assert ("dismissed", account["note"]) == (
        record.events[-1].body["decision"],
        record.events[-1].body["account"]["note"],
    )
    assert mine == path.read_bytes()
    record = go(hall, run)
    assert "completed" == record.state
    assert b"price: 3.99" in path.read_bytes()
    assert [] == leftovers(hall.home.path)


def test_bytes_outweigh_an_account(hall, ticket, monkeypatch):
    """Where the bytes speak for themselves, what a person says of them is not asked."""
    run = opened(hall, ticket)
    die(hall, run, monkeypatch, "after")
    account = {"standing": "before", "note": "I believe nothing happened"}
    record = reconcile(hall.services, run, operator(hall), account)
    assert ("after", "adopted") == (
        record.events[-1].body["standing"],
        record.events[-1].body["decision"],
    )


@pytest.mark.parametrize(
    ("who", "code"),
    [
        ("runtime", "authority.not_independent"),
        ("builder", "authority.denied"),
        ("approver", "authority.denied"),
    ],
)
def test_who_may_not_look(hall, ticket, monkeypatch, who, code):
    """The runtime never reconciles its own work, and nobody does whose role does not say so."""
    run = opened(hall, ticket)
    die(hall, run, monkeypatch, "after")
    head = hall.services.store.head()
    with pytest.raises(Refused) as found:
        reconcile(hall.services, run, hall.home.signer(who))
    assert (code, 3, head) == (found.value.code, found.value.exit_code, hall.services.store.head())


class Disguised:
    """The runtime's key under another name."""

    def __init__(self, signer):
        self.identity, self.keyid, self.sign = "validator", signer.keyid, signer.sign


def test_the_runtime_in_disguise(hall, ticket, monkeypatch):
    """Identities are keys, not names."""
    run = opened(hall, ticket)
    die(hall, run, monkeypatch, "after")
    with pytest.raises(Refused) as found:
        reconcile(hall.services, run, Disguised(hall.services.runtime))
    assert found.value.code == "authority.not_independent"


def test_nothing_is_mutated(hall, ticket, monkeypatch):
    """Reconciliation never stages and never commits, whoever looks: only the journal may restore."""

    def never(*_args, **_kwargs):
        pytest.fail("a mutation was called")

    run = opened(hall, ticket)
    die(hall, run, monkeypatch, "write")
    for name in ("stage", "commit", "undo", "allocate"):
        monkeypatch.setattr(HeadlessUnity, name, never)
    record = reconcile(hall.services, run)
    assert "dismissed" == record.events[-1].body["decision"]


def test_the_validator_looks_by_itself(hall, ticket, monkeypatch):
    """The observation is signed in the validator's program; it signs only what it sees."""
    run = opened(hall, ticket)
    die(hall, run, monkeypatch, "after")
    keyid = hall.services.judge.keyid()
    assert "validator" == hall.services.trust.identity_of(keyid)
    head = hall.services.store.head()
    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "standing", lambda *_args: "before")
        with pytest.raises(OperationFailed) as found:
            reconcile(hall.services, run)
    assert "validator.other_standing" == found.value.code
    events = list(hall.services.store.read(after=head[0]))
    assert ["reconciliation.required"] == [event.type for event in events]
    seen = reconcile(hall.services, run).events[-1]
    assert ("adopted", keyid) == (seen.body["decision"], seen.keyid)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"standing": "after", "decision": "adopted", "account": {}},
        {"standing": "after", "decision": "dismissed"},
        {"standing": "before", "decision": "dismissed"},
        {"standing": "after", "decision": "adopted", "account": {"note": "believe me"}},
        {"standing": "after", "decision": "adopted", "account": {"root": "elsewhere"}},
        {"standing": "after", "decision": "adopted", "account": {"files": [{"path": "../x", "after": "y"}]}},
    ],
)
def test_what_the_validator_does_not_sign(hall, tmp_path, body):
    """Only an observation, of this very place, that says what is there; anything else gets no signature."""
    (tmp_path / "a.txt").write_bytes(b"a")
    after = digest_bytes(b"a")
    account = {"root": str(tmp_path), "compensating": False, "files": [{"path": "a.txt", "after": after}]}
    if "standing" in body and body.get("account") != {}:
        body = {**body, "account": {**account, **body.get("account", {})}}
    observer = hall.services.judge.observer(tmp_path)
    good = {"standing": "after", "decision": "adopted", "account": account}
    store, stream = hall.services.store, "run:sha256:" + "0" * 64
    with pytest.raises(OperationFailed):
        store.append([NewEvent(stream, "reconciliation.observed", body)], signer=observer)
    with pytest.raises(OperationFailed):
        store.append([NewEvent(stream, "run.completed", good)], signer=observer)
    assert store.append([NewEvent(stream, "reconciliation.observed", good)], signer=observer)


def test_the_command_looks_at_all(hall, ticket, monkeypatch, capsys):
    """``fabric reconcile --all`` looks at every run that waits; a word too few or too many is refused."""
    from fabric_dagster.cli.main import main

    run = opened(hall, ticket)
    die(hall, run, monkeypatch, "after")
    home = ["--home", str(hall.home.path)]
    for words, code in ((["--all", "--json"], 0), (["--all"], 0), ([], 2), ([run[7:19], "--all"], 2)):
        with pytest.raises(SystemExit) as end:
            main(["reconcile", *words, *home])
        assert code == (end.value.code or 0)
    out = capsys.readouterr().out
    assert ("adopted", "validator") == tuple(
        json.loads(out[: out.rindex("]") + 1])[0]["observation"][name] for name in ("decision", "observer")
    )
    assert "No run waits for reconciliation." in out
    with pytest.raises(SystemExit) as end:
        main(["reconcile", run[7:19], "--observed", str(ticket), *home])
    assert 2 == end.value.code


@pytest.mark.parametrize("until", ["asset_decision", "verdict"])
def test_nothing_to_reconcile(hall, ticket, until):
    """A run whose completion is known needs no look."""
    run = opened(hall, ticket)
    go(hall, run, until)
    with pytest.raises(UsageFault) as found:
        reconcile(hall.services, run)
    assert found.value.code == "run.nothing_to_reconcile"


def test_interrupted_delivery_blocks_no_other_ticket(hall, ticket, tmp_path, monkeypatch):
    """A Photoshop delivery that died waits alone: another ticket's run goes through."""
    from governed import write_ticket

    from resources.photoshop.provider import HeadlessPhotoshop

    run = opened(hall, ticket)
    go(hall, run, "asset_decision")
    with monkeypatch.context() as patch:
        _die_inside(patch, "replace")
        with pytest.raises(Died):
            do(hall, run, "photoshop_1")
    assert HeadlessPhotoshop
    other = write_ticket(tmp_path / "tickets", "OFFER-777", offer_id="mega_bundle", title="Mega Bundle")
    assert "completed" == go(hall, opened(hall, other)).state
    reconcile(hall.services, run)
    assert "completed" == go(hall, run).state
    assert list(hall.services.store.read(stream_of(run)))
