"""The checks of the whole run, on the evidence of a real one: each planted fault is caught by its check."""

import base64
import json

import pytest
from governed import go, opened

from fabric_dagster.contracts.evidence import BlindEvidence, FileFact, GovernedChange
from fabric_dagster.digests import canonical, dsse_sign
from fabric_dagster.graphs.case import RUN_CHECKS
from fabric_dagster.validators.run import Bench

FOREIGN = "sha256:" + "3" * 64
RUN = "sha256:" + "4" * 64


@pytest.fixture(scope="module")
def done(place):
    """A completed run on the shared home: its services and the evidence that its verdict was given on."""
    import governed

    hall = governed.restore(place)
    folder = place / "whole"
    record = go(hall, opened(hall, governed.write_ticket(folder)))
    stored = hall.services.artifacts.get(record.verdict("run").evidence)
    yield hall, BlindEvidence.model_validate_json(stored)
    hall.services.store.close()


def fact(hall, data):
    """Bytes as a file of the artifact store."""
    digest = hall.services.artifacts.put_bytes(data)
    return FileFact(path=str(hall.services.artifacts.path(digest)), digest=digest)


def failed(evidence, tmp_path):
    """The checks that fail."""
    verdict = Bench().judge(evidence, tmp_path / "out")
    return {check.id: check for check in verdict.checks if not check.passed}


def test_a_sound_run_passes(done, tmp_path):
    """On what a run made, every check passes, those of the whole among them."""
    evidence = done[1]
    assert set(RUN_CHECKS) <= {check.id for check in evidence.checks}
    assert {} == failed(evidence, tmp_path)


def changed(evidence, handoff):
    """The evidence with its handoff changed."""
    sealed = evidence.handoffs["icon_handoff"].model_copy(update=handoff)
    return evidence.model_copy(update={"handoffs": {"icon_handoff": sealed}})


def other_source(_hall, evidence):
    """Made from something that is no source of the run."""
    lineage = {**evidence.handoffs["icon_handoff"].lineage, "inputs/art.png": FOREIGN}
    return changed(evidence, {"lineage": lineage})


def other_bytes(hall, evidence):
    """Sealed bytes that are not those of the artifact, and that nobody imported."""
    return changed(evidence, {"artifact": fact(hall, b"another picture")})


def unmade(_hall, evidence):
    """Sealed from an artifact that nobody made."""
    return changed(evidence, {"source": "export_icon.jpg"})


@pytest.mark.parametrize("fault", [other_source, other_bytes, unmade])
def test_handoffs(done, tmp_path, fault):
    """A handoff is the artifact that was made, from the run's own sources, and has arrived."""
    assert {"handoffs_delivered@1"} == set(failed(fault(*done), tmp_path))


def without_a_side(_hall, evidence):
    """A side that nobody judged."""
    left = {side: item for side, item in evidence.verdicts.items() if side != "photoshop_1"}
    return evidence.model_copy(update={"verdicts": left})


def signed_by(hall, evidence, signer):
    """The verdict on Unity's side under another key."""
    given = evidence.verdicts["unity_1"]
    envelope = json.loads(hall.services.artifacts.get(given.envelope.digest))
    forged = dsse_sign(
        envelope["payloadType"], base64.b64decode(envelope["payload"]), signer.keyid, signer.sign
    )
    other = given.model_copy(update={"envelope": fact(hall, json.dumps(forged).encode())})
    return evidence.model_copy(update={"verdicts": {**evidence.verdicts, "unity_1": other}})


def by_the_runtime(hall, evidence):
    """Signed by the runtime."""
    return signed_by(hall, evidence, hall.services.runtime)


def by_the_builder(hall, evidence):
    """Signed by somebody who may not judge."""
    return signed_by(hall, evidence, hall.home.signer("builder"))


def of_other_bytes(hall, evidence):
    """A verdict shown for other evidence than it was given on."""
    given = evidence.verdicts["photoshop_1"]
    then = BlindEvidence.model_validate_json(hall.services.artifacts.get(given.evidence.digest))
    facts = {**then.artifacts, "export_icon.png": fact(hall, b"another picture")}
    stored = fact(hall, canonical(then.model_copy(update={"artifacts": facts}).body()))
    other = given.model_copy(update={"evidence": stored})
    return evidence.model_copy(update={"verdicts": {**evidence.verdicts, "photoshop_1": other}})


def of_another_side(_hall, evidence):
    """One side's verdict, shown for another."""
    verdicts = {**evidence.verdicts, "unity_1": evidence.verdicts["photoshop_1"]}
    return evidence.model_copy(update={"verdicts": verdicts})


def without_trust(_hall, evidence):
    """Nobody says whose keys are pinned."""
    return evidence.model_copy(update={"trust": None})


def of_another_run(_hall, evidence):
    """Verdicts of another run."""
    return evidence.model_copy(update={"run": RUN})


@pytest.mark.parametrize(
    "fault",
    [
        without_a_side,
        by_the_runtime,
        by_the_builder,
        of_other_bytes,
        of_another_side,
        without_trust,
        of_another_run,
    ],
)
def test_sides(done, tmp_path, fault):
    """Every artifact is covered by a passed verdict of this run, on these bytes, under a pinned key."""
    assert {"sides_judged@1"} == set(failed(fault(*done), tmp_path))


def test_governed_changes(done, tmp_path):
    """What evidence says that another run changed counts as it says: a file elsewhere must stand so."""
    _, evidence = done
    path = "Assets/Data/Offers/daily_deal.asset"
    for after in (FOREIGN, None):
        claimed = GovernedChange(path=path, after=after, run=RUN, event=FOREIGN)
        found = failed(evidence.model_copy(update={"others": (claimed,)}), tmp_path)
        assert any(item.where == path for item in found["project_diff@1"].findings)
