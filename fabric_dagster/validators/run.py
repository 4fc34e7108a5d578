"""Runs the checks of one side and says the verdict.

Rules kept here:

* Every check that the evidence asks for appears in the verdict, in its order. An unknown validator, bad
  parameters, a crash, a time or memory limit: failed, with a finding that says so.
* A check runs under a time limit. One that overran cannot be ended safely within a process, so the bench
  is ``spent`` afterwards: the program answers and then makes room for a fresh one. What it was deriving is
  not waited for by the other checks, and all checks together have three times the limit of one.
"""

from __future__ import annotations

import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from fabric_dagster.contracts.evidence import BlindEvidence, CheckRequest, CheckVerdict, Verdict
from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import FabricError
from fabric_dagster.validators.base import Outcome, Unjudgeable, finding
from fabric_dagster.validators.registry import validators
from fabric_dagster.validators.view import EvidenceView, explained

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fabric_dagster.validators.base import AnyValidator
    from fabric_dagster.validators.registry import Registered

CHECK_SECONDS = 20.0
ALL_CHECKS = 3


@dataclass
class Bench:
    """Where checks run; ``log`` takes what a developer wants to read of a crash."""

    seconds: float = CHECK_SECONDS
    log: Callable[[str], None] = field(default=lambda _text: None)
    #: a check overran its limit and still holds a thread
    spent: bool = False
    #: check id → how long it took; no part of the verdict, which is the same for the same evidence
    milliseconds: dict[str, int] = field(default_factory=dict)
    _until: float = field(default=0.0, init=False)
    _view: EvidenceView = field(init=False, repr=False)

    def judge(self, evidence: BlindEvidence, out: Path) -> Verdict:
        """The verdict on ``evidence``; pictures are written into the folder ``out``."""
        self._until = time.monotonic() + ALL_CHECKS * self.seconds
        self._view = EvidenceView(evidence)
        registered, why_not = self._registered(self._view)
        checks = tuple(self._check(request, registered, why_not, out) for request in evidence.checks)
        return Verdict(
            schema_="fabric.verdict.v1",
            run=evidence.run,
            graph=evidence.graph,
            side=evidence.side,
            evidence=evidence.digest,
            passed=bool(checks) and all(check.passed for check in checks if check.blocking),
            checks=checks,
        )

    def _registered(self, view: EvidenceView) -> tuple[Mapping[str, Registered], Outcome | None]:
        """The validators that may run; a pack that is not the commissioned one runs no code of its own."""
        try:
            return validators(view.pack.folder), None
        except (Unjudgeable, FabricError) as fault:
            return validators(), _refused(fault)

    def _check(
        self,
        request: CheckRequest,
        registered: Mapping[str, Registered],
        why_not: Outcome | None,
        out: Path,
    ) -> CheckVerdict:
        known = registered.get(request.id)
        started = time.perf_counter()
        if known is None:
            outcome = Outcome()
            outcome.must(False, "a registered validator", f"no validator {request.id}", "checks")
            outcome.wrong.extend(why_not.wrong if why_not else ())
        else:
            outcome = self._limited(known.validator, request)
        self.milliseconds[request.id] = round((time.perf_counter() - started) * 1000)
        pictures, picture_digests = _write(outcome, request, out)
        return CheckVerdict(
            id=request.id,
            after=request.after,
            blocking=request.blocking,
            passed=outcome.passed,
            summary=_summary(known, outcome),
            findings=outcome.findings,
            figures=dict(sorted(outcome.figures.items())),
            pictures=pictures,
            picture_digests=picture_digests,
        )

    def _limited(self, validator: AnyValidator, request: CheckRequest) -> Outcome:
        seconds = min(self.seconds, self._until - time.monotonic())
        if seconds <= 0:
            return _failed("time left to judge", "none: the checks before this one took it", request.id)
        done: list[Outcome] = []
        view = self._view
        worker = threading.Thread(
            target=lambda: done.append(self._judged(validator, request, view)), daemon=True
        )
        worker.start()
        worker.join(seconds)
        if done:
            return done[0]
        self.spent = True
        self._view = EvidenceView(view.evidence)  # the old one may be locked by the check that overran
        return _failed(f"an answer within {seconds:.1f} s", "none: the check overran its time", request.id)

    def _judged(self, validator: AnyValidator, request: CheckRequest, view: EvidenceView) -> Outcome:
        try:
            outcome = validator.judge(view, validator.params.model_validate(request.params))
        except (Unjudgeable, FabricError) as fault:
            return _refused(fault)
        except ValidationError as fault:
            return _parameters(fault, request)
        except MemoryError:
            return _failed(
                "an answer within the memory limit", "none: the check ran out of memory", request.id
            )
        except (Exception, SystemExit) as fault:  # a crash is a failed check, whatever it was  # noqa: BLE001
            self.log(traceback.format_exc())
            last = traceback.extract_tb(fault.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            return _failed("an answer", f"the validator crashed: {type(fault).__name__}: {fault}", where)
        if not outcome.wrong and not outcome.looked:
            return _failed("something looked at", "nothing: the validator judged nothing", request.id)
        return outcome


def _failed(expected: str, found: str, where: str) -> Outcome:
    return Outcome(wrong=[finding(expected, found, where)])


def _refused(fault: Unjudgeable | FabricError) -> Outcome:
    causes = explained(fault) if isinstance(fault, FabricError) else [fault]
    return Outcome(wrong=[cause.finding for cause in causes])


def _parameters(fault: ValidationError, request: CheckRequest) -> Outcome:
    outcome = Outcome()
    for problem in fault.errors(include_url=False):
        where = ".".join(("checks", request.id, *map(str, problem["loc"])))
        outcome.must(False, problem["msg"], repr(problem.get("input")), where)
    return outcome


def _summary(known: Registered | None, outcome: Outcome) -> str:
    if known is not None and outcome.passed:
        return known.validator.summary
    count = len(outcome.wrong)
    first = outcome.wrong[0]
    where = f"{first.where}: " if first.where else ""
    more = f" (and {count - 1} more)" if count > 1 else ""
    return f"{where}expected {first.expected}, found {first.found}{more}"


def _write(outcome: Outcome, request: CheckRequest, out: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Encode the pictures into ``out``; file names are made from the check's id, never from titles."""
    if not outcome.pictures:
        return {}, {}
    from fabric_dagster.validators.kernels.pictures import encode_png

    names: dict[str, str] = {}
    digests: dict[str, str] = {}
    out.mkdir(parents=True, exist_ok=True)
    for number, (title, picture) in enumerate(outcome.pictures.items(), start=1):
        data = encode_png(picture)
        name = f"{request.id.replace('@', '-')}-{number}.png"
        (out / name).write_bytes(data)
        names[title], digests[name] = name, digest_bytes(data)
    return names, digests
