"""How a command speaks: one JSON document or text for people on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

JsonFlag = Annotated[bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")]


def emit(document: Any, *, as_json: bool, human: Callable[[], object] | None = None) -> None:  # noqa: ANN401
    """Print ``document`` as JSON, or call ``human`` to print it for a person."""
    if as_json or human is None:
        json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        human()


def say(text: str = "") -> None:
    """Print a line for a person, without markup."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Progress and remarks: standard error, and only where a person watches."""
    if sys.stderr.isatty():
        sys.stderr.write(text + "\n")
