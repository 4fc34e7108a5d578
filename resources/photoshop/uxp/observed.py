"""What Photoshop made, read by our own engine: the plugin's word is never the evidence.

Rules kept here: a saved copy is parsed beside its source and compared layer by layer; only what an operation
names may differ, and what it promises must be there. A picture is drawn again from the copy that Photoshop
saved. Bytes are not compared: Photoshop writes a document its own way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.photoshop.uxp.methods import COMP, MOVE, REPLACE, TEXT, VISIBILITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fabric_dagster.contracts.physical_plan import Operation

    Layers = dict[int, dict[str, Any]]
    Pixels = np.ndarray[Any, np.dtype[np.uint8]]

#: Corners of a placement may differ by this many pixels: Photoshop stores fractions.
NEAR: Final = 1.0
#: Mean difference, 0 to 255 over white, from which a picture shows something else. The engine is within
#: 3 of Photoshop for most files; a forgotten edit of an icon is far beyond.
OTHER_PICTURE: Final = 16.0
DOCUMENT_FACTS: Final = ("width", "height", "mode", "depth")
LAYER_FACTS: Final = (
    "name", "kind", "bounds", "visible", "shown", "opacity", "fill_opacity", "blend", "clipped_to", "locks",
    "mask", "vector_mask", "effects", "adjustment", "fill",
)  # fmt: skip
TEXT_FACTS: Final = ("contents", "fonts", "orientation")
#: what other contents may change of a placement; the rest of it they may not
CONTENTS_FACTS: Final = ("name", "format", "bytes", "digest", "width", "height", "uuid", "quad")
PLACEMENT_FACTS: Final = (*CONTENTS_FACTS, "kind", "warp", "filters")
COMP_FACTS: Final = (
    "bounds", "visible", "shown", "mask", "effects", "opacity", "fill_opacity", "blend",
    "smart_object.quad",
)  # fmt: skip
SHOWN_DIFFERENCES: Final = 5


@dataclass(slots=True)
class Edit:
    """One operation that was done: ``id`` is what the layer has in the copy, ``was`` in the source.

    A layer comp is about every layer: both are its own id.
    """

    operation: Operation
    was: int
    id: int
    #: digest of the contents' file, where there is one.
    contents: str | None = None


@dataclass(slots=True)
class _Meant:
    """What may differ, by layer of the source; ``*`` stands for every layer."""

    #: whether anything moves: then a placement is no longer where it was.
    moves: bool = False
    fields: dict[int | str, set[str]] = field(default_factory=dict)

    def allow(self, layer: int | str, *names: str) -> None:
        self.fields.setdefault(layer, set()).update(names)

    def allows(self, layer: int, name: str) -> bool:
        return any(name in self.fields.get(key, ()) for key in (layer, "*"))


def compare(
    path: str, source: Mapping[str, Any], copy: Mapping[str, Any], edits: Iterable[Edit]
) -> list[Observation]:
    """Observations about the copy at ``path``: what was promised, and that nothing else differs.

    ``source`` and ``copy`` are what ``inspect`` tells of both files.
    """
    before, after = _by_id(source), _by_id(copy)
    done = list(edits)
    names = {edit.was: edit.id for edit in done if edit.operation.capability != COMP}
    meant = _Meant(moves=any(edit.operation.capability in {MOVE, COMP} for edit in done))
    seen = [
        item
        for number, edit in enumerate(done)
        for item in _promised(path, edit, before, after, meant, stands=_stands(number, done))
    ]
    differences = [
        f"document {name}: {source.get(name)} -> {copy.get(name)}"
        for name in DOCUMENT_FACTS
        if source.get(name) != copy.get(name)
    ]
    for identifier, layer in before.items():
        other = after.pop(names.get(identifier, identifier), None)
        if other is None:
            differences.append(f"{layer['path']}: gone")
            continue
        differences += [
            f"{layer['path']}: {name}"
            for name in _differing(layer, other, names)
            if not meant.allows(identifier, name)
        ]
    differences += [f"{layer['path']}: new" for layer in after.values()]
    told = "; ".join(differences[:SHOWN_DIFFERENCES]) or "nothing"
    subject = f"{path}: layers that differ from the template beyond what was meant"
    return [*seen, Observation(subject, "nothing", told, holds=not differences)]


def _by_id(document: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    found = {layer["id"]: layer for layer in _walk(document["layers"])}
    if None in found or len(found) != sum(1 for _ in _walk(document["layers"])):
        raise OperationFailed(
            "photoshop.layer_ambiguous",
            "layers without an id, or with the same, can't be told apart",
            mend="save the template again in Photoshop",
        )
    return found


def _walk(layers: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for layer in layers:
        yield layer
        yield from _walk(layer.get("children", ()))


def _differing(before: dict[str, Any], after: dict[str, Any], names: dict[int, int]) -> Iterator[str]:
    """Names of the facts in which two layers differ; text and a placement are named part by part."""
    for name in LAYER_FACTS:
        if name == "bounds" and before["kind"] == "group":
            continue  # a group's are what its layers' are
        one, two = before.get(name), after.get(name)
        if name == "clipped_to":
            one = names.get(one, one) if isinstance(one, int) else one
        if one != two:
            yield name
    for name, parts in (("text", TEXT_FACTS), ("smart_object", PLACEMENT_FACTS)):
        first, second = before.get(name) or {}, after.get(name) or {}
        for part in parts:
            one, two = first.get(part), second.get(part)
            if one != two and not (part == "quad" and _near(one, two)):
                yield f"{name}.{part}"


def _near(one: Any, two: Any) -> bool:  # noqa: ANN401 - lists of corners, as inspect tells them
    try:
        first, second = np.array(one, float), np.array(two, float)
    except (TypeError, ValueError):
        return False
    return first.shape == second.shape and bool(np.all(np.abs(first - second) <= NEAR))


def _promised(
    path: str, edit: Edit, before: Layers, after: Layers, meant: _Meant, *, stands: bool
) -> Iterator[Observation]:
    """What an operation promises of the copy, where that still ``stands``; notes what it may change."""
    if edit.operation.capability == COMP:
        # What a comp records is Photoshop's to apply; kinds and contents it can't change.
        meant.allow("*", *COMP_FACTS)
        return
    layer, old = after.get(edit.id), before.get(edit.was)
    if layer is None or old is None:
        yield Observation(f"{path}: layer {edit.was}", "is there", "gone", holds=False)
        return
    tell = PROMISES[edit.operation.capability]
    seen = list(tell(f"{path}: {old['path']}", edit, old, layer, before, meant))
    if stands:
        yield from seen


def _visible(
    subject: str, edit: Edit, old: dict[str, Any], new: dict[str, Any], _all: Layers, meant: _Meant
) -> Iterator[Observation]:
    wanted, found = bool(edit.operation.args["visible"]), bool(new["visible"])
    meant.allow(edit.was, "visible")
    for child in _walk([old]):
        meant.allow(child["id"], "shown")
    yield Observation(f"{subject}: visible", str(wanted), str(found), holds=wanted == found)


def _worded(
    subject: str, edit: Edit, _old: dict[str, Any], new: dict[str, Any], _all: Layers, meant: _Meant
) -> Iterator[Observation]:
    # Photoshop names a text layer anew where its name followed its words.
    meant.allow(edit.was, "bounds", "text.contents", "name")
    wanted, found = str(edit.operation.args["text"]), str((new.get("text") or {}).get("contents"))
    yield Observation(f"{subject}: text", wanted, found, holds=wanted == found)


def _moved(
    subject: str, edit: Edit, old: dict[str, Any], new: dict[str, Any], _all: Layers, meant: _Meant
) -> Iterator[Observation]:
    args = edit.operation.args
    for child in _walk([old]):
        meant.allow(child["id"], "bounds", "mask", "smart_object.quad")
    wanted = {
        side: args[side] if args.get(side) is not None else old["bounds"][side] + (args.get(by) or 0)
        for side, by in (("left", "dx"), ("top", "dy"))
    }
    holds = all(abs(new["bounds"][side] - at) <= NEAR for side, at in wanted.items())
    expected, found = (
        ", ".join(f"{side} {place[side]}" for side in wanted) for place in (wanted, new["bounds"])
    )
    yield Observation(f"{subject}: place", expected, found, holds=holds)


def _replaced(
    subject: str, edit: Edit, old: dict[str, Any], new: dict[str, Any], every: Layers, meant: _Meant
) -> Iterator[Observation]:
    placed, now = old.get("smart_object") or {}, new.get("smart_object") or {}
    for other in every.values():
        if other["id"] == edit.was or (other.get("smart_object") or {}).get("uuid") == placed.get("uuid"):
            meant.allow(other["id"], "bounds", *(f"smart_object.{name}" for name in CONTENTS_FACTS))
    digest = str(now.get("digest"))
    yield Observation(f"{subject}: contents", str(edit.contents), digest, holds=digest == edit.contents)
    kept = meant.moves or _near(placed.get("quad"), now.get("quad"))
    place = "where the old contents were"
    yield Observation(f"{subject}: placement", place, place if kept else "moved", holds=kept)


PROMISES: Final = {VISIBILITY: _visible, TEXT: _worded, MOVE: _moved, REPLACE: _replaced}


def _stands(number: int, edits: list[Edit]) -> bool:
    """Whether nothing that was done later, or before a relative move, speaks about the same."""
    edit = edits[number]
    if any(_same(edit, later) for later in edits[number + 1 :]):
        return False
    relative = edit.operation.capability == MOVE and {"dx", "dy"} & edit.operation.args.keys()
    return not (relative and any(_same(edit, earlier) for earlier in edits[:number]))


def _same(edit: Edit, other: Edit) -> bool:
    """Whether ``other`` may change what ``edit`` promises."""
    capability = other.operation.capability
    if capability == COMP:
        return edit.operation.capability != REPLACE
    return capability == edit.operation.capability and (other.was == edit.was or capability == MOVE)


def picture_difference(made: Pixels, drawn: Pixels) -> float:
    """Mean absolute difference of two RGBA pictures of one size, 0 to 255, over white."""
    over = []
    for pixels in (made, drawn):
        alpha = pixels[..., 3:].astype(np.float32) / 255
        over.append(pixels[..., :3] * alpha + 255 * (1 - alpha))
    return float(np.mean(np.abs(over[0] - over[1])))
