"""One conformance suite, over the headless provider and over the live one by each of its routes."""

from __future__ import annotations

import pytest

from resources.unity.live.cases import CASES, Bench, asked_of
from resources.unity.live.provider import LiveUnity
from resources.unity.provider import HeadlessUnity


def passes(case, provider, folder):
    """Run one case; every observation must hold."""
    observations = list(case.run(Bench(provider, folder)))
    assert observations
    assert [] == [f"{o.subject}: {o.expected} != {o.found}" for o in observations if not o.holds]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_headless(case, project, tmp_path):
    """The headless provider passes what it serves, and declares the rest."""
    provider = HeadlessUnity(project)
    if case not in asked_of(provider):
        assert case.needs - provider.serves <= {
            "unity.compile@1",
            "unity.run_tests@1",
            "unity.build_player@1",
        }
        return
    passes(case, provider, tmp_path / "bench")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_live_with_a_batch_editor(case, project, state, batch, tmp_path):
    """The live provider passes all of them; of its test runs the fake finds none."""
    words = ("no_tests",) if case.name == "tests" else ()
    passes(case, LiveUnity(project, state=state, batch=batch(*words), patience=1), tmp_path / "bench")


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in {"imports", "moves"}], ids=lambda c: c.name
)
@pytest.mark.usefixtures("editor")
def test_live_with_a_running_editor(case, live, tmp_path):
    """Through the package that it is lent."""
    passes(case, live, tmp_path / "bench")
