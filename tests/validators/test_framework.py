"""The bench: nothing is skipped, nothing is believed that was not read and proven."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from validator_world import DOCUMENT, EXPORT, PACK, World, fact

from fabric_dagster.contracts.evidence import CheckRequest, CheckVerdict, FileFact
from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.intelligence.packs import load_pack
from fabric_dagster.validators import registry
from fabric_dagster.validators.base import Outcome, Params, Unjudgeable, Validator
from fabric_dagster.validators.run import Bench
from fabric_dagster.validators.view import EvidenceView


def only(
    world: World, identifier: str, tmp_path: Path, seconds: float = 20, **params: object
) -> CheckVerdict:
    """The verdict of one check."""
    side = "unity_1" if identifier.startswith("goal") else "photoshop_1"
    world.checks, world.params = (identifier,), {identifier: params}
    (check,) = Bench(seconds=seconds).judge(world.evidence(side), tmp_path / "out").checks
    return check


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Outcome]], str]:
    """Registers a validator for one test."""

    def plant(judge: Callable[..., Outcome]) -> str:
        made = registry.Registered(Validator("planted@1", "planted", Params, judge), Path(__file__))
        built_in = dict(registry._built_in())
        monkeypatch.setattr(registry, "_built_in", lambda: built_in | {"planted@1": made})
        return "planted@1"

    return plant


def test_an_unknown_validator_has_failed(world: World, tmp_path: Path) -> None:
    """A check that nobody can make is never passed over."""
    check = only(world, "no_such@1", tmp_path)

    assert not check.passed
    assert check.findings[0].found == "no validator no_such@1"


def test_a_crash_has_failed(planted: Callable[..., str], world: World, tmp_path: Path) -> None:
    """The finding says where it crashed."""

    def judge(_view: EvidenceView, _params: Params) -> Outcome:
        return 1 // 0

    check = only(world, planted(judge), tmp_path)

    assert not check.passed
    assert "ZeroDivisionError" in check.summary
    assert "test_framework.py" in check.findings[0].where


def test_an_overrun_has_failed_and_the_others_are_judged(
    planted: Callable[..., str], world: World, tmp_path: Path
) -> None:
    """The bench is spent afterwards; later checks do not wait for what the first one was deriving."""

    def judge(view: EvidenceView, _params: Params) -> Outcome:
        return view.once("pack-again", lambda: time.sleep(3) or Outcome())

    world.checks = (planted(judge), "source_untouched@1")
    bench = Bench(seconds=0.5)
    first, second = bench.judge(world.evidence("photoshop_1"), tmp_path / "out").checks

    assert (first.passed, second.passed, bench.spent) == (False, True, True)
    assert "overran" in first.summary


def test_what_takes_all_the_memory_has_failed(
    planted: Callable[..., str], world: World, tmp_path: Path
) -> None:
    """A refused allocation fails the check that asked for it."""

    def judge(_view: EvidenceView, _params: Params) -> Outcome:
        raise MemoryError

    check = only(world, planted(judge), tmp_path)

    assert "memory" in check.summary


def test_a_check_that_looked_at_nothing_has_failed(
    planted: Callable[..., str], world: World, tmp_path: Path
) -> None:
    """Passing needs something that was looked at."""
    check = only(world, planted(lambda _view, _params: Outcome()), tmp_path)

    assert (check.passed, check.findings[0].expected) == (False, "something looked at")


def test_a_failed_check_that_does_not_block_leaves_the_verdict_positive(world: World, tmp_path: Path) -> None:
    """It is in the verdict all the same."""
    evidence = world.evidence("photoshop_1")
    checks = (
        CheckRequest(id="source_untouched@1", after="export_icon", blocking=True),
        CheckRequest(id="no_such@1", after="export_icon", blocking=False),
    )

    verdict = Bench().judge(evidence.model_copy(update={"checks": checks}), tmp_path / "out")

    assert (True, [True, False]) == (verdict.passed, [check.passed for check in verdict.checks])


def test_a_verdict_over_no_checks_is_negative(world: World, tmp_path: Path) -> None:
    """Nothing was judged, so nothing passed."""
    evidence = world.evidence("photoshop_1").model_copy(update={"checks": ()})

    assert not Bench().judge(evidence, tmp_path / "out").passed


@pytest.mark.parametrize(
    ("params", "where"),
    [({"unknown": 1}, "unknown"), ({"ssim": "much"}, "ssim"), ({"delta_e": -1}, "delta_e")],
)
def test_bad_parameters_have_failed(
    world: World, tmp_path: Path, params: dict[str, object], where: str
) -> None:
    """Unknown keys and wrong values are named."""
    check = only(world, "art_in_place@1", tmp_path, **params)

    assert (check.passed, check.findings[0].where) == (False, f"checks.art_in_place@1.{where}")


def test_parameters_of_a_pack_are_text_where_they_are_decimals(world: World, tmp_path: Path) -> None:
    """Packs hold no floats: ``"0.5"`` is a limit like any other."""
    assert only(world, "art_in_place@1", tmp_path, delta_e="50").passed
    assert not only(world, "art_in_place@1", tmp_path, delta_e="0.01").passed


def test_a_file_with_other_bytes_than_stated_is_a_failed_check(world: World, tmp_path: Path) -> None:
    """Not a crash: the finding shows both digests."""
    evidence = world.evidence("photoshop_1")
    world.export.write_bytes(world.export.read_bytes() + b"\0")
    world.checks = ("png_valid@1",)

    verdict = Bench().judge(
        evidence.model_copy(update={"checks": world.evidence("photoshop_1").checks}), tmp_path / "out"
    )

    (finding,) = verdict.checks[0].findings
    assert (evidence.artifacts[EXPORT].digest, digest_bytes(world.export.read_bytes()), EXPORT) == (
        finding.expected, finding.found, finding.where,
    )  # fmt: skip


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            "link", marks=pytest.mark.skipif(os.name == "nt", reason="making links needs a right there")
        ),
        "folder",
        "missing",
    ],
)
def test_only_regular_files_are_read(world: World, tmp_path: Path, kind: str) -> None:
    """A link could lead anywhere, and is refused even where it leads to the right bytes."""
    evidence = world.evidence("photoshop_1")
    digest = evidence.artifacts[EXPORT].digest
    other = tmp_path / "other"
    if kind == "link":
        other.symlink_to(world.export)
    elif kind == "folder":
        other.mkdir()
    harmed = evidence.model_copy(
        update={"artifacts": evidence.artifacts | {EXPORT: FileFact(path=str(other), digest=digest)}}
    )

    with pytest.raises(Unjudgeable):
        EvidenceView(harmed).artifact(("png",))


def test_another_pack_than_the_commissioned_one_decides_nothing(world: World, tmp_path: Path) -> None:
    """Every check that needs the decision fails, and the pack's own Python is not run."""
    pack = shutil.copytree(PACK, tmp_path / PACK.name)
    (pack / "validators").mkdir(exist_ok=True)
    (pack / "validators" / "evil.py").write_text("raise SystemExit", encoding="utf-8")
    evidence = world.evidence("photoshop_1").model_copy(update={"pack": str(pack)})

    verdict = Bench().judge(evidence, tmp_path / "out")

    assert [False] * len(verdict.checks) == [check.passed for check in verdict.checks]
    assert any(finding.where == "pack" for check in verdict.checks for finding in check.findings)


