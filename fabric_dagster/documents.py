"""Reads YAML and JSON documents that people write, and says where each fault is.

Rules kept here:

* A safe subset: scalars, lists, mappings. Tags, anchors, aliases, merge keys and duplicate keys are
  refused, each with its line. Scalars follow YAML 1.2's core schema (``no`` and ``1_000`` are text);
  floats stay text, since no document of ours holds one.
* Within limits before anything is built: bytes, depth and number of nodes.
* All faults at once: a document's value is checked against its contract and every complaint carries
  ``file:line`` and the value that was found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from fabric_dagster.errors import Fault, InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Model = TypeVar("Model", bound=BaseModel)
Path = tuple[str | int, ...]

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_NODES = 50_000

#: no longer than Python turns into a number; more digits stay text.
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,999})")
_LITERALS: Mapping[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
}


@dataclass(frozen=True, slots=True)
class Source:
    """A read document: its value, and the line on which each part of it stands."""

    name: str
    value: Any
    lines: Mapping[Path, int]

    def where(self, path: Path = ()) -> str:
        """``file:line`` of the part at ``path``, or of its nearest parent that has a line."""
        for length in range(len(path), -1, -1):
            if (line := self.lines.get(path[:length])) is not None:
                return f"{self.name}:{line}"
        return self.name


class _Builder:
    """Turns YAML events into a value, collecting faults instead of stopping at the first."""

    def __init__(self, name: str, first_line: int) -> None:
        self.name = name
        self.first_line = first_line
        self.faults: list[Fault] = []
        self.lines: dict[Path, int] = {}
        self.nodes = 0

    def line(self, node: yaml.Node | yaml.Event) -> int:
        return int(node.start_mark.line) + self.first_line

    def fault(
        self, node: yaml.Node | yaml.Event, code: str, what: str, mend: str, value: str | None = None
    ) -> None:
        self.faults.append(Fault(f"yaml.{code}", what, f"{self.name}:{self.line(node)}", mend, value))

    def build(self, node: yaml.Node, path: Path) -> Any:  # noqa: ANN401 - any YAML value
        self.lines.setdefault(path, self.line(node))
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self.mapping(node, path) if isinstance(node, yaml.MappingNode) else None

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fault(
                    key, "bad_key", "a mapping's key must be plain text", "write a word before the colon"
                )
                continue
            name = str(key.value)
            if name == "<<":
                self.fault(key, "merge_key", "merge keys are not read", "write the keys out")
            elif name in built:
                self.fault(key, "duplicate_key", "this key stands twice", "keep one of them", name)
            self.lines[(*path, name)] = self.line(key)
            built[name] = self.build(item, (*path, name))
        return built

    def scalar(self, node: yaml.ScalarNode) -> Any:  # noqa: ANN401 - a core-schema scalar
        text = str(node.value)
        if node.style:  # libyaml says "" for a plain scalar, the Python reader None
            return text
        if text in _LITERALS:
            return _LITERALS[text]
        return int(text) if _INTEGER.fullmatch(text) else text


def _guard(builder: _Builder, events: Iterable[yaml.Event]) -> None:
    """Refuse what the subset does not hold, before any node exists."""
    depth = nodes = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            builder.fault(event, "alias", "aliases are not read", "write the value out", f"*{event.anchor}")
        elif isinstance(event, yaml.NodeEvent):
            nodes += 1
            if event.anchor is not None:
                builder.fault(event, "anchor", "anchors are not read", "remove it", f"&{event.anchor}")
            if (tag := getattr(event, "tag", None)) is not None:
                builder.fault(event, "tag", "tags are not read", "remove it", str(tag))
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            limit = f"{MAX_DEPTH} levels" if depth > MAX_DEPTH else f"{MAX_NODES} values"
            builder.fault(event, "too_large", f"the document has more than {limit}", "make it smaller")
            return


def load_yaml(data: bytes | str, name: str, *, first_line: int = 1) -> Source:
    """Read one YAML document; ``first_line`` is the line of ``name`` on which ``data`` begins."""
    text = _text(data, name)
    builder = _Builder(name, first_line)
    try:
        _guard(builder, yaml.parse(text, Loader=_LOADER))
        if builder.faults:
            raise InvalidDocument.of(builder.faults)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as fault:
        # What is opened and never closed is noticed at the end of the document: name where it was opened.
        opened = any(word in (fault.context or "") for word in ("quoted scalar", "flow"))
        mark = (fault.context_mark if opened else None) or fault.problem_mark or fault.context_mark
        line = (mark.line if mark else 0) + first_line
        raise InvalidDocument(
            "yaml.syntax",
            f"this is no YAML: {fault.problem or fault.context}",
            where=f"{name}:{line}",
            mend="mend the line; quote values that hold ': ' or begin with a special character",
        ) from fault
    except yaml.reader.ReaderError as fault:
        raise InvalidDocument(
            "yaml.character",
            "a character that YAML does not allow",
            where=f"{name}:{_line_of(text, fault)}",
            mend="remove it",
            value=ascii(fault.character),
        ) from fault
    value = builder.build(node, ()) if node is not None else None
    if builder.faults:
        raise InvalidDocument.of(builder.faults)
    return Source(name, value, builder.lines)


def _line_of(text: str, fault: yaml.reader.ReaderError) -> int:
    return text.count("\n", 0, int(fault.position or 0)) + 1


#: libyaml where the wheel carries it (it does on all three systems), for the time that loading packs takes.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _text(data: bytes | str, name: str) -> str:
    if len(data) > MAX_BYTES:
        raise InvalidDocument("yaml.too_large", f"the document is larger than {MAX_BYTES} bytes", where=name)
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise InvalidDocument(
            "yaml.encoding",
            "the document is not UTF-8",
            where=f"{name}:{line}",
            mend="save it as UTF-8",
            value=repr(data[fault.start : fault.start + 4]),
        ) from fault


def check(model: type[Model], source: Source, path: Path = ()) -> Model:
    """``source``'s value (at ``path``) as a ``model``; every complaint at once with its line."""
    value = source.value
    for step in path:
        value = value[step]
    try:
        return model.model_validate(value)
    except ValidationError as fault:
        raise InvalidDocument.of(list(complaints(fault, source, path))) from None


def complaints(fault: ValidationError, source: Source, path: Path = ()) -> Iterable[Fault]:
    """Pydantic's complaints as faults of ours."""
    for problem in fault.errors(include_url=False):
        kind, at = problem["type"], (*path, *problem["loc"])
        shown = ".".join(str(part) for part in at) or "the document"
        if kind == "extra_forbidden":
            yield Fault("document.unknown_key", f"unknown key {at[-1]!r}", source.where(at), "remove it")
        elif kind == "missing":
            yield Fault("document.missing_key", f"the key {shown!r} is missing", source.where(at), "add it")
        else:
            found = problem.get("input")
            value = None if isinstance(found, dict | list) else str(found)
            message = str(problem["msg"])
            yield Fault("document.bad_value", f"{shown}: {message}", source.where(at), "", value)
