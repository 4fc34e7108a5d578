"""Whether the edited copy differs from the template in nothing but the art, and its preview shows it.

Compares every stored block of every layer. Only this sees another layer moved or hidden outside of the
picture, contents that are not the ticket's bytes, or a merged image that was left stale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from fabric_dagster.validators.base import Outcome, Validator
from fabric_dagster.validators.kernels import document as documents
from fabric_dagster.validators.kernels import expectation as drawing
from fabric_dagster.validators.kernels import pictures
from fabric_dagster.validators.kernels.derive import (
    PictureNames,
    address_of,
    copied_document,
    expected_export,
    exported,
    pixels_of,
    template_document,
)
from fabric_dagster.validators.kernels.frame import framed
from fabric_dagster.validators.kernels.likeness import Likeness, must_be_alike

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.validators.kernels.document import PsdDocument
    from fabric_dagster.validators.view import EvidenceView

#: what replacing a smart object's contents changes of its layer
PLACED = frozenset({"rectangle", "pixels", *(f"block {name}" for name in documents.PLACEMENTS)})


class DocumentDiff(PictureNames):
    """How exactly the placement is kept, in document pixels, and how alike preview and export must be."""

    corner: float = Field(default=0.05, gt=0)
    likeness: Likeness = Likeness()


def judge(view: EvidenceView, params: DocumentDiff) -> Outcome:
    """Re-open the copy with two readers, compare blocks, contents, placement and preview."""
    outcome = Outcome()
    template, copied = template_document(view), copied_document(view, params)
    _reopens(outcome, copied)
    outcome.equal(template.size, copied.size, f"{copied.where}, size")
    outcome.equal(template.form, copied.form, f"{copied.where}, form")
    layer = template.layer(address_of(view.decided(params.layer)))
    art = documents.label(layer)
    before, after = template.layers(), copied.layers()
    outcome.equal(", ".join(before), ", ".join(after), f"{copied.where}, layers in order")
    for name in before.keys() & after.keys():
        _facts(
            outcome,
            before[name],
            after[name],
            f"{copied.where}, {name}",
            PLACED if name == art else frozenset(),
        )
    _facts(outcome, template.resources(), copied.resources(), copied.where, frozenset())
    _facts(outcome, template.global_blocks(), copied.global_blocks(), copied.where, frozenset())
    if art in after:
        _contents(outcome, view, params, template, copied)
    _preview(outcome, view, params, copied)
    outcome.figures["layers"] = str(len(after))
    return outcome


def _reopens(outcome: Outcome, copied: PsdDocument) -> None:
    second = documents.reopened(copied.data)
    first = (*copied.size, documents.records(copied))
    shown = "it cannot open the file" if second is None else f"{second[0]} x {second[1]}, {second[2]} records"
    wanted = f"{first[0]} x {first[1]}, {first[2]} records"
    outcome.must(second == first, wanted, shown, f"{copied.where}, opened by a second reader")


def _facts(
    outcome: Outcome, before: Mapping[str, str], after: Mapping[str, str], where: str, free: frozenset[str]
) -> None:
    """Everything but ``free`` is as before; one finding a difference, one for all that is the same."""
    same = 0
    for key in sorted(before.keys() | after.keys()):
        if key in free:
            continue
        was, now = before.get(key, "absent"), after.get(key, "absent")
        if was == now:
            same += 1
        else:
            outcome.must(holds=False, expected=f"{key} as in the template: {was}", found=now, where=where)
    if same:
        outcome.must(holds=True, expected="as in the template", found=f"{same} blocks unchanged", where=where)


def _contents(
    outcome: Outcome, view: EvidenceView, params: DocumentDiff, template: PsdDocument, copied: PsdDocument
) -> None:
    """The art's layer holds the ticket's bytes on the template's corners; other contents are untouched."""
    fact, art = view.art(params.art)
    layer = copied.layer(address_of(view.decided(params.layer)))
    uuid = documents.contents_uuid(layer)
    link = copied.links.get(uuid)
    where = f"{copied.where}, {documents.label(layer)}"
    found = "nothing" if link is None else "the ticket's bytes" if link.data == art.data else "other bytes"
    outcome.must(found == "the ticket's bytes", "the ticket's bytes", found, f"{where}, contents")
    outcome.equal((float(fact.width), float(fact.height)), documents.contents_size(layer), f"{where}, size")
    wanted, placed = expected_export(view, params).quad, documents.quad_of(layer, copied.where)
    apart = float(np.abs(np.asarray(wanted) - np.asarray(placed)).max())
    outcome.must(
        apart <= params.corner,
        f"corners within {params.corner:g} px of the template's placement",
        f"{apart:.3f} px apart",
        f"{where}, placement",
    )
    others = {key: item for key, item in template.links.items() if key != uuid}
    used = {documents.contents_uuid(one) for one in copied.walk() if one is not layer}
    for key, item in others.items():
        kept = copied.links.get(key)
        if kept is None or kept.data != item.data:
            outcome.must(
                holds=key not in used and kept is None,
                expected=f"the template's contents {item.name}",
                found="gone" if kept is None else "other bytes",
                where=f"{copied.where}, linked items",
            )
    added = sorted(copied.links.keys() - template.links.keys() - {uuid})
    outcome.must(
        not added, "no further contents", ", ".join(added) or "none", f"{copied.where}, linked items"
    )


def _preview(outcome: Outcome, view: EvidenceView, params: DocumentDiff, copied: PsdDocument) -> None:
    """The merged image, exported as the preset asks, is the export."""
    expected = expected_export(view, params)
    shown = copied.merged()
    if expected.preset.profile == "srgb":
        shown[..., :3] = drawing.converted(shown[..., :3], copied.icc, None, copied.where)
    picture = framed(pictures.straight(pictures.multiplied(shown)), expected.frame)
    actual = exported(view, params)
    must_be_alike(
        outcome,
        picture,
        pixels_of(view, actual),
        params.likeness,
        f"{copied.where}, merged image against {actual.name}",
    )


VALIDATOR = Validator(
    id="document_diff@1",
    summary="The edited copy is the template but for the art's contents, and its preview shows the export.",
    params=DocumentDiff,
    judge=judge,
)
