"""Every fault of a graph's document at once, of its shape and of its meaning.

A document whose shape is wrong in one place can still be wrong in its meaning in another, and a person
wants to hear of both. So faulty parts are replaced by stand-ins, for the rules only: the graph that comes
of it is looked at and thrown away, and what the rules say on a line that is faulty already is dropped.
"""

from __future__ import annotations

import copy
import hashlib
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fabric_dagster.contracts.skill_graph import SkillGraph
from fabric_dagster.documents import complaints, load_yaml
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.graphs.source import GraphSource
from fabric_dagster.graphs.validate import in_lines, validate_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fabric_dagster.capabilities.base import Capability

Place = tuple[str | int, ...]


def check_graph(data: bytes, name: str, capabilities: Mapping[str, Capability]) -> GraphSource:
    """Read and validate ``data``. Raises ``InvalidDocument`` with every fault that it has."""
    source = load_yaml(data, name)
    try:
        read = GraphSource(SkillGraph.model_validate(source.value), source)
    except ValidationError as error:
        faults = list(complaints(error, source))
        places = [tuple(problem["loc"]) for problem in error.errors(include_url=False)]
        taken = {fault.where for fault in faults}
        if (rest := _stand_in(source.value, places)) is not None:
            further = validate_graph(GraphSource(rest, source), capabilities)
            faults += [fault for fault in further if fault.where not in taken]
        raise InvalidDocument.of(in_lines(faults)) from None
    if faults := validate_graph(read, capabilities):
        raise InvalidDocument.of(faults)
    return read


def _stand_in(value: Any, places: list[Place]) -> SkillGraph | None:  # noqa: ANN401 - any YAML value
    """``value`` with stand-ins at the faulty ``places``; ``None`` where too little is left of it."""
    if not isinstance(value, dict) or not isinstance(value.get("nodes"), list):
        return None
    mended = copy.deepcopy(value)
    for place in sorted(places, key=len):
        _replace(mended, place)
    try:
        return SkillGraph.model_validate(mended)
    except ValidationError:
        return None


def _replace(root: Any, place: Place) -> None:  # noqa: ANN401 - any YAML value
    """Put the stand-in for ``place``, or drop what has none: an unknown key, a part with a default."""
    parent = root
    for step in place[:-1]:
        try:
            parent = parent[step]
        except (KeyError, IndexError, TypeError):
            return  # a part that holds this one was replaced already
    last = place[-1]
    make = _STAND_INS.get(tuple("*" if isinstance(step, int) else step for step in place))
    make = make or _STAND_INS.get((*place[:1], "*", *place[2:]))
    if isinstance(parent, dict):
        if make is not None:
            parent[last] = make(parent.get(last), place)
        else:
            parent.pop(last, None)
    elif isinstance(parent, list) and isinstance(last, int) and last < len(parent) and make is not None:
        parent[last] = make(parent[last], place)


def _always(text: str) -> Callable[[Any, Place], Any]:
    return lambda _value, _place: text


def _name(value: Any, place: Place) -> str:  # noqa: ANN401 - any YAML value
    """A good id for a bad one; the same wherever the bad one stands, so that edges stay edges."""
    shown = str(value) if isinstance(value, str | int) else str(place)
    return "stand_in_" + hashlib.sha256(shown.encode()).hexdigest()[:12]


def _node(value: Any, place: Place) -> Any:  # noqa: ANN401 - any YAML value
    del value
    return {"id": _name(None, place), "capability": "fabric.stand_in@1"}


#: place in the document, with ``*`` for any index or name → its stand-in.
_STAND_INS: Mapping[Place, Callable[[Any, Place], Any]] = {
    ("schema",): _always(SkillGraph.SCHEMA),
    ("name",): _always("StandIn"),
    ("version",): _always("0.0.0"),
    ("title",): _always(""),
    ("goal",): _always(""),
    ("owners", "*"): _always("team:stand-in"),
    ("compatibility",): lambda _value, _place: {},
    ("compatibility", "*"): _always(">=0"),
    ("inputs",): lambda _value, _place: {},
    ("inputs", "*"): lambda _value, _place: {"type": "text"},
    ("inputs", "*", "type"): _always("text"),
    ("effects",): lambda _value, _place: [],
    ("effects", "*"): _always("stand_in"),
    ("nodes", "*"): _node,
    ("nodes", "*", "id"): _name,
    ("nodes", "*", "capability"): _always("fabric.stand_in@1"),
    ("nodes", "*", "needs", "*"): _name,
    ("nodes", "*", "outputs", "*"): _always("text"),
    ("validators", "*"): lambda _value, place: {"id": "stand_in@1", "after": _name(None, place)},
    ("validators", "*", "id"): _always("stand_in@1"),
    ("validators", "*", "after"): _name,
    ("recovery", "*", "on"): _always("stand.in"),
    ("recovery", "*", "at"): _name,
    ("recovery", "*", "resume"): _name,
    ("recovery", "*", "attempts"): lambda _value, _place: 1,
}
