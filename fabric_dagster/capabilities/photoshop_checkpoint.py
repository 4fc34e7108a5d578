"""``photoshop.checkpoint@1``: remember the document as it is now."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import DOCUMENT_FAILURES, SAVE_FAILURES

CHECKPOINT_NAME = r"^[a-z][a-z0-9_]{0,62}$"


class Checkpoint(Arguments):
    """``name`` is what ``photoshop.restore@1`` calls it; it lives as long as the plan runs."""

    name: str = feed("slug", pattern=CHECKPOINT_NAME)


CAPABILITY = Capability(
    id="photoshop.checkpoint@1",
    application="photoshop",
    summary="Remember the document's content under a name; the facts hold its digest.",
    arguments=Checkpoint,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("no checkpoint of this name exists in the plan",),
    postconditions=("nothing differs", "the digest is that of the bytes which a save would write now"),
    failures=(
        *DOCUMENT_FAILURES,
        *SAVE_FAILURES,
        FailureCode("photoshop.checkpoint_exists", "pack", False, "give every checkpoint a name of its own"),
    ),
)
