"""``photoshop.assign_profile@1``: another meaning for the same numbers."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from fabric_dagster.capabilities.base import Arguments, Capability, feed
from fabric_dagster.capabilities.photoshop_shared import DOCUMENT_FAILURES, PROFILE_FAILURES, SAVE_FAILURES


class AssignProfile(Arguments):
    """``profile`` is ``srgb`` or ``none`` (untagged); or ``file`` is an ICC profile for RGB."""

    profile: Literal["srgb", "none"] | None = None
    file: str | None = feed("file", default=None, min_length=1, max_length=1024)

    @model_validator(mode="after")
    def _one_of_both(self) -> AssignProfile:
        if (self.profile is None) == (self.file is None):
            msg = "give either profile or file"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="photoshop.assign_profile@1",
    application="photoshop",
    summary="Assign an ICC profile: the colour numbers stay, their meaning changes.",
    arguments=AssignProfile,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=("the document is RGB",),
    postconditions=("only the profile differs", "every sample is what it was"),
    failures=(*DOCUMENT_FAILURES, *PROFILE_FAILURES, *SAVE_FAILURES),
)
