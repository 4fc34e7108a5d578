"""The protocol as JSON Schema and as TypeScript, both generated from the Pydantic models.

``python -m resources.photoshop.uxp.schema`` writes them into the plugin's sources; a test proves that what is
there is what would be written. The schema's digest is part of the handshake, so that a plugin of another
version is refused before it is asked for anything.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from fabric_dagster.digests import digest_bytes
from resources.files.durable import write_durably
from resources.photoshop.uxp.messages import PLUGIN_FAILURES
from resources.photoshop.uxp.methods import METHODS, MOST_BYTES, PROTOCOL
from resources.photoshop.uxp.pairing import PORT

PLUGIN: Final = Path(__file__).parent / "plugin"
GENERATED: Final = PLUGIN / "src" / "generated"
#: what the plugin's own validator knows; a keyword beyond these would be checked by nobody.
KEYWORDS: Final = frozenset(
    {
        "$ref", "additionalProperties", "anyOf", "const", "default", "description", "enum", "fabric_type",
        "items", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "pattern",
        "properties", "required", "title", "type",
    }
)  # fmt: skip


@cache
def protocol_schema() -> dict[str, Any]:
    """``$defs`` of all models, and the closed list of methods."""
    models = dict.fromkeys(model for item in METHODS.values() for model in (item.arguments, item.result))
    names, whole = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/$defs/{model}"
    )
    definitions = {name: _pruned(body) for name, body in whole.get("$defs", {}).items()}
    methods = {
        name: {
            "arguments": names[item.arguments, "validation"]["$ref"],
            "result": names[item.result, "validation"]["$ref"],
            "readOnly": item.read_only,
        }
        for name, item in METHODS.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": PROTOCOL,
        "$defs": definitions,
        "methods": methods,
        "failures": sorted(PLUGIN_FAILURES),
    }


def _pruned(body: Any, *, named: bool = False) -> Any:  # noqa: ANN401 - JSON
    """A schema without what is for people; refuses a keyword that the plugin would not check."""
    if isinstance(body, list):
        return [_pruned(item) for item in body]
    if not isinstance(body, dict):
        return body
    if not named and not body.keys() <= KEYWORDS:
        msg = f"the plugin's validator does not know {sorted(body.keys() - KEYWORDS)}"
        raise TypeError(msg)
    dropped = frozenset() if named else {"title", "description", "fabric_type", "default"}
    return {
        key: _pruned(item, named=key == "properties" and not named)
        for key, item in body.items()
        if key not in dropped
    }


@cache
def schema_text() -> str:
    """The schema's file."""
    return json.dumps(protocol_schema(), indent=1, sort_keys=True) + "\n"


@cache
def schema_digest() -> str:
    """What both sides compare in the handshake."""
    return digest_bytes(schema_text().encode())


def typescript() -> str:
    """Types of all models, the list of methods and the failure codes, for the plugin's compiler."""
    schema = protocol_schema()
    lines = [
        "// Generated from the Pydantic contracts by `python -m resources.photoshop.uxp.schema`. Not edited.",
        "",
        f"export const PROTOCOL = {json.dumps(PROTOCOL)};",
        f"export const PORT = {PORT};",
        f"export const MOST_BYTES = {MOST_BYTES};",
        f"export const SCHEMA_DIGEST = {json.dumps(schema_digest())};",
        "",
    ]
    for name, body in sorted(schema["$defs"].items()):
        lines += [f"export interface {name} {_type(body)}", ""]
    lines.append("export interface Methods {")
    for name, item in schema["methods"].items():
        types = "; ".join(f"readonly {key}: {_type({'$ref': item[key]})}" for key in ("arguments", "result"))
        lines.append(f"  readonly {json.dumps(name)}: {{ {types} }};")
    lines += ["}", "", "export type MethodName = keyof Methods;", "", "export type FailureCode ="]
    lines += [f"  | {json.dumps(code)}" for code in schema["failures"]]
    return "\n".join(lines) + ";\n"


def _type(body: dict[str, Any]) -> str:  # noqa: PLR0911 - one line a kind of schema
    """The TypeScript type of a schema."""
    if "$ref" in body:
        return str(body["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in body:
        return " | ".join(dict.fromkeys(_type(item) for item in body["anyOf"]))
    if "const" in body or "enum" in body:
        return " | ".join(json.dumps(item) for item in body.get("enum", [body.get("const")]))
    kind = body.get("type")
    if kind == "array":
        return f"readonly ({_type(body['items'])})[]"
    if kind == "object" and isinstance(body.get("additionalProperties"), dict):
        return f"Readonly<Record<string, {_type(body['additionalProperties'])}>>"
    if kind == "object":
        required = set(body.get("required", ()))
        fields = [
            f"readonly {json.dumps(name)}{'' if name in required else '?'}: {_type(item)};"
            for name, item in body.get("properties", {}).items()
        ]
        return "{ " + " ".join(fields) + " }" if fields else "{ readonly [none: string]: never }"
    return {"string": "string", "integer": "number", "boolean": "boolean", "null": "null"}[str(kind)]


def files() -> dict[Path, str]:
    """What is generated, by path."""
    return {GENERATED / "protocol.schema.json": schema_text(), GENERATED / "protocol.ts": typescript()}


def main() -> None:
    """Write the generated files."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    for path, text in files().items():
        write_durably(path, text.encode())


if __name__ == "__main__":
    main()
