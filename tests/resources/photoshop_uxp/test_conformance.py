"""One conformance suite, over the headless provider and over the plugin in a fake Photoshop."""

from __future__ import annotations

import pytest

from resources.photoshop.provider import SERVES
from resources.photoshop.uxp.cases import CASES, Bench, asked_of


def passes(case, provider, folder, worker):
    """Run one case; every observation must hold."""
    if case not in asked_of(provider):
        pytest.skip(
            f"{provider.name} declares that it does not serve {', '.join(case.needs - provider.serves)}"
        )
    observations = list(case.run(Bench(provider, folder, worker)))
    assert observations
    assert [] == [f"{o.subject}: {o.expected} != {o.found}" for o in observations if not o.holds]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_headless(case, headless, tmp_path, worker):
    """The headless provider passes."""
    passes(case, headless, tmp_path / "bench", worker)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_live(case, live, host, tmp_path, worker):
    """The live provider passes, and leaves no document open."""
    if missing := case.needs - SERVES:
        pytest.skip(f"the engine behind the fake does not do {', '.join(missing)}")
    passes(case, live, tmp_path / "bench", worker)
    state = host.state()
    assert [] == state["documents"]
    assert state["said"] == "Connected."


def test_no_case_is_asked_of_nobody(headless, live):
    """Each case runs over at least one provider, and the live one serves no less than it declares."""
    asked = {case.name for provider in (headless, live) for case in asked_of(provider)}
    assert {case.name for case in CASES} == asked
