"""A graph's whole way by commands, each by its own identity; what is refused is an event and exit code 3."""

import json

import pytest
import yaml
from governed import GRAPH

from fabric_dagster.cli.main import main
from fabric_dagster.governance.lifecycle import NEXT

SHORT = 19


def fabric(capsys, hall, *words):
    """Run the program in this process: (exit code, standard output, standard error)."""
    with pytest.raises(SystemExit) as end:
        main([*map(str, words), "--home", str(hall.home.path)])
    out, err = capsys.readouterr()
    return end.value.code, out, err


def done(capsys, hall, *words):
    """Run what must succeed; its JSON document."""
    code, out, err = fabric(capsys, hall, *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def refusals(hall):
    """(action, actor, code) of every recorded refusal."""
    store = hall.home.open_ledger()
    found = [(e.body["action"], e.body["actor"], e.body["code"]) for e in store.read("refusals")]
    store.close()
    return found


@pytest.mark.slow
def test_from_revoked_to_commissioned_again(capsys, hall, tmp_path):
    """Every verb, its state, its next step; every verb by the wrong one is refused and recorded."""
    assert done(capsys, hall, "lifecycle", GRAPH)["may_execute"]
    revoked = done(capsys, hall, "revoke", GRAPH, "--reason", "the way from the start")
    assert revoked["state"] == "revoked"
    receipt, scope = tmp_path / "receipt.json", tmp_path / "scope.yaml"

    assert done(capsys, hall, "qualify", GRAPH, "--jobs", 2)["passed"]
    review = done(capsys, hall, "validator", "review", GRAPH)
    assert fabric(capsys, hall, "validator", "sign", review["digest"], "--out", receipt)[0] == 0
    (kept,) = [
        item for item in done(capsys, hall, "validator", "reviews") if item["digest"] == review["digest"]
    ]
    assert "receipt" in kept
    code, text, _ = fabric(capsys, hall, "commission", GRAPH, "--template")
    assert code == 0
    scope.write_text(text, encoding="utf-8")

    for state, words, right in (
        ("qualified", ("certify", GRAPH, "--receipt", receipt), "certifier"),
        ("certified", ("publish", GRAPH), "publisher"),
        ("published", ("commission", GRAPH, "--scope", scope), "commissioner"),
    ):
        told = done(capsys, hall, "lifecycle", GRAPH)
        assert (told["state"], told["may_execute"]) == (state, False)
        assert told["next"] == NEXT[state].format(graph=GRAPH)
        for wrong in ("builder", "runtime", "admin"):
            code, out, err = fabric(capsys, hall, *words, "--as", wrong)
            assert (code, out, err.count("\n")) == (3, "", 1)
            assert f"{wrong} may not do" in err
            assert refusals(hall)[-1] == (f"graph.{words[0]}", wrong, "authority.denied")
        code, out, err = fabric(capsys, hall, *words, "--as", right)
        assert (code, err, "Next: " in out) == (0, "", True)
    told = done(capsys, hall, "lifecycle", GRAPH)
    assert (told["state"], told["may_execute"]) == ("commissioned", True)
    assert [act["by"] for act in told["acts"]] == [
        *("builder", "validator", "certifier", "publisher", "commissioner"),
    ]
    before = len(refusals(hall))
    assert fabric(capsys, hall, "certify", GRAPH, "--receipt", receipt)[0] == 3
    assert refusals(hall)[before:] == [("graph.certify", "certifier", "authority.receipt_consumed")]

    assert done(capsys, hall, "suspend", GRAPH, "--reason", "a look")["state"] == "suspended"
    told = done(capsys, hall, "lifecycle", GRAPH)
    assert [fault["code"] for fault in told["why_not"]] == ["authority.suspended"]
    assert (
        done(capsys, hall, "resume", GRAPH, "--reason", "looked", "--as", "admin")["state"] == "commissioned"
    )


def test_a_change_is_told_by_its_name(capsys, hall):
    """What invalidated it, in words, with the code; the table says for each condition whether it holds."""
    path = hall.home.templates / "offer_icon.psd"
    path.write_bytes(path.read_bytes() + b"\0")
    told = done(capsys, hall, "lifecycle", GRAPH)
    assert (told["state"], told["may_execute"]) == ("commissioned", False)
    assert [fault["code"] for fault in told["why_not"]] == ["authority.template_drift"]
    broken = {item["code"] for item in told["invalidated_by"] if not item["holds"]}
    assert broken == {"authority.template_drift"}
    code, out, _ = fabric(capsys, hall, "lifecycle", GRAPH)
    assert (code, "a template is not the commissioned one" in out) == (0, True)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"state": "commissioned"}, "document.unknown_key"),
        ({"certificate": "sha256:" + "1" * 64}, "document.unknown_key"),
        ({"commissioner": "admin"}, "document.unknown_key"),
        ({"demo_home": None}, "document.unknown_key"),
        ({"expires": "2020-01-01T00:00:00Z"}, "authority.expired"),
        ({"providers": {"photoshop": "uxp/9"}}, "authority.bad_commission"),
        ({"templates": {"offer_icon.psd": "sha256:" + "1" * 64}}, "authority.bad_commission"),
        ({"sops": {}}, "authority.bad_commission"),
        ({"effects": ["artifact.seal"]}, "authority.bad_commission"),
        ({"writes": ["../.."]}, "authority.bad_commission"),
        ({"writes": []}, "document."),
        ({"approval": "sometimes"}, "document."),
    ],
)
def test_a_scope_that_claims_or_differs_is_refused(capsys, hall, tmp_path, change, code):
    """No lifecycle by a document, no scope for what is not here; nothing is sealed."""
    template = done(capsys, hall, "commission", GRAPH, "--template")
    scope = tmp_path / "scope.yaml"
    scope.write_text(yaml.safe_dump({**template, **change}), encoding="utf-8")
    before = hall.authorize(hall.workflow(GRAPH))
    status, out, err = fabric(capsys, hall, "commission", GRAPH, "--scope", scope)
    assert (out, code in err) == ("", True)
    assert status == (3 if code.startswith("authority") else 1)
    assert hall.authorize(hall.workflow(GRAPH)) == before


