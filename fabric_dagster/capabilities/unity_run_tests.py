"""``unity.run_tests@1``: the project's own tests, in an editor; no test at all is a failure."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode
from fabric_dagster.capabilities.unity_editor import EDITOR_FAILURES


class RunTests(Arguments):
    """Which tests. Filters are exact names; none means all of the platform."""

    platform: Literal["EditMode", "PlayMode"] = "EditMode"
    assemblies: tuple[str, ...] = Field((), strict=False, max_length=50)
    categories: tuple[str, ...] = Field((), strict=False, max_length=50)
    tests: tuple[str, ...] = Field((), strict=False, max_length=200)
    #: fewer tests than this is a failure, too: a filter that matches nothing must not pass
    at_least: int = Field(1, ge=1, le=1_000_000)


CAPABILITY = Capability(
    id="unity.run_tests@1",
    application="unity",
    summary="Run the project's tests in a batch editor, on a copy, and read the results file.",
    arguments=RunTests,
    outputs={"report": "unity_report"},
    effects=frozenset({"unity.editor.run"}),
    preconditions=("an editor of the project's version is configured", "no file edit follows in the plan"),
    postconditions=(
        "the NUnit results file was written by this run and its counts agree with its cases",
        "at least as many tests ran as were asked for, and none failed",
        "the editor left every file that the plan changes as it was staged",
    ),
    failures=(
        *EDITOR_FAILURES,
        FailureCode("unity.compile_failed", "pack", False, "mend the scripts that the failure names"),
        FailureCode("unity.no_tests", "pack", False, "name tests that exist"),
        FailureCode("unity.tests_failed", "pack", False, "see the failed tests"),
    ),
)
