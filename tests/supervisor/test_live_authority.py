"""Authority is read when a step starts: what changed since the run was opened stops it, and says so."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from governed import GRAPH, do, go, kinds, opened, tree

from fabric_dagster.errors import Refused
from fabric_dagster.governance.commissioning import revoke
from fabric_dagster.supervisor.opening import ticket_stream
from fabric_dagster.supervisor.workflows import Workflow


def _template(hall, _patch):
    path = hall.home.templates / "offer_icon.psd"
    path.write_bytes(path.read_bytes() + b"\0")


def _revoked(hall, _patch):
    services = hall.services
    digest = hall.workflow(GRAPH).compiled.digest
    commissioner = hall.home.signer("commissioner")
    revoke(services.store, commissioner, digest, GRAPH, "for the test", services.trust)


def _pack(hall, _patch):
    workflow = hall.workflow(GRAPH)
    hall.workflows[GRAPH] = Workflow(replace(workflow.pack, digest="sha256:" + "1" * 64), workflow.compiled)


def _sop(hall, _patch):
    citations = hall.workflow(GRAPH).pack.pack.citations
    name, item = next(iter(citations.items()))
    hall.restored = (name, item)
    citations[name] = item.model_copy(update={"digest": "sha256:" + "2" * 64})


def _expired(_hall, patch):
    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            """A year from now."""
            return datetime.now(tz or UTC) + timedelta(days=365)

    patch.setattr("resources.supervision.assembly.datetime", Later)


def _provider(_hall, patch):
    patch.setattr("resources.unity.provider.HeadlessUnity.version", "2")


def _validator(_hall, patch):
    from fabric_dagster.validators import bindings

    now = bindings.digests()
    changed = dict.fromkeys(now, "sha256:" + "4" * 64)
    patch.setattr(bindings, "digests", lambda: {**now, "png_valid@1": changed["png_valid@1"]})


CHANGES = {
    "validator_drift": _validator,
    "template_drift": _template,
    "revoked": _revoked,
    "pack_drift": _pack,
    "sop_drift": _sop,
    "expired": _expired,
    "provider_changed": _provider,
}


@pytest.mark.parametrize(
    ("code", "step"),
    [(code, "unity_1") for code in CHANGES]
    + [("template_drift", step) for step in ("asset_decision", "photoshop_1", "icon_handoff", "verdict")],
)
def test_changed_before_a_step(hall, ticket, monkeypatch, code, step):
    """Refused with its own code and exit 3, before any effect; the refusal is an event of the ticket."""
    from governed import STEPS

    run = opened(hall, ticket)
    if step != "asset_decision":
        go(hall, run, STEPS[STEPS.index(step) - 1])
    before, seen = tree(hall.home.project), kinds(hall.services.reload(run))
    with monkeypatch.context() as patch:
        CHANGES[code](hall, patch)
        for _ in range(2):
            with pytest.raises(Refused) as found:
                do(hall, run, step)
            assert (f"authority.{code}", 3) == (found.value.code, found.value.exit_code)
    assert (before, seen) == (tree(hall.home.project), kinds(hall.services.reload(run)))
    refused = list(hall.services.store.read(ticket_stream("OFFER-101"), types=["ticket.refused"]))
    assert [f"authority.{code}"] == [event.body["faults"][0]["code"] for event in refused]


def test_template_touched_while_staging(hall, ticket, monkeypatch):
    """Touched in the middle of a step, nothing is committed on the strength of the old authority."""
    from resources.photoshop.provider import HeadlessPhotoshop

    plain = HeadlessPhotoshop.stage

    def stage(self, plan, folder):
        found = plain(self, plan, folder)
        _template(hall, None)
        return found

    monkeypatch.setattr(HeadlessPhotoshop, "stage", stage)
    run = opened(hall, ticket)
    go(hall, run, "asset_decision")
    with pytest.raises(Refused) as found:
        do(hall, run, "photoshop_1")
    record = hall.services.reload(run)
    assert ("authority.template_drift", "failed", 3) == (
        found.value.code,
        record.state,
        record.events[-1].body["exit_code"],
    )
    assert "commit.begun" not in kinds(record)


def test_another_revision_of_the_graph(hall, ticket):
    """A run that was opened for one digest of the graph is not executed by another."""
    run = opened(hall, ticket)
    workflow = hall.workflow(GRAPH)
    newer = replace(workflow.compiled, digest="sha256:" + "3" * 64)
    hall.workflows[GRAPH] = Workflow(workflow.pack, newer)
    with pytest.raises(Refused) as found:
        do(hall, run, "asset_decision")
    assert "authority.graph_changed" == found.value.code
