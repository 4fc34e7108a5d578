"""The declared fault x validator matrix (``faults.py``), proven on bytes that the real hands made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import project_faults  # noqa: F401 - registers its faults
import pytest
import qa_faults  # noqa: F401 - registers its faults
from faults import FAULTS, Planted, base_worlds
from validator_world import SIDES, World

from fabric_dagster.contracts.evidence import Verdict
from fabric_dagster.graphs.case import RUN_CHECKS
from fabric_dagster.validators.registry import validators
from fabric_dagster.validators.run import Bench


def failed(verdict: Verdict) -> frozenset[str]:
    """The checks that failed."""
    return frozenset(check.id for check in verdict.checks if not check.passed)


@pytest.mark.parametrize("base", ["good", "imported", "rich"])
@pytest.mark.parametrize("side", SIDES)
def test_a_clean_run_passes_every_check(
    whole: Callable[[str], World], tmp_path: Path, base: str, side: str
) -> None:
    """Nothing is wrong, so nothing is found: each check says what it looked at."""
    verdict = Bench().judge(whole(base).evidence(side), tmp_path / "out")

    assert failed(verdict) == frozenset(), [check.findings for check in verdict.checks if not check.passed]
    assert verdict.passed
    assert all(check.findings for check in verdict.checks)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_a_planted_fault_is_caught_by_exactly_the_declared_validators(
    whole: Callable[[str], World], tmp_path: Path, fault: Planted
) -> None:
    """Every fault is caught, by the validators that the matrix names and by no other."""
    world = whole(fault.base).copy(tmp_path / "world")
    fault.plant(world)

    verdict = Bench().judge(world.evidence(fault.side), tmp_path / "out")

    assert sorted(fault.caught) == sorted(failed(verdict)), [
        (check.id, check.findings[:3]) for check in verdict.checks if not check.passed
    ]
    assert not verdict.passed


def test_every_fault_has_a_validator_that_catches_it() -> None:
    """No fault of the matrix is declared as uncaught, and there are enough of them."""
    assert [] == [fault.name for fault in FAULTS.values() if not fault.caught]
    assert len(FAULTS) >= 25


@pytest.mark.parametrize("identifier", [name for names in SIDES.values() for name in names])
def test_switching_a_validator_off_loses_a_detection(identifier: str) -> None:
    """Each validator has a fault that only it catches."""
    only = [fault.name for fault in FAULTS.values() if fault.caught == {identifier}]

    assert only != []


def test_the_matrix_covers_every_built_in_validator() -> None:
    """A new validator comes with its faults; those of the whole run's are in ``test_whole_run.py``."""
    of_sides = validators().keys() - set(RUN_CHECKS)
    assert sorted(of_sides) == sorted({name for fault in FAULTS.values() for name in fault.caught})


def test_every_world_is_used() -> None:
    """No world is made for nothing."""
    assert {"good", *(fault.base for fault in FAULTS.values())} == set(base_worlds())