def test_a_graph_whose_pack_does_not_load_can_be_stopped(capsys, hall):
    """Suspending and revoking need the log alone."""
    config = hall.home.config_file
    text = config.read_text(encoding="utf-8").replace("packs: []", "packs: [nowhere]")
    config.write_text(text, encoding="utf-8", newline="\n")
    assert done(capsys, hall, "suspend", GRAPH, "--reason", "no pack")["state"] == "suspended"
    assert done(capsys, hall, "revoke", GRAPH, "--reason", "no pack", "--as", "admin")["state"] == "revoked"
    code, _, err = fabric(capsys, hall, "suspend", GRAPH, "--reason", "again")
    assert (code, "[authority.lifecycle]" in err) == (3, True)
    code, _, err = fabric(capsys, hall, "suspend", "Nothing@1", "--reason", "x")
    assert (code, "[lifecycle.which]" in err) == (2, True)


def test_a_refusal_without_any_key_is_still_a_refusal(capsys, hall):
    """Nothing can be recorded, and the exit code is 3 all the same."""
    _ = hall.services  # opened while there is a key, and closed by the fixture
    builder, runtime = hall.home.keys / "builder.key", hall.home.keys / "runtime.key"
    runtime.unlink()
    builder.chmod(0o644)
    code, out, err = fabric(capsys, hall, "publish", GRAPH, "--as", "builder")
    assert (code, out, "[keys.exposed]" in err) == (3, "", True)
    assert refusals(hall) == []


