"""``fabric approve``, ``retake`` and what ``run`` and ``show`` say of a picture that waits."""

import json

import pytest
from governed import GRAPH, ask_for_approval, kinds

from fabric_dagster.cli.main import main
from fabric_dagster.supervisor.approvals import waiting
from fabric_dagster.supervisor.opening import runs_of


@pytest.fixture
def fabric(hall, capsys, monkeypatch):
    """The program on the restored home, under a commission that asks for approval."""
    ask_for_approval(hall)
    monkeypatch.setenv("FABRIC_HOME", str(hall.home.path))

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


def newest(hall):
    """The newest run of the ticket."""
    return runs_of(hall.services, "OFFER-101")[-1]


@pytest.mark.slow
def test_run_approve_run(hall, ticket, fabric):
    """`run` ends with 4 and the exact command; `show` leads to the picture; approved, `run` goes on."""
    run = ("run", GRAPH, "--ticket", ticket)
    code, out, err = fabric(*run)
    record = newest(hall)
    (item,) = waiting(record)
    assert (4, "awaiting_approval") == (code, record.state)
    assert f"fabric approve {record.run[7:19]} --as approver" in err
    assert "[approval.missing]" in err
    for line in (str(hall.home.deliveries / "OFFER-101" / record.run[7:19] / "icon.png"), item.picture):
        assert line in out
    shown = json.loads(fabric("show", "OFFER-101", "--json")[1])
    assert [item.picture] == [found["picture"] for found in shown["waiting"]]
    assert 4 == fabric(*run)[0]
    code, out, err = fabric(
        "approve", "OFFER-101", "--note", "good", "--picture", item.picture[:20], "--json"
    )
    decision = json.loads(out)["decision"]
    assert (0, "", "given", "approver") == (code, err, decision["state"], decision["by"])
    assert decision["event"] == newest(hall).events[-1].digest
    assert 0 == fabric(*run)[0]
    done = newest(hall)
    assert ("completed", 2) == (done.state, kinds(done).count("commit.begun"))
    assert "given by approver: good" in fabric("show", "OFFER-101")[1]
    page = (hall.home.deliveries / "OFFER-101" / done.run[7:19] / "report.html").read_text(encoding="utf-8")
    assert "good" in page


@pytest.mark.slow
def test_refusals(hall, ticket, fabric):
    """Each refusal has its exit code; those of authority are events; a retake ends, and `run` begins anew."""
    fabric("run", GRAPH, "--ticket", ticket)
    first = newest(hall)
    for words, code, said in (
        (("approve", "OFFER-101", "--as", "runtime"), 3, "authority.denied"),
        (("approve", "OFFER-101", "--picture", "sha256:0123456789"), 3, "approval.other_picture"),
        (("retake", "OFFER-101"), 2, "approval.no_note"),
        (("approve", "OFFER-999"), 2, "run.unknown"),
    ):
        found = fabric(*words)
        assert (code, True) == (found[0], f"[{said}]" in found[2]), found[2]
    refused = [event.body["code"] for event in hall.services.store.read("refusals")]
    assert ["authority.denied", "approval.other_picture"] == refused
    assert 0 == fabric("retake", "OFFER-101", "--note", "the crown is cut off")[0]
    assert "the crown is cut off" in fabric("show", first.run[7:19])[1]
    assert 4 == fabric("run", GRAPH, "--ticket", ticket)[0]
    assert ("superseded", True) == (hall.services.reload(first).state, newest(hall).run != first.run)
