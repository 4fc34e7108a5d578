"""Visual approval: bound to one picture and plan, signed by an approver, and never walked round."""

import zlib
from dataclasses import replace

import pytest
from governed import GRAPH, ask_for_approval, do, go, kinds, leftovers, opened, write_ticket

from fabric_dagster.digests import digest_file
from fabric_dagster.errors import CheckFailed, NeedsPerson, Refused, UsageFault
from fabric_dagster.supervisor.approvals import ask, decide, gates, waiting, wanted
from fabric_dagster.supervisor.services import Step
from resources.photoshop.provider import HeadlessPhotoshop


@pytest.fixture
def asked(hall, ticket):
    """A run whose picture was made, judged and asked about."""
    ask_for_approval(hall)
    run = opened(hall, ticket)
    go(hall, run, "photoshop_1 checks")
    ask(hall.services, hall.workflow(GRAPH), run)
    return run


def approve(hall, run, who="approver", **given):
    """Decide as a person would."""
    given = {"given": True, "note": "looks right", **given}
    return decide(hall.services, run, hall.home.signer(who), **given)


def rest(hall, run):
    """What Dagster would be asked for now."""
    workflow = hall.workflow(GRAPH)
    record = hall.services.reload(run)
    return wanted(workflow.compiled, record, hall.services.trust, hall.authorize(workflow))


def finish(hall, run):
    """The steps after the gate."""
    for step in ("icon_handoff", "unity_1", "unity_1 checks", "verdict"):
        do(hall, run, step)
    return hall.services.reload(run)


def test_gates(hall):
    """Every handoff is a gate, with the artifact that it seals."""
    (gate,) = gates(hall.workflow(GRAPH).compiled)
    assert ("icon_handoff", "photoshop_1", "export_icon", "png") == (
        gate.handoff, gate.side, gate.node, gate.name,
    )  # fmt: skip


def test_asked_once(hall, asked):
    """One question for one picture and plan, however often it is asked; the run waits for it."""
    record = hall.services.reload(asked)
    (item,) = waiting(record)
    task = record.task("photoshop_1")
    png = next(ref for ref in task.result.artifacts if ref.kind == "png")
    assert ("awaiting_approval", png.digest, task.task.plan) == (record.state, item.picture, item.plan)
    ask(hall.services, hall.workflow(GRAPH), asked)
    assert 1 == kinds(hall.services.reload(asked)).count("approval.requested")


def test_not_asked_without_the_commission(hall, ticket):
    """Where the commission asks for none, nothing is asked and everything is wanted at once."""
    run = opened(hall, ticket)
    go(hall, run, "photoshop_1 checks")
    ask(hall.services, hall.workflow(GRAPH), run)
    assert "approval.requested" not in kinds(hall.services.reload(run))
    assert "verdict" in rest(hall, run)


def test_not_asked_before_the_checks(hall, ticket):
    """A picture that was not judged is nobody's to approve."""
    ask_for_approval(hall)
    run = opened(hall, ticket)
    assert ["ticket_brief", "asset_decision", "photoshop_1"] == rest(hall, run)
    go(hall, run, "photoshop_1")
    ask(hall.services, hall.workflow(GRAPH), run)
    assert "running" == hall.services.reload(run).state


def test_no_handoff_without_approval(hall, asked):
    """The seal refuses while the question is open, and says who decides how."""
    with pytest.raises(NeedsPerson) as found:
        do(hall, asked, "icon_handoff")
    assert ("approval.missing", 4) == (found.value.code, found.value.exit_code)
    assert f"fabric approve {asked[7:19]}" in str(found.value)
    with pytest.raises(CheckFailed):
        do(hall, asked, "unity_1")
    assert [] == rest(hall, asked)


def test_the_seal_asks_itself(hall, ticket):
    """A step that was started by hand before anybody asked puts the question on the spine."""
    ask_for_approval(hall)
    run = opened(hall, ticket)
    go(hall, run, "photoshop_1 checks")
    with pytest.raises(NeedsPerson):
        do(hall, run, "icon_handoff")
    assert "awaiting_approval" == hall.services.reload(run).state


def test_approved(hall, asked):
    """After a signed approval the rest is wanted, and the handoff cites the event."""
    record, decision = approve(hall, asked)
    assert ("running", "given", "approver") == (record.state, decision.state, decision.by)
    assert ["icon_handoff", "unity_1", "verdict"] == rest(hall, asked)
    done = finish(hall, asked)
    assert ("completed", decision.decided.digest) == (done.state, done.handoffs["icon_handoff"].approval)
    assert ("approver", hall.home.signer("approver").keyid) == (
        decision.decided.actor,
        decision.decided.keyid,
    )


def test_retaken(hall, asked):
    """A retake ends the run with the note as its blocker; a changed ticket goes on with another run."""
    with pytest.raises(UsageFault) as found:
        approve(hall, asked, given=False, note=" ")
    assert "approval.no_note" == found.value.code
    record, decision = approve(hall, asked, given=False, note="the crown is cut off")
    assert ("stopped", "retaken") == (record.state, decision.state)
    assert "the crown is cut off" in record.unresolved[0]
    assert [] == [item for item in leftovers(hall.home.path) if item.startswith("stages")]
    with pytest.raises(Refused):
        do(hall, asked, "icon_handoff")
    other = opened(hall, write_ticket(hall.home.inbox, title="Again"))
    assert other != asked
    assert "superseded" == hall.services.reload(asked).state


