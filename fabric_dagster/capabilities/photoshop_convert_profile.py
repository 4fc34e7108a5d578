"""``photoshop.convert_profile@1``: the same colours in another space."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.photoshop_shared import DOCUMENT_FAILURES, PROFILE_FAILURES, SAVE_FAILURES


class ConvertProfile(Arguments):
    """``profile`` is ``srgb``; or ``file`` is an ICC profile for RGB."""

    profile: Literal["srgb"] | None = None
    file: str | None = feed("file", default=None, min_length=1, max_length=1024)

    @model_validator(mode="after")
    def _one_of_both(self) -> ConvertProfile:
        if (self.profile is None) == (self.file is None):
            msg = "give either profile or file"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="photoshop.convert_profile@1",
    application="photoshop",
    summary="Convert the document's layers to another ICC profile: numbers change, colours stay.",
    arguments=ConvertProfile,
    outputs={"document": "psd"},
    effects=frozenset({"photoshop.document.write"}),
    preconditions=(
        "the document is RGB of 8 or 16 bits with a readable profile",
        "its layers hold pixels, smart objects or solid fills; nothing that works on numbers",
    ),
    postconditions=(
        "the document has the profile",
        "only layers' colours, the profile and the previews differ",
    ),
    failures=(
        *DOCUMENT_FAILURES,
        *PROFILE_FAILURES,
        *SAVE_FAILURES,
        FailureCode(
            "photoshop.conversion_unfaithful", "operator", False, "convert the template in Photoshop"
        ),
    ),
)
