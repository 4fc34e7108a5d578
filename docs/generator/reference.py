"""Reference pages: capabilities, effects, validators, error codes; from declarations and from the source."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from fabric_dagster.capabilities.effects import EFFECTS
from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.errors import FabricError
from fabric_dagster.validators.registry import validators
from generator.rooms import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.base import Capability

CAPABILITIES = """\
One module each in `fabric_dagster/capabilities/`. The JSON Schema of a capability's arguments is
`fabric schema CAPABILITY`."""
VALIDATORS = """\
Built in: a module each in `fabric_dagster/validators/checks/`. A pack adds its own in `validators/`. Each
judges source facts and actual artifacts, in the validator's own program, and signs what it found. A graph
binds one to a node: what stands after that node is judged. A pack sets parameters under `checks`."""
ERRORS = """\
Every error is one line: where, what is wrong, what was found, the mend, and its code in brackets. Exit
codes: 1 the thing asked about is not so, 2 the call's own words are off, 3 refused by authority, 4 stopped
and needs a person. A dash: the code is one fault of a document among others, and the exit code is that of
the error that holds them (1, or 2 where the document is the call's own).

Listed are the codes that the source names in full; failure codes of operations are in
[capabilities.md](capabilities.md)."""


def capability_page() -> str:
    """Every capability with arguments, effects, conditions and failure codes."""
    known = capabilities()
    parts = [
        "# Capabilities",
        "",
        CAPABILITIES,
        "",
        "| capability | application | does |",
        "|---|---|---|",
        *(
            f"| [`{item.id}`](#{_anchor(item.id)}) | {item.application} | {cell(item.summary)} |"
            for item in known.values()
        ),
        "",
        "## Effects",
        "",
        "The closed list. A graph declares the union of its nodes' effects; a commission allows some.",
        "",
        "| effect | means |",
        "|---|---|",
        *(f"| `{name}` | {cell(text)} |" for name, text in EFFECTS.items()),
        "",
    ]
    for item in known.values():
        parts += [*_capability(item), ""]
    return "\n".join(parts)


def _capability(item: Capability) -> Iterator[str]:
    yield f"## {item.id}"
    yield ""
    yield item.summary
    yield ""
    if item.arguments.__doc__:
        yield " ".join(item.arguments.__doc__.replace("``", "`").split())
        yield ""
    kinds = item.arguments.kinds()
    if kinds:
        yield "| argument | takes | rules |"
        yield "|---|---|---|"
        schema = item.arguments.model_json_schema()
        for name, kind in kinds.items():
            own = schema["properties"][name]
            rules = _rules(own, name in schema.get("required", ()))
            takes = _takes(own, schema) if kind == "literal" else kind
            yield f"| `{name}` | {cell(takes)} | {cell(rules)} |"
        yield ""
    given = ", ".join(f"`{name}` ({kind})" for name, kind in item.outputs.items())
    if item.open_outputs:
        given = "what the graph's node declares"
    yield f"* outputs: {given or 'none'}"
    yield f"* effects: {', '.join(f'`{name}`' for name in sorted(item.effects)) or 'none'}"
    for title, lines in (("before", item.preconditions), ("after, observed", item.postconditions)):
        for line in lines:
            yield f"* {title}: {line}"
    if item.failures:
        yield ""
        yield "| failure code | owner | a recovery edge may follow | mend |"
        yield "|---|---|---|---|"
        for failure in sorted(item.failures, key=lambda one: one.code):
            follow = "yes" if failure.recoverable else "no"
            yield f"| `{failure.code}` | {failure.owner} | {follow} | {cell(failure.mend)} |"


def _takes(schema: dict[str, Any], whole: dict[str, Any]) -> str:
    """The JSON types that a literal argument may have, in words."""
    if "$ref" in schema:
        return _takes(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    if "anyOf" in schema:
        return " or ".join(
            dict.fromkeys(_takes(one, whole) for one in schema["anyOf"] if one != {"type": "null"})
        )
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_takes(schema.get('items', {}), whole)}"
    if schema.get("type") == "object" and "properties" in schema:
        return "object with " + ", ".join(f"`{name}`" for name in schema["properties"])
    return {"string": "text"}.get(kind := schema.get("type", "any value"), kind)


def _rules(schema: dict[str, Any], required: bool) -> str:  # noqa: FBT001 - a private helper
    present = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(present) == 1:  # optional: what it may be where it is given
        schema = {**present[0], **schema}
    default = schema.get("default")
    said = ["required"] if required else ["optional" if default is None else f"default `{default}`"]
    if "description" in schema:
        said.append(" ".join(schema["description"].split()))
    names = {
        "pattern": "matches",
        "minLength": "at least",
        "maxLength": "at most",
        "minimum": "from",
        "maximum": "to",
        "enum": "one of",
    }
    for key, word in names.items():
        if key in schema:
            value = ", ".join(map(str, schema[key])) if key == "enum" else schema[key]
            said.append(f"{word} `{value}`" + (" characters" if key.endswith("Length") else ""))
    return "; ".join(said)


def validator_page() -> str:
    """Every validator with its parameters, the built-in ones and those of packs."""
    parts = [
        "# Blind validators",
        "",
        VALIDATORS,
        "",
    ]
    packs = sorted(path.parent for path in (ROOT / "packs").glob("*/pack.yaml"))
    built_in = validators()
    for title, found in (
        ("Built in", built_in),
        *(
            (
                f"Pack `{pack.name}`",
                {name: item for name, item in validators(pack).items() if name not in built_in},
            )
            for pack in packs
        ),
    ):
        if not found:
            continue
        parts += [
            f"## {title}",
            "",
            "| validator | holds where it passed | parameters (default) |",
            "|---|---|---|",
        ]
        for name, item in found.items():
            fields = item.validator.params.model_fields
            params = ", ".join(
                f"`{key}` ({info.get_default(call_default_factory=True)})" for key, info in fields.items()
            )
            parts.append(f"| `{name}` | {cell(item.validator.summary)} | {cell(params) or 'none'} |")
        parts.append("")
    return "\n".join(parts)


def error_page() -> str:
    """Error codes that the source raises by a literal name, with exit code, sentence and mend."""
    classes = {item.__name__: item for item in _subclasses(FabricError)}
    found: dict[str, set[tuple[str, str, str, str]]] = {}
    for package in ("fabric_dagster", "resources", "assets", "sensors"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                entry = _raised(call, classes)
                if entry is not None:
                    code, exit_code, what, mend = entry
                    found.setdefault(code, set()).add((exit_code, what, mend, place))
    parts = [
        "# Error codes",
        "",
        ERRORS,
        "",
        "| code | exit | what | mend | from |",
        "|---|---|---|---|---|",
    ]
    for code, entries in sorted(found.items()):
        for exit_code, what, mend, place in sorted(entries):
            parts.append(f"| `{code}` | {exit_code} | {cell(what)} | {cell(mend)} | `{place}` |")
    return "\n".join([*parts, ""])


def _anchor(identifier: str) -> str:
    return identifier.replace(".", "").replace("@", "")


def _subclasses(cls: type[FabricError]) -> Iterator[type[FabricError]]:
    yield cls
    for item in cls.__subclasses__():
        yield from _subclasses(item)


def _raised(node: ast.AST, classes: dict[str, type[FabricError]]) -> tuple[str, str, str, str] | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or len(node.args) < 2:  # noqa: PLR2004
        return None
    name = node.func.id
    code = node.args[0]
    if name not in {"Fault", *classes} or not isinstance(code, ast.Constant) or "." not in str(code.value):
        return None
    keywords = {item.arg: item.value for item in node.keywords}
    mend = node.args[3] if name == "Fault" and len(node.args) > 3 else keywords.get("mend")  # noqa: PLR2004
    exit_code = str(classes[name].exit_code) if name in classes else "-"
    return str(code.value), exit_code, _sentence(node.args[1]), _sentence(mend)


def _sentence(node: ast.expr | None) -> str:
    """A literal sentence, with ``…`` where a value is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return "" if node is None else "…"


def cell(text: str) -> str:
    """``text`` fit for a Markdown table's cell."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")
