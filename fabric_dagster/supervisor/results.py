"""Which result answers which task: checked when it is recorded, and again whenever it is read.

Rules kept here:

* A result names the specialist that the task was given to, and that task; anybody else's is refused.
* It retains evidence: success rests on observations that all hold, a partial result on what was seen till
  then, and a failure names its code. Prose alone says nothing.
* It recommends exactly one transition of the table; confidence is recorded and opens no gate.
* It changes nothing outside of the task's scope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.contracts.specialist import TRANSITIONS
from fabric_dagster.errors import CheckFailed, Fault
from fabric_dagster.governance.scope import within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.contracts.specialist import SpecialistResult, SpecialistTask

BAD_RESULT = "supervisor.bad_result"


def require_result(task: SpecialistTask, result: SpecialistResult, where: str = "") -> None:
    """``CheckFailed`` (``supervisor.bad_result``) with every reason why ``result`` is none to ``task``."""
    faults = [
        Fault(BAD_RESULT, what, where or task.partition, value=value) for what, value in _off(task, result)
    ]
    if faults:
        raise CheckFailed.of(faults)


def _off(task: SpecialistTask, result: SpecialistResult) -> Iterator[tuple[str, str | None]]:
    if result.task != task.digest:
        yield "the result is for another task", result.task
    if result.specialist != task.specialist:
        yield f"the task was given to {task.specialist}", result.specialist
    if result.recommended not in TRANSITIONS[result.status]:
        yield f"a {result.status} result cannot recommend this transition", result.recommended
    if result.status == "succeeded":
        yield from _succeeded(task, result)
    elif result.failure is None or not {"code", "what"} <= result.failure.keys():
        yield f"a {result.status} result names no failure code", None
    if result.status == "partial" and not result.observations:
        yield "a partial result retains nothing that was observed", None
    if result.status != "succeeded" and result.changes:
        yield "a result that did not succeed claims changes", result.changes[0].path


def _succeeded(task: SpecialistTask, result: SpecialistResult) -> Iterator[tuple[str, str | None]]:
    if result.failure is not None:
        yield "a succeeded result names a failure", result.failure.get("code")
    if not result.observations:
        yield "a succeeded result retains no observation: prose alone says nothing", None
    for item in result.observations:
        if not item.holds:
            yield "a succeeded result holds an observation that does not hold", item.subject
    for change in result.changes:
        if not within(task.scope, change.path):
            yield "a change lies outside of the task's scope", change.path
