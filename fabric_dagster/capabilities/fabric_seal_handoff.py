"""``fabric.seal_handoff@1``: the only way for an artifact to pass from one application to another."""

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed


class SealHandoff(Arguments):
    """The artifact to seal."""

    artifact: str = feed("png", description="an exported picture")


CAPABILITY = Capability(
    id="fabric.seal_handoff@1",
    application="fabric",
    summary="Seal an artifact's bytes, dimensions, alpha, colour space, lineage and verdicts into a handoff.",
    arguments=SealHandoff,
    outputs={"artifact": "png"},
    effects=frozenset({"artifact.seal"}),
    preconditions=("the verdict of the side before it passed and its signature verifies",),
    postconditions=("the stored bytes have the sealed digest",),
    failures=(
        FailureCode("fabric.verdict_missing", "operator", False, "let the export's blind checks run first"),
        FailureCode("fabric.verdict_failed", "photoshop", True, "mend what the check report names"),
    ),
)
