"""Which run a ticket gets, when it is another one, and what happens to those before it."""

import pytest
from governed import GRAPH, do, go, kinds, opened, write_ticket

from fabric_dagster.digests import digest_of
from fabric_dagster.errors import InvalidDocument, NeedsPerson, Refused
from fabric_dagster.governance.commissioning import commission, revoke
from fabric_dagster.supervisor.opening import runs_of, ticket_stream
from sensors.inbox import take

A, B = {"title": "Starter Pack"}, {"title": "Starter Chest"}


def revised(tmp_path, **inputs):
    """The ticket file with other inputs."""
    return write_ticket(tmp_path / "tickets", **inputs)


def test_identity(hall, ticket):
    """A run is the digest of workspace, graph, key, ticket and ordinal: Dagster has no part in it."""
    taken = take(hall, ticket, GRAPH)
    graph = hall.workflow(GRAPH).compiled.digest
    parts = [hall.home.workspace, graph, "OFFER-101", taken.ticket.digest, 1]
    assert digest_of("fabric.supervisor-run.v1", parts) == taken.opened.run.run
    commission = hall.authorize(hall.workflow(GRAPH)).digest
    assert f"OFFER-101:{taken.ticket.digest}:1:{commission}" == taken.opened.run_key


def test_same_content_same_run(hall, ticket):
    """Taken in again, or with other prose, it is the same run and no event more."""
    first = take(hall, ticket, GRAPH)
    head = hall.services.store.head()
    text = ticket.read_text(encoding="utf-8").replace("comes back on Monday", "comes back on Tuesday")
    ticket.write_text(text, encoding="utf-8")
    again = take(hall, ticket, GRAPH)
    assert (first.opened.run.run, first.opened.run_key) == (again.opened.run.run, again.opened.run_key)
    assert head == hall.services.store.head()


def test_there_and_back_runs_again(hall, tmp_path):
    """A, then B, then A again: three runs; A twice in a row: one."""
    taken = [take(hall, revised(tmp_path, **inputs), GRAPH) for inputs in (A, A, B, A, A)]
    runs = [item.opened.run.run for item in taken]
    assert [1, 1, 2, 3, 3] == [item.opened.run.body["ordinal"] for item in taken]
    assert (runs[0] == runs[1], runs[3] == runs[4], len(set(runs))) == (True, True, 3)
    assert len({item.opened.run_key for item in taken}) == 3


def recommissioned(hall):
    """Commission the same graph for the same home once more; another commission holds then."""
    services, workflow = hall.services, hall.workflow(GRAPH)
    before = hall.authorize(workflow)
    again = before.model_copy(update={"expires": "2099-01-01T00:00:00+00:00"})
    commission(services.store, hall.home.signer("commissioner"), again, services.trust)
    assert before.digest != hall.authorize(workflow).digest


def test_unfinished_under_another_commission_is_accepted_anew(hall, ticket):
    """What was decided under one commission is not gone on with under the next: a new run, from the start."""
    first = opened(hall, ticket)
    go(hall, first, until="asset_decision")
    recommissioned(hall)
    with pytest.raises(Refused) as refused:
        do(hall, first, "photoshop_1")
    second = take(hall, ticket, GRAPH).opened.run
    states = [run.state for run in runs_of(hall.services, "OFFER-101")]
    assert ("authority.other_commission", 2) == (refused.value.code, second.body["ordinal"])
    assert ["superseded", "opened"] == states
    assert "completed" == go(hall, second.run).state


def test_completed_stays_done_under_another_commission(hall, ticket):
    """A ticket that is done is not done again because its graph was commissioned anew."""
    first = opened(hall, ticket)
    go(hall, first)
    recommissioned(hall)
    assert (first, "completed") == (opened(hall, ticket), hall.services.reload(first).state)


def test_other_picture_is_another_run(hall, ticket, tmp_path):
    """The bytes of the attachment belong to the ticket."""
    first = opened(hall, ticket)
    art = tmp_path / "other.png"
    from PIL import Image

    Image.new("RGBA", (512, 512), (200, 30, 30, 255)).save(art)
    assert first != opened(hall, revised(tmp_path, art=art))


