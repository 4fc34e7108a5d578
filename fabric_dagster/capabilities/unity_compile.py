"""``unity.compile@1``: the project's scripts compile, in an editor of its version."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode
from fabric_dagster.capabilities.unity_editor import EDITOR_FAILURES


class Compile(Arguments):
    """Nothing to choose: all scripts, for the editor."""


CAPABILITY = Capability(
    id="unity.compile@1",
    application="unity",
    summary="Import the staged project in a batch editor, on a copy, and compile its scripts.",
    arguments=Compile,
    outputs={"report": "unity_report"},
    effects=frozenset({"unity.editor.run"}),
    preconditions=("an editor of the project's version is configured", "no file edit follows in the plan"),
    postconditions=(
        "the editor wrote a report that says so, under this run's nonce and the package's digest",
        "the editor left every file that the plan changes as it was staged",
    ),
    failures=(
        *EDITOR_FAILURES,
        FailureCode("unity.compile_failed", "pack", False, "mend the scripts that the failure names"),
    ),
)
