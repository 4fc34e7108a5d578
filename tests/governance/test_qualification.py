"""A graph over its frozen corpus, without any effect; and the validator's own review of it."""

import base64
import shutil
from pathlib import Path

import pytest

from fabric_dagster.digests import canonical
from fabric_dagster.errors import CheckFailed, OperationFailed, Refused, UsageFault
from fabric_dagster.governance.certification import certify, record_qualification
from fabric_dagster.governance.qualification import compile_reference, qualify
from fabric_dagster.governance.receipts import open_receipt, statement_of
from fabric_dagster.intelligence.packs import load_pack
from fabric_dagster.validators.bindings import bindings_of
from fabric_dagster.validators.review import examine
from resources.keys import generate_key
from resources.reviewer.client import ask, request_review

CHECKOUT = Path(__file__).resolve().parents[2]
REFERENCE = "CreateOfferIconAndIntegrate@1"


@pytest.fixture
def folder(tmp_path):
    """A copy of the sample pack, to be changed."""
    return shutil.copytree(CHECKOUT / "packs" / "offers", tmp_path / "offers")


def qualified(folder):
    """The qualification of the pack in a folder."""
    pack = load_pack(folder)
    graph = compile_reference(pack, REFERENCE)
    return qualify(pack, graph, bindings_of(graph))


def compiled(folder):
    """The pack's graph."""
    return compile_reference(load_pack(folder), REFERENCE)


def desk(home, trust):
    """A validator's home with a key of its own and ``trust`` pinned, in which that key is the validator's."""
    key = generate_key(home / "keys", "validator")
    roots = trust.body()
    roots["identities"]["validator"]["keys"] = [
        {"keyid": key.keyid, "public": base64.b64encode(key.public).decode()}
    ]
    pinned = type(trust).model_validate(roots)
    (home / "trust.json").write_bytes(pinned.to_bytes())
    return pinned


def edit(path, old, new):
    """Replace a piece of text that must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8", newline="")


def tree(folder):
    """Every file with its bytes."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_every_case_of_the_sample_pack_passes_and_nothing_is_written(folder):
    """Accepted cases go through every partition and its controls, plans bound; refused ones have codes."""
    before = tree(folder)
    found = qualified(folder)
    assert [case.why for case in found.cases if not case.passed] == []
    assert {case.outcome for case in found.cases} == {"accepted", "refused"}
    for case in found.cases:
        assert set(case.plans) == ({"photoshop_1", "unity_1"} if case.outcome == "accepted" else set())
        walked = {part.id for part in compiled(folder).partitions}
        assert set(case.controls) == (walked if case.outcome == "accepted" else set())
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
    """Subject: the graph by digest; predicate: bound to pack, corpus, results and bindings."""
    found = qualified(folder)
    statement = statement_of(examine(folder, REFERENCE))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "urn:fabric:review:v1"
    assert statement["subject"] == [{"name": REFERENCE, "digest": {"sha256": found.graph[7:]}}]
    nonce = statement["predicate"].pop("nonce")
    assert nonce != examine(folder, REFERENCE).nonce
    assert statement["predicate"] == {
        "schema": "fabric.review.v1",
        "reference": REFERENCE,
        "graph": found.graph,
        "pack": found.pack,
        "corpus": found.corpus,
        "results": found.digest,
        "bindings": found.bindings.body(),
        "cases": len(found.cases),
        "passed": True,
    }


def test_the_validators_program_signs_what_it_derives_itself(world, folder, tmp_path):
    """Builder, separate program, certifier: three keys, one certificate, consumed once."""
    home = tmp_path / "validator"
    trust = desk(home, world.trust)
    found = qualified(folder)
    envelope = request_review(home, folder, REFERENCE)
    assert open_receipt(envelope, trust).review.results == found.digest
    with pytest.raises(Refused) as caught:
        open_receipt(envelope, world.trust)
    assert caught.value.code == "authority.bad_receipt"
    record_qualification(world.store, world.signers["builder"], found, trust)
    kept = ask(home, "reviews")["reviews"]
    assert [(item["review"]["results"], item["receipt"]) for item in kept] == [
        (found.digest, open_receipt(envelope, trust).digest)
    ]
    assert ask(home, "sign", REFERENCE) == envelope
    certificate = certify(world.store, world.signers["certifier"], envelope, trust)
    assert (certificate.graph, certificate.pack) == (found.graph, found.pack)


def test_the_validators_program_does_not_sign_a_failed_case(world, folder, tmp_path):
    """Its faults come back with their codes; no envelope, and nothing kept that could be signed."""
    desk(tmp_path / "validator", world.trust)
    edit(folder / "corpora" / "qualification.yaml", "rule: bundle_icon", "rule: single_icon")
    with pytest.raises(CheckFailed, match="case bundle failed") as caught:
        request_review(tmp_path / "validator", folder, REFERENCE)
    assert caught.value.code == "review.failed"
    assert ask(tmp_path / "validator", "reviews") == {"reviews": []}
    with pytest.raises(UsageFault) as unknown:
        ask(tmp_path / "validator", "sign", REFERENCE)
    assert unknown.value.code == "review.unknown"


def test_a_validator_without_a_key_a_trust_root_or_an_answer_is_a_typed_failure(world, folder, tmp_path):
    """No key, no trust root, a trust root that does not pin the key: its own faults. No time: no answer."""
    home = tmp_path / "validator"
    with pytest.raises(UsageFault, match="no key") as caught:
        request_review(home, folder, REFERENCE)
    assert caught.value.code == "validator.no_key"
    generate_key(home / "keys", "validator")
    with pytest.raises(UsageFault) as caught:
        request_review(home, folder, REFERENCE)
    assert caught.value.code == "validator.no_trust"
    (home / "trust.json").write_bytes(world.trust.to_bytes())
    with pytest.raises(Refused) as stranger:
        request_review(home, folder, REFERENCE)
    assert stranger.value.code == "spine.unknown_signer"
    with pytest.raises(OperationFailed) as failed:
        request_review(tmp_path / "validator", folder, REFERENCE, timeout=0.01)
    assert failed.value.code == "review.no_answer"