PACK_VALIDATOR = """
from pydantic import Field
from fabric_dagster.validators.base import Outcome, Params, Validator

class Wanted(Params):
    key: str = Field(default="ART-1")

def judge(view, params):
    outcome = Outcome()
    outcome.equal(params.key, view.evidence.ticket.key, "ticket")
    return outcome

VALIDATOR = Validator("{name}", "the ticket is the wanted one", Wanted, judge)
"""


def test_a_packs_validator_is_registered_by_being_there(world: World, tmp_path: Path) -> None:
    """It judges like a built-in one, once its pack's digest is the commissioned one."""
    pack = shutil.copytree(PACK, tmp_path / PACK.name)
    (pack / "validators").mkdir(exist_ok=True)
    (pack / "validators" / "own.py").write_text(PACK_VALIDATOR.format(name="own@1"), encoding="utf-8")
    digest = load_pack(pack).digest
    world.checks = ("own@1",)
    evidence = world.evidence("photoshop_1")
    evidence = evidence.model_copy(
        update={
            "pack": str(pack),
            "pack_digest": digest,
            "commission": evidence.commission.model_copy(update={"pack": digest}),
        }
    )

    verdict = Bench().judge(evidence, tmp_path / "out")

    assert verdict.passed, verdict.checks


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (PACK_VALIDATOR.format(name="goal_met@1"), "validator.duplicate"),
        ("VALIDATOR = 1", "validator.broken"),
        ("import no_such_module", "validator.broken"),
        ("raise SystemExit", "validator.broken"),
    ],
)
def test_a_bad_validator_of_a_pack_is_named(tmp_path: Path, text: str, code: str) -> None:
    """A taken id, no validator, no module: each with its file."""
    (tmp_path / "validators").mkdir()
    (tmp_path / "validators" / "own.py").write_text(text, encoding="utf-8")

    with pytest.raises(InvalidDocument) as caught:
        registry.validators(tmp_path)

    assert [(code, "validators/own.py")] == [(fault.code, fault.where) for fault in caught.value.faults]


def test_a_validators_digest_follows_its_source_and_not_its_line_ends(tmp_path: Path) -> None:
    """A changed byte is another validator; a checkout with other line ends is not."""
    (tmp_path / "validators").mkdir()
    own = tmp_path / "validators" / "own.py"
    digests = []
    for text in (PACK_VALIDATOR, PACK_VALIDATOR.replace("\n", "\r\n"), PACK_VALIDATOR + "# changed\n"):
        own.write_bytes(text.format(name="own@1").encode())
        digests.append(registry.digests(tmp_path)["own@1"])

    assert (1, 2) == (len(set(digests[:2])), len(set(digests)))


def test_the_last_artifact_of_a_kind_is_found_by_the_graph(world: World, tmp_path: Path) -> None:
    """Of the duplicate and the edited copy, the copy that the other leads to; whatever the order."""
    other = tmp_path / "other.psd"
    other.write_bytes(b"8BPS")
    evidence = world.evidence("photoshop_1")
    both = evidence.model_copy(
        update={"artifacts": {"open_template.document": fact(other), DOCUMENT: fact(world.document)}}
    )

    assert DOCUMENT == EvidenceView(both).artifact(("document",)).name
    assert "open_template.document" == EvidenceView(both).artifact((), "open_template.document").name


def test_pictures_are_files_that_the_verdict_names_by_digest(world: World, tmp_path: Path) -> None:
    """The comparison lies in the output folder, and its digest is in the signed verdict."""
    check = only(world, "art_in_place@1", tmp_path)

    assert {"expected | found | difference": "art_in_place-1-1.png"} == check.pictures
    data = (tmp_path / "out" / "art_in_place-1-1.png").read_bytes()
    assert {"art_in_place-1-1.png": digest_bytes(data)} == check.picture_digests
