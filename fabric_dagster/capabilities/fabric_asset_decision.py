"""``fabric.asset_decision@1``: template, destination and dependencies, decided from cited evidence."""

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode


class AssetDecision(Arguments):
    """Takes nothing: it decides from the ticket, the pack's rules and the commissioned scope."""


CAPABILITY = Capability(
    id="fabric.asset_decision@1",
    application="fabric",
    summary="Choose template, destination and profiles by the one rule of the pack whose evidence holds.",
    arguments=AssetDecision,
    open_outputs=True,
    preconditions=(
        "every cited SOP has its commissioned digest",
        "every template has its commissioned digest",
    ),
    postconditions=("exactly one rule applies", "each decided path lies within the commissioned scope"),
    failures=(
        FailureCode("fabric.no_rule", "pack", False, "add a rule for this case to the pack and certify it"),
        FailureCode("fabric.ambiguous_rule", "pack", False, "make the pack's rules exclude each other"),
        FailureCode("fabric.evidence_missing", "pack", False, "cite a sentence that stands in the SOP"),
        FailureCode("fabric.template_drift", "operator", False, "certify and commission the new template"),
        FailureCode("fabric.out_of_scope", "operator", False, "commission a scope that holds it"),
    ),
)
