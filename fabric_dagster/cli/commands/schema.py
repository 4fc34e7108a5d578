"""``fabric schema``: the JSON Schema of every contract and of every capability's arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import JsonFlag, emit, say
from fabric_dagster.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schema")(schema)


def schema(
    name: Annotated[str, typer.Argument(help="A contract or a capability; without it, all are listed.")] = "",
    *,
    as_json: JsonFlag = False,
) -> None:
    """Print the JSON Schema of a contract or of a capability's arguments."""
    models = _models()
    if not name:
        rows = [{"name": key, "kind": kind, "summary": text} for key, (kind, text, _) in models.items()]
        emit(rows, as_json=as_json, human=lambda: _table(rows))
        return
    if name not in models:
        raise UsageFault(
            "schema.unknown",
            "no contract and no capability has this name",
            mend=f"use one of: {', '.join(_near(name, models))}",
            value=name,
        )
    emit({"$schema": DIALECT, "$id": f"urn:{name}", **models[name][2].model_json_schema()}, as_json=True)


def _models() -> Mapping[str, tuple[str, str, type[BaseModel]]]:
    """Name → kind, first line of what it is, and its model."""
    from fabric_dagster.capabilities.registry import capabilities
    from fabric_dagster.contracts import documents

    found: dict[str, tuple[str, str, type[BaseModel]]] = {}
    for key, model in documents().items():
        found[key] = ("contract", (model.__doc__ or "").partition("\n")[0], model)
    for key, item in capabilities().items():
        found[key] = ("capability", item.summary, item.arguments)
    return found


def _near(name: str, known: Mapping[str, Any]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, known, n=5, cutoff=0.5) or sorted(known)


def _table(rows: list[dict[str, str]]) -> None:
    wide = max(len(row["name"]) for row in rows)
    for row in rows:
        say(f"{row['name']:<{wide}}  {row['kind']:<10}  {row['summary']}")
