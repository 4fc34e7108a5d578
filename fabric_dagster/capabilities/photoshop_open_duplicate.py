"""``photoshop.open_duplicate@1``: a template, opened read-only, and the copy that is edited."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import DOCUMENT_FAILURES, LayerAddress


class OpenDuplicate(Arguments):
    """``source`` is the template; ``copy`` the path of the edited PSD under the delivery folder.

    ``digest`` and ``roles`` (role to layer), where given, are what the template must still have.
    """

    source: str = feed("psd", min_length=1, max_length=1024)
    copy_: str = feed("relative_path", alias="copy", pattern=r"\.(psd|psb)$", max_length=240)
    digest: str | None = feed("digest", default=None, pattern=r"^sha256:[0-9a-f]{64}$")
    roles: dict[str, LayerAddress] | None = feed("roles", default=None)


CAPABILITY = Capability(
    id="photoshop.open_duplicate@1",
    application="photoshop",
    summary="Open a template read-only and make the copy that later operations edit.",
    arguments=OpenDuplicate,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=(
        "the source is a whole PSD or PSB within the limits",
        "it has the digest, and one layer for each role, where those are given",
    ),
    postconditions=(
        "the source's digest is what it was",
        "the copy parses, and differs from the source only in blocks that operations named",
    ),
    failures=(
        *DOCUMENT_FAILURES,
        FailureCode(
            "photoshop.template_drift", "operator", False, "certify the changed template, or put it back"
        ),
    ),
)
