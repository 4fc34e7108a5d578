"""What a running Photoshop does wrong, and what the live provider makes of it."""

from __future__ import annotations

import json
import shutil
import time

import pytest
from plans import ALL, EXPORT, HIDE, OPEN, REPLACE, TEXT, bound

from fabric_dagster.capabilities.registry import failure_codes
from fabric_dagster.errors import NeedsPerson, OperationFailed, Refused, UsageFault
from fabric_dagster.supervisor import watch
from resources.photoshop.uxp import methods

#: (misbehaviour, plan, the code that it comes to): nothing is left, nothing is uncertain
TYPED = (
    ("action_error", ALL, "photoshop.host_failed"),
    ("short_reply", ALL, "photoshop.host_failed"),
    ("user_cancel", ALL, "photoshop.cancelled"),
    ("cancelled_context", ALL, "photoshop.cancelled"),
    ("modal_busy", ALL, "photoshop.busy"),
    ("expire_tokens", ALL, "photoshop.host_failed"),
    ("open_fails", ALL, "photoshop.host_failed"),
    ("save_fails", ALL, "photoshop.host_failed"),
    ("cancel_save", (OPEN, HIDE), "photoshop.cancelled"),
    ("lie_replace", ALL, "photoshop.result_differs"),
    ("lie_export", ALL, "photoshop.result_differs"),
    ("lie_save", ALL, "photoshop.result_differs"),
    ("lie_save", (OPEN, HIDE), "psd.not_a_psd"),
    ("lie_visibility", (OPEN, HIDE), "photoshop.host_failed"),
    ("lie_text", (OPEN, TEXT), "photoshop.host_failed"),
)

#: misbehaviours after which nobody knows
UNKNOWN = (
    (("drop_in_replace",), ALL),
    (("drop_in_save",), (OPEN, HIDE)),
    (("action_error", "rollback_fails"), ALL),
    (("save_fails", "delete_fails"), (OPEN, HIDE)),
    (("nonsense_result",), (OPEN, HIDE)),
    (("nonsense_frame",), (OPEN, HIDE)),
    (("huge_frame",), (OPEN, HIDE)),
)


@pytest.mark.parametrize(
    ("name", "steps", "code"), TYPED, ids=lambda item: item if isinstance(item, str) else ""
)
def test_a_typed_failure_leaves_nothing(name, steps, code, stage, live, host):
    """The failure is registered; duplicates are closed unsaved, nothing waits for a person."""
    host.misbehave(name)
    with pytest.raises(OperationFailed) as caught:
        live.stage(bound(stage, live, steps), stage)
    assert code == caught.value.code
    assert code in failure_codes()
    state = host.state()
    assert [] == state["documents"]
    assert [] == state["left"]
    assert () == live._bridge.ledger.uncertain()
    assert not live.root.exists()


def test_a_failed_operation_is_rolled_back(stage, live, host):
    """History is suspended around an operation, and resumed without it."""
    host.misbehave("expire_tokens")
    with pytest.raises(OperationFailed):
        live.stage(bound(stage, live), stage)
    assert "history rolled back" in host.state()["log"]


def settled(host) -> list[str]:
    """Wait until the plugin has closed what the lost request left; what happened meanwhile."""
    log, deadline = [], time.monotonic() + 20
    while time.monotonic() < deadline:
        state = host.state()
        log += state["log"]
        if not state["documents"] and not state["modal"]:
            break
        time.sleep(0.05)
    return log


