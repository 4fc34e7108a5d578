"""Whether the offer shows the right art under the right title.

Follows the offer's own reference to a picture, looks at that picture, and reads the title as Unity decodes
it. Only this sees the right files wired to the wrong offer, or a title with a typing mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.validators.base import Outcome, Unjudgeable, Validator
from fabric_dagster.validators.kernels import pictures, png
from fabric_dagster.validators.kernels.derive import ProjectNames, expected_export, project_tree
from fabric_dagster.validators.kernels.likeness import Likeness, must_be_alike
from fabric_dagster.validators.kernels.project import TEXTURE, legal_ids
from resources.unity.text import TextFault

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView
    from resources.unity.text import UnityFile


class GoalMet(ProjectNames, Likeness):
    """Which property shows the picture, and which properties say what of the ticket."""

    document: str = "11400000"
    icon: str = "icon"
    #: property of the asset → the ticket's input that it says.
    texts: dict[str, str] = {"displayName": "title"}  # noqa: RUF012 - pydantic copies defaults


def judge(view: EvidenceView, params: GoalMet) -> Outcome:
    """From the offer to the pixels, and to the title."""
    outcome = Outcome()
    tree = project_tree(view)
    asset, destination = str(view.decided(params.asset)), str(view.decided(params.destination))
    offer = tree.unity(asset)
    reference = _value(offer, params.document, params.icon, asset)
    if not isinstance(reference, dict) or "guid" not in reference:
        raise Unjudgeable("a reference to a picture", str(reference), f"{asset}, {params.icon}")
    shown = tree.asset_of(str(reference["guid"]))
    outcome.equal(destination, shown, f"{asset}, {params.icon}")
    if shown is not None:
        legal = legal_ids(tree, shown)
        file_id = str(reference.get("fileID"))
        is_sprite = legal is not None and file_id != str(TEXTURE) and int(file_id) in legal
        outcome.must(
            is_sprite, "one of the picture's sprites", f"fileID {file_id}", f"{asset}, {params.icon}"
        )
        data = tree.read(shown)
        expected = expected_export(view, params)
        found = pictures.as_float(png.decode(data, shown))
        must_be_alike(outcome, expected.picture, found, params, shown, ignored=expected.border)
    for name, source in params.texts.items():
        wanted = view.evidence.ticket.inputs.get(source)
        outcome.equal(wanted, _value(offer, params.document, name, asset), f"{asset}, {name}")
    outcome.figures["rule"] = view.decision.rule
    return outcome


def _value(file: UnityFile, document: str, path: str, where: str) -> object:
    try:
        return file.read(document, path)
    except TextFault as fault:
        raise Unjudgeable(
            "a property that can be read", f"{fault.what} [{fault.code}]", f"{where}, {path}"
        ) from fault


VALIDATOR = Validator(
    id="goal_met@1",
    summary="The offer shows the ticket's art, under the ticket's title.",
    params=GoalMet,
    judge=judge,
)
