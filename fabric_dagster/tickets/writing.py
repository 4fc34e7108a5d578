"""Writes a fenced block that reads back as exactly the given values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fabric_dagster.documents import load_yaml
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.tickets.characters import quoted
from fabric_dagster.tickets.fence import MARKER

if TYPE_CHECKING:
    from collections.abc import Mapping


def block_lines(reference: str, values: Mapping[str, str]) -> list[str]:
    """The block for graph ``reference``, one line a key, quoted only where YAML needs it."""
    return [f"{MARKER}: {reference}", *(f"{key}: {_scalar(value)}" for key, value in values.items())]


def _scalar(value: str) -> str:
    if value == value.strip() and not quoted(value):
        try:
            if load_yaml(f"{MARKER}: {value}", "").value == {MARKER: value}:
                return value
        except InvalidDocument:
            pass
    return json.dumps(value, ensure_ascii=False)


def fenced(lines: list[str], markup: str) -> str:
    """``lines`` as a code block of ``markup`` (``markdown`` for the Cloud editor, ``wiki`` for v2)."""
    text = "\n".join(lines)
    if markup == "wiki":
        tag = "{noformat}" if "{code" in text else "{code}"
        return f"{tag}\n{text}\n{tag}"
    marks = "```"
    while marks in text:
        marks += "`"
    return f"{marks}\n{text}\n{marks}"