@pytest.mark.parametrize(
    ("names", "steps"), UNKNOWN, ids=lambda item: item[0] if isinstance(item[0], str) else ""
)
def test_unknown_completion_stops_everything(names, steps, stage, live, host, bridge, people):
    """Recorded, never sent again, inspection alone allowed, until an operator decides with evidence."""
    for name in names:
        host.misbehave(name)
    with pytest.raises(NeedsPerson) as caught:
        live.stage(bound(stage, live, steps), stage)
    assert "photoshop.uncertain" == caught.value.code
    (lost,) = bridge.ledger.uncertain()
    again = stage.with_name("again")
    shutil.copytree(stage / "inputs", again / "inputs")
    bridge.wait(20)
    log = settled(host)
    sent = len(bridge.ledger.all())
    with pytest.raises(NeedsPerson) as refused:
        live.stage(bound(again, live, (OPEN, HIDE)), again)
    assert lost.identity[7:19] == refused.value.faults[0].where
    assert "Photoshop" == bridge.call(methods.HOST, {}).application
    known = {item.identity: item.state for item in bridge.call(methods.REQUESTS, {}).requests}
    assert known[lost.identity] in {"completed", "failed", "running"}
    assert sent == len(bridge.ledger.all())
    signers, trust = people
    bridge.ledger.resolve(
        lost.identity[7:15], signers["operator"], trust, "did_not_happen", "no duplicate is open"
    )
    live.stage(bound(again, live, (OPEN, HIDE)), again)
    log += host.state()["log"]
    frames = [json.loads(line[3:]) for line in log if line.startswith("in {")]
    asked = [frame["params"]["identity"] for frame in frames if "identity" in frame.get("params", {})]
    assert len(asked) == len(set(asked))
    assert "did_not_happen" == bridge.ledger.resolution(lost.identity, trust)["decision"]


def test_a_save_beyond_its_time_is_uncertain(stage, live, host, bridge):
    """A deadline decides, not a guess: what may still be saved is not saved again."""
    bridge._seconds = 3.0
    host.misbehave("slow_save", milliseconds=4500)
    with pytest.raises(NeedsPerson, match="took longer than 3 s"):
        live.stage(bound(stage, live, (OPEN, HIDE)), stage)


def test_a_task_over_its_budget_waits_for_no_answer(stage, live, host, bridge):
    """The task ends as its watch says; what was asked stays uncertain, and is not asked again."""
    host.misbehave("slow_save", milliseconds=4500)
    watched = watch.Watch(1.5, "photoshop.budget_exceeded")
    with pytest.raises(OperationFailed) as caught, watch.watching(watched):
        live.stage(bound(stage, live, (OPEN, HIDE)), stage)
    assert "photoshop.budget_exceeded" == caught.value.code
    (lost,) = bridge.ledger.uncertain()
    assert "uncertain" == lost.state


def test_a_long_save_within_its_time_is_done(stage, live, host):
    """Nothing gives a save up because the plugin is silent meanwhile."""
    host.misbehave("slow_save", milliseconds=2500)
    staged = live.stage(bound(stage, live, (OPEN, HIDE)), stage)
    assert all(item.holds for item in staged.observations)


def test_late_and_foreign_replies_are_ignored(stage, live, host, bridge):
    """A reply to an old id, and one of an older session, count for nothing."""
    host.misbehave("stray_replies", times=3)
    staged = live.stage(bound(stage, live, (OPEN, HIDE, EXPORT)), stage)
    assert all(item.holds for item in staged.observations)
    assert 6 == bridge.strays


def test_a_layer_with_a_new_id_is_followed(stage, live, host):
    """Replacing contents may give a layer another id; later steps and the comparison go by it."""
    host.misbehave("renumber")
    staged = live.stage(bound(stage, live), stage)
    assert all(item.holds for item in staged.observations)
    assert 9001 == staged.produced[1].facts["id"]


def test_contents_of_another_size_do_not_move_a_turned_layer(stage, live, host):
    """Photoshop keeps the scale, not the place: what can't be brought back is refused, rolled back."""
    import numpy as np

    from resources.photoshop.png import encode_png

    (stage / "inputs" / "art.png").write_bytes(encode_png(np.full((256, 256, 4), 180, np.uint8)))
    with pytest.raises(OperationFailed) as caught:
        live.stage(bound(stage, live), stage)
    assert "photoshop.quad_unsupported" == caught.value.code
    assert "history rolled back" in host.state()["log"]


