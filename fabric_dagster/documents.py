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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from fabric_dagster.errors import Fault, InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable

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


class Lines(Mapping[Path, int]):
    """On which line each part of a document stands; looked up in its text when somebody asks."""

    def __init__(self, text: str, first_line: int) -> None:
        self._text, self._first_line = text, first_line
        self._found: dict[Path, int] | None = None

    def __getitem__(self, path: Path) -> int:
        return self._lines[path]

    def __iter__(self) -> Iterator[Path]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def _lines(self) -> dict[Path, int]:
        if self._found is None:
            self._found = {}
            node = yaml.compose(self._text, Loader=_LOADER)
            if node is not None:
                self._walk(node, (), self._found)
        return self._found

    def _walk(self, node: yaml.Node, path: Path, found: dict[Path, int]) -> None:
        found.setdefault(path, int(node.start_mark.line) + self._first_line)
        if isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._walk(item, (*path, index), found)
        elif isinstance(node, yaml.MappingNode):
            for key, item in node.value:
                found[*path, str(key.value)] = int(key.start_mark.line) + self._first_line
                self._walk(item, (*path, str(key.value)), found)


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
    """Turns YAML events into a value in one pass, collecting faults instead of stopping at the first."""

    def __init__(self, name: str, first_line: int, events: Iterator[yaml.Event]) -> None:
        self.name = name
        self.first_line = first_line
        self.events = events
        #: what the subset does not hold; where there is any, nothing else is said.
        self.outside: list[Fault] = []
        self.faults: list[Fault] = []
        self.depth = self.nodes = 0

    def fault(self, event: yaml.Event, code: str, what: str, mend: str, value: str | None = None) -> Fault:
        where = f"{self.name}:{int(event.start_mark.line) + self.first_line}"
        return Fault(f"yaml.{code}", what, where, mend, value)

    def document(self) -> Any:  # noqa: ANN401 - any YAML value
        """The value of the only document, read to the end of the stream."""
        value = None
        starts: list[yaml.Event] = []
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                starts.append(event)
                built = self.build(next(self.events))
                value = built if len(starts) == 1 else value
        if faults := self.outside or ([] if len(starts) > 1 else self.faults):
            raise InvalidDocument.of(faults)
        if len(starts) > 1:
            raise yaml.composer.ComposerError(
                "expected a single document in the stream",
                starts[0].start_mark,
                "but found another document",
                starts[1].start_mark,
            )
        return value

    def build(self, event: yaml.Event) -> Any:  # noqa: ANN401 - any YAML value
        if isinstance(event, yaml.AliasEvent):
            mend, value = "write the value out", f"*{event.anchor}"
            self.outside.append(self.fault(event, "alias", "aliases are not read", mend, value))
            return None
        self.admit(event)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        self.depth += 1
        self.bound(event)
        built = self.sequence() if isinstance(event, yaml.SequenceStartEvent) else self.mapping()
        self.depth -= 1
        return built

    def admit(self, event: Any) -> None:  # noqa: ANN401 - a node's event
        """Refuse what the subset does not hold."""
        self.nodes += 1
        if event.anchor is not None:
            value = f"&{event.anchor}"
            self.outside.append(self.fault(event, "anchor", "anchors are not read", "remove it", value))
        if event.tag is not None:
            value = str(event.tag)
            self.outside.append(self.fault(event, "tag", "tags are not read", "remove it", value))
        self.bound(event)

    def bound(self, event: yaml.Event) -> None:
        if self.depth > MAX_DEPTH or self.nodes > MAX_NODES:
            limit = f"{MAX_DEPTH} levels" if self.depth > MAX_DEPTH else f"{MAX_NODES} values"
            what = f"the document has more than {limit}"
            self.outside.append(self.fault(event, "too_large", what, "make it smaller"))
            raise InvalidDocument.of(self.outside)

    def sequence(self) -> list[Any]:
        built = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            built.append(self.build(event))
        return built

    def mapping(self) -> dict[str, Any]:
        built: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            before = len(self.faults)
            self.build(event)
            if not isinstance(event, yaml.ScalarEvent):
                self.build(next(self.events))
                what, mend = "a mapping's key must be plain text", "write a word before the colon"
                self.faults[before:] = [self.fault(event, "bad_key", what, mend)]
                continue
            name = str(event.value)
            if name == "<<":
                what = "merge keys are not read"
                self.faults.append(self.fault(event, "merge_key", what, "write the keys out"))
            elif name in built:
                what = "this key stands twice"
                self.faults.append(self.fault(event, "duplicate_key", what, "keep one of them", name))
            built[name] = self.build(next(self.events))
        return built


def _scalar(event: yaml.ScalarEvent) -> Any:  # noqa: ANN401 - a core-schema scalar
    text = str(event.value)
    if event.style:  # libyaml says "" for a plain scalar, the Python reader None
        return text
    if text in _LITERALS:
        return _LITERALS[text]
    return int(text) if _INTEGER.fullmatch(text) else text


def load_yaml(data: bytes | str, name: str, *, first_line: int = 1) -> Source:
    """Read one YAML document; ``first_line`` is the line of ``name`` on which ``data`` begins."""
    text = _text(data, name)
    try:
        value = _Builder(name, first_line, iter(yaml.parse(text, Loader=_LOADER))).document()
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
    return Source(name, value, Lines(text, first_line))


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