def test_newer_revision_supersedes(hall, tmp_path):
    """A newer revision ends the older run where it stands; what is done stays done."""
    older = opened(hall, revised(tmp_path, **A))
    go(hall, older, "photoshop_1 checks")
    newer = opened(hall, revised(tmp_path, **B))
    record = hall.services.reload(older)
    assert ("superseded", [f"superseded by {newer}"]) == (record.state, record.unresolved)
    with pytest.raises(Refused) as found:
        do(hall, older, "icon_handoff")
    assert ("run.ended", 3) == (found.value.code, found.value.exit_code)
    assert "completed" == go(hall, newer).state
    third = opened(hall, revised(tmp_path, **A))
    assert ["superseded", "completed", "opened"] == [
        item.state for item in runs_of(hall.services, "OFFER-101")
    ]
    assert third not in {older, newer}


def test_superseded_while_staging(hall, tmp_path, monkeypatch):
    """Superseded between two events of a step, the step is refused and its history stays whole."""
    from resources.photoshop.provider import HeadlessPhotoshop

    run = opened(hall, revised(tmp_path, **A))
    go(hall, run, "asset_decision")
    plain = HeadlessPhotoshop.stage

    def stage(self, plan, folder):
        found = plain(self, plan, folder)
        hall.services.append(hall.services.reload(run), "run.superseded", {"by": run, "unresolved": []})
        return found

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)
    with pytest.raises(Refused) as refused:
        do(hall, run, "photoshop_1")
    record = hall.services.reload(run)
    assert ("run.ended", "superseded") == (refused.value.code, record.state)
    assert "commit.begun" not in kinds(record)
    assert not list(hall.home.deliveries.rglob("icon.*"))


def test_unknown_completion_is_not_superseded(hall, tmp_path, monkeypatch):
    """While the completion of the older run is unknown, it stays, and the newer one does nothing."""
    older = opened(hall, revised(tmp_path, **A))
    go(hall, older, "icon_handoff")
    from resources.unity.provider import HeadlessUnity

    with monkeypatch.context() as patch:
        patch.setattr(HeadlessUnity, "commit", _dies)
        with pytest.raises(KeyboardInterrupt):
            do(hall, older, "unity_1")
    newer = opened(hall, revised(tmp_path, **B))
    assert "running" == hall.services.reload(older).state
    go(hall, newer, "asset_decision")
    with pytest.raises(NeedsPerson) as found:
        do(hall, newer, "photoshop_1")
    assert ("run.reconciliation_required", 4) == (found.value.code, found.value.exit_code)
    assert older[7:19] in found.value.faults[0].mend
    assert "task.issued" not in kinds(hall.services.reload(newer))


def _dies(*_args, **_kwargs):
    raise KeyboardInterrupt


def test_refused_without_commission(hall, ticket):
    """Without a commission nothing opens: exit 3, said once on the ticket's own stream, with the reason."""
    services, workflow = hall.services, hall.workflow(GRAPH)
    commissioner = hall.home.signer("commissioner")
    revoke(services.store, commissioner, workflow.compiled.digest, GRAPH, "for the test", services.trust)
    for _ in range(2):
        with pytest.raises(Refused) as found:
            take(hall, ticket, GRAPH)
        assert ("authority.revoked", 3) == (found.value.code, found.value.exit_code)
    events = list(services.store.read(ticket_stream("OFFER-101")))
    assert ["ticket.refused"] == [event.type for event in events]
    assert "authority.revoked" == events[0].body["faults"][0]["code"]
    assert not list(services.store.read(types=["run.opened"]))


def test_picture_changed_while_it_was_read(hall, ticket):
    """A picture whose bytes are not those that were parsed opens nothing."""
    from fabric_dagster.supervisor.opening import open_run
    from sensors.inbox import read_ticket

    parsed, workflow, pictures = read_ticket(hall, ticket, GRAPH)
    pictures["art"].write_bytes(b"other bytes")
    with pytest.raises(InvalidDocument) as found:
        open_run(hall.services, workflow, parsed, pictures)
    assert found.value.code == "ticket.changed"
    assert not list(hall.services.store.read(types=["run.opened", "ticket.accepted"]))


def test_accepted_bytes_are_kept(hall, ticket):
    """What happens to the attachment after acceptance changes nothing."""
    run = opened(hall, ticket)
    (ticket.parent / "OFFER-101/starter_pack.png").write_bytes(b"gone")
    assert "completed" == go(hall, run).state