def test_contents_of_another_size_fit_an_upright_layer(stage, live, host, template):
    """They end where the old contents were."""
    import numpy as np
    from psd_tools.psd.tagged_blocks import SmartObjectLayerData

    from resources.photoshop.png import encode_png
    from resources.photoshop.psd.container import parse

    assert host
    container = parse(template)
    record = next(layer for layer in container.layer_info.layers if layer.id == 3)
    block = record.block(b"SoLd")
    data = SmartObjectLayerData.frombytes(block.data)
    corners = (100.0, 80.0, 400.0, 80.0, 400.0, 380.0, 100.0, 380.0)
    for key in (b"Trnf", b"nonAffineTransform"):
        for position, value in enumerate(corners):
            data.data[key][position].value = value
    block.data = data.tobytes()
    container.layer_info.touched = True
    (stage / "inputs" / "template.psd").write_bytes(container.dump())
    (stage / "inputs" / "art.png").write_bytes(encode_png(np.full((256, 256, 4), 180, np.uint8)))
    staged = live.stage(bound(stage, live), stage)
    assert all(item.holds for item in staged.observations)


def test_a_document_of_somebody_else_stays_open(stage, live, host, tmp_path):
    """Only duplicates that are ours are closed."""
    theirs = tmp_path / "theirs.psd"
    shutil.copy(stage / "inputs" / "template.psd", theirs)
    host.do("open", path=str(theirs))
    try:
        live.stage(bound(stage, live, (OPEN, HIDE)), stage)
        assert ["theirs.psd"] == [item["name"] for item in host.state()["documents"]]
        shown = live._bridge.call(methods.DOCUMENTS, {}).documents
        assert [("theirs.psd", False)] == [(item.name, item.ours) for item in shown]
    finally:
        host.do("close_all")


def test_what_is_not_served_is_refused_before_anything_is_sent(stage, live, host):
    """An argument, a preset or a capability beyond what is declared never reaches Photoshop."""
    host.state()
    for steps in (
        (OPEN, (EXPORT[0], {**EXPORT[1], "layer": {"id": 3}})),
        (OPEN, (EXPORT[0], {"preset": {"profile": "embed"}, "out": "icon.png"})),
        (OPEN, ("photoshop.set_effect@1", {})),
    ):
        with pytest.raises(OperationFailed) as caught:
            live.stage(bound(stage, live, steps), stage)
        assert "capability_unavailable" == caught.value.code
    assert [] == [line for line in host.state()["log"] if line.startswith("in ")]


def test_a_decision_needs_an_operator_and_evidence(bridge, people):
    """Neither a builder nor an operator without evidence can end an uncertain request."""
    signers, trust = people
    bridge.ledger.record("sha256:" + "a" * 64, "s", methods.FINISH, "p")
    bridge.ledger.move("sha256:" + "a" * 64, "lose", {"why": "a test"})
    with pytest.raises(Refused):
        bridge.ledger.resolve("aaaa", signers["builder"], trust, "happened", "I saw it")
    for evidence in ("", "  \n"):
        with pytest.raises(UsageFault):
            bridge.ledger.resolve("aaaa", signers["operator"], trust, "happened", evidence)
    with pytest.raises(UsageFault):
        bridge.ledger.resolve("bbbb", signers["operator"], trust, "happened", "I saw it")
    assert 1 == len(bridge.ledger.uncertain())


def test_replace_is_one_request(stage, live, host, bridge):
    """Each operation is one recorded request, completed."""
    assert host
    live.stage(bound(stage, live, (OPEN, REPLACE)), stage)
    recorded = [(item.method, item.state) for item in bridge.ledger.all()]
    wanted = [methods.BEGIN, methods.OPEN, methods.REPLACE, methods.FINISH]
    assert [(name, "completed") for name in wanted] == recorded
    moves = [move["state"] for move in bridge.ledger.history(bridge.ledger.all()[2].identity)]
    assert ["sent", "acknowledged", "completed"] == moves
