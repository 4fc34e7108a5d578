"""Signed verdicts: only a pinned validator's, only on the very evidence."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from validator_world import World

from fabric_dagster.contracts.evidence import BlindEvidence, Verdict
from fabric_dagster.errors import CheckFailed
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.validators.keys import ValidatorKey, make_key
from fabric_dagster.validators.run import Bench
from fabric_dagster.validators.verdicts import PAYLOAD_TYPE, PREDICATE_TYPE, open_verdict, sign_verdict


@pytest.fixture
def key(tmp_path: Path) -> ValidatorKey:
    """A validator's key."""
    return make_key(tmp_path / "home")


@pytest.fixture
def evidence(world: World) -> BlindEvidence:
    """Evidence with one quick check."""
    world.checks = ("source_untouched@1",)
    return world.evidence("photoshop_1")


@pytest.fixture
def verdict(evidence: BlindEvidence, tmp_path: Path) -> Verdict:
    """The verdict on it."""
    return Bench().judge(evidence, tmp_path / "out")


def test_a_verdict_opens_with_the_validators_key(
    key: ValidatorKey, evidence: BlindEvidence, verdict: Verdict
) -> None:
    """What was signed comes back; the statement names every artifact by its digest."""
    envelope = sign_verdict(verdict, evidence, key)

    assert verdict == open_verdict(envelope, TrustRoot.of({"validator": key.public}), evidence)
    statement = json.loads(base64.b64decode(envelope["payload"]))
    assert (PAYLOAD_TYPE, PREDICATE_TYPE) == (envelope["payloadType"], statement["predicateType"])
    assert {name: fact.digest for name, fact in evidence.artifacts.items()} == {
        item["name"]: f"sha256:{item['digest']['sha256']}" for item in statement["subject"]
    }


@pytest.mark.parametrize("role", ["runtime", "certifier", "approver"])
def test_another_roles_key_opens_nothing(
    key: ValidatorKey, evidence: BlindEvidence, verdict: Verdict, role: str
) -> None:
    """The same key under another role is no validator's."""
    envelope = sign_verdict(verdict, evidence, key)

    with pytest.raises(CheckFailed, match=r"envelope\.untrusted"):
        open_verdict(envelope, TrustRoot.of({role: key.public}))


def test_a_changed_verdict_is_refused(key: ValidatorKey, evidence: BlindEvidence, verdict: Verdict) -> None:
    """One changed byte of the payload, or a second signature, and nothing is believed."""
    trust = TrustRoot.of({"validator": key.public})
    envelope = sign_verdict(verdict, evidence, key)
    payload = base64.b64decode(envelope["payload"]).replace(b'"passed":true', b'"passed":trux', 1)

    for harmed in (
        envelope | {"payload": base64.b64encode(payload).decode()},
        envelope | {"signatures": envelope["signatures"] * 2},
        envelope | {"signatures": []},
        {},
    ):
        with pytest.raises(CheckFailed, match=r"envelope\.untrusted"):
            open_verdict(harmed, trust)


def test_a_verdict_is_good_for_its_own_evidence_only(
    key: ValidatorKey, evidence: BlindEvidence, verdict: Verdict
) -> None:
    """Shown for other evidence, other artifacts or fewer checks, it is refused."""
    trust = TrustRoot.of({"validator": key.public})
    envelope = sign_verdict(verdict, evidence, key)
    name = min(evidence.artifacts)

    for other in (
        evidence.model_copy(update={"side": "unity_1"}),
        evidence.model_copy(update={"artifacts": {name: evidence.artifacts[name]}}),
        evidence.model_copy(update={"checks": ()}),
    ):
        with pytest.raises(CheckFailed, match=r"verdict\.other_evidence"):
            open_verdict(envelope, trust, other)


def test_a_conclusion_that_its_checks_contradict_is_refused(
    key: ValidatorKey, evidence: BlindEvidence, verdict: Verdict
) -> None:
    """A validator that says passed over a failed blocking check is not believed, signature or not."""
    failed = verdict.checks[0].model_copy(update={"passed": False})
    lying = verdict.model_copy(update={"checks": (failed,)})

    with pytest.raises(CheckFailed, match=r"verdict\.invalid"):
        open_verdict(sign_verdict(lying, evidence, key), TrustRoot.of({"validator": key.public}))