def test_others_may_not(hall, asked):
    """Approving is the approver's right alone."""
    for who in ("runtime", "builder", "commissioner", "operator", "admin", "certifier"):
        with pytest.raises(Refused) as found:
            approve(hall, asked, who)
        assert ("authority.denied", 3) == (found.value.code, found.value.exit_code), who
    assert "awaiting_approval" == hall.services.reload(asked).state


def test_another_picture(hall, asked):
    """A decision on another digest is refused; the beginning of the right one is enough."""
    (item,) = waiting(hall.services.reload(asked))
    with pytest.raises(Refused) as found:
        approve(hall, asked, picture="sha256:" + "0" * 64)
    assert "approval.other_picture" == found.value.code
    assert "running" == approve(hall, asked, picture=item.picture[:20])[0].state


def test_decided_twice(hall, asked):
    """What was decided waits no more."""
    approve(hall, asked)
    with pytest.raises(UsageFault) as found:
        approve(hall, asked)
    assert ("approval.nothing_waits", 2) == (found.value.code, found.value.exit_code)


def test_signed_by_the_runtime(hall, asked):
    """An approval that the runtime signed moves the state and opens nothing: the question is asked again."""
    run = hall.services.reload(asked)
    (item,) = waiting(run)
    body = {"side": item.side, "node": item.node, "picture": item.picture, "plan": item.plan, "note": ""}
    hall.services.append_all(run, Step("approval.given", body))
    with pytest.raises(NeedsPerson):
        do(hall, asked, "icon_handoff")
    assert "awaiting_approval" == hall.services.reload(asked).state
    approve(hall, asked)
    assert "completed" == finish(hall, asked).state


def _made_again(hall, asked):
    """A recovery edge was followed that makes the approved picture again."""
    approve(hall, asked)
    do(hall, asked, "icon_handoff")
    edge = {"on": "unity.import_rejected", "at": "import_icon", "resume": "place_art", "attempt": 1}
    reset = ["photoshop_1", "icon_handoff", "unity_1", "verdict"]
    hall.services.append(hall.services.reload(asked), "recovery.followed", {**edge, "reset": reset})


def _other_bytes(monkeypatch):
    """Let Photoshop's hands compress the same pixels otherwise: a sound picture of other bytes."""
    plain = HeadlessPhotoshop.stage

    def stage(self, plan, folder):
        staged = plain(self, plan, folder)
        path = next(item.path for item in staged.produced if item.kind == "png")
        data, out, place = path.read_bytes(), b"", 8
        pixels = b""
        while place < len(data):
            size, kind = int.from_bytes(data[place : place + 4], "big"), data[place + 4 : place + 8]
            body, whole = data[place + 8 : place + 8 + size], data[place : place + 12 + size]
            pixels += body if kind == b"IDAT" else b""
            if kind == b"IEND":
                packed = zlib.compress(zlib.decompress(pixels), 1)
                crc = zlib.crc32(b"IDAT" + packed).to_bytes(4, "big")
                out += len(packed).to_bytes(4, "big") + b"IDAT" + packed + crc
            out += b"" if kind == b"IDAT" else whole
            place += 12 + size
        path.write_bytes(data[:8] + out)
        changes = tuple(
            replace(item, after=digest_file(path)) if item.path.endswith(path.name) else item
            for item in staged.changes
        )
        return replace(staged, changes=changes)

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)


def test_the_same_picture_again(hall, asked):
    """The same bytes under the same plan are the same picture: its approval holds."""
    _made_again(hall, asked)
    everything = ["ticket_brief", "asset_decision", "photoshop_1", "icon_handoff", "unity_1", "verdict"]
    assert everything == rest(hall, asked)
    go(hall, asked, "photoshop_1 checks")
    ask(hall.services, hall.workflow(GRAPH), asked)
    done = finish(hall, asked)
    assert ("completed", 1) == (done.state, kinds(done).count("approval.requested"))


def test_another_picture_again(hall, asked, monkeypatch):
    """A picture that recovery made anew is another question; the old approval opens nothing."""
    _made_again(hall, asked)
    _other_bytes(monkeypatch)
    go(hall, asked, "photoshop_1 checks")
    with pytest.raises(NeedsPerson) as found:
        do(hall, asked, "icon_handoff")
    record = hall.services.reload(asked)
    old, new = record.approvals
    assert ("approval.missing", "awaiting_approval") == (found.value.code, record.state)
    assert (old.plan, "given", "requested") == (new.plan, old.state, new.state)
    assert old.picture != new.picture
    with pytest.raises(Refused) as refused:
        approve(hall, asked, picture=old.picture)
    assert "approval.other_picture" == refused.value.code
    approve(hall, asked, picture=new.picture)
    assert "completed" == finish(hall, asked).state