@pytest.mark.slow
def test_keys_rotate_retire_and_are_revoked(capsys, hall):
    """The validator's and the certifier's by command; old acts stand, then a revoked one does not."""
    first = done(capsys, hall, "keys", "list")
    assert first["version"] == 1
    old = first["identities"]["certifier"]["keys"][0]["keyid"]
    done(capsys, hall, "keys", "rotate", "certifier")
    found = done(capsys, hall, "keys", "rotate", "validator", "--reason", "yearly")
    assert found["version"] == 3
    for identity in ("certifier", "validator"):
        keys = found["identities"][identity]["keys"]
        assert [(key["status"], key["here"]) for key in keys] == [("retired", False), ("active", True)]
    assert done(capsys, hall, "lifecycle", GRAPH)["may_execute"]
    done(capsys, hall, "validator", "review", GRAPH)  # the validator follows, with its new key
    assert done(capsys, hall, "spine", "verify")["sound"]
    code, _, err = fabric(
        capsys, hall, "keys", "revoke", old, "--reason", "found on a stick", "--as", "operator"
    )
    assert (code, "[authority.denied]" in err) == (3, True)
    done(capsys, hall, "keys", "revoke", old[:20], "--reason", "found on a stick")
    told = done(capsys, hall, "lifecycle", GRAPH)
    assert [fault["code"] for fault in told["why_not"]] == ["authority.key_revoked"]
    assert {act.get("key") for act in told["acts"] if act["by"] == "certifier"} == {"revoked"}
    code, _, err = fabric(capsys, hall, "keys", "revoke", old[:20], "--reason", "twice")
    assert (code, "[keys.ended]" in err) == (3, True)
    code, _, err = fabric(capsys, hall, "keys", "rotate", "nobody")
    assert (code, "[keys.unknown_identity]" in err) == (2, True)


@pytest.mark.slow
def test_an_interrupted_rotation_is_finished_by_the_next_command(capsys, hall, monkeypatch):
    """The log was first; files follow, whenever."""
    from resources import ceremony

    with monkeypatch.context() as patch:
        patch.setattr(ceremony, "finish", lambda *_args: [])
        done(capsys, hall, "keys", "rotate", "publisher")
    assert hall.home.trust_root().version == 1
    code, _, err = fabric(capsys, hall, "publish", GRAPH)
    assert (code, "[authority.key_retired]" in err) == (3, True)
    done(capsys, hall, "keys", "rotate", "operator")
    assert hall.home.trust_root().version == 3
    assert done(capsys, hall, "publish", GRAPH)["published"]


@pytest.mark.slow
def test_a_validator_whose_key_ended_gets_another(capsys, hall):
    """As the key ceremony says of a stolen key: revoked, then rotated; and one retired for one elsewhere."""
    (key,) = done(capsys, hall, "keys", "list")["identities"]["validator"]["keys"]
    done(capsys, hall, "validator", "reviews")
    done(capsys, hall, "keys", "revoke", key["keyid"], "--reason", "laptop stolen")
    looked = json.loads(fabric(capsys, hall, "doctor", "--json")[1])["findings"]
    (told,) = [item for item in looked if item["name"] == "validator"]
    assert (told["state"], "revoked" in told["what"]) == ("fail", True)
    found = done(capsys, hall, "keys", "rotate", "validator")["identities"]["validator"]["keys"]
    assert [(item["status"], item["here"]) for item in found] == [("revoked", False), ("active", True)]
    assert [path.name for path in sorted(hall.home.validator.glob("ledger*"))] == ["ledger-until-version-2"]
    done(capsys, hall, "validator", "review", GRAPH)

    elsewhere = hall.home.path.parent / "elsewhere"
    made = done(capsys, hall, "validator", "keygen", "--validator", elsewhere)
    done(capsys, hall, "keys", "rotate", "validator", "--public", made["public"])
    found = done(capsys, hall, "keys", "rotate", "validator", "--keep")["identities"]["validator"]["keys"]
    assert [item["here"] for item in found if item["status"] == "active"] == [False, True]
    done(capsys, hall, "validator", "review", GRAPH)

    envelope = hall.home.path.parent / "envelope.json"
    done(capsys, hall, "keys", "export", envelope)
    pinned = done(capsys, hall, "validator", "trust", envelope, "--validator", elsewhere)
    assert pinned["digest"] == done(capsys, hall, "keys", "list")["digest"]
    done(capsys, hall, "validator", "review", GRAPH, "--validator", elsewhere)
