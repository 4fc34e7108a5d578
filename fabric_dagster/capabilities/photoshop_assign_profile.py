"""``photoshop.assign_profile@1``: another meaning for the same numbers."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Arguments, Capability, feed
from fabric_dagster.capabilities.photoshop_shared import DOCUMENT_FAILURES, PROFILE_FAILURES, SAVE_FAILURES


class AssignProfile(Arguments):
    """``profile`` is ``srgb``, ``none`` (untagged), or the path of an ICC profile for RGB."""

    profile: str = feed("file", min_length=1, max_length=1024)


CAPABILITY = Capability(
    id="photoshop.assign_profile@1",
    application="photoshop",
    summary="Assign an ICC profile: the colour numbers stay, their meaning changes.",
    arguments=AssignProfile,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("the document is RGB",),
    postconditions=("only the profile and the thumbnail differ", "every sample is what it was"),
    failures=(*DOCUMENT_FAILURES, *PROFILE_FAILURES, *SAVE_FAILURES),
)
