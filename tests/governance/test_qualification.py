"""A graph over its frozen corpus, without any effect; and the validator's own review of it."""

import base64
import shutil
from pathlib import Path

import pytest

from fabric_dagster.digests import canonical
from fabric_dagster.errors import CheckFailed, OperationFailed, Refused, UsageFault
from fabric_dagster.governance.certification import certify, record_qualification
from fabric_dagster.governance.qualification import compile_reference, qualify
from fabric_dagster.governance.receipts import open_receipt
from fabric_dagster.intelligence.packs import load_pack
from fabric_dagster.validators.review import review
from resources.keys import generate_key
from resources.validator.review import request_review

CHECKOUT = Path(__file__).resolve().parents[2]
REFERENCE = "CreateOfferIconAndIntegrate@1"


@pytest.fixture
def folder(tmp_path):
    """A copy of the sample pack, to be changed."""
    return shutil.copytree(CHECKOUT / "packs" / "offers", tmp_path / "offers")


def qualified(folder):
    """The qualification of the pack in a folder."""
    pack = load_pack(folder)
    return qualify(pack, compile_reference(pack, REFERENCE))


def edit(path, old, new):
    """Replace a piece of text that must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8", newline="")


def tree(folder):
    """Every file with its bytes."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_every_case_of_the_sample_pack_passes_and_nothing_is_written(folder):
    """Accepted cases have a plan bound for both applications; refused ones their codes."""
    before = tree(folder)
    found = qualified(folder)
    assert [case.why for case in found.cases if not case.passed] == []
    assert {case.outcome for case in found.cases} == {"accepted", "refused"}
    for case in found.cases:
        assert set(case.plans) == ({"photoshop_1", "unity_1"} if case.outcome == "accepted" else set())
        assert bool(case.codes) == (case.outcome == "refused")
    assert tree(folder) == before


def test_the_results_are_the_same_every_time_and_everywhere(folder, tmp_path):
    """Another place, another pass: the same digest, bit for bit."""
    elsewhere = shutil.copytree(folder, tmp_path / "elsewhere" / "offers")
    first, second = qualified(folder), qualified(elsewhere)
    assert canonical(first.body()) == canonical(second.body())
    assert first.digest == second.digest


def test_a_changed_ticket_is_another_corpus(folder):
    """The corpus' digest covers what its cases name."""
    before = qualified(folder)
    edit(folder / "tickets" / "OFFER-101.json", "Starter", "Started")
    after = qualified(folder)
    assert after.corpus != before.corpus
    assert after.digest != before.digest
    assert after.graph == before.graph


def test_a_case_that_comes_out_otherwise_fails_with_its_reason(folder):
    """An expectation that does not hold is a failed case, not an exception."""
    edit(folder / "corpora" / "qualification.yaml", "rule: bundle_icon", "rule: single_icon")
    found = qualified(folder)
    (failed,) = [case for case in found.cases if not case.passed]
    assert failed.id == "bundle"
    assert "single_icon" in failed.why
    assert not found.passed


def test_an_unknown_graph_or_corpus_is_named(folder):
    """With what there is."""
    pack = load_pack(folder)
    with pytest.raises(UsageFault) as caught:
        compile_reference(pack, "Nothing@1")
    assert caught.value.code == "graph.unknown"
    (folder / "corpora" / "qualification.yaml").unlink()
    with pytest.raises(UsageFault) as caught:
        qualified(folder)
    assert caught.value.code == "corpus.unknown"


def test_the_review_is_an_in_toto_statement_about_the_graph(folder):
    """Subject: the graph by digest; predicate: bound to pack, corpus and results."""
    found = qualified(folder)
    statement = review(folder, REFERENCE)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "urn:fabric:review:v1"
    assert statement["subject"] == [{"name": REFERENCE, "digest": {"sha256": found.graph[7:]}}]
    nonce = statement["predicate"].pop("nonce")
    assert nonce != review(folder, REFERENCE)["predicate"]["nonce"]
    assert statement["predicate"] == {
        "schema": "fabric.review.v1",
        "reference": REFERENCE,
        "graph": found.graph,
        "pack": found.pack,
        "corpus": found.corpus,
        "results": found.digest,
        "cases": len(found.cases),
        "passed": True,
    }


def test_the_validators_program_signs_what_it_derives_itself(world, folder, tmp_path):
    """Builder, separate program, certifier: three keys, one certificate, consumed once."""
    home = tmp_path / "validator"
    key = generate_key(home / "keys", "validator")
    roots = world.trust.body()
    roots["identities"]["validator"]["keys"] = [
        {"keyid": key.keyid, "public": base64.b64encode(key.public).decode()}
    ]
    trust = type(world.trust).model_validate(roots)
    found = qualified(folder)
    envelope = request_review(home, folder, REFERENCE)
    assert open_receipt(envelope, trust).review.results == found.digest
    with pytest.raises(Refused) as caught:
        open_receipt(envelope, world.trust)
    assert caught.value.code == "authority.bad_receipt"
    record_qualification(world.store, world.signers["builder"], found, trust)
    certificate = certify(world.store, world.signers["certifier"], envelope, trust)
    assert (certificate.graph, certificate.pack) == (found.graph, found.pack)


def test_the_validators_program_does_not_sign_a_failed_case(folder, tmp_path):
    """Its words come back as faults; there is no envelope."""
    generate_key(tmp_path / "validator" / "keys", "validator")
    edit(folder / "corpora" / "qualification.yaml", "rule: bundle_icon", "rule: single_icon")
    with pytest.raises(CheckFailed, match="case bundle failed") as caught:
        request_review(tmp_path / "validator", folder, REFERENCE)
    assert caught.value.code == "review.refused"


def test_a_validator_without_a_key_or_an_answer_is_a_typed_failure(folder, tmp_path):
    """No key: its refusal. No time: no answer."""
    with pytest.raises(CheckFailed, match="no key") as caught:
        request_review(tmp_path / "validator", folder, REFERENCE)
    assert caught.value.code == "review.refused"
    with pytest.raises(OperationFailed) as failed:
        request_review(tmp_path / "validator", folder, REFERENCE, timeout=0.01)
    assert failed.value.code == "review.no_answer"
