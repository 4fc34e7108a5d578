"""``photoshop.restore@1``: the document as a checkpoint remembers it."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_checkpoint import CHECKPOINT_NAME
from fabric_dagster.capabilities.photoshop_shared import DOCUMENT_FAILURES, SAVE_FAILURES


class Restore(Arguments):
    """``name`` of a checkpoint of this document; ``digest``, where given, must be its content's."""

    name: str = feed("slug", pattern=CHECKPOINT_NAME)
    digest: str | None = feed("digest", default=None, pattern=r"^sha256:[0-9a-f]{64}$")


CAPABILITY = Capability(
    id="photoshop.restore@1",
    application="photoshop",
    summary="Bring the document back to a checkpoint, byte for byte, proven by its content's digest.",
    arguments=Restore,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("the plan made this checkpoint of this document",),
    postconditions=("the document's bytes have the checkpoint's digest",),
    failures=(
        *DOCUMENT_FAILURES,
        *SAVE_FAILURES,
        FailureCode("photoshop.checkpoint_missing", "pack", False, "make the checkpoint earlier in the plan"),
        FailureCode("photoshop.checkpoint_differs", "pack", False, "give the digest that the checkpoint has"),
    ),
)
