"""``fabric.independent_verdict@1``: no run completes without it."""

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode


class IndependentVerdict(Arguments):
    """Takes nothing: it reads the signed verdicts of the run."""


CAPABILITY = Capability(
    id="fabric.independent_verdict@1",
    application="fabric",
    summary="Complete the run on signed verdicts of an independent validator for every side, or stop.",
    arguments=IndependentVerdict,
    outputs={"verdict": "verdict"},
    preconditions=("a signed verdict of every side covers the artifacts as they are now",),
    failures=(
        FailureCode("fabric.verdict_missing", "operator", False, "let the blind checks run first"),
        FailureCode("fabric.verdict_failed", "unity", True, "mend what the check report names"),
    ),
)
