"""``$ref``: how an argument takes a value of the ticket or of an earlier node.

``{"$ref": "SOURCE.NAME"}`` stands alone in its mapping, at any depth of an argument. SOURCE is ``input``,
a node's id, or, in a node that joins any of its parents, ``any``: the parent that serves; NAME is one of its
outputs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

KEY = "$ref"
INPUT = "input"
#: the parent of an ``any`` join that serves, known only in a run.
ANY = "any"

_TARGET = re.compile(r"([a-z][a-z0-9_]{0,62})\.([a-z][a-z0-9_]{0,62})")

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Ref:
    """One ``$ref`` at ``path`` within a node's arguments."""

    path: Path
    source: str
    name: str

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.source}.{self.name}"


@dataclass(frozen=True, slots=True)
class BadRef:
    """A mapping that has a ``$ref`` key and is none."""

    path: Path
    why: str
    value: str


def is_ref(value: Any) -> bool:  # noqa: ANN401 - any argument
    """Whether ``value`` is meant as a reference."""
    return isinstance(value, dict) and KEY in value


def read_ref(value: Mapping[str, Any], path: Path = ()) -> Ref | BadRef:
    """The reference that ``value`` is."""
    target = value[KEY]
    if len(value) > 1:
        others = ", ".join(sorted(set(value) - {KEY}))
        return BadRef(path, "a $ref stands alone in its mapping", others)
    match = _TARGET.fullmatch(target) if isinstance(target, str) else None
    if match is None:
        return BadRef(path, "a $ref names SOURCE.NAME", str(target))
    return Ref(path, match[1], match[2])


def find_refs(value: Any, path: Path = ()) -> Iterator[Ref | BadRef]:  # noqa: ANN401 - any argument
    """Every reference within ``value``, in the order of its keys."""
    if is_ref(value):
        yield read_ref(value, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from find_refs(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from find_refs(item, (*path, index))


def replace_refs(value: Any, resolve: Callable[[Ref], Any], path: Path = ()) -> Any:  # noqa: ANN401
    """``value`` with each reference replaced by what ``resolve`` gives for it.

    A reference of a mapping that resolves to ``None`` (an optional input that the ticket leaves out) takes
    its key with it. Raises ``ValueError`` on a malformed reference: validation lets none through.
    """
    if is_ref(value):
        ref = read_ref(value, path)
        if isinstance(ref, BadRef):
            raise ValueError(ref.why)
        return resolve(ref)
    if isinstance(value, dict):
        items = {key: replace_refs(item, resolve, (*path, key)) for key, item in value.items()}
        return {key: item for key, item in items.items() if item is not None or not is_ref(value[key])}
    if isinstance(value, list | tuple):
        return [replace_refs(item, resolve, (*path, index)) for index, item in enumerate(value)]
    return value
