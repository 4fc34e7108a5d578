"""Whether the right art is in the right place, as an independent renderer draws it.

Compares the export with an expectation made from ticket and template alone. Only this sees a picture that is
consistently wrong: mirrored, moved or scaled alike in document and export.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Validator
from fabric_dagster.validators.kernels.derive import PictureNames, expected_export, exported, pixels_of
from fabric_dagster.validators.kernels.likeness import Likeness, must_be_alike

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView


class ArtInPlace(PictureNames, Likeness):
    """Names of the picture's parts, and how alike."""


def judge(view: EvidenceView, params: ArtInPlace) -> Outcome:
    """Compare export and expectation."""
    outcome = Outcome()
    actual = exported(view, params)
    expected, found = expected_export(view, params), pixels_of(view, actual)
    must_be_alike(outcome, expected.picture, found, params, actual.name, ignored=expected.border, show=True)
    return outcome


VALIDATOR = Validator(
    id="art_in_place@1",
    summary="The export shows the ticket's art where the template puts it.",
    params=ArtInPlace,
    judge=judge,
)
